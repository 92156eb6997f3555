// Removes files: into the trash if the project has one, otherwise for good.

import { pinnedSpaceOf, type TenantActor } from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import { withTimeout } from '../../kernel/async/time-limit.ts';
import { isoOf } from '../../kernel/clock.ts';
import { isUnanswered, outcomeUnknown } from '../../platform/db/outage.ts';
import { mayWait, projectTransaction } from '../../platform/db/project-work.ts';
import type { Sql } from '../../platform/db/sql.ts';
import { removeDropped } from '../objects/objects.remove.ts';
import { countFor } from '../traffic/traffic.count.ts';
import { fileHeld } from './files.keeping.ts';
import { hideTrashed } from './files.move.ts';
import { fileNotFound, lockVersion } from './files.service.ts';
import { type FileScope, findDeletion, findHeld, type RemovedRow, removeFiles } from './files.sql.ts';
import { purgeFiles } from './files.trash.sql.ts';

export const scopeOf = (actor: TenantActor, userId: string): FileScope => ({
  projectId: actor.projectId,
  userId,
  spaceId: pinnedSpaceOf(actor),
});

export interface Removal {
  readonly ifMatch: string | undefined;
  /** Past the trash, and out of it. */
  readonly permanent: boolean;
}

export async function removeFile(
  deps: Deps,
  actor: TenantActor,
  userId: string,
  fileId: string,
  { ifMatch, permanent }: Removal,
  audit: AuditStamp,
): Promise<void> {
  const { projectId } = actor;
  const scope = scopeOf(actor, userId);
  const statement = removeFiles(scope, [fileId], permanent, audit);
  const find = findDeletion(projectId, userId, fileId, isoOf(Date.now() - clockSkewMs), audit);
  const removed =
    (await (ifMatch === undefined
      ? mayWait(deps, projectId, () => removeConfirmed(deps, statement, find))
      : projectTransaction(deps, projectId, async (tx) => {
          await lockVersion(tx, actor, userId, fileId, ifMatch);
          return (await tx.query<RemovedRow>(statement))[0];
        }))) ?? (permanent ? await purgeFile(deps, scope, fileId, audit) : null);
  if (!removed) throw await explainAbsence(deps, scope, fileId);
  countFor(deps, actor, userId, { deletes: 1 });
  if (removed.zone) await removeDropped(deps, { projectId, fileId, id: fileId, zone: removed.zone });
  else if (deps.objects.separatesPublic) await hideSoon(deps, projectId, fileId);
}

const hideWaitMaxMs = 10_000;

/** A public file in the trash is to be seen by nobody. A slow or failed move is left to the mover. */
async function hideSoon(deps: Deps, projectId: string, fileId: string): Promise<void> {
  const hidden = hideTrashed(deps, projectId, fileId).catch((error: unknown) => {
    deps.log.warn({ err: error, file_id: fileId }, 'failed to hide a trashed file, leaving it to the mover');
  });
  await withTimeout(hideWaitMaxMs, hidden);
}

async function purgeFile(deps: Deps, scope: FileScope, fileId: string, audit: AuditStamp) {
  const statement = purgeFiles(scope, [fileId], audit);
  const [purged] = await mayWait(deps, scope.projectId, () => deps.db.query<RemovedRow>(statement));
  return purged ?? null;
}

/** Why a file was not removed: it is held, or there is none. */
async function explainAbsence(deps: Deps, scope: FileScope, fileId: string) {
  const [held] = await deps.db.query<{ retain_until: string }>(findHeld(scope, [fileId]));
  return held ? fileHeld('The file', held.retain_until) : fileNotFound();
}

/** Allowed between this machine's clock and the database's. */
const clockSkewMs = 10_000;
const settleMsMax = 2_500;

type Removed = Pick<RemovedRow, 'zone'>;

/** Retries once if the database does not answer. Null if there is no such file. */
async function removeConfirmed(deps: Deps, statement: Sql, find: Sql): Promise<Removed | null> {
  const removeOnce = async (): Promise<Removed | null> => {
    const [removed] = await deps.db.query<RemovedRow>(statement);
    return removed ?? null;
  };
  try {
    return await removeOnce();
  } catch (error) {
    if (!isUnanswered(error)) throw error;
    // Removing is idempotent. If the retry finds no file, the audit log shows whether this caller removed it. The zone is
    // not known then: the reaper deletes the object.
    const again = removeOnce().then(async (removed) => {
      if (removed) return removed;
      return (await deps.db.read(find)).length > 0 ? { zone: null } : null;
    });
    const late = () => {
      throw outcomeUnknown(error);
    };
    return withTimeout(settleMsMax, again.catch(late), late);
  }
}
