// Recording. A mutation's row is part of its transaction; rows of reads are gathered and written together.
import type { AuditAction, AuditQueue, AuditStamp, AuditSubject } from '../../contract/audit.ts';
import { isoOf } from '../../kernel/clock.ts';
import type { Database, Transaction } from '../../platform/db/postgres.ts';
import type { Sql } from '../../platform/db/sql.ts';
import { sql } from '../../platform/db/sql.ts';
import type { Logger } from '../../platform/log.ts';
import { allowPurge, deleteExpiredAudit } from './audit.sql.ts';

/** Records the row of a mutation inside its transaction. It cannot fail it: record_audit sees to that. */
export async function recordAudit(tx: Transaction, stamp: AuditStamp, subject: AuditSubject): Promise<void> {
  await tx.query(sql`select ${auditCall(stamp, subject)}`);
}

/** The call of record_audit, for statements that change and record in one go. */
export function auditCall(stamp: AuditStamp, subject: AuditSubject): Sql {
  return sql`record_audit(${stamp.projectId}::uuid, ${stamp.actorType}::text, ${stamp.actorId}::uuid,
    ${stamp.actorKeyId}::text, ${stamp.ipAddress}::text, ${stamp.userAgent}::text, ${stamp.action}::text,
    ${subject.resourceType}::text, ${subject.resourceId ?? null}::text, ${subject.userId ?? null}::uuid,
    ${JSON.stringify(subject.metadata ?? {})}::jsonb)`;
}

export const withAction = (stamp: AuditStamp, action: AuditAction): AuditStamp => ({ ...stamp, action });

/** Old and new values of the fields that a change really changed. */
export function changeOf(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): { old: object; new: object } {
  const changed = Object.keys(after).filter(
    (field) => field !== 'updated_at' && JSON.stringify(before[field]) !== JSON.stringify(after[field]),
  );
  const pick = (from: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(changed.map((field) => [field, from[field]]));
  return { old: pick(before), new: pick(after) };
}

interface QueuedRow {
  readonly stamp: AuditStamp;
  readonly subject: AuditSubject;
  readonly createdAt: string;
}

const flushAfterMs = 50;
const heldMax = 10_000;
const batchMax = 500;

/**
 * Holds rows for at most `flushAfterMs`. While the database is away rows wait for it, up to a bound: an
 * audit of reads must not eat the memory of the service that it watches.
 */
export function createAuditQueue(db: Database, log: Logger): AuditQueue {
  let held: QueuedRow[] = [];
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();

  const write = async () => {
    timer = null;
    while (held.length > 0) {
      const batch = held.slice(0, batchMax);
      try {
        await db.query(insertRows(batch));
      } catch (error) {
        log.warn({ err: error, rows: held.length }, 'audit rows wait for the database');
        schedule(1_000);
        return;
      }
      held = held.slice(batch.length);
    }
  };
  const schedule = (delayMs: number) => {
    timer ??= setTimeout(() => {
      writing = writing.then(write);
    }, delayMs);
  };
  return {
    add(stamp, subject) {
      if (held.length >= heldMax) {
        log.error({ action: stamp.action }, 'an audit row was dropped: too many wait for the database');
        return;
      }
      held.push({ stamp, subject, createdAt: isoOf(Date.now()) });
      schedule(flushAfterMs);
    },
    flush() {
      if (timer) clearTimeout(timer);
      writing = writing.then(write);
      return writing;
    },
  };
}

function insertRows(rows: readonly QueuedRow[]): Sql {
  const json = rows.map(({ stamp, subject, createdAt }) => ({
    project_id: stamp.projectId,
    actor_type: stamp.actorType,
    actor_id: stamp.actorId,
    actor_key_id: stamp.actorKeyId,
    user_id: subject.userId ?? null,
    action: stamp.action,
    resource_type: subject.resourceType,
    resource_id: subject.resourceId ?? null,
    ip_address: stamp.ipAddress,
    user_agent: stamp.userAgent,
    metadata: subject.metadata ?? {},
    created_at: createdAt,
  }));
  return sql`insert into audit_logs (project_id, actor_type, actor_id, actor_key_id, user_id, action,
      resource_type, resource_id, ip_address, user_agent, metadata, created_at)
    select * from jsonb_to_recordset(${JSON.stringify(json)}::jsonb) as row(project_id uuid, actor_type text,
      actor_id uuid, actor_key_id text, user_id uuid, action text, resource_type text, resource_id text,
      ip_address text, user_agent text, metadata jsonb, created_at timestamptz(3))`;
}

const purgeBatch = 5_000;

/** Deletes what has outlived the retention, a batch a transaction; resolves to how many rows went. */
export async function purgeAudit(db: Database, retentionDays: number): Promise<number> {
  let purged = 0;
  for (;;) {
    const gone = await db.transaction(async (tx) => {
      await tx.query(allowPurge);
      return tx.query(deleteExpiredAudit(retentionDays, purgeBatch));
    });
    purged += gone.length;
    if (gone.length < purgeBatch) return purged;
  }
}
