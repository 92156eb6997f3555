// Health, for load balancers, which read the status code, and for people, who read the rest.
import { Type } from 'typebox';
import type { Deps } from '../../contract/deps.ts';
import { route } from '../../contract/route.ts';
import { Choice } from '../../contract/wire.ts';
import { onceFor } from '../../kernel/async/once-for.ts';
import { singleFlight } from '../../kernel/async/single-flight.ts';
import { withTimeout } from '../../kernel/async/time-limit.ts';
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
        'Only the database decides between 200 and 503, by a read and a write; the other checks are for people to read. Redis is checked by a write.',
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
 * Whether reads and writes work, on the connections that requests use. One connection may be busy with a long list or
 * be stuck, so there is a second try on another. Writes that hang, as they do while a synchronous standby is away, are
 * not given up: there are never more than two of them, however many ask.
 */
const databaseOf = onceFor(({ db }: Deps) => {
  const read = () => db.read(sql`select 1`);
  const write = () => singleFlight(() => db.query(writeProbe, 'background'));
  const [firstWrite, secondWrite] = [write(), write()];
  return singleFlight(() =>
    probe(async () => {
      const [written] = await Promise.all([inTwoTries(firstWrite, secondWrite), inTwoTries(read, read)]);
      return written.length > 0;
    }),
  );
});

/** Commits a note to the write-ahead log and nowhere else: there is nothing to grow. */
const writeProbe = sql`
  select pg_logical_emit_message(true, 'pakhus.health', '') where current_setting('transaction_read_only') = 'off'`;

async function inTwoTries<Answer>(
  first: () => Promise<Answer>,
  second: () => Promise<Answer>,
): Promise<Answer> {
  const asked = first();
  const answers: Answer[] = [];
  const heard = asked.then(
    (answer) => void answers.push(answer),
    () => undefined,
  );
  await withTimeout(secondTryMs, heard);
  return answers[0] ?? Promise.any([asked, second()]);
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
