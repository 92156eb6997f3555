// Direct uploads: clients send parts straight to the object store, to URLs that take exactly the reserved length.
import type { Call } from '../../contract/call.ts';
import type { Deps } from '../../contract/deps.ts';
import type { FileRow } from '../../contract/file.ts';
import type { Subject } from '../../contract/subject.ts';
import { isoOf } from '../../kernel/clock.ts';
import { invalid, PakhusError } from '../../kernel/error.ts';
import type { StagedObject, StagedPart } from '../../platform/objects/staged-objects.ts';
import { toStorageKey } from '../objects/objects.key.ts';
import { receiveWhole } from './uploads.body.ts';
import { noSuchUpload, toStagedObject, uploadNotFound } from './uploads.claim.ts';
import { complete } from './uploads.complete.ts';
import { bodyLength } from './uploads.headers.ts';
import {
  type BegunRow,
  beginDirect,
  type DirectRow,
  findAlive,
  findDirect,
  type StagedRow,
  type UploadRow,
  type UploadScope,
} from './uploads.sql.ts';

/** Long enough for a part on a slow line; the client asks again for those that it has not sent by then. */
const urlSeconds = 3_600;

/** As many as clients usually ask for at once: few enough that their URLs are used before they expire. */
const firstPartsMax = 20;

export interface PartTarget {
  readonly number: number;
  readonly url: string;
  readonly size: number;
  readonly expires_at: string;
}

/** The first parts of an upload that has just begun in the store, so that its client need not ask for them. */
export function firstParts(deps: Deps, object: StagedObject, size: number, call: Call): PartTarget[] {
  const count = countParts(size, deps.objects.staged.partBytesFor(size));
  const numbers = Array.from({ length: Math.min(count, firstPartsMax) }, (_, index) => index + 1);
  return signParts(deps, object, size, numbers, call);
}

export async function openParts(
  deps: Deps,
  row: StagedRow,
  numbers: readonly number[],
  call: Call,
): Promise<PartTarget[]> {
  refuseOther(row);
  const size = row.size ?? 0;
  const count = countParts(size, deps.objects.staged.partBytesFor(size));
  const wrong = numbers.find((number) => number > count);
  if (wrong !== undefined)
    throw invalid(422, [
      {
        path: 'numbers',
        message:
          count === 0
            ? 'must not be asked for: the file is empty, so complete it with no parts'
            : `must be at most ${count}: the upload has ${count} parts`,
        code: 'maximum',
      },
    ]);
  return signParts(deps, await openObject(deps, row), size, numbers, call);
}

function signParts(
  deps: Deps,
  object: StagedObject,
  size: number,
  numbers: readonly number[],
  { origin }: Call,
): PartTarget[] {
  const { staged } = deps.objects;
  const partSize = staged.partBytesFor(size);
  const expires_at = isoOf((Math.floor(deps.clock() / 1000) + urlSeconds) * 1000);
  return numbers.map((number) => {
    const bytes = Math.min(partSize, size - (number - 1) * partSize);
    const options = { number, bytes, expiresInSeconds: urlSeconds, origin };
    return { number, url: staged.partUrl(object, options), size: bytes, expires_at };
  });
}

/** None for an empty file. */
const countParts = (size: number, partSize: number): number => Math.ceil(size / partSize);

/** The expiry is prolonged once this share of the time has passed: a client that asks often costs no writes. */
const prolongedAfter = 0.01;

/**
 * Prolongs the upload. One that an earlier release has created begins in the store only now: of two requests that do so at once, the
 * first one counts.
 */
async function openObject(deps: Deps, row: StagedRow): Promise<StagedObject> {
  const { staged } = deps.objects;
  const { UPLOAD_EXPIRY_SECONDS: expirySeconds } = deps.settings;
  const object = toStagedObject(row);
  const secondsLeft = (Date.parse(row.expires_at) - deps.clock()) / 1000;
  if (row.state && secondsLeft > expirySeconds * (1 - prolongedAfter)) return object;
  const begun = row.state ?? (await staged.beginDirect(object));
  const [recorded] = await deps.db.query<BegunRow>(beginDirect(row, begun, expirySeconds));
  if (!recorded?.is_ours) await staged.discard({ ...object, state: begun });
  if (!recorded) throw hasEnded();
  return { ...object, state: recorded.state };
}

/** Stores a part on the disk of the service, for a URL that `openParts` signed. Resolves to its ETag. */
export async function storePart(
  deps: Deps,
  {
    projectId,
    uploadId,
    number,
  }: { readonly projectId: string; readonly uploadId: string; readonly number: number },
  call: Call,
): Promise<string> {
  // The URL is the credential: any page that has it may send the part.
  call.allowAnyOrigin();
  call.exposeHeaders([]);
  const key = toStorageKey({ projectId, id: uploadId });
  const [, query = ''] = (call.raw.url ?? '').split('?');
  const signed = deps.verifyPart(key, number, query);
  const { putPart } = deps.objects.staged;
  if (!signed || !putPart)
    throw new PakhusError(
      'FORBIDDEN',
      'This URL has expired or was altered: ask for the URL of the part again',
    );
  const [row] = await deps.db.read<StagedRow>(findAlive(projectId, uploadId));
  if (!row) throw uploadNotFound();
  const length = bodyLength(call.headers);
  if (length !== null && length !== signed.bytes) throw wrongLength(signed.bytes);
  const owner = { project: projectId, subject: row.space_id ?? row.user_id };
  const hash = deps.hashing.open('md5');
  try {
    return await receiveWhole(deps, owner, row.user_id, call.raw, (body, signal) =>
      putPart(key, number, signed.bytes, body, { signal, hash }),
    );
  } finally {
    hash.close();
  }
}

const wrongLength = (bytes: number) =>
  invalid(422, [
    { path: 'content-length', message: `must be ${bytes}, as this URL was signed for`, code: 'length' },
  ]);

/** Resolves to the new file, or to the id of the one that an earlier request has made of the upload. */
export async function completeDirect(
  deps: Deps,
  scope: UploadScope,
  user: Subject,
  id: string,
  parts: readonly StagedPart[],
  call: Call,
): Promise<FileRow | string> {
  const row = await readDirect(deps, scope, id);
  if (isCompleted(row)) return row.file_id;
  refuseOther(row);
  refuseParts(row.size ?? 0, deps.objects.staged.partBytesFor(row.size ?? 0), parts);
  if (row.state === null && row.size !== 0)
    throw invalid(422, [
      { path: 'parts', message: 'were not sent: ask for their URLs first', code: 'parts' },
    ]);
  if (!row.alive) throw hasEnded();
  const { allowedMimes = null, maxFileSize = null } = user.plan ?? {};
  const limited = { ...row, allowed_mimes: allowedMimes, max_file_size: maxFileSize };
  try {
    const { updated_at } = await complete(deps, limited, { hash: null, parts }, call);
    return toFileRow(row, updated_at);
  } catch (error) {
    if (!(error instanceof PakhusError) || error.status >= 500) throw error;
    // It was refused, or another request was completing it as well.
    const now = await readDirect(deps, scope, id);
    if (isCompleted(now)) return now.file_id;
    throw error;
  }
}

async function readDirect(deps: Deps, scope: UploadScope, id: string): Promise<DirectRow> {
  const [row] = await deps.db.read<DirectRow>(findDirect(scope, id));
  if (!row) throw noSuchUpload();
  return row;
}

const isCompleted = (row: UploadRow): row is UploadRow & { readonly file_id: string } =>
  row.mode === 'direct' && row.status === 'completed' && row.file_id !== null;

/** A given sha256 was compared with the bytes; without one, a job computes it later. */
const toFileRow = (row: DirectRow, storedAt: string): FileRow => ({
  id: row.object_id ?? '',
  user_id: row.user_id,
  space_id: row.space_id,
  name: row.name,
  size: row.size ?? 0,
  mime_type: row.mime_type,
  storage_key: toStagedObject(row).key,
  zone: row.zone,
  sha256: row.sha256,
  folder: row.folder,
  tags: row.tags,
  classifier: row.classifier,
  metadata: row.metadata,
  visibility: row.visibility,
  expires_at: row.file_expires_at,
  retain_until: row.retain_until,
  compression: null,
  created_at: storedAt,
  updated_at: storedAt,
});

function refuseParts(size: number, partSize: number, parts: readonly StagedPart[]): void {
  const count = countParts(size, partSize);
  if (parts.length === count && parts.every(({ number }, index) => number === index + 1)) return;
  const message = `must be the parts 1 to ${count}, each once and in order`;
  throw invalid(422, [{ path: 'parts', message, code: 'parts' }]);
}

function refuseOther({ mode, status }: UploadRow): void {
  if (mode !== 'direct')
    throw new PakhusError(
      'CONFLICT',
      'This upload is not direct: send its bytes to its url, or create one with mode direct',
    );
  if (status !== 'uploading') throw hasEnded();
}

const hasEnded = () =>
  new PakhusError(
    'CONFLICT',
    'The upload has ended: read it to see how, and create a new one if the file is missing',
  );
