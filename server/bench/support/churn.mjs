// The size of tables and indexes while files come and go at the same rate: it must settle.
import { changesOf } from './every-request.mjs';
import { drive } from './load.mjs';
import { query, sizesOf } from './sizes.mjs';

const rounds = 20;
/** The first rounds make the free space that the later ones use again. */
const firstRounds = 8;
const seconds = 5;
/** Only added to, until they expire. */
const growing = ['audit_logs', 'daily_stats', 'folded_batches'];

export async function churnMeasures(server) {
  const tables = await churnedTables(server);
  const changes = changesOf(server, server.others[0]);
  let settled = [];
  for (let round = 1; round <= rounds; round++) {
    for (const change of Object.values(changes)) {
      await change.prepare?.();
      // All that were uploaded are deleted.
      await drive({ ...change, connections: 8, seconds: change.prepare ? 3600 : seconds });
    }
    if (round === firstRounds) settled = await sizesOf(server.database, tables);
  }
  const sizes = await sizesOf(server.database, tables);
  const total = (all) => all.reduce((sum, { bytes }) => sum + bytes, 0);
  return [
    {
      name: `churn: tables and indexes after ${firstRounds} rounds`,
      figure: total(settled) / 2 ** 20,
      unit: 'MiB',
    },
    {
      name: `churn: after ${rounds} rounds, ratio`,
      figure: total(sizes) / total(settled),
      unit: '',
      target: { atMost: 1.1 },
    },
    ...sizes
      .map(({ table, index, bytes }, at) => ({
        name: `churn: growth of ${index ?? table}`,
        figure: (bytes - settled[at].bytes) / 1024,
        unit: 'KiB',
      }))
      .filter(({ figure }) => figure > 256),
  ];
}

async function churnedTables({ database }) {
  const all = `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
    and not relispartition and relname <> all($1)`;
  const { rows } = await query(database.url, all, [growing]);
  return rows.map(({ name }) => name);
}
