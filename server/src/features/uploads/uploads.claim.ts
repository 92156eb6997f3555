// A request takes an upload to add bytes to it. From then on, older requests can no longer move its offset.

import type { Deps } from '../../contract/deps.ts';
import { PakhusError } from '../../kernel/error.ts';
import { newId } from '../../kernel/id.ts';
import type { StagedObject } from '../../platform/objects/staged-objects.ts';
import { buildObjectMeta } from '../files/files.objects.ts';
import { toStorageKey } from '../objects/objects.key.ts';
import { type ClaimRow, claimUpload, type EndedRow, type UploadName } from './uploads.sql.ts';

export interface Claim {
  readonly row: ClaimRow;
  /** Where bytes that do not fill a part go; null on a store without parts. */
  readonly tailId: string | null;
}

/** One token for every object that this process writes for uploads. */
const holder = newId();

/** Past the expiry, so that the reaper never meets an object whose upload is alive. */
const holdSecondsBeyond = 7_200;

/** `adding` is the length of the body, null if it is not known. */
export async function claim(
  deps: Deps,
  name: UploadName,
  at: number | null,
  adding: number | null,
): Promise<Claim> {
  const tailId = deps.objects.kind === 's3' && at !== null && adding !== 0 ? newId() : null;
  const request = { at, adding, objectId: newId(), tailId, holder };
  const holdSeconds = deps.settings.UPLOAD_EXPIRY_SECONDS + holdSecondsBeyond;
  const [row] = await deps.db.query<ClaimRow>(claimUpload(name, request, holdSeconds));
  if (row?.outcome === 'claimed') deps.liveUploads.countClaim(at ?? 0, row.took_over === true);
  return { row: row as ClaimRow, tailId };
}

export const uploadNotFound = () =>
  new PakhusError(
    'NOT_FOUND',
    'There is no such upload: it has ended, or its creator may no longer upload. Create a new one',
  );

/** For callers that look it up by its id. */
export const noSuchUpload = () => new PakhusError('NOT_FOUND', 'This user has no such upload: check the id');

export const takenOver = () =>
  new PakhusError(
    'CONFLICT',
    'Another request has taken this upload over: ask for its offset and go on from there, or leave it to the other one',
  );

export function toStagedObject(row: EndedRow): StagedObject {
  if (row.object_id === null) throw new Error('The upload has no object');
  return {
    zone: row.zone,
    key: toStorageKey({ projectId: row.project_id, id: row.object_id }),
    meta: buildObjectMeta(row.name, row.mime_type),
    state: row.state,
  };
}
