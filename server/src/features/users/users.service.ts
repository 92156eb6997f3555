// End-users of a project.
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import { afterCursor, type PageRequest, pageOf } from '../../contract/paging.ts';
import { projectTransaction, readPage } from '../../contract/project-work.ts';
import { userNotFound } from '../../contract/refusals.ts';
import type { PlanFacts, Subject } from '../../contract/subject.ts';
import { retry } from '../../kernel/async/retry.ts';
import { PakhusError } from '../../kernel/error.ts';
import { brokenConstraint, type Transaction } from '../../platform/db/postgres.ts';
import { recordAudit } from '../audit/audit.service.ts';
import { doomFilesOfUser } from '../files/files.service.ts';
import { planNotFound, plansInForce } from '../plans/plans.service.ts';
import {
  deleteUser,
  findPlanInForce,
  insertUser,
  listUsers,
  lockUser,
  type UserRow,
  updateUser,
  updateUserPlan,
} from './users.sql.ts';

export async function listProjectUsers(deps: Deps, projectId: string, page: PageRequest) {
  const list = `users:${projectId}`;
  const rows = await readPage<UserRow>(
    deps,
    projectId,
    listUsers(projectId, afterCursor(deps, list, page.cursor), page),
  );
  const { rows: kept, next_cursor } = pageOf(deps, list, rows, page.limit);
  const planOf = await plansInForce(
    deps.db,
    projectId,
    kept.map((row) => row.plan_id),
  );
  return { users: kept.map((row) => subjectOf(row, planOf(row.plan_id))), next_cursor };
}

const defaultsTriedMax = 5;

export async function createUser(
  deps: Deps,
  projectId: string,
  { externalId, planId = null }: { readonly externalId: string; readonly planId?: string | null },
  audit: AuditStamp,
): Promise<Subject> {
  // The default plan may be deleted as it is given: then there is another one, or none.
  const passes = (error: unknown) => planId === null && brokenConstraint(error) === 'users_plan';
  const insert = async (tx: Transaction): Promise<Subject> => {
    const [row] = await tx.query<UserRow>(insertUser(projectId, externalId, planId));
    const user = await withPlan(tx, projectId, row as UserRow);
    const metadata = { new: { external_id: user.externalId, plan_id: user.plan?.id ?? null } };
    await recordAudit(tx, audit, { resourceType: 'user', resourceId: user.id, userId: user.id, metadata });
    return user;
  };
  return retry(defaultsTriedMax, passes, () => projectTransaction(deps, projectId, insert)).catch(
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
    const before = await lockedUser(tx, projectId, userId);
    const [after] = await tx.query<UserRow>(updateUser(projectId, userId, active ?? before.active));
    const metadata = { old: { active: before.active }, new: { active: active ?? before.active } };
    await recordAudit(tx, audit, { resourceType: 'user', resourceId: userId, userId, metadata });
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
    const before = await lockedUser(tx, projectId, userId);
    const [after] = await tx.query<UserRow>(updateUserPlan(projectId, userId, planId)).catch(explainConflict);
    const metadata = { old: { plan_id: before.plan_id }, new: { plan_id: planId } };
    await recordAudit(tx, audit, { resourceType: 'user', resourceId: userId, userId, metadata });
    // The plan's history shows it as well as the user's.
    const assigned = { ...audit, action: 'plan.assign' } as const;
    await recordAudit(tx, assigned, { resourceType: 'plan', resourceId: planId, userId, metadata });
    return withPlan(tx, projectId, after as UserRow);
  });
}

export async function removeUser(
  deps: Deps,
  projectId: string,
  userId: string,
  audit: AuditStamp,
): Promise<void> {
  const remove = async (tx: Transaction) => {
    const row = await lockedUser(tx, projectId, userId);
    await doomFilesOfUser(tx, projectId, userId);
    await tx.query(deleteUser(projectId, userId));
    const metadata = { old: { external_id: row.external_id, used_bytes: row.used_bytes } };
    await recordAudit(tx, audit, { resourceType: 'user', resourceId: userId, userId, metadata });
  };
  // It may have millions of files.
  await projectTransaction(deps, projectId, remove, 'long');
}

/** The id of the plan that a user is under, or null. */
export async function planOfUser(deps: Deps, projectId: string, userId: string): Promise<string | null> {
  const [row] = await deps.db.read<{ plan_id: string | null }>(findPlanInForce(projectId, userId));
  return row?.plan_id ?? null;
}

/** The first lock of whoever changes what belongs to a user. */
export async function lockOwner(tx: Transaction, projectId: string, userId: string): Promise<void> {
  await lockedUser(tx, projectId, userId);
}

/** Deleted between authentication and this moment: still an ordinary 404. */
async function lockedUser(tx: Transaction, projectId: string, userId: string): Promise<UserRow> {
  const [row] = await tx.query<UserRow>(lockUser(projectId, userId));
  if (!row) throw userNotFound();
  return row;
}

function explainConflict(error: unknown): never {
  switch (brokenConstraint(error)) {
    case 'users_external_id_unique':
      throw new PakhusError('CONFLICT', 'A user with this external id exists already in this project', {
        details: { field: 'external_id' },
      });
    case 'users_plan':
      throw planNotFound();
    default:
      throw error;
  }
}

async function withPlan(tx: Transaction, projectId: string, row: UserRow): Promise<Subject> {
  const planOf = await plansInForce(tx, projectId, [row.plan_id]);
  return subjectOf(row, planOf(row.plan_id));
}

const subjectOf = (row: UserRow, plan: PlanFacts | null): Subject => ({
  id: row.id,
  externalId: row.external_id,
  active: row.active,
  usedBytes: row.used_bytes,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  plan,
});
