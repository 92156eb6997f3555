// How long Pakhus takes to start with everything embedded, for the first time and later, and what it costs while nobody
// uses it.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { cpuDuring, cpuOf } from './support/cpu.mjs';
import { median, pace } from './support/load.mjs';
import { memoryMiB, sharedMemoryMiB } from './support/memory.mjs';
import { startEmbedded } from './support/server.mjs';

export const name = 'start-and-idle';
/** Starts its own. */
export const servers = false;

const starts = 5;
/** In the first minute the service looks more often for jobs that another process may have left. */
const settleMs = 75_000 * pace;
const idleMs = 30_000 * pace;

export async function run({ folder, checkouts }) {
  const sides = Object.entries(checkouts);
  const times = Object.fromEntries(sides.map(([side]) => [side, { first: [], later: [] }]));
  for (let round = 0; round < starts; round++) {
    for (const [side, from] of sides) {
      const dataDir = join(folder, `${side}-${round}`);
      times[side].first.push(await timedStart(folder, dataDir, from));
      times[side].later.push(await timedStart(folder, dataDir, from));
    }
  }
  const measures = sides.map(([side]) => startMeasures(prefixOf(side), times[side]));
  for (const [side, from] of sides) {
    const server = await startEmbedded(folder, { dataDir: join(folder, `${side}-0`), from });
    measures.push(await idleMeasures(prefixOf(side), server).finally(server.stop));
  }
  return measures.flat();
}

/** Only this checkout is judged. */
const ofOurs = (prefix, target) => (prefix === '' ? { target } : {});

const prefixOf = (side) => (side === 'pakhus' ? '' : `${side} `);

/** The CPU time of the database counts from its start, without the creation of the cluster. */
async function timedStart(folder, dataDir, from) {
  const startedAt = performance.now();
  const server = await startEmbedded(folder, { dataDir, from });
  const seconds = (performance.now() - startedAt) / 1000;
  const cpu = cpuOf(server);
  await server.stop();
  return { seconds, cpu };
}

const startMeasures = (prefix, { first, later }) => [
  ...startFigures(`${prefix}first start`, first, ofOurs(prefix, { atMost: 5 })),
  ...startFigures(`${prefix}later start`, later, ofOurs(prefix, { atMost: 2 })),
];

const startFigures = (what, all, target) => [
  { name: what, figure: median(all.map(({ seconds }) => seconds)), unit: 's', ...target },
  { name: `${what}: CPU of the service`, figure: median(all.map(({ cpu }) => cpu.service)), unit: 'ms' },
  { name: `${what}: CPU of the database`, figure: median(all.map(({ cpu }) => cpu.database)), unit: 'ms' },
];

async function idleMeasures(prefix, server) {
  await delay(settleMs);
  const cpu = await cpuDuring(server, () => delay(idleMs));
  const share = (ms) => (ms / idleMs) * 100;
  return [
    { name: `${prefix}idle: CPU of the service`, figure: share(cpu.service), unit: '% of a core' },
    { name: `${prefix}idle: CPU of the database`, figure: share(cpu.database), unit: '% of a core' },
    {
      name: `${prefix}idle: CPU, sum`,
      figure: share(cpu.service + cpu.database),
      unit: '% of a core',
      ...ofOurs(prefix, { atMost: 0.5 }),
    },
    {
      name: `${prefix}idle: memory of the service`,
      figure: memoryMiB(server.pid),
      unit: 'MiB',
      ...ofOurs(prefix, { atMost: 110 }),
    },
    {
      name: `${prefix}idle: memory of the database`,
      figure: sharedMemoryMiB(server.database.pid),
      unit: 'MiB',
    },
  ];
}
