// The trash: how long a project keeps what it deletes, and files that come back.
import type { TenantActor } from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import type { TrashedRow } from '../../contract/file.ts';
import type { Subject } from '../../contract/subject.ts';
import { PakhusError } from '../../kernel/error.ts';
import { isAllowedType } from '../../kernel/media/media-type.ts';
import type { Transaction } from '../../platform/db/postgres.ts';
import { projectTransaction } from '../../platform/db/project-work.ts';
import { recordAudit } from '../audit/audit.service.ts';
import { fileTooLarge, largestFile, toRefusal } from '../files/files.checks.ts';
import { scopeOf } from '../files/files.remove.ts';
import { comeBack, type RestoredFile, takeTrashed } from '../files/files.restore.ts';
import { resumeCompression } from '../images/images.service.ts';
import { lockProject, lockProjectShared } from '../locks/locks.project.ts';
import { lockOwner } from '../users/users.service.ts';
import {
  type ClosedSpaceRow,
  findClosedSpace,
  findLimits,
  findTrashDays,
  type LimitsRow,
  updateTrashDays,
} from './trash.sql.ts';

export interface ProjectSettings {
  readonly trash_days: number;
}

export async function readSettings({ db }: Deps, projectId: string): Promise<ProjectSettings> {
  const [row] = await db.read<ProjectSettings>(findTrashDays(projectId));
  if (!row) throw new PakhusError('NOT_FOUND', 'The project no longer exists');
  return row;
}

export const writeSettings = (
  deps: Deps,
  projectId: string,
  settings: ProjectSettings,
  audit: AuditStamp,
): Promise<ProjectSettings> =>
  projectTransaction(deps, projectId, async (tx) => {
    await lockProject(tx, projectId);
    const [old] = await tx.query<ProjectSettings>(findTrashDays(projectId));
    await tx.query(updateTrashDays(projectId, settings.trash_days));
    const metadata = { old, new: { trash_days: settings.trash_days } };
    await recordAudit(tx, audit, { resourceType: 'settings', resourceId: 'trash_days', metadata });
    return { trash_days: settings.trash_days };
  });

/** All of them come back, or none. */
export const restore = (
  deps: Deps,
  actor: TenantActor,
  user: Subject,
  fileIds: readonly string[],
  audit: AuditStamp,
): Promise<RestoredFile[]> =>
  projectTransaction(deps, actor.projectId, (tx) => restoreIn(deps, tx, actor, user, fileIds, audit));

async function restoreIn(
  deps: Deps,
  tx: Transaction,
  actor: TenantActor,
  user: Subject,
  fileIds: readonly string[],
  audit: AuditStamp,
): Promise<RestoredFile[]> {
  const { projectId } = actor;
  const scope = scopeOf(actor, user.id);
  await lockProjectShared(tx, projectId);
  await lockOwner(tx, projectId, user.id);
  const trashed = await takeTrashed(tx, scope, fileIds);
  await refuseMisfits(deps, tx, projectId, user, trashed);
  const restored = await comeBack(tx, scope, fileIds, audit);
  for (const { waitingJob } of restored)
    if (waitingJob !== null) await resumeCompression(deps, tx, projectId, waitingJob, audit);
  return restored;
}

/** Plan and space may have changed since the files were trashed. In the order of an upload. */
async function refuseMisfits(
  deps: Deps,
  tx: Transaction,
  projectId: string,
  user: Subject,
  files: readonly TrashedRow[],
): Promise<void> {
  const [limits] = await tx.query<LimitsRow>(findLimits(projectId, user.id));
  if (!limits?.active) throw toRefusal(limits ? 'inactive user' : 'no user', user);
  const spaceIds = files.flatMap(({ space_id }) => space_id ?? []);
  const [closed] = await tx.query<ClosedSpaceRow>(findClosedSpace(projectId, spaceIds));
  if (closed && !closed.active) throw toRefusal('inactive space', user);
  for (const file of files) refuseFile(deps, limits, file);
  // What is in the trash is charged already: it fits unless a limit was lowered.
  if (limits.storage_limit !== null && limits.taken_bytes > limits.storage_limit)
    throw toRefusal('user limit', user);
  if (closed) throw toRefusal('space limit', user);
  if (limits.file_count > limits.max_files) throw toRefusal('file count', user);
}

function refuseFile(deps: Deps, limits: LimitsRow, { size, mime_type: type }: TrashedRow): void {
  const allowed = limits.allowed_mimes ?? [];
  if (!isAllowedType(type, allowed))
    throw new PakhusError('MIME_NOT_ALLOWED', `The plan does not allow files of type ${type}`, {
      details: { declared: type, detected: null, allowed },
    });
  const bytesMax = largestFile(deps, limits.max_file_size);
  if (size > bytesMax) throw fileTooLarge(bytesMax);
}
