// Plans. A project that has plans has exactly one default plan, at every commit.
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import type { PlanFacts } from '../../contract/subject.ts';
import { PakhusError } from '../../kernel/error.ts';
import { afterCursor, type PageRequest, toPage } from '../../platform/db/paging.ts';
import { brokenConstraint, type Queryable } from '../../platform/db/postgres.ts';
import { projectTransaction, readPage } from '../../platform/db/project-work.ts';
import { changeOf, recordAudit } from '../audit/audit.service.ts';
import { planThresholdEvents, recordChange } from '../events/events.record.ts';
import { lockProject } from '../locks/locks.project.ts';
import {
  deletePlan,
  findFollower,
  findPlan,
  findPlanInForce,
  insertPlan,
  listPlans,
  listPlansInForce,
  markDefault,
  markOldestDefault,
  type PlanRow,
  type PlanValues,
  unmarkDefault,
  updatePlan,
} from './plans.sql.ts';
import type { NewPlanInput, PlanChangeInput } from './plans.wire.ts';

export const planNotFound = () =>
  new PakhusError('NOT_FOUND', 'There is no such plan in this project: check the id');

export async function listProjectPlans(deps: Deps, projectId: string, page: PageRequest) {
  const list = `plans:${projectId}`;
  const rows = await readPage<PlanRow>(
    deps,
    projectId,
    listPlans(projectId, afterCursor(deps, list, page.cursor), page),
  );
  const { rows: kept, next_cursor } = toPage(deps, list, rows, page.limit);
  return { plans: kept.map(toPlanFacts), next_cursor };
}

export async function readPlan(deps: Deps, projectId: string, planId: string): Promise<PlanFacts> {
  const [row] = await deps.db.read<PlanRow>(findPlan(projectId, planId));
  if (!row) throw planNotFound();
  return toPlanFacts(row);
}

/** Resolves to a lookup by plan id; for null it finds the default plan. */
export async function plansInForce(
  db: Queryable,
  projectId: string,
  planIds: readonly (string | null)[],
): Promise<(planId: string | null) => PlanFacts | null> {
  const named = [...new Set(planIds.filter((id) => id !== null))];
  const rows = await db.query<PlanRow>(listPlansInForce(projectId, named));
  const plans = rows.map(toPlanFacts);
  return (planId) => plans.find((plan) => (planId === null ? plan.isDefault : plan.id === planId)) ?? null;
}

/** The id of the plan that applies to a user, or null if the project has none. */
export async function findPlanIdInForce(
  deps: Deps,
  projectId: string,
  userId: string,
): Promise<string | null> {
  const [row] = await deps.db.read<{ plan_id: string | null }>(findPlanInForce(projectId, userId));
  return row?.plan_id ?? null;
}

export async function createPlan(
  deps: Deps,
  projectId: string,
  input: NewPlanInput,
  audit: AuditStamp,
): Promise<PlanFacts> {
  const values = mergeValues(emptyPlan, input);
  return projectTransaction(deps, projectId, async (tx) => {
    await lockProject(tx, projectId);
    const [row] = await tx.query<PlanRow>(insertPlan(projectId, values));
    const plan = toPlanFacts(row as PlanRow);
    await recordAudit(tx, audit, { resourceType: 'plan', resourceId: plan.id, metadata: { new: values } });
    return plan;
  });
}

export async function changePlan(
  deps: Deps,
  projectId: string,
  planId: string,
  input: PlanChangeInput,
  audit: AuditStamp,
): Promise<PlanFacts> {
  return projectTransaction(deps, projectId, async (tx) => {
    await lockProject(tx, projectId);
    const [before] = await tx.query<PlanRow>(findPlan(projectId, planId));
    if (!before) throw planNotFound();
    const [after] = await tx.query<PlanRow>(updatePlan(projectId, planId, mergeValues(before, input)));
    const plan = toPlanFacts(after as PlanRow);
    const metadata = changeOf({ ...before }, { ...(after as PlanRow) });
    await recordChange(
      tx,
      audit,
      { resourceType: 'plan', resourceId: planId, metadata },
      planThresholdEvents(projectId, planId, before.storage_limit, plan.storageLimit),
    );
    return plan;
  });
}

export async function makePlanDefault(
  deps: Deps,
  projectId: string,
  planId: string,
  audit: AuditStamp,
): Promise<PlanFacts> {
  return projectTransaction(deps, projectId, async (tx) => {
    await lockProject(tx, projectId);
    const [former] = await tx.query<{ id: string }>(unmarkDefault(projectId));
    const [row] = await tx.query<PlanRow>(markDefault(projectId, planId));
    if (!row) throw planNotFound();
    await recordAudit(tx, audit, {
      resourceType: 'plan',
      resourceId: planId,
      metadata: { old: { default_plan_id: former?.id ?? null }, new: { default_plan_id: planId } },
    });
    return toPlanFacts(row);
  });
}

export async function removePlan(
  deps: Deps,
  projectId: string,
  planId: string,
  audit: AuditStamp,
): Promise<void> {
  await projectTransaction(deps, projectId, async (tx) => {
    await lockProject(tx, projectId);
    const [row] = await tx.query<PlanRow>(deletePlan(projectId, planId)).catch(explainUsedPlan);
    if (!row) throw planNotFound();
    if (row.is_default && (await tx.query(findFollower(projectId))).length > 0) throw defaultInUse();
    await tx.query(markOldestDefault(projectId));
    await recordAudit(tx, audit, { resourceType: 'plan', resourceId: planId, metadata: { old: row } });
  });
}

function explainUsedPlan(error: unknown): never {
  if (brokenConstraint(error) !== 'users_plan') throw error;
  throw new PakhusError('CONFLICT', 'Users are assigned to this plan: assign them to another one first');
}

const defaultInUse = () =>
  new PakhusError(
    'CONFLICT',
    'This is the default plan, and users without their own plan depend on it: make another plan the default first',
  );

const emptyPlan: PlanValues = {
  name: '',
  description: null,
  storage_limit: null,
  max_file_size: 0,
  allowed_mimes: [],
  max_files: null,
  max_spaces: null,
};

/** Fields that `input` does not name keep their values. */
function mergeValues(before: PlanValues, input: PlanChangeInput): PlanValues {
  return {
    name: input.name ?? before.name,
    description: input.description === undefined ? before.description : input.description,
    storage_limit: input.storageLimit === undefined ? before.storage_limit : input.storageLimit,
    max_file_size: input.maxFileSize ?? before.max_file_size,
    allowed_mimes:
      input.allowedMimes === undefined
        ? before.allowed_mimes
        : (input.allowedMimes ?? []).map((mime) => mime.toLowerCase()),
    max_files: input.maxFiles === undefined ? before.max_files : input.maxFiles,
    max_spaces: input.maxSpaces === undefined ? before.max_spaces : input.maxSpaces,
  };
}

const toPlanFacts = (row: PlanRow): PlanFacts => ({
  id: row.id,
  name: row.name,
  description: row.description,
  storageLimit: row.storage_limit,
  maxFileSize: row.max_file_size,
  allowedMimes: row.allowed_mimes,
  maxFiles: row.max_files,
  maxSpaces: row.max_spaces,
  isDefault: row.is_default,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});
