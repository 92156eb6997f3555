// The cost of large reads: a file with its URL, a list of 100, the first page and page 5,000 of half a million
// files, and one level of a folder with a hundred thousand. On a shared machine CPU time varies by half, so a bare
// handler that reads the same rows takes turns with Pakhus.
import { startBare } from './support/bare.mjs';
import { cursorAfter } from './support/cursor.mjs';
import { fillFiles } from './support/fill.mjs';
import { takeTurns, totalOf } from './support/load.mjs';
import { bothSides, costsOfAll } from './support/measures.mjs';
import { startS3Sink } from './support/s3-sink.mjs';

export const name = 'files-read';

const files = Number(process.env.BENCH_FILES ?? 500_000);
const folderFiles = Math.min(100_000, files / 5);
const pageSize = 100;
const deepPage = Math.min(5_000, Math.floor(files / pageSize) - 1);
const deepList = `list of 100, page ${deepPage}`;
const folder = `case when n <= ${folderFiles} then 'many' when n <= ${folderFiles + pageSize} then 'small'
  else 'folder-' || (n % 50) || '/deeper-' || (n % 7) end`;
const targets = {
  detail: { atMost: 0.27 },
  'detail on S3': { atMost: 0.27 },
  'list of 100': { atMost: 1.6 },
};

export async function run({ pakhus, other, startServer, startAnother }) {
  const bare = await startBare(startServer, pakhus.database);
  const onS3 = await startAnother('on-s3', await startS3Sink());
  for (const side of [pakhus, other].filter(Boolean)) side.fileId = await fillFiles(side, files, { folder });
  const cursor = await cursorAfter(pakhus, deepPage * pageSize);
  const { projectId, userId } = pakhus.tenant;
  const bareRead = (path) => ({
    server: bare,
    request: { path: `/projects/${projectId}/users/${userId}/files${path}` },
  });
  const details = await takeTurns(
    {
      'bare detail': bareRead(`/${pakhus.fileId}`),
      'detail on S3': { ...read(pakhus, `/${pakhus.fileId}`), server: onS3 },
      ...(await bothSides({ pakhus, other }, (side) => ({ detail: read(side, `/${side.fileId}`) }))),
    },
    { rounds: 8, seconds: 2, warmSeconds: 20, connections: 32 },
  );
  const lists = await takeTurns(
    {
      'bare list of 100': bareRead(`?limit=${pageSize}`),
      [deepList]: read(pakhus, `?limit=${pageSize}&cursor=${cursor}`),
      ...(await bothSides({ pakhus, other }, listsOn)),
    },
    { rounds: 8, seconds: 1, warmSeconds: 6, connections: 32 },
  );
  return [...costsOfAll({ ...details, ...lists }, targets), ...ratiosOf({ ...details, ...lists })];
}

const read = (server, path) => ({
  server,
  request: {
    path: `/api/v1/project/users/${server.tenant.userId}/files${path}`,
    headers: { authorization: `Bearer ${server.tenant.key}` },
  },
});

const listsOn = (server) => ({
  'list of 100': read(server, `?limit=${pageSize}`),
  'small folder': read(server, `/folders?prefix=small&limit=${pageSize}`),
  'folder of many files': read(server, `/folders?prefix=many&limit=${pageSize}`),
  'folders beside it': read(server, `/folders?limit=${pageSize}`),
});

function ratiosOf(summaries) {
  const ratio = (figure, who, base) => figure(totalOf(summaries[who])) / figure(totalOf(summaries[base]));
  const toBare = (who, base) => ({
    name: `${who}: CPU, sum, ratio to bare server`,
    figure: ratio(({ cpu }) => cpu.sum, who, base),
    unit: '',
  });
  const latency = (who, base) => ({
    name: `${who} to ${base}, latency`,
    figure: ratio(({ p50Ms }) => p50Ms, who, base),
    unit: '',
    target: { atMost: 1.5 },
  });
  return [
    toBare('detail', 'bare detail'),
    toBare('detail on S3', 'bare detail'),
    toBare('list of 100', 'bare list of 100'),
    latency(deepList, 'list of 100'),
    latency('folder of many files', 'small folder'),
  ];
}
