// End-users of a project.
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import { userNotFound } from '../../contract/refusals.ts';
import type { PlanFacts, Subject } from '../../contract/subject.ts';
import { retry } from '../../kernel/async/retry.ts';
import { PakhusError } from '../../kernel/error.ts';
import { afterCursor, type PageRequest, toPage } from '../../platform/db/paging.ts';
import { brokenConstraint, type Transaction } from '../../platform/db/postgres.ts';
import { projectTransaction, readPage, search } from '../../platform/db/project-work.ts';
import { noSql } from '../../platform/db/sql.ts';
import { recordAudit } from '../audit/audit.service.ts';
import { recordChange, recordEvent, thresholdEvents, userEvent } from '../events/events.record.ts';
import { dropFilesOfUser, refuseHeld } from '../files/files.service.ts';
import { lockProjectShared } from '../locks/locks.project.ts';
import { planNotFound, plansInForce } from '../plans/plans.service.ts';
import { dropUploadsOfUser } from '../uploads/uploads.service.ts';
import {
  afterSearchKey,
  deleteUser,
  type FoundUserRow,
  findUsers,
  insertUser,
  listUsers,
  listUsersNearLimit,
  lockUser,
  type UserRow,
  updateUser,
  updateUserPlan,
} from './users.sql.ts';

export interface UserFilter {
  /** The beginning of the external id. */
  readonly q?: string;
  /** Percent of the plan's storage limit. */
  readonly usage_min?: number;
}

export async function listProjectUsers(deps: Deps, projectId: string, page: PageRequest & UserFilter) {
  const { rows: kept, next_cursor } = await (page.q === undefined
    ? newestUsers(deps, projectId, page)
    : foundUsers(deps, projectId, page.q, page));
  const findPlan = await plansInForce(
    deps.db,
    projectId,
    kept.map((row) => row.plan_id),
  );
  return { users: kept.map((row) => toSubject(row, findPlan(row.plan_id))), next_cursor };
}

async function newestUsers(deps: Deps, projectId: string, page: PageRequest & UserFilter) {
  const list = `users:${projectId}`;
  const after = afterCursor(deps, list, page.cursor);
  const rows =
    page.usage_min === undefined
      ? await readPage<UserRow>(deps, projectId, listUsers(projectId, after, page))
      : await search<UserRow>(
          deps,
          projectId,
          listUsersNearLimit(projectId, page.usage_min, undefined, after, page),
        );
  return toPage(deps, list, rows, page.limit);
}

/** Ordered by external id. The list has another name, so that a cursor of the other order is refused. */
async function foundUsers(deps: Deps, projectId: string, start: string, page: PageRequest & UserFilter) {
  const { cursor, limit, usage_min } = page;
  const list = `users by external id:${projectId}`;
  const after = cursor === undefined ? noSql : afterSearchKey(deps.cursors.decode(list, cursor));
  const rows =
    usage_min === undefined
      ? await readPage<FoundUserRow>(deps, projectId, findUsers(projectId, start, after, page))
      : await search<FoundUserRow>(
          deps,
          projectId,
          listUsersNearLimit(projectId, usage_min, start, after, page),
        );
  const kept = rows.slice(0, limit);
  const last = kept[limit - 1];
  const next_cursor =
    rows.length > limit && last ? deps.cursors.encode(list, [last.search_key, last.id]) : null;
  return { rows: kept, next_cursor };
}

const attemptsMax = 5;

export async function createUser(
  deps: Deps,
  projectId: string,
  { externalId, planId = null }: { readonly externalId: string; readonly planId?: string | null },
  audit: AuditStamp,
): Promise<Subject> {
  // The default plan may be deleted at the same time: retry with the new default.
  const isRetryable = (error: unknown) => planId === null && brokenConstraint(error) === 'users_plan';
  const insert = async (tx: Transaction): Promise<Subject> => {
    const [row] = await tx.query<UserRow>(insertUser(projectId, externalId, planId));
    const user = await withPlan(tx, projectId, row as UserRow);
    const metadata = { new: { external_id: user.externalId, plan_id: user.plan?.id ?? null } };
    const subject = { resourceType: 'user', resourceId: user.id, userId: user.id, metadata };
    await recordChange(tx, audit, subject, userEvent(projectId, 'user.created', user.id));
    return user;
  };
  return retry(attemptsMax, isRetryable, () => projectTransaction(deps, projectId, insert)).catch(
    explainConflict,
  );
}

export async function setUserActive(
  deps: Deps,
  projectId: string,
  userId: string,
  active: boolean | undefined,
  audit: AuditStamp,
): Promise<Subject> {
  return projectTransaction(deps, projectId, async (tx) => {
    const before = await lockAndRead(tx, projectId, userId);
    const [after] = await tx.query<UserRow>(updateUser(projectId, userId, active ?? before.active));
    const metadata = { old: { active: before.active }, new: { active: active ?? before.active } };
    const subject = { resourceType: 'user', resourceId: userId, userId, metadata };
    await recordChange(tx, audit, subject, userEvent(projectId, 'user.updated', userId));
    return withPlan(tx, projectId, after as UserRow);
  });
}

export async function assignPlan(
  deps: Deps,
  projectId: string,
  userId: string,
  planId: string,
  audit: AuditStamp,
): Promise<Subject> {
  return projectTransaction(deps, projectId, async (tx) => {
    const before = await lockAndRead(tx, projectId, userId);
    const [after] = await tx.query<UserRow>(updateUserPlan(projectId, userId, planId)).catch(explainConflict);
    const metadata = { old: { plan_id: before.plan_id }, new: { plan_id: planId } };
    const about = { resourceType: 'user', resourceId: userId, userId, metadata };
    await recordChange(tx, audit, about, userEvent(projectId, 'user.updated', userId));
    // Recorded for the plan as well as for the user.
    const assigned = { ...audit, action: 'plan.assign' } as const;
    const findPlan = await plansInForce(tx, projectId, [before.plan_id, planId]);
    const [former, plan] = [findPlan(before.plan_id), findPlan(planId)];
    await recordChange(
      tx,
      assigned,
      { resourceType: 'plan', resourceId: planId, userId, metadata },
      thresholdEvents(
        projectId,
        userId,
        before.used_bytes,
        former?.storageLimit ?? null,
        plan?.storageLimit ?? null,
      ),
    );
    return toSubject(after as UserRow, plan);
  });
}

export async function removeUser(
  deps: Deps,
  projectId: string,
  userId: string,
  audit: AuditStamp,
): Promise<void> {
  const remove = async (tx: Transaction) => {
    // Deleting the project locks the same files in another order.
    await lockProjectShared(tx, projectId);
    const row = await lockAndRead(tx, projectId, userId);
    await refuseHeld(tx, projectId, userId, 'The user has a file that');
    await dropUploadsOfUser(tx, projectId, userId);
    await dropFilesOfUser(deps, tx, projectId, userId);
    await recordEvent(tx, userEvent(projectId, 'user.deleted', userId));
    await tx.query(deleteUser(projectId, userId));
    const metadata = { old: { external_id: row.external_id, used_bytes: row.used_bytes } };
    await recordAudit(tx, audit, { resourceType: 'user', resourceId: userId, userId, metadata });
  };
  // It may have millions of files.
  await projectTransaction(deps, projectId, remove, 'long');
}

/** Take this lock first when changing something that belongs to a user. */
export async function lockOwner(tx: Transaction, projectId: string, userId: string): Promise<void> {
  await lockAndRead(tx, projectId, userId);
}

/** 404 if the user was deleted since authentication. */
async function lockAndRead(tx: Transaction, projectId: string, userId: string): Promise<UserRow> {
  const [row] = await tx.query<UserRow>(lockUser(projectId, userId));
  if (!row) throw userNotFound();
  return row;
}

function explainConflict(error: unknown): never {
  switch (brokenConstraint(error)) {
    case 'users_external_id_unique':
      throw new PakhusError(
        'CONFLICT',
        'A user with this external id exists already in this project: choose another external id',
        {
          details: { field: 'external_id' },
        },
      );
    case 'users_plan':
      throw planNotFound();
    default:
      throw error;
  }
}

async function withPlan(tx: Transaction, projectId: string, row: UserRow): Promise<Subject> {
  const findPlan = await plansInForce(tx, projectId, [row.plan_id]);
  return toSubject(row, findPlan(row.plan_id));
}

const toSubject = (row: UserRow, plan: PlanFacts | null): Subject => ({
  id: row.id,
  externalId: row.external_id,
  active: row.active,
  usedBytes: row.used_bytes,
  reservedBytes: row.reserved_bytes,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  plan,
});
