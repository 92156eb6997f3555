// The embedded PostgreSQL compared with PGlite (npm install --no-save @electric-sql/pglite): start, commits, selects.
// See docs/adr/0009-embedded-postgres.md.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../dist/platform/db/embedded.js';

const quiet = { info: () => undefined, warn: () => undefined, error: console.error };
const folder = await mkdtemp('/var/tmp/pakhus-bench-');
const print = (title, figure) => console.log(`${title.padEnd(34)}${figure}`);

async function timed(title, work) {
  const startedAt = performance.now();
  const result = await work();
  print(title, `${Math.round(performance.now() - startedAt)} ms`);
  return result;
}

async function rate(title, count, work) {
  const startedAt = performance.now();
  for (let n = 0; n < count; n += 1) await work(n);
  print(title, `${Math.round((count * 1000) / (performance.now() - startedAt))} 1/s`);
}

async function measure(title, query) {
  await query('create table t (id int primary key, a text)', []);
  await rate(`${title}: commits, one client`, 500, (n) => query('insert into t values ($1, $2)', [n, 'x']));
  await rate(`${title}: selects, one client`, 2_000, (n) =>
    query('select * from t where id = $1', [n % 500]),
  );
}

/** Proportional set size, so that shared buffers count once. */
async function serverMegabytes() {
  const pidFile = join(folder, 'embedded/postgres/cluster/data/postmaster.pid');
  const [postmaster] = (await readFile(pidFile, 'utf8')).split('\n');
  let kibibytes = 0;
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
    const parent = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1];
    if (pid !== postmaster && parent !== postmaster) continue;
    const usage = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
    kibibytes += Number(/^Pss:\s+(\d+)/m.exec(usage)?.[1] ?? 0);
  }
  return Math.round((kibibytes * 1024) / 1e6);
}

const start = () => startEmbeddedPostgres({ dataDir: join(folder, 'embedded'), log: quiet });
await (await timed('PostgreSQL: first start', start)).stop();
const server = await timed('PostgreSQL: second start', start);
const client = new pg.Client(server.connection);
await client.connect();
await measure('PostgreSQL', (text, values) => client.query({ name: text.slice(0, 6), text, values }));
print('PostgreSQL: memory', `${await serverMegabytes()} MB in all its processes`);
await client.end();
await server.stop();

const { PGlite } = await import('@electric-sql/pglite').catch(() => ({}));
if (PGlite) {
  const before = process.memoryUsage.rss();
  const lite = new PGlite(join(folder, 'pglite'));
  await timed('PGlite: first start', () => lite.waitReady);
  await measure('PGlite', (text, values) => lite.query(text, values));
  print('PGlite: memory', `${Math.round((process.memoryUsage.rss() - before) / 1e6)} MB in this process`);
  await lite.close();
}
await rm(folder, { recursive: true, force: true });
