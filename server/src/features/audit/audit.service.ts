// Writes audit rows: those of mutations in the mutation's transaction, those of reads in batches.
import type { AuditAction, AuditQueue, AuditStamp, AuditSubject } from '../../contract/audit.ts';
import { isoOf } from '../../kernel/clock.ts';
import { toCamelCase } from '../../kernel/text/casing.ts';
import type { Database, Queryable, Transaction } from '../../platform/db/postgres.ts';
import type { Sql } from '../../platform/db/sql.ts';
import { sql } from '../../platform/db/sql.ts';
import type { Logger } from '../../platform/log.ts';
import { findRetention } from './audit.sql.ts';

/** Records a mutation in its own transaction. Never fails it: record_audit catches its own errors. */
export async function recordAudit(tx: Transaction, stamp: AuditStamp, subject: AuditSubject): Promise<void> {
  await tx.query(sql`select ${auditCall(stamp, subject)}`);
}

/** The call of record_audit, for statements that change and record at once. */
export function auditCall(stamp: AuditStamp, subject: AuditSubject): Sql {
  return sql`record_audit(${stamp.projectId}::uuid, ${stamp.actorType}::text, ${stamp.actorId}::uuid,
    ${stamp.actorKeyId}::text, ${stamp.ipAddress}::text, ${stamp.userAgent}::text, ${stamp.action}::text,
    ${subject.resourceType}::text, ${subject.resourceId ?? null}::text, ${subject.userId ?? null}::uuid,
    ${JSON.stringify(toApiNames(subject.metadata ?? {}))}::jsonb)`;
}

/** Columns that the API names in camelCase. */
const inCamelCase: ReadonlySet<string> = new Set([
  'storage_limit',
  'max_file_size',
  'allowed_mimes',
  'max_files',
  'max_spaces',
  'cors_origins',
  'dev_mode',
  'rate_limit_max',
  'rate_limit_window',
  'mime_type',
  'storage_key',
]);

/** Old and new values with the field names of the API. */
function toApiNames(metadata: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const named = (values: object) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [
        inCamelCase.has(name) ? toCamelCase(name) : name,
        value,
      ]),
    );
  const sides = (['old', 'new'] as const).filter((side) => isObject(metadata[side]));
  return { ...metadata, ...Object.fromEntries(sides.map((side) => [side, named(metadata[side] as object)])) };
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

export const withAction = (stamp: AuditStamp, action: AuditAction): AuditStamp => ({ ...stamp, action });

/** Old and new values of the fields that differ. */
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

/** Writes rows after at most `flushAfterMs`. While the database is down, it keeps up to `heldMax` rows in memory. */
export function createAuditQueue(db: Database, log: Logger): AuditQueue {
  let held: QueuedRow[] = [];
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();

  const write = async () => {
    timer = null;
    while (held.length > 0) {
      const batch = held.slice(0, batchMax);
      try {
        await db.query(insertRows(batch), 'background');
      } catch (error) {
        log.warn({ err: error, rows: held.length }, 'could not write audit rows, retrying');
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
        log.error({ action: stamp.action }, 'audit row dropped: too many are waiting for the database');
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

/** Consecutive rows of one caller share a stamp, to send it once. */
interface Stamped {
  readonly stamp: AuditStamp;
  readonly resource_type: string;
  readonly rows: unknown[][];
}

function insertRows(queued: readonly QueuedRow[]): Sql {
  const stamped: Stamped[] = [];
  for (const { stamp, subject, createdAt } of queued) {
    let last = stamped.at(-1);
    if (!last || last.resource_type !== subject.resourceType || !isSameStamp(last.stamp, stamp)) {
      last = { stamp, resource_type: subject.resourceType, rows: [] };
      stamped.push(last);
    }
    const row: unknown[] = [subject.userId ?? null, subject.resourceId ?? null, createdAt];
    if (subject.metadata) row.push(subject.metadata);
    last.rows.push(row);
  }
  return sql`insert into audit_logs (project_id, actor_type, actor_id, actor_key_id, action, resource_type,
      ip_address, user_agent, user_id, resource_id, created_at, metadata)
    select "projectId", "actorType", "actorId", "actorKeyId", action, resource_type, "ipAddress", "userAgent",
      (row ->> 0)::uuid, row ->> 1, (row ->> 2)::timestamptz(3), coalesce(row -> 3, '{}')
    from jsonb_to_recordset(${JSON.stringify(stamped)}::jsonb) as stamped(stamp jsonb, resource_type text, rows jsonb),
      jsonb_to_record(stamp) as stamp("projectId" uuid, "actorType" text, "actorId" uuid, "actorKeyId" text,
        action text, "ipAddress" text, "userAgent" text),
      jsonb_array_elements(rows) as row`;
}

const isSameStamp = (one: AuditStamp, other: AuditStamp): boolean =>
  one.action === other.action &&
  one.projectId === other.projectId &&
  one.actorType === other.actorType &&
  one.actorId === other.actorId &&
  one.actorKeyId === other.actorKeyId &&
  one.ipAddress === other.ipAddress &&
  one.userAgent === other.userAgent;

export interface RetentionSetting {
  readonly retention_days: number;
}

const defaultRetention: RetentionSetting = { retention_days: 365 };

export async function readRetention(db: Queryable): Promise<RetentionSetting> {
  const [row] = await db.query<{ value: RetentionSetting }>(findRetention);
  return row?.value ?? defaultRetention;
}
