// The actions of a batch. Each is one transaction.
import type { TenantActor } from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Call } from '../../contract/call.ts';
import type { Deps } from '../../contract/deps.ts';
import type { Subject } from '../../contract/subject.ts';
import { invalid } from '../../kernel/error.ts';
import { withAction } from '../audit/audit.service.ts';
import { type CopyInput, copyFiles } from '../copies/copies.service.ts';
import { changeMany, removeMany } from '../files/files.many.ts';
import { viewFile } from '../files/files.wire.ts';
import { restore } from '../trash/trash.service.ts';

export type BatchAction = 'update' | 'delete' | 'restore' | 'copy';

export interface BatchOrder {
  readonly action: BatchAction;
  readonly fileIds: readonly string[];
  readonly set: Omit<CopyInput, 'name'> | undefined;
}

/** Resolves to the answer as JSON. */
export async function runBatch(
  deps: Deps,
  actor: TenantActor,
  user: Subject,
  order: BatchOrder,
  call: Call,
  audit: AuditStamp,
): Promise<string> {
  const { action, fileIds } = order;
  const set = refuseSet(order);
  switch (action) {
    case 'update': {
      const files = await changeMany(deps, actor, user.id, fileIds, set, audit);
      return JSON.stringify({ files: files.map(viewFile) });
    }
    case 'delete':
      return JSON.stringify({
        deleted: await removeMany(deps, actor, user.id, fileIds, withAction(audit, 'file.delete')),
      });
    case 'restore': {
      const files = await restore(deps, actor, user, fileIds, withAction(audit, 'file.restore'));
      return `{"files":[${files.map(({ shown }) => shown).join(',')}]}`;
    }
    case 'copy': {
      const files = await copyFiles(deps, actor, user, fileIds, set, call, withAction(audit, 'file.copy'));
      return JSON.stringify({ files: files.map(viewFile) });
    }
  }
}

/** What an action cannot use is a mistake of the caller. */
function refuseSet({ action, set }: BatchOrder): Omit<CopyInput, 'name'> {
  const refuse = (path: string, message: string) => invalid(422, [{ path, message, code: 'action' }]);
  if (action === 'update' && set === undefined)
    throw refuse('set', 'is required to update: name the fields to set');
  if (action === 'update' && set?.space_id !== undefined)
    throw refuse('set.space_id', 'cannot be changed: copy the files to the other space, then delete them');
  if (set !== undefined && action !== 'update' && action !== 'copy')
    throw refuse('set', `has no meaning for ${action}: leave it out`);
  return set ?? {};
}
