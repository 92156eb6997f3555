// Records events in the transaction of their change. Files record theirs in db/functions, together with their rows.
import type { AuditStamp, AuditSubject } from '../../contract/audit.ts';
import type { EventType } from '../../contract/event.ts';
import type { Transaction } from '../../platform/db/postgres.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { auditCall } from '../audit/audit.service.ts';

/** Records a mutation in the audit log and as an event, with one statement. */
export async function recordChange(
  tx: Transaction,
  stamp: AuditStamp,
  subject: AuditSubject,
  event: Sql,
): Promise<void> {
  await tx.query(sql`select ${auditCall(stamp, subject)}, ${event}`);
}

export async function recordEvent(tx: Transaction, event: Sql): Promise<void> {
  await tx.query(sql`select ${event}`);
}

/** `data` is the resource as its detail read shows it. */
export const eventOf = (projectId: string, type: EventType, userId: string, data: object): Sql =>
  sql`record_event(${projectId}::uuid, ${type}::text, ${userId}::uuid, ${JSON.stringify(data)}::text)`;

/** An event about a user, as the user is in the transaction now. */
export const userEvent = (
  projectId: string,
  type: 'user.created' | 'user.updated' | 'user.deleted',
  userId: string,
): Sql => sql`record_user_event(${projectId}::uuid, ${type}::text, ${userId}::uuid)`;

/** The thresholds that a change of the limit alone has crossed. */
export const thresholdEvents = (
  projectId: string,
  userId: string,
  usedBytes: number,
  limitBefore: number | null,
  limitAfter: number | null,
): Sql => sql`record_thresholds(${projectId}::uuid, ${userId}::uuid, ${usedBytes}::bigint, ${limitBefore}::bigint,
    ${usedBytes}::bigint, ${limitAfter}::bigint)`;

/** The same for all users of a plan whose limit has changed. */
export const planThresholdEvents = (
  projectId: string,
  planId: string,
  limitBefore: number | null,
  limitAfter: number | null,
): Sql =>
  sql`record_plan_thresholds(${projectId}::uuid, ${planId}::uuid, ${limitBefore}::bigint, ${limitAfter}::bigint)`;
