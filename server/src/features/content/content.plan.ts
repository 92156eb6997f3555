// Decides how a request for bytes is answered: conditions first, then ranges, in the order of RFC 9110 (13.2.2).
import type { IncomingHttpHeaders } from 'node:http';
import { PakhusError } from '../../kernel/error.ts';
import { allowsVersion, parseEtags } from '../../kernel/etag.ts';
import { type ByteRange, parseRanges } from '../../kernel/media/byte-range.ts';

/** What is asked for, as far as the decision depends on it. */
export interface Version {
  readonly bytes: number;
  /** Strong. */
  readonly etag: string;
  readonly modifiedAt: Date;
}

export interface ReplyPlan {
  readonly status: 200 | 206 | 304;
  /** None if no bytes are sent. */
  readonly ranges: readonly ByteRange[];
  /** The client has said which version its part is from, and it is this one. */
  readonly resumes: boolean;
}

export type Refuse = (etag: string) => PakhusError;

const noBytes = { ranges: [], resumes: false };

/** Throws 412 and 416. */
export function planReply(
  method: string | undefined,
  headers: IncomingHttpHeaders,
  version: Version,
  refuse: Refuse = preconditionFailed,
): ReplyPlan {
  if (isOtherVersion(headers, version)) throw refuse(version.etag);
  if (isKnown(headers, version)) return { status: 304, ...noBytes };
  // Ranges are defined for GET only.
  if (method === 'HEAD') return { status: 200, ...noBytes };
  const whole = version.bytes === 0 ? [] : [{ start: 0, end: version.bytes - 1 }];
  const ifRange = headers['if-range']?.toString();
  const resumes = ifRange !== undefined && isSame(ifRange, version);
  if (ifRange !== undefined && !resumes) return { status: 200, ranges: whole, resumes };
  const ranges = parseRanges(headers.range, version.bytes);
  if (ranges === 'unsatisfiable') throw unsatisfiable(version);
  if (ranges === null) return { status: 200, ranges: whole, resumes: false };
  return { status: 206, ranges, resumes };
}

/** Joining parts of two versions would give the client a file that never was. */
function isOtherVersion(headers: IncomingHttpHeaders, { etag, modifiedAt }: Version): boolean {
  const wanted = headers['if-match'];
  if (wanted !== undefined) return !allowsVersion(wanted, etag);
  return inSeconds(modifiedAt) > Date.parse(headers['if-unmodified-since'] ?? '');
}

/** If-None-Match overrides If-Modified-Since. */
function isKnown(headers: IncomingHttpHeaders, { etag, modifiedAt }: Version): boolean {
  const known = headers['if-none-match'];
  if (known === undefined) return inSeconds(modifiedAt) <= Date.parse(headers['if-modified-since'] ?? '');
  return known.trim() === '*' || parseEtags(known).some((tag) => tag.replace(/^W\//, '') === etag);
}

/** An ETag, compared strongly, or exactly the Last-Modified of this version. */
function isSame(ifRange: string, { etag, modifiedAt }: Version): boolean {
  const given = ifRange.trim();
  return given === etag || (!given.includes('"') && Date.parse(given) === inSeconds(modifiedAt));
}

/** Like Last-Modified. An invalid date is NaN, with which every comparison fails. */
const inSeconds = (date: Date): number => Math.floor(date.getTime() / 1000) * 1000;

const preconditionFailed: Refuse = (etag) =>
  new PakhusError(
    'PRECONDITION_FAILED',
    'The content has changed and is not the version that you asked for: start the download again',
    { details: { etag } },
  );

const unsatisfiable = ({ bytes }: Version): PakhusError =>
  new PakhusError('VALIDATION_ERROR', `The range is outside the file, which has ${bytes} bytes`, {
    status: 416,
    headers: { 'content-range': `bytes */${bytes}` },
    details: { issues: [{ path: 'range', message: `must be within ${bytes} bytes`, code: 'range' }] },
  });
