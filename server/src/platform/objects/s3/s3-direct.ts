// Objects whose parts clients send straight to S3, by presigned URLs of an exact length.
import { encodeQuery } from '../../../kernel/crypto/sigv4.ts';
import { invalid, type PakhusError } from '../../../kernel/error.ts';
import type { CompleteOptions, PartUrlOptions } from '../staged-objects.ts';
import type { S3Client } from './s3-client.ts';
import { isAbsent, S3Fault } from './s3-fault.ts';
import { noSuchObject } from './s3-guard.ts';
import { partsMax, presignSecondsMax } from './s3-limits.ts';
import type { FinishedUpload, OpenUpload, Part, Upload } from './s3-open-upload.ts';

const mebibyte = 1 << 20;

/** `usual`, unless the object would need more parts than S3 takes. */
export function directPartBytes(bytes: number, usual: number): number {
  if (bytes <= usual * partsMax) return usual;
  return Math.ceil(bytes / partsMax / mebibyte) * mebibyte;
}

export function buildPartUrl(client: S3Client, upload: Upload, options: PartUrlOptions): string {
  const { number, bytes, expiresInSeconds } = options;
  if (expiresInSeconds > presignSecondsMax) throw new Error('S3 signs for at most 7 days');
  if (!(number >= 1 && number <= partsMax)) throw new Error(`S3 numbers parts from 1 to ${partsMax}`);
  const query = encodeQuery([
    ['partNumber', String(number)],
    ['uploadId', upload.id],
  ]);
  return client.presignPut(upload.bucket, upload.key, query, bytes, expiresInSeconds);
}

/** Repeatable: a completion that was done before counts as success. */
export async function completeDirect(
  upload: OpenUpload,
  partBytes: number,
  { bytes, parts }: CompleteOptions,
): Promise<void> {
  const listed = checkParts(parts, Math.ceil(bytes / partBytes));
  const found = await finish(upload, listed);
  if (!found.isWanted) throw noSuchObject();
  if (found.isOurs && found.bytes !== bytes)
    throw invalidParts(`hold ${found.bytes} bytes instead of ${bytes}: create a new upload`, 'size');
}

async function finish(upload: OpenUpload, parts: readonly Part[]): Promise<FinishedUpload> {
  try {
    return await upload.finish(parts);
  } catch (error) {
    const code = error instanceof S3Fault ? error.code : '';
    if (code === 'InvalidPart') throw invalidParts(await describeWrongPart(upload, parts), 'part');
    const refusal = refusals.get(code);
    if (refusal) throw invalidParts(refusal, 'part');
    throw isAbsent(error) ? noSuchObject(error) : error;
  }
}

const refusals: ReadonlyMap<string, string> = new Map([
  ['InvalidPartOrder', 'must be in ascending order'],
  ['EntityTooSmall', 'are smaller than announced: send every part with its full size'],
]);

/** S3 does not say which part it means. */
async function describeWrongPart(upload: OpenUpload, parts: readonly Part[]): Promise<string> {
  const etags = new Map<number, string>();
  for await (const { number, etag } of upload.listParts()) etags.set(number, etag.replaceAll('"', ''));
  const wrong = parts.find(({ number, etag }) => etags.get(number) !== etag.replaceAll('"', ''));
  const name = wrong ? `part ${wrong.number}` : 'a part';
  return `${name} is not stored with this etag: send it again and give the ETag of the answer`;
}

const etagForm = /^"?([\x21\x23-\x7e]{1,200}?)"?$/;

/** Clients may leave out the quotes around an etag. */
function checkParts(parts: readonly Part[], count: number): Part[] {
  for (let at = 0; at < Math.max(count, parts.length); at += 1) {
    if (at < count && parts[at]?.number === at + 1) continue;
    const fault = at < count ? `part ${at + 1} is missing or not in its place` : 'there are too many parts';
    throw invalidParts(`${fault}: list the parts 1 to ${count}, each once and in ascending order`, 'numbers');
  }
  return parts.map(({ number, etag }) => {
    const plain = etagForm.exec(etag)?.[1];
    if (plain === undefined)
      throw invalidParts(`must give the ETag that the store answered to part ${number}`, 'etag');
    return { number, etag: `"${plain}"` };
  });
}

const invalidParts = (message: string, code: string): PakhusError =>
  invalid(422, [{ path: 'parts', message, code }]);
