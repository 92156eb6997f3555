// How the cost of a request grows with the number of files: the same requests with a thousand files and with a
// million, and with one API process and with two. Also drawn, as docs/growth.svg.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { growthChart } from './support/chart.mjs';
import { fillFiles } from './support/fill.mjs';
import { formHeaders, formOf } from './support/forms.mjs';
import { drive, takeTurns, totalOf } from './support/load.mjs';
import { startPakhus } from './support/server.mjs';

export const name = 'growth';

const sizes = (process.env.BENCH_SIZES ?? '1000,10000,100000,1000000').split(',').map(Number);
const figures = fileURLToPath(new URL('../../docs/growth.json', import.meta.url));
const chart = fileURLToPath(new URL('../../docs/growth.svg', import.meta.url));

export async function run({ pakhus, tenant, database, folder }) {
  const headers = { authorization: `Bearer ${tenant.key}` };
  const base = `/api/v1/project/users/${tenant.userId}`;
  const body = formOf(10 * 1024);
  const series = {};
  // Warm up the compiler, or the first requests would measure that instead of a thousand files.
  await drive({ server: pakhus, request: { path: base, headers }, seconds: 3 });
  for (const size of sizes) {
    const fileId = await fillFiles(pakhus, size, { folder: "'folder-' || (n % 50)" });
    const read = (path) => ({ server: pakhus, request: { path, headers } });
    const summaries = await takeTurns(
      {
        'read a user': read(base),
        'read a file': read(`${base}/files/${fileId}`),
        'list 100 files': read(`${base}/files?limit=100`),
        // As many as the folder has with a thousand files, so that the reply is the same at every size.
        'list a folder': read(`${base}/files/folders?prefix=folder-7&limit=20`),
        'read statistics': read('/api/v1/project/stats/storage'),
        'upload 10 KiB': {
          server: pakhus,
          expect: 201,
          request: { method: 'POST', path: `${base}/files`, headers: { ...headers, ...formHeaders }, body },
        },
      },
      { rounds: 3, seconds: 0.6, connections: 8 },
    );
    for (const [what, rounds] of Object.entries(summaries)) {
      series[what] = [...(series[what] ?? []), Math.round(totalOf(rounds).p50Ms * 100) / 100];
    }
  }
  writeFileSync(figures, `${JSON.stringify({ unit: 'ms, median', sizes, series }, null, 2)}\n`);
  draw();
  const grown = Object.entries(series).flatMap(([what, medians]) => [
    { name: `${what}: median with ${sizes[0].toLocaleString('en')} files`, figure: medians[0], unit: 'ms' },
    {
      name: `${what}: ${sizes.at(-1).toLocaleString('en')} files, ratio to that`,
      figure: medians.at(-1) / medians[0],
      unit: '',
    },
  ]);
  return [
    ...grown,
    ...(await withTwoProcesses({ pakhus, database, folder, request: { path: base, headers } })),
  ];
}

/** Drawn from the written figures, so that chart and figures agree. */
function draw() {
  const written = JSON.parse(readFileSync(figures, 'utf8'));
  writeFileSync(chart, growthChart(written.sizes, written.series));
}

/** The load goes to one process, or is shared between two. */
async function withTwoProcesses({ pakhus, database, folder, request }) {
  const second = await startPakhus(folder, database, { name: 'second', environment: { ROLE: 'api' } });
  try {
    const one = [];
    const two = [];
    for (let round = 0; round < 4; round++) {
      one.push((await drive({ server: pakhus, request, connections: 32, seconds: 1.5 })).perSecond);
      const both = await Promise.all(
        [pakhus, second].map((server) => drive({ server, request, connections: 16, seconds: 1.5 })),
      );
      two.push(both[0].perSecond + both[1].perSecond);
    }
    const best = (figures) => Math.max(...figures);
    return [
      { name: 'reads with one API process', figure: best(one), unit: '1/s' },
      { name: 'reads with two API processes', figure: best(two), unit: '1/s' },
      { name: 'two processes to one', figure: best(two) / best(one), unit: '' },
    ];
  } finally {
    await second.stop();
  }
}
