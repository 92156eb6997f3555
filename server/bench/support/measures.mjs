// Turns the summaries of a run into rows of the table: costs per request, and this checkout compared with another.
import { ratioOfTurns, totalOf } from './load.mjs';

/** Costs must not rise by more than this against another checkout. */
const noDearer = { atMost: 1.03 };

/** `target` is for the CPU time of service and database together. */
export function costsOf(who, rounds, { target } = {}) {
  const { perSecond, cpu, quietCpu, p50Ms, p99Ms } = totalOf(rounds);
  return [
    { name: `${who}: requests`, figure: perSecond, unit: '1/s' },
    { name: `${who}: CPU of the service`, figure: cpu.service, unit: 'ms/request' },
    { name: `${who}: CPU of the database`, figure: cpu.database, unit: 'ms/request' },
    { name: `${who}: CPU, sum`, figure: cpu.sum, unit: 'ms/request', ...(target && { target }) },
    { name: `${who}: CPU, sum, quiet rounds`, figure: quietCpu, unit: 'ms/request' },
    { name: `${who}: latency, median`, figure: p50Ms, unit: 'ms' },
    { name: `${who}: latency, p99`, figure: p99Ms, unit: 'ms' },
  ];
}

/** The costs of every candidate, then the ratios of this checkout to the other one. */
export const costsOfAll = (summaries, targets = {}) => [
  ...Object.entries(summaries).flatMap(([who, rounds]) => costsOf(who, rounds, { target: targets[who] })),
  ...againstOther(summaries),
];

/**
 * The same candidates for this checkout and, with --against, for the other one, next to each other so that they take
 * turns. `build` gets a server with its `tenant` and `database`.
 */
export async function bothSides({ pakhus, other }, build) {
  const ours = await build(pakhus);
  if (!other) return ours;
  const theirs = await build(other);
  return Object.fromEntries(
    Object.keys(ours).flatMap((who) => [
      [who, ours[who]],
      [otherName(who), theirs[who]],
    ]),
  );
}

export const otherName = (who) => `other ${who}`;

const againstOther = (summaries) =>
  Object.keys(summaries)
    .filter((who) => summaries[otherName(who)])
    .flatMap((who) =>
      ['service', 'database', 'sum'].map((part) => ({
        name: `${who}: new/other, ${part}`,
        figure: ratioOfTurns(summaries[who], summaries[otherName(who)], part),
        unit: '',
        ...(part === 'sum' && { target: noDearer }),
      })),
    );
