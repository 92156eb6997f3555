// Removes files whose time has come: those that have expired, and those that the trash keeps no longer.
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import type { Sql } from '../../platform/db/sql.ts';
import { type FileScope, removeFiles } from './files.sql.ts';
import { type DueRow, listDueTrash, listExpired, purgeFiles } from './files.trash.sql.ts';

const batchMax = 250;

/** Into the trash, or for good where there is none. Resolves to how many. */
export const removeExpired = (deps: Deps, signal: AbortSignal): Promise<number> =>
  removeDue(deps, signal, listExpired, (scope, fileIds) =>
    removeFiles(scope, fileIds, false, byNobody(scope.projectId, 'file.expire'), 'file.expired'),
  );

export const emptyTrash = (deps: Deps, signal: AbortSignal): Promise<number> =>
  removeDue(deps, signal, listDueTrash, (scope, fileIds) =>
    purgeFiles(scope, fileIds, byNobody(scope.projectId, 'file.purge')),
  );

const byNobody = (projectId: string, action: AuditStamp['action']): AuditStamp => ({
  action,
  projectId,
  actorType: 'project',
  actorId: null,
  actorKeyId: null,
  ipAddress: null,
  userAgent: null,
});

/** One transaction for the files of one user. Their objects are left to the reaper. */
async function removeDue(
  deps: Deps,
  signal: AbortSignal,
  list: (rowsMax: number) => Sql,
  remove: (scope: FileScope, fileIds: readonly string[]) => Sql,
): Promise<number> {
  let removed = 0;
  while (!signal.aborted) {
    const due = await deps.db.query<DueRow>(list(batchMax), 'background');
    let removedNow = 0;
    for (const { scope, fileIds } of byOwner(due)) {
      if (signal.aborted) break;
      removedNow += (await deps.db.query(remove(scope, fileIds), 'background')).length;
    }
    removed += removedNow;
    // A file that cannot be removed now must not be tried for ever.
    if (due.length < batchMax || removedNow === 0) break;
  }
  return removed;
}

interface OwnedFiles {
  readonly scope: FileScope;
  readonly fileIds: string[];
}

function byOwner(rows: readonly DueRow[]): Iterable<OwnedFiles> {
  const owners = new Map<string, OwnedFiles>();
  for (const { project_id: projectId, user_id: userId, id } of rows) {
    const owned = owners.get(userId) ?? { scope: { projectId, userId, spaceId: null }, fileIds: [] };
    owned.fileIds.push(id);
    owners.set(userId, owned);
  }
  return owners.values();
}
