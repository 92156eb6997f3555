// Integrations: API keys with their own scopes, origins and rate limit.
import type { ProjectActor } from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import { withoutRepeats } from '../../contract/scope.ts';
import { PakhusError } from '../../kernel/error.ts';
import { afterCursor, type PageRequest, toPage } from '../../platform/db/paging.ts';
import type { Queryable, Transaction } from '../../platform/db/postgres.ts';
import { projectTransaction, readPage } from '../../platform/db/project-work.ts';
import { changeOf, recordAudit } from '../audit/audit.service.ts';
import { credentialTransaction, issueKey, replaceIntegrationKey } from '../keys/keys.service.ts';
import {
  deleteIntegration,
  findIntegration,
  type IntegrationRow,
  type IntegrationValues,
  insertIntegration,
  listIntegrations,
  lockIntegration,
  touchIntegration,
  updateIntegration,
} from './integrations.sql.ts';
import { type IntegrationChangeInput, refuseBadOrigins } from './integrations.wire.ts';

interface WithKey {
  readonly integration: IntegrationRow;
  readonly plain: string;
}

const defaultValues: IntegrationValues = {
  name: null,
  scopes: [],
  cors_origins: [],
  dev_mode: false,
  rate_limit_max: null,
  rate_limit_window: null,
  active: true,
};

export async function listProjectIntegrations(deps: Deps, projectId: string, page: PageRequest) {
  const list = `integrations:${projectId}`;
  const rows = await readPage<IntegrationRow>(
    deps,
    projectId,
    listIntegrations(projectId, afterCursor(deps, list, page.cursor), page),
  );
  return toPage(deps, list, rows, page.limit);
}

export async function readIntegration(
  db: Queryable,
  projectId: string,
  integrationId: string,
): Promise<IntegrationRow> {
  const [row] = await db.query<IntegrationRow>(findIntegration(projectId, integrationId));
  if (!row) throw notFound();
  return row;
}

export async function createIntegration(
  deps: Deps,
  actor: ProjectActor,
  input: IntegrationChangeInput,
  audit: AuditStamp,
): Promise<WithKey> {
  refuseBadOrigins(input.corsOrigins);
  const values = mergeValues(defaultValues, input);
  const { projectId } = actor;
  return credentialTransaction(deps, actor, async (tx) => {
    const [row] = await tx.query<{ id: string }>(insertIntegration(projectId, values));
    const { id } = row as { id: string };
    const { plain } = await issueKey(tx, projectId, id, null);
    await recordAudit(tx, audit, { resourceType: 'integration', resourceId: id, metadata: { new: values } });
    return { integration: await readIntegration(tx, projectId, id), plain };
  });
}

export async function changeIntegration(
  deps: Deps,
  projectId: string,
  integrationId: string,
  input: IntegrationChangeInput,
  audit: AuditStamp,
): Promise<IntegrationRow> {
  refuseBadOrigins(input.corsOrigins);
  return projectTransaction(deps, projectId, async (tx) => {
    const before = await lockAndRead(tx, projectId, integrationId);
    await tx.query(updateIntegration(projectId, integrationId, mergeValues(before, input)));
    const after = await readIntegration(tx, projectId, integrationId);
    const metadata = changeOf({ ...before }, { ...after });
    await recordAudit(tx, audit, { resourceType: 'integration', resourceId: integrationId, metadata });
    return after;
  });
}

export async function rotateIntegrationKey(
  deps: Deps,
  actor: ProjectActor,
  integrationId: string,
  audit: AuditStamp,
): Promise<WithKey> {
  const { projectId } = actor;
  return credentialTransaction(deps, actor, async (tx) => {
    const before = await lockAndRead(tx, projectId, integrationId);
    const { key, plain } = await replaceIntegrationKey(tx, projectId, integrationId);
    await tx.query(touchIntegration(projectId, integrationId));
    const metadata = { old: { key_prefix: before.key_prefix }, new: { key_prefix: key.key_prefix } };
    await recordAudit(tx, audit, { resourceType: 'integration', resourceId: integrationId, metadata });
    return { integration: await readIntegration(tx, projectId, integrationId), plain };
  });
}

export async function removeIntegration(
  deps: Deps,
  projectId: string,
  integrationId: string,
  audit: AuditStamp,
): Promise<void> {
  await projectTransaction(deps, projectId, async (tx) => {
    const [old] = await tx.query<{ name: string | null; scopes: string[] }>(
      deleteIntegration(projectId, integrationId),
    );
    if (!old) throw notFound();
    await recordAudit(tx, audit, {
      resourceType: 'integration',
      resourceId: integrationId,
      metadata: { old },
    });
  });
}

const notFound = () =>
  new PakhusError('NOT_FOUND', 'There is no such integration in this project: check the id');

async function lockAndRead(
  tx: Transaction,
  projectId: string,
  integrationId: string,
): Promise<IntegrationRow> {
  await tx.query(lockIntegration(projectId, integrationId));
  return readIntegration(tx, projectId, integrationId);
}

function mergeValues(before: IntegrationValues, input: IntegrationChangeInput): IntegrationValues {
  return {
    name: input.name === undefined ? before.name : input.name,
    scopes: input.scopes ? withoutRepeats(input.scopes) : before.scopes,
    cors_origins: input.corsOrigins ?? before.cors_origins,
    dev_mode: input.devMode ?? before.dev_mode,
    rate_limit_max: input.rateLimitMax === undefined ? before.rate_limit_max : input.rateLimitMax,
    rate_limit_window: input.rateLimitWindow === undefined ? before.rate_limit_window : input.rateLimitWindow,
    active: input.active ?? before.active,
  };
}
