// Headers of stored objects, in both directions.
import { isInert, parseMediaType, unknownMediaType } from '../../../kernel/media/media-type.ts';
import type { ObjectInfo, ObjectMeta } from '../object-store.ts';
import { headerOf, type S3Headers } from './s3-fault.ts';

// Values are derived from what clients chose and encoded by the caller; anything else is a bug.
export function headersOf(meta: ObjectMeta): Record<string, string> {
  for (const value of [meta.contentType, meta.contentDisposition]) {
    if (!/^[\x20-\x7e]*$/.test(value)) throw new Error('A header of an object must be printable ASCII');
  }
  const active = isActive(meta.contentType);
  return {
    'content-type': active ? unknownMediaType : meta.contentType,
    'content-disposition': briefly(active ? asAttachment(meta.contentDisposition) : meta.contentDisposition),
  };
}

/** Types that a browser could run are stored and delivered as plain bytes, since stores cannot send `nosniff`. */
export const isActive = (type: string): boolean => !isInert(type) && !isInert(parseMediaType(type));

const asAttachment = (disposition: string): string => disposition.replace(/^inline\b/i, 'attachment');

/** Amazon S3 accepts 2 KB of headers per object. */
const dispositionMax = 1_500;

/** A very long name is stored in ASCII only; signed links carry it in full. */
const briefly = (disposition: string): string =>
  disposition.length > dispositionMax ? disposition.replace(/; filename\*=.*$/, '') : disposition;

export function etagIn(headers: S3Headers): string | undefined {
  return headerOf(headers, 'etag') || undefined;
}

export function bytesIn(headers: S3Headers): number {
  return Number(headerOf(headers, 'content-length') ?? NaN);
}

/** Of the whole object, also in the answer to a range. */
export function wholeBytesIn(headers: S3Headers): number {
  const [, whole] = /\/(\d+)$/.exec(headerOf(headers, 'content-range') ?? '') ?? [];
  return whole === undefined ? bytesIn(headers) : Number(whole);
}

export function toObjectInfo(headers: S3Headers): ObjectInfo {
  return {
    bytes: bytesIn(headers),
    etag: etagIn(headers) ?? '""',
    contentType: headerOf(headers, 'content-type') ?? 'application/octet-stream',
    contentDisposition: headerOf(headers, 'content-disposition') ?? 'attachment',
    modifiedAt: new Date(headerOf(headers, 'last-modified') ?? 0),
  };
}
