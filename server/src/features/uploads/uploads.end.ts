// Ends uploads without a file. The database gives the room back in one statement; the bytes go afterwards, and the reaper
// repeats what fails here.
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import type { PakhusError } from '../../kernel/error.ts';
import { mayWait } from '../../platform/db/project-work.ts';
import type { Sql } from '../../platform/db/sql.ts';
import { waitForRemoval } from '../objects/objects.remove.ts';
import { toStagedObject } from './uploads.claim.ts';
import { type EndedRow, endUpload, type StagedRow, type UploadRow } from './uploads.sql.ts';
import { viewUpload } from './uploads.wire.ts';

/** Null if it has ended already. */
export async function cancel(
  deps: Deps,
  row: Pick<UploadRow, 'project_id' | 'id'>,
  audit: Partial<AuditStamp>,
): Promise<EndedRow | null> {
  const stamp = { ...audit, action: 'upload.cancel' } as const;
  return end(deps, row, endUpload(row, null, 'cancelled', null, stamp));
}

export function expire(deps: Deps, row: UploadRow): Promise<EndedRow | null> {
  const shown = viewUpload(row, { partSize: deps.objects.staged.partBytesFor });
  return end(deps, row, endUpload(row, null, 'expired', null, { action: 'upload.expire' }, shown));
}

/** Only if no other request has taken the upload over. */
export const fail = (deps: Deps, row: StagedRow, { code, message }: PakhusError): Promise<EndedRow | null> =>
  end(deps, row, endUpload(row, row.epoch, 'failed', { code, message }, null));

async function end(
  deps: Deps,
  { project_id }: Pick<UploadRow, 'project_id'>,
  statement: Sql,
): Promise<EndedRow | null> {
  const [ended] = await mayWait(deps, project_id, () => deps.db.query<EndedRow>(statement));
  if (!ended) return null;
  await deps.liveUploads.stop(ended.id);
  await discardBytes(deps, ended);
  return ended;
}

/** Removes what an ended upload has left in the store, as far as that works now. */
async function discardBytes(deps: Deps, ended: EndedRow): Promise<void> {
  if (ended.object_id === null) return;
  const object = toStagedObject(ended);
  const discard = async () => {
    await deps.objects.staged.discard(object);
    await deps.objects.delete(object.zone, object.key);
  };
  await waitForRemoval(
    discard().catch((error: unknown) =>
      deps.log.warn({ err: error, key: object.key }, 'bytes of an ended upload were left to the reaper'),
    ),
  );
}
