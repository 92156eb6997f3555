// Turns an upload whose bytes are all there into a file. May be repeated after a crash at any point: the object is put into
// place first, then one statement commits the file.
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import { PakhusError } from '../../kernel/error.ts';
import { hashStream } from '../../platform/hashing/buffered-hash.ts';
import { splitContentDigest } from '../../platform/hashing/digest.ts';
import type { StreamHash } from '../../platform/hashing/stream-hash.ts';
import { sniffedBytes } from '../../platform/media-detect.ts';
import type { StagedPart } from '../../platform/objects/staged-objects.ts';
import {
  fileTooLarge,
  gatherFacts,
  largestFile,
  refuseType,
  toRefusal,
  verifyDigests,
} from '../files/files.checks.ts';
import { countStored } from '../traffic/traffic.count.ts';
import { takenOver, toStagedObject } from './uploads.claim.ts';
import { fail } from './uploads.end.ts';
import { type ClaimRow, type LimitedRow, listParts, type UploadRow } from './uploads.sql.ts';

export type Client = Pick<AuditStamp, 'ipAddress' | 'userAgent'>;

/** `hash` covers the whole file, if there is one; it is closed here. `parts`: as the client of a direct upload says. */
export interface Completion {
  readonly hash: StreamHash | null;
  readonly parts?: readonly StagedPart[];
}

/** Resolves to the completed upload. A refusal ends the upload and gives everything back. */
export async function complete(
  deps: Deps,
  row: LimitedRow,
  { hash, parts }: Completion,
  client: Client,
): Promise<UploadRow> {
  try {
    await putInPlace(deps, row, parts);
    const digest = hash ? await hash.digest() : await hashIfNeeded(deps, row);
    await refuseFile(deps, row, digest);
    const { project_id, user_id, space_id, id, epoch } = row;
    const upload = { project_id, user_id, space_id, id, epoch, digest, client };
    const { outcome, stored_at } = await deps.completeUpload(upload);
    if (outcome === 'taken') throw takenOver();
    if (outcome !== 'stored') throw new UploadFailed(toRefusal(outcome));
    countStored(deps, row.project_id, row.user_id, row.size ?? 0);
    return { ...row, status: 'completed', file_id: row.object_id, updated_at: stored_at };
  } catch (error) {
    if (error instanceof UploadFailed) await fail(deps, row, error);
    throw error;
  } finally {
    hash?.close();
  }
}

/** A refusal that ends the upload: a repetition would end the same way. */
export class UploadFailed extends PakhusError {
  constructor({ code, message, status, details, cause }: PakhusError) {
    super(code, message, { status, details, cause });
  }
}

async function putInPlace(deps: Deps, row: LimitedRow, given?: readonly StagedPart[]): Promise<void> {
  const needsParts = deps.objects.kind === 's3' && row.size !== 0;
  const parts = given ?? (needsParts ? await deps.db.read<StagedPart>(listParts(row)) : []);
  try {
    await deps.objects.staged.complete(toStagedObject(row), { bytes: row.size ?? 0, parts });
  } catch (error) {
    // A client that sent the wrong list of parts may send another one.
    if (given || !(error instanceof PakhusError) || error.status >= 500) throw error;
    throw new UploadFailed(bytesLost(error));
  }
}

/** Reads the file once, unless one process has received all of it. A direct upload is hashed by a job, unless the client asks. */
async function hashIfNeeded(deps: Deps, row: LimitedRow): Promise<Buffer | null> {
  if (row.mode === 'direct' && row.sha256 === null) return null;
  const { zone, key } = toStagedObject(row);
  return hashStream(deps.hashing, 'content', await deps.objects.get(zone, key));
}

/** The plan may have changed since the upload was created, and only now are there bytes to look at. */
async function refuseFile(deps: Deps, row: LimitedRow, digest: Buffer | null): Promise<void> {
  try {
    const fileMax = largestFile(deps, row.max_file_size);
    if ((row.size ?? 0) > fileMax) throw fileTooLarge(fileMax);
    if (digest && row.sha256)
      await verifyDigests(splitContentDigest(digest).sha256, row.sha256, undefined, null);
    const allowedMimes = row.allowed_mimes ?? [];
    if (allowedMimes.length === 0) return;
    const part = { filename: row.name, contentType: row.mime_type };
    const facts = await gatherFacts({ plan: { allowedMimes } }, [], part, await readHead(deps, row));
    refuseType({ plan: { allowedMimes } }, [], facts);
  } catch (error) {
    if (error instanceof PakhusError && error.status < 500) throw new UploadFailed(error);
    throw error;
  }
}

async function readHead(deps: Deps, row: LimitedRow): Promise<Buffer> {
  if (!row.size) return Buffer.alloc(0);
  const { zone, key } = toStagedObject(row);
  const range = { start: 0, end: Math.min(row.size, sniffedBytes) - 1 };
  const chunks: Buffer[] = [];
  for await (const chunk of await deps.objects.get(zone, key, range)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Runs `work`, and ends the upload if the store has lost some of its bytes. */
export async function failIfLost<Result>(
  deps: Deps,
  row: ClaimRow,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PakhusError) || error.code !== 'NOT_FOUND') throw error;
    const why = bytesLost(error);
    await fail(deps, row, why);
    throw why;
  }
}

const bytesLost = (cause: PakhusError) =>
  new PakhusError('CONFLICT', 'The store no longer has all bytes of this upload: create a new one', {
    cause,
  });
