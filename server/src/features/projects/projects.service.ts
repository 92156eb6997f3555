// Projects, managed by the admin.
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import { PakhusError } from '../../kernel/error.ts';
import { afterCursor, type PageRequest, toPage } from '../../platform/db/paging.ts';
import type { Queryable, Transaction } from '../../platform/db/postgres.ts';
import { hashQueueOfAccount } from '../../platform/passwords.ts';
import { addAccount, changeAccountEmail } from '../accounts/accounts.service.ts';
import { changeOf, recordAudit, withAction } from '../audit/audit.service.ts';
import { dropEvents } from '../events/events.service.ts';
import { dropFilesOfProject, refuseHeld } from '../files/files.service.ts';
import { forgetAnswers } from '../idempotency/idempotency.service.ts';
import { issueKey, replaceProjectKeys } from '../keys/keys.service.ts';
import { lockProject, lockProjectWhole } from '../locks/locks.project.ts';
import { dropUploadsOfProject } from '../uploads/uploads.service.ts';
import { dropWebhooks } from '../webhooks/webhooks.service.ts';
import {
  deleteProject,
  findProject,
  insertProject,
  listProjects,
  type ProjectRow,
  updateProject,
  updateProjectActive,
} from './projects.sql.ts';

interface WithKey {
  readonly project: ProjectRow;
  readonly plain: string;
}

export interface ProjectChange {
  readonly name?: string;
  readonly email?: string;
  readonly rateLimitMax?: number | null;
  readonly rateLimitWindow?: number | null;
}

const list = 'projects';

export async function listAllProjects(deps: Deps, page: PageRequest) {
  const rows = await deps.db.read<ProjectRow>(listProjects(afterCursor(deps, list, page.cursor), page));
  return toPage(deps, list, rows, page.limit);
}

export async function readProject(db: Queryable, projectId: string): Promise<ProjectRow> {
  const [row] = await db.query<ProjectRow>(findProject(projectId));
  if (!row) throw notFound();
  return row;
}

export async function createProject(
  deps: Deps,
  input: { readonly name: string; readonly email: string; readonly password: string },
  audit: AuditStamp,
): Promise<WithKey> {
  const passwordHash = await deps.passwords.hash(hashQueueOfAccount(audit.actorId ?? ''), input.password);
  return deps.db.transaction(async (tx) => {
    const [row] = await tx.query<{ id: string }>(insertProject(input.name));
    const { id } = row as { id: string };
    await addAccount(tx, id, input.email, passwordHash);
    const { plain } = await issueKey(tx, id, null, null);
    await recordAudit(
      tx,
      { ...audit, projectId: id },
      about(id, { new: { name: input.name, email: input.email } }),
    );
    return { project: await readProject(tx, id), plain };
  });
}

export async function changeProject(
  deps: Deps,
  projectId: string,
  change: ProjectChange,
  audit: AuditStamp,
): Promise<ProjectRow> {
  return deps.db.transaction(async (tx) => {
    const before = await lockAndRead(tx, projectId);
    await tx.query(
      updateProject(projectId, {
        name: change.name ?? before.name,
        rate_limit_max: change.rateLimitMax === undefined ? before.rate_limit_max : change.rateLimitMax,
        rate_limit_window:
          change.rateLimitWindow === undefined ? before.rate_limit_window : change.rateLimitWindow,
      }),
    );
    if (change.email !== undefined) await changeAccountEmail(tx, projectId, change.email);
    const after = await readProject(tx, projectId);
    await recordAudit(tx, { ...audit, projectId }, about(projectId, changeOf({ ...before }, { ...after })));
    return after;
  });
}

export async function setProjectActive(
  deps: Deps,
  projectId: string,
  active: boolean,
  audit: AuditStamp,
): Promise<ProjectRow> {
  return deps.db.transaction(async (tx) => {
    const before = await lockAndRead(tx, projectId);
    await tx.query(updateProjectActive(projectId, active));
    await recordAudit(
      tx,
      { ...audit, projectId },
      about(projectId, { old: { active: before.active }, new: { active } }),
    );
    return readProject(tx, projectId);
  });
}

export async function rotateProjectKeys(deps: Deps, projectId: string, audit: AuditStamp): Promise<WithKey> {
  return deps.db.transaction(async (tx) => {
    const project = await lockAndRead(tx, projectId);
    const { key, plain, ended } = await replaceProjectKeys(tx, projectId);
    const metadata = { rotated: true, old: { key_ids: ended }, new: { key_ids: [key.id] } };
    const stamp = { ...audit, projectId };
    await recordAudit(tx, stamp, { resourceType: 'api_key', resourceId: key.id, metadata });
    for (const resourceId of ended)
      await recordAudit(tx, withAction(stamp, 'api_key.revoke'), {
        resourceType: 'api_key',
        resourceId,
        metadata: { rotated: true },
      });
    return { project, plain };
  });
}

export async function removeProject(deps: Deps, projectId: string, audit: AuditStamp): Promise<void> {
  const remove = async (tx: Transaction) => {
    // Waits for uploads that are committing and blocks new ones, so that no object is missed.
    await lockProjectWhole(tx, projectId);
    const before = await readProject(tx, projectId);
    await refuseHeld(tx, projectId, null, 'The project has a file that');
    await dropUploadsOfProject(tx, projectId);
    await dropFilesOfProject(deps, tx, projectId);
    await dropEvents(tx, projectId);
    await forgetAnswers(tx, projectId);
    await dropWebhooks(tx, projectId);
    await tx.query(deleteProject(projectId));
    await recordAudit(
      tx,
      { ...audit, projectId },
      about(projectId, { old: { name: before.name, email: before.email } }),
    );
  };
  // It may have millions of files.
  await deps.db.transaction(remove, 'long');
}

const notFound = () => new PakhusError('NOT_FOUND', 'There is no such project: check the id');

const about = (projectId: string, metadata: object) => ({
  resourceType: 'project',
  resourceId: projectId,
  metadata: metadata as Record<string, unknown>,
});

async function lockAndRead(tx: Transaction, projectId: string): Promise<ProjectRow> {
  await lockProject(tx, projectId);
  return readProject(tx, projectId);
}
