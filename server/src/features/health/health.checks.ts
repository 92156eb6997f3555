// The health checks: whether the database, the object store and Redis answer.
import type { HealthChecks, HealthStatus } from '../../contract/deps.ts';
import { singleFlight } from '../../kernel/async/single-flight.ts';
import { withTimeout } from '../../kernel/async/time-limit.ts';
import type { Database } from '../../platform/db/postgres.ts';
import { sql } from '../../platform/db/sql.ts';
import type { ObjectStore } from '../../platform/objects/object-store.ts';

const timeoutMs = 2_000;
const retryAfterMs = 500;

interface Parts {
  readonly db: Database;
  readonly objects: ObjectStore;
  /** Null if Redis is not configured. */
  readonly redisTakesWrites: (() => Promise<boolean>) | null;
}

/** Anybody may call these as often as they like, so that callers share one probe; a store may charge for each request. */
export function createHealthChecks({ db, objects, redisTakesWrites }: Parts): HealthChecks {
  return {
    database: createDatabaseCheck(db),
    storage: singleFlight(() => probe(() => objects.check().then(() => true))),
    redis: async () => (redisTakesWrites ? probe(redisTakesWrites) : 'not configured'),
  };
}

/**
 * Probes reads and writes on the connections that requests use. A connection may be busy with a long list or stuck, so
 * there is one retry on another. Writes that hang, as they do while a synchronous standby is away, are never cancelled:
 * there are at most two of them, however many clients call.
 */
function createDatabaseCheck(db: Database): () => Promise<HealthStatus> {
  const read = () => db.read(sql`select 1`);
  const write = () => singleFlight(() => db.query(writeProbe, 'background'));
  const [firstWrite, secondWrite] = [write(), write()];
  return singleFlight(() =>
    probe(async () => {
      const [written] = await Promise.all([withRetry(firstWrite, secondWrite), withRetry(read, read)]);
      return written.length > 0;
    }),
  );
}

/** Commits a message to the write-ahead log only: no table grows. */
const writeProbe = sql`
  select pg_logical_emit_message(true, 'pakhus.health', '') where current_setting('transaction_read_only') = 'off'`;

async function withRetry<Answer>(
  first: () => Promise<Answer>,
  second: () => Promise<Answer>,
): Promise<Answer> {
  const asked = first();
  const answers: Answer[] = [];
  const heard = asked.then(
    (answer) => void answers.push(answer),
    () => undefined,
  );
  await withTimeout(retryAfterMs, heard);
  return answers[0] ?? Promise.any([asked, second()]);
}

async function probe(ask: () => Promise<boolean>): Promise<HealthStatus> {
  const isUp = await withTimeout(
    timeoutMs,
    ask().catch(() => false),
    () => false,
  );
  return isUp ? 'ok' : 'unavailable';
}
