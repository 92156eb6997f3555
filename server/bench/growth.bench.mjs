// How costs grow with the number of files: every request with a thousand files and with ten million in one project, a
// tenth of them of one user, and ten audit rows per file. Then the size of tables under steady churn, and the latency of
// others while that user is deleted. BENCH_SCALE=1 is the full size, and only it writes docs/growth.json and docs/growth.svg.
import { writeFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { growthChart } from './support/chart.mjs';
import { churnMeasures } from './support/churn.mjs';
import { deletionMeasures } from './support/deletion.mjs';
import { everyRequest } from './support/every-request.mjs';
import { fillAudit, fillFiles, mixedAudit, mixedColumns } from './support/fill.mjs';
import { takeTurns, totalOf } from './support/load.mjs';
import { sizesOf } from './support/sizes.mjs';
import { tableOf } from './support/table.mjs';
import { createSpaces, createUsers } from './support/tenant.mjs';

export const name = 'growth';

const scale = Number(process.env.BENCH_SCALE ?? 0.1);
const auditScale = Number(process.env.BENCH_AUDIT_SCALE ?? scale);
const smallest = 1000;
const largest = Math.max(smallest, 10_000_000 * scale);
const steps = [10_000, 100_000, 1_000_000].filter((size) => size < largest).concat(largest);
const userFiles = (files) => Math.max(smallest, files / 10);
const auditRows = (files) => Math.max(smallest, (files * 10 * auditScale) / scale);
const otherUsers = 200;
const target = { atMost: 1.5 };
const docs = (file) => fileURLToPath(new URL(`../../docs/${file}`, import.meta.url));

export async function run({ pakhus, folder, startSide }) {
  await requireRoom(folder);
  // It vacuums often, because the churn runs for minutes only.
  const small = await startSide('small', { settings: { autovacuum_naptime: '5s' } });
  await prepare(small);
  await prepare(pakhus);
  await fillProject(small, smallest);
  const measured = [];
  for (const files of steps) {
    await fillProject(pakhus, files);
    measured.push({ files, summaries: await compare(small, pakhus, files === largest ? 5 : 2) });
    console.log(`measured with ${files.toLocaleString('en')} files`);
  }
  if (scale === 1) draw(measured);
  return [
    ...atOnce(growthMeasures(measured.at(-1).summaries)),
    ...atOnce(await diskMeasures(pakhus)),
    ...atOnce(await deletionMeasures(pakhus)),
    ...(await churnMeasures(small)),
  ];
}

/** A run of hours that is cut short must not lose what it has measured. */
function atOnce(measures) {
  console.log(tableOf(measures));
  return measures;
}

/** Bytes per file and per audit row with their indexes, as they were measured, and some to spare. */
async function requireRoom(folder) {
  const gigabytes = (largest * 1800 + auditRows(largest) * 780) / 1e9 + 5;
  const { bavail, bsize } = await statfs(folder);
  const free = (bavail * bsize) / 1e9;
  console.log(`needs about ${Math.ceil(gigabytes)} GB of disk, ${Math.floor(free)} GB are free`);
  if (free < gigabytes)
    throw new Error(
      'not enough disk: set BENCH_DIR to another one, or lower BENCH_SCALE or BENCH_AUDIT_SCALE',
    );
}

async function prepare(side) {
  side.others = await createUsers(side, side.tenant, otherUsers);
  [side.spaceId] = await createSpaces(side, side.tenant, [side.tenant.userId]);
}

async function fillProject(side, files) {
  const { userId, projectId } = side.tenant;
  side.userFiles = userFiles(files);
  side.fileId = await fillFiles(side, side.userFiles, mixedColumns(`'${side.spaceId}'::uuid`));
  const anyOther = `('{${side.others.join()}}'::uuid[])[1 + n % ${otherUsers}]`;
  await fillFiles(
    side,
    files - side.userFiles,
    { ...mixedColumns('null::uuid'), user_id: anyOther },
    { counted: `project_id = '${projectId}' and user_id <> '${userId}'` },
  );
  await fillAudit(side, auditRows(files), mixedAudit(anyOther));
}

/** Fewer rounds for the sizes in between, which are only drawn. */
async function compare(small, large, rounds) {
  const [ours, theirs] = [await everyRequest(small), await everyRequest(large)];
  const candidates = Object.keys(ours).flatMap((what) => [
    [`${what}, small`, ours[what]],
    [`${what}, large`, { ...theirs[what], mayRefuse: true }],
  ]);
  return takeTurns(Object.fromEntries(candidates), {
    rounds,
    seconds: 0.6,
    warmSeconds: 0.3,
    connections: 8,
  });
}

function growthMeasures(summaries) {
  const names = Object.keys(summaries).filter((who) => who.endsWith(', small'));
  return names.flatMap((small) => {
    const what = small.slice(0, -', small'.length);
    const [before, after] = [totalOf(summaries[small]), totalOf(summaries[`${what}, large`])];
    return [
      { name: `${what}: CPU of the service`, figure: after.cpu.service, unit: 'ms/request' },
      { name: `${what}: CPU of the database`, figure: after.cpu.database, unit: 'ms/request' },
      { name: `${what}: CPU, sum`, figure: after.cpu.sum, unit: 'ms/request' },
      {
        name: `${what}: CPU, sum, ratio to a thousand files`,
        figure: after.cpu.sum / before.cpu.sum,
        unit: '',
        target,
      },
      {
        name: `${what}: median latency, ratio to a thousand files`,
        figure: after.p50Ms / before.p50Ms,
        unit: '',
        target,
      },
      ...(after.refused > 0 ? [refusals(what, after)] : []),
    ];
  });
}

const refusals = (what, { refused, requests }) => ({
  name: `${what}: refused for lack of capacity`,
  figure: (refused / requests) * 100,
  unit: '%',
  target: { atMost: 0 },
});

async function diskMeasures({ database }) {
  const sizes = await sizesOf(database, ['files', 'objects', 'audit_logs']);
  return ['files', 'objects', 'audit_logs'].map((table) => ({
    name: `${table} with indexes`,
    figure: sizes.filter((one) => one.table === table).reduce((total, { bytes }) => total + bytes, 0) / 1e9,
    unit: 'GB',
  }));
}

/** Requests of the same kind share a line: their highest figure. */
const lines = {
  'read a user or a file': /^(user|file) detail/,
  'list files': /^list/,
  'list folders': /^folders/,
  'read the audit log': /^audit/,
  'read statistics': /^stats/,
  'upload 10 KiB': /^upload/,
  'delete a file': /^delete/,
};

function draw(measured) {
  const highest = (summaries, side, pattern) => {
    const matching = Object.entries(summaries).filter(
      ([who]) => pattern.test(who) && who.endsWith(`, ${side}`),
    );
    return Math.max(...matching.map(([, rounds]) => totalOf(rounds).cpu.sum));
  };
  const rounded = (figure) => Math.round(figure * 1000) / 1000;
  const series = Object.entries(lines).map(([line, pattern]) => [
    line,
    [
      rounded(highest(measured[0].summaries, 'small', pattern)),
      ...measured.map(({ summaries }) => rounded(highest(summaries, 'large', pattern))),
    ],
  ]);
  const figures = {
    unit: 'ms of CPU per request, service and database',
    sizes: [smallest, ...measured.map(({ files }) => files)],
    series: Object.fromEntries(series),
  };
  writeFileSync(docs('growth.json'), `${JSON.stringify(figures, null, 2)}\n`);
  writeFileSync(docs('growth.svg'), growthChart(figures.sizes, figures.series));
}
