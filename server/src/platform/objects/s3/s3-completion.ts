// Makes one object of what was appended: completes its multipart upload, or copies its tail if there is nothing else.
// Every step may be repeated after a crash.
import { outage, PakhusError } from '../../../kernel/error.ts';
import type { ObjectMeta } from '../object-store.ts';
import type { CompleteOptions } from '../staged-objects.ts';
import type { S3Client } from './s3-client.ts';
import { isAbsent, S3Fault, type S3Headers } from './s3-fault.ts';
import { noSuchObject } from './s3-guard.ts';
import { bytesIn, etagIn, headersOf } from './s3-headers.ts';
import {
  type Address,
  copySource,
  type FinishedUpload,
  type OpenUpload,
  type Part,
} from './s3-open-upload.ts';
import { PartReader, type PartTools } from './s3-part.ts';
import { isCopied, isObject } from './s3-replies.ts';
import type { S3Staged, StagedTail } from './s3-staged-state.ts';
import type { S3Tails } from './s3-tails.ts';

export interface CompletionContext {
  readonly client: S3Client;
  readonly tools: PartTools;
  readonly tails: S3Tails;
  readonly thinkTimeoutMs: number;
}

export async function completeParts(
  context: CompletionContext,
  upload: OpenUpload,
  staged: S3Staged,
  options: CompleteOptions,
): Promise<void> {
  try {
    checkWhole(await finishParts(context, upload, staged, options), options.bytes);
  } catch (error) {
    if (isAbsent(error)) throw noSuchObject(error);
    // Somebody has replaced a recorded part. With a tail it may be the last one, which the next call puts again.
    if (isRefusedPart(error) && !staged.tail) throw noSuchObject(error);
    throw error;
  }
}

async function finishParts(
  context: CompletionContext,
  upload: OpenUpload,
  { tail, parts: count, partBytes }: S3Staged,
  { parts, signal }: CompleteOptions,
): Promise<FinishedUpload> {
  if (!tail) return upload.finish(parts);
  try {
    const last = await putTailAsPart(context, upload, count + 1, tail, partBytes, signal);
    return await upload.finish([...parts, last]);
  } catch (error) {
    // An earlier call may have completed the upload already; only the object itself can tell.
    if (isGone(error)) return upload.look(false);
    throw error;
  }
}

async function putTailAsPart(
  context: CompletionContext,
  upload: OpenUpload,
  number: number,
  tail: StagedTail,
  partBytes: number,
  signal: AbortSignal | undefined,
): Promise<Part> {
  const reader = await context.tails.open(tail, signal);
  const stream = new PartReader(context.tools, { key: upload.upload.key, reader, signal, hash: undefined });
  let part: Part | undefined;
  try {
    await stream.next({ bytes: partBytes, bytesLeft: tail.bytes }, async (body, digest) => {
      part = await upload.putPart(number, body, digest);
    });
  } finally {
    reader.close();
  }
  if (!part) throw new Error('A tail cannot be empty');
  return part;
}

/** For an object that is smaller than a part. */
export async function copyTail(
  context: CompletionContext,
  target: Address,
  meta: ObjectMeta,
  tail: StagedTail,
  { bytes, signal }: CompleteOptions,
): Promise<void> {
  const { client, thinkTimeoutMs } = context;
  const source = context.tails.locate(tail);
  const headers = {
    ...headersOf(meta),
    'x-amz-copy-source': copySource(source),
    'x-amz-copy-source-if-match': tail.etag,
    'x-amz-metadata-directive': 'REPLACE',
  };
  let isAcknowledged = true;
  try {
    const call = { method: 'PUT', ...target, headers, signal, thinkTimeoutMs, isAnswer: isCopied } as const;
    await client.send(call);
  } catch (error) {
    if (!isGone(error)) throw error;
    isAcknowledged = false;
  }
  const found = await lookAt(client, target, signal);
  // Ceph ignores the if-match. A store that encrypts gives every copy another etag: there the tail itself must be asked.
  const isOurs =
    etagIn(found) === tail.etag ||
    (isAcknowledged && etagIn(await lookAt(client, source, signal)) === tail.etag);
  checkWhole({ isOurs, isWanted: isOurs, bytes: bytesIn(found) }, bytes);
}

async function lookAt(client: S3Client, at: Address, signal: AbortSignal | undefined): Promise<S3Headers> {
  try {
    return (await client.send({ method: 'HEAD', ...at, signal, isAnswer: isObject })).headers;
  } catch (error) {
    throw isAbsent(error) ? noSuchObject(error) : error;
  }
}

function checkWhole(found: FinishedUpload, bytes: number): void {
  if (!found.isWanted) throw noSuchObject();
  if (found.isOurs && found.bytes !== bytes)
    throw outage('storage', 'The object store completed an upload that is not there whole');
}

const isRefusedPart = (error: unknown): boolean => error instanceof S3Fault && error.code === 'InvalidPart';

/** The tail or the multipart upload no longer exists, or the tail is another object. */
const isGone = (error: unknown): boolean =>
  isAbsent(error) ||
  (error instanceof S3Fault && error.status === 412) ||
  (error instanceof PakhusError && error.code === 'NOT_FOUND');
