// Lists of one user's files that are searched and sorted: what is common, what is rare, what is not there, and what lies far from
// where the list begins. BENCH_FILES=10000000 is the full size (about 40 GB of disk).
import { fillFiles, fillNames } from './support/fill.mjs';
import { drive, pace } from './support/load.mjs';
import { createSpaces } from './support/tenant.mjs';

export const name = 'search';

const files = Number(process.env.BENCH_FILES ?? Math.max(20_000, 1_000_000 * pace));
const target = { atMost: 50 };

/** One file in 50 has a given word, one in 1,000 a given month; a number names one file. Only the oldest have a zebra. */
const columns = (spaceId) => ({
  name: `case when n <= 25 then 'Zébra ' || n else (array['IMG', 'Scan', 'Résumé', 'Invoice', 'Photo'])[1 + n % 5] || '_'
    || lpad(n::text, 8, '0') || ' word' || lpad((n * 7919::bigint % 50)::text, 2, '0')
    || ' month' || lpad((n * 104729::bigint % 1000)::text, 3, '0') || '.jpg' end`,
  folder: `'folder-' || (n % 10)`,
  size: `1 + n * 7919::bigint % 1000000`,
  sha256: `sha256(n::text::bytea)`,
  space_id: `case when n % 3 = 0 then '${spaceId}'::uuid end`,
});

const number = (turn) => String(1 + ((turn * 7919) % (files - 100))).padStart(8, '0');
const digits = (turn, count, kinds) => String((turn * 31) % kinds).padStart(count, '0');

/** Each gets a number that differs from request to request. */
const searches = {
  'common text': () => 'q=img',
  'common text, by name': () => 'q=img&sort=name',
  'a fiftieth': (turn) => `q=word${digits(turn, 2, 50)}`,
  'a fiftieth, by size': (turn) => `q=word${digits(turn, 2, 50)}&sort=size`,
  'a thousandth': (turn) => `q=month${digits(turn, 3, 1000)}`,
  'a thousandth, by name': (turn) => `q=month${digits(turn, 3, 1000)}&sort=name`,
  'one file': (turn) => `q=${number(turn)}`,
  'far away': () => 'q=zebra',
  'far away, by size': () => 'q=zebra&sort=size&order=asc',
  absent: (turn) => `q=nothing${turn}`,
  'two characters': (turn) => `q=${digits(turn, 2, 100)}`,
  'two absent characters': () => 'q=qq',
  'by name': () => 'sort=name',
  'by size, a folder': (turn) => `sort=size&folder=folder-${turn % 10}`,
  'text in a folder': (turn) => `q=month${digits(turn, 3, 1000)}&folder=folder-${turn % 10}`,
  'text in a space': (turn, spaceId) => `q=word${digits(turn, 2, 50)}&space_id=${spaceId}`,
  sizes: (turn) => `size_min=${turn * 100}&size_max=${turn * 100 + 50}`,
  'sizes by name': (turn) => `size_min=${turn * 100}&size_max=${turn * 100 + 50}&sort=name`,
  'a digest': () => `sha256=${'ab'.repeat(32)}`,
  'a period': () => `created_to=${new Date(Date.now() - files * 50).toISOString()}`,
  'text and sizes': (turn) => `q=word${digits(turn, 2, 50)}&size_max=${1000 + turn}`,
};

export async function run({ pakhus }) {
  const { tenant } = pakhus;
  const [spaceId] = await createSpaces(pakhus, tenant, [tenant.userId]);
  await fillFiles(pakhus, files, columns(spaceId));
  await fillNames(pakhus);
  const measures = [{ name: 'files of the user', figure: files, unit: '' }];
  for (const [what, query] of Object.entries(searches)) {
    let turn = 0;
    const request = () => ({
      path: `/api/v1/project/users/${tenant.userId}/files?limit=20&${query(turn++, spaceId)}`,
      headers: { authorization: `Bearer ${tenant.key}` },
    });
    await drive({ server: pakhus, request, connections: 1, seconds: 1 });
    const { p50Ms, p99Ms } = await drive({ server: pakhus, request, connections: 2, seconds: 4 });
    measures.push(
      { name: `${what}: p50`, figure: p50Ms, unit: 'ms' },
      { name: `${what}: p99`, figure: p99Ms, unit: 'ms', target },
    );
  }
  return measures;
}
