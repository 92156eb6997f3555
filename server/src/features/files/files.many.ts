// Changes and removes several files at once: all of them, or none.

import type { TenantActor } from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import type { FileRow } from '../../contract/file.ts';
import { withTimeout } from '../../kernel/async/time-limit.ts';
import type { Transaction } from '../../platform/db/postgres.ts';
import { projectTransaction } from '../../platform/db/project-work.ts';
import { changeOf } from '../audit/audit.service.ts';
import { eventOf, recordChange } from '../events/events.record.ts';
import { countFor } from '../traffic/traffic.count.ts';
import { fileHeld, refuseKeeping } from './files.keeping.ts';
import { mergeValues } from './files.meta.ts';
import { moveMisplacedOf } from './files.move.ts';
import { zoneFor } from './files.objects.ts';
import { scopeOf } from './files.remove.ts';
import { findMissing } from './files.restore.ts';
import { fileNotFound } from './files.service.ts';
import {
  type FileScope,
  findHeld,
  lockFiles,
  type RemovedRow,
  removeFiles,
  updateFiles,
} from './files.sql.ts';
import { type FileMetaInput, viewFile } from './files.wire.ts';

const moveWaitMaxMs = 10_000;

export async function changeMany(
  deps: Deps,
  actor: TenantActor,
  userId: string,
  fileIds: readonly string[],
  input: FileMetaInput,
  audit: AuditStamp,
): Promise<FileRow[]> {
  const { projectId } = actor;
  const changed = await projectTransaction(deps, projectId, async (tx) => {
    const before = await lockAll(tx, scopeOf(actor, userId), fileIds);
    const changes = before.map((row) => {
      const values = mergeValues(row, input);
      refuseKeeping(deps, actor, row, values);
      return { id: row.id, values };
    });
    const after = await tx.query<FileRow>(updateFiles(projectId, changes));
    const rows = new Map(after.map((row) => [row.id, row]));
    for (const old of before) await recordUpdate(tx, projectId, old, rows.get(old.id) ?? old, audit);
    return fileIds.flatMap((id) => rows.get(id.toLowerCase()) ?? []);
  });
  const misplaced = changed.filter(({ zone, visibility }) => zone !== zoneFor(deps.objects, visibility));
  await withTimeout(moveWaitMaxMs, moveMisplacedOf(deps, projectId, misplaced));
  return changed;
}

async function lockAll(tx: Transaction, scope: FileScope, fileIds: readonly string[]): Promise<FileRow[]> {
  const rows = await tx.query<FileRow>(lockFiles(scope, fileIds));
  const missing = findMissing(fileIds, rows);
  if (missing !== undefined) throw fileNotFound(missing);
  return rows;
}

const recordUpdate = (
  tx: Transaction,
  projectId: string,
  before: FileRow,
  after: FileRow,
  audit: AuditStamp,
): Promise<void> =>
  recordChange(
    tx,
    audit,
    {
      resourceType: 'file',
      resourceId: after.id,
      userId: after.user_id,
      metadata: changeOf({ ...before }, { ...after }),
    },
    eventOf(projectId, 'file.updated', after.user_id, viewFile(after)),
  );

/** Their objects are left to the reaper. Resolves to the ids. */
export async function removeMany(
  deps: Deps,
  actor: TenantActor,
  userId: string,
  fileIds: readonly string[],
  audit: AuditStamp,
): Promise<string[]> {
  const scope = scopeOf(actor, userId);
  const removed = await projectTransaction(deps, actor.projectId, async (tx) => {
    const rows = await tx.query<RemovedRow>(removeFiles(scope, fileIds, false, audit));
    const missing = findMissing(fileIds, rows);
    if (missing === undefined) return rows;
    const [held] = await tx.query<{ retain_until: string }>(findHeld(scope, [missing]));
    throw held ? fileHeld(`The file ${missing}`, held.retain_until) : fileNotFound(missing);
  });
  countFor(deps, actor, userId, { deletes: removed.length });
  return fileIds.map((id) => id.toLowerCase());
}
