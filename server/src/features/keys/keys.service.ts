// API keys: made here, shown once, kept as hashes.
import type { ProjectActor } from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import { afterCursor, type PageRequest, pageOf } from '../../contract/paging.ts';
import { projectTransaction, readPage } from '../../contract/project-work.ts';
import { newApiKey } from '../../kernel/crypto/secret.ts';
import { PakhusError } from '../../kernel/error.ts';
import type { Transaction } from '../../platform/db/postgres.ts';
import { recordAudit } from '../audit/audit.service.ts';
import { recheckCredential } from '../credentials/credentials.service.ts';
import { lockProject } from '../projects/projects.lock.ts';
import {
  countActiveKeys,
  deleteIntegrationKey,
  findKey,
  insertKey,
  type KeyRow,
  listKeys,
  markAllKeysInactive,
  markKeyInactive,
} from './keys.sql.ts';

export type { KeyRow } from './keys.sql.ts';

const activeKeysMax = 10;

export interface CreatedKey {
  readonly key: KeyRow;
  /** Leaves the service in this one response. */
  readonly plain: string;
}

export async function listProjectKeys(deps: Deps, projectId: string, page: PageRequest) {
  const list = `keys:${projectId}`;
  const rows = await readPage<KeyRow>(
    deps,
    projectId,
    listKeys(projectId, afterCursor(deps, list, page.cursor), page),
  );
  return pageOf(deps, list, rows, page.limit);
}

export async function createProjectKey(
  deps: Deps,
  actor: ProjectActor,
  name: string | null,
  audit: AuditStamp,
): Promise<CreatedKey> {
  const { projectId } = actor;
  return credentialTransaction(deps, actor, async (tx) => {
    const [count] = await tx.query<{ active: number }>(countActiveKeys(projectId));
    if ((count?.active ?? 0) >= activeKeysMax) {
      throw new PakhusError(
        'CONFLICT',
        `A project has at most ${activeKeysMax} active keys: delete one first`,
        {
          details: { active_keys_max: activeKeysMax },
        },
      );
    }
    const created = await issueKey(tx, projectId, null, name);
    await recordAudit(tx, audit, {
      resourceType: 'api_key',
      resourceId: created.key.id,
      metadata: { new: { name } },
    });
    return created;
  });
}

/** For whoever makes credentials: one at a time within a project, and only with one that is still good then. */
export const credentialTransaction = <Result>(
  deps: Deps,
  actor: ProjectActor,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> =>
  projectTransaction(deps, actor.projectId, async (tx) => {
    await lockProject(tx, actor.projectId);
    await recheckCredential(tx, actor);
    return work(tx);
  });

/** Inserts a fresh key. The caller's transaction records what it is for. */
export async function issueKey(
  tx: Transaction,
  projectId: string,
  integrationId: string | null,
  name: string | null,
): Promise<CreatedKey> {
  const fresh = newApiKey();
  const [key] = await tx.query<KeyRow>(insertKey(projectId, integrationId, name, fresh));
  return { key: key as KeyRow, plain: fresh.plain };
}

/** Ends every project key and issues one; resolves to the ids of those that were ended as well. */
export async function replaceProjectKeys(
  tx: Transaction,
  projectId: string,
): Promise<CreatedKey & { ended: readonly string[] }> {
  await lockProject(tx, projectId);
  const ended = await tx.query<{ id: string }>(markAllKeysInactive(projectId));
  return { ...(await issueKey(tx, projectId, null, null)), ended: ended.map(({ id }) => id) };
}

export async function replaceIntegrationKey(
  tx: Transaction,
  projectId: string,
  integrationId: string,
): Promise<CreatedKey> {
  await tx.query(deleteIntegrationKey(projectId, integrationId));
  return issueKey(tx, projectId, integrationId, null);
}

/** Ending a key that has ended already changes nothing and succeeds. */
export async function revokeProjectKey(
  deps: Deps,
  projectId: string,
  keyId: string,
  audit: AuditStamp,
): Promise<void> {
  await projectTransaction(deps, projectId, async (tx) => {
    const [ended] = await tx.query<KeyRow>(markKeyInactive(projectId, keyId));
    if (ended) {
      await recordAudit(tx, audit, {
        resourceType: 'api_key',
        resourceId: keyId,
        metadata: { old: { active: true }, new: { active: false } },
      });
      return;
    }
    const [known] = await tx.query<KeyRow>(findKey(projectId, keyId));
    if (!known) throw new PakhusError('NOT_FOUND', 'There is no such key in this project');
  });
}
