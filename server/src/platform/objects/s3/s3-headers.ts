// What the headers of a stored object say, in both directions.
import { isInert, parseMediaType, unknownMediaType } from '../../../kernel/media/media-type.ts';
import type { ObjectInfo, ObjectMeta } from '../object-store.ts';
import { headerOf, type S3Headers } from './s3-fault.ts';

// Values come from names and types that clients chose, encoded by the caller; anything else is a bug.
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

/** Whatever a browser could run is kept and delivered as plain bytes, since no store can be asked for `nosniff`. */
export const isActive = (type: string): boolean => !isInert(type) && !isInert(parseMediaType(type));

const asAttachment = (disposition: string): string => disposition.replace(/^inline\b/i, 'attachment');

/** Amazon's store takes 2 KB of headers with an object, and refuses it for a byte more. */
const dispositionMax = 1_500;

/** A name of so many bytes is kept in ASCII only: links that are signed carry it in full. */
const briefly = (disposition: string): string =>
  disposition.length > dispositionMax ? disposition.replace(/; filename\*=.*$/, '') : disposition;

export function etagIn(headers: S3Headers): string | undefined {
  return headerOf(headers, 'etag') || undefined;
}

export function bytesIn(headers: S3Headers): number {
  return Number(headerOf(headers, 'content-length') ?? NaN);
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
