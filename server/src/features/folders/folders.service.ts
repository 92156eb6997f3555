// Moves and deletes whole folders, each in one transaction.
import type { TenantActor } from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import type { SpaceFilter } from '../../contract/file.ts';
import { invalid } from '../../kernel/error.ts';
import { folderLengthMax } from '../../kernel/text/folder.ts';
import { projectTransaction } from '../../platform/db/project-work.ts';
import { recordAudit } from '../audit/audit.service.ts';
import { longestFolder, moveBelow, removeBelow } from '../files/files.tree.ts';
import { lockProjectShared } from '../locks/locks.project.ts';
import { countFor } from '../traffic/traffic.count.ts';
import { lockOwner } from '../users/users.service.ts';

const fault = (path: string, message: string) => invalid(422, [{ path, message, code: 'folder' }]);

/** Locks the files, and nothing that other users need. */
export async function moveTree(
  deps: Deps,
  actor: TenantActor,
  userId: string,
  space: SpaceFilter,
  { from, to }: { readonly from: string; readonly to: string },
  audit: AuditStamp,
): Promise<number> {
  const { projectId } = actor;
  if (from === '') throw fault('from', 'must name the folder to move');
  if (to === from || to.startsWith(`${from}/`))
    throw fault('to', 'must not be the folder itself or a folder in it');
  return projectTransaction(
    deps,
    projectId,
    async (tx) => {
      await lockProjectShared(tx, projectId);
      const longest = await longestFolder(tx, projectId, userId, space, from);
      if (longest - [...from].length + [...to].length > folderLengthMax)
        throw fault(
          'to',
          `would make a folder longer than ${folderLengthMax} characters: choose a shorter one`,
        );
      const files = await moveBelow(tx, { projectId, userId, space, from, to });
      if (files > 0) await recordAudit(tx, audit, about(userId, from, { to, files }));
      return files;
    },
    'long',
  );
}

/** Locks the user too: what the files were charged is given back. */
export async function removeTree(
  deps: Deps,
  actor: TenantActor,
  userId: string,
  space: SpaceFilter,
  { prefix, permanent }: { readonly prefix: string; readonly permanent: boolean },
  audit: AuditStamp,
): Promise<number> {
  const { projectId } = actor;
  const files = await projectTransaction(
    deps,
    projectId,
    async (tx) => {
      await lockProjectShared(tx, projectId);
      await lockOwner(tx, projectId, userId);
      const removed = await removeBelow(
        deps,
        tx,
        { projectId, userId, spaceId: null },
        space,
        prefix,
        permanent,
      );
      if (removed > 0) await recordAudit(tx, audit, about(userId, prefix, { files: removed }));
      return removed;
    },
    'long',
  );
  if (files > 0) countFor(deps, actor, userId, { deletes: files });
  return files;
}

const about = (userId: string, folder: string, metadata: Record<string, unknown>) => ({
  resourceType: 'folder',
  resourceId: folder,
  userId,
  metadata,
});
