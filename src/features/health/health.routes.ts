// Health, for load balancers, which read the status code, and for people, who read the rest.
import { Type } from 'typebox';
import type { Deps } from '../../contract/deps.ts';
import { route } from '../../contract/route.ts';
import { Choice } from '../../contract/wire.ts';
import { onceFor } from '../../kernel/once-for.ts';
import { waitAtMost } from '../../kernel/patience.ts';
import { singleFlight } from '../../kernel/single-flight.ts';
import type { Database } from '../../platform/db/postgres.ts';
import { sql } from '../../platform/db/sql.ts';

const Check = Choice(['ok', 'unavailable', 'not configured']);

const Health = Type.Object({
  status: Choice(['ok', 'degraded']),
  checks: Type.Object({ database: Check, storage: Check, redis: Check }),
  version: Type.String({ examples: ['1.0.0'] }),
});

const Degraded = Type.Object(Health.properties, {
  examples: [
    {
      status: 'degraded',
      checks: { database: 'unavailable', storage: 'ok', redis: 'not configured' },
      version: '1.0.0',
    },
  ],
});

type CheckResult = 'ok' | 'unavailable' | 'not configured';

const probeTimeMs = 2_000;
const secondTryMs = 500;

export const healthRoutes = [
  route(
    {
      id: 'health.read',
      method: 'GET',
      path: '/health',
      summary: 'Whether the service works',
      description:
        'Only the database decides between 200 and 503, by a read and a write; the other checks are for people to read.',
      access: { public: true, why: 'load balancers ask it' },
      audit: null,
      returns: { status: 200, body: Health },
      also: { 503: { description: 'The database does not answer, or takes no writes', body: Degraded } },
      errors: [],
    },
    async ({ deps, call }) => {
      const [database, storage, redis] = await Promise.all([
        databaseOf(deps)(),
        storageOf(deps)(),
        probe(deps.probes.redis),
      ]);
      const status = database === 'ok' ? ('ok' as const) : ('degraded' as const);
      if (status === 'degraded') call.setStatus(503);
      return { status, checks: { database, storage, redis }, version: deps.version };
    },
  ),
];

/** Anybody may ask, as often as they like: a store that may want money for every answer gets one question at a time. */
const storageOf = onceFor((deps: Deps) => singleFlight(() => probe(deps.probes.storage)));

/**
 * Whether reads and writes work, on the connections that requests use. A write that hangs, as it does while a
 * synchronous standby is away, says unavailable until it is answered: one at a time, however many ask.
 */
const databaseOf = onceFor(({ db }: Deps) => {
  const write = singleFlight(() => db.query(writeProbe));
  return singleFlight(() =>
    probe(async () => {
      const [written] = await Promise.all([write(), readTwice(db)]);
      return written.length > 0;
    }),
  );
});

/** Commits a note to the write-ahead log and nowhere else: there is nothing to grow. */
const writeProbe = sql`
  select pg_logical_emit_message(true, 'pakhus.health', '') where current_setting('transaction_read_only') = 'off'`;

/** One of the connections that reads share may be busy with a long list; the second try takes another. */
async function readTwice(db: Database): Promise<void> {
  const read = () => db.read(sql`select 1`);
  let answered = false;
  const first = read().then(() => {
    answered = true;
  });
  await waitAtMost(
    secondTryMs,
    first.catch(() => undefined),
  );
  if (!answered) await Promise.any([first, read()]);
}

/** `null` from a probe means that the part is not configured. */
async function probe(ask: () => Promise<boolean> | null): Promise<CheckResult> {
  const asked = ask();
  if (asked === null) return 'not configured';
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, probeTimeMs, false);
  });
  const answer = await Promise.race([asked.catch(() => false), late]);
  clearTimeout(timer);
  return answer ? 'ok' : 'unavailable';
}
