// Serves the objects of the disk store by signed URL, with conditional and range requests. Headers keep browsers from
// running any of it.

import { Readable } from 'node:stream';
import type { Call } from '../../contract/call.ts';
import type { Deps } from '../../contract/deps.ts';
import type { DeliveredRow } from '../../contract/file.ts';
import { retry } from '../../kernel/async/retry.ts';
import { PakhusError } from '../../kernel/error.ts';
import { allowsVersion, parseEtags } from '../../kernel/etag.ts';
import { parseRange } from '../../kernel/media/byte-range.ts';
import type { ObjectInfo, ObjectMeta, Zone } from '../../platform/objects/object-store.ts';
import { buildDeliveryMeta, isCompressed } from './files.objects.ts';
import { findDelivered, findExisting } from './files.sql.ts';

export async function serveObject(deps: Deps, key: string, call: Call): Promise<Readable | Buffer> {
  // The URL is the credential: any page that has it may read the response, including the error once it has expired.
  call.allowAnyOrigin();
  call.setHeader('access-control-expose-headers', 'X-Request-Id, ETag, Content-Disposition, Content-Range');
  const [, query = ''] = (call.raw.url ?? '').split('?');
  const claims = deps.verifyDownload(key, query);
  if (!claims) {
    throw new PakhusError(
      'FORBIDDEN',
      'This URL has expired or was altered: read the file again to get a new one',
    );
  }
  const meta = await findMeta(deps, key, claims);
  return retry(attemptsMax, isGone, () => respond(deps, key, meta, call));
}

/** A file that is being moved or compressed may be missed once, hardly ever twice. */
const attemptsMax = 3;

const isGone = (error: unknown): boolean => error instanceof PakhusError && error.code === 'NOT_FOUND';

const gone = () => new PakhusError('NOT_FOUND', 'The file no longer exists');

/**
 * A file without a row is deleted, even if the reaper has not removed its object yet. Only images need the row itself:
 * compression may have changed their type since the URL was signed.
 */
async function findMeta(deps: Deps, key: string, claims: ObjectMeta): Promise<ObjectMeta> {
  const [projectId = '', fileId = ''] = key.split('/');
  const isImage = claims.contentType.startsWith('image/');
  const find = isImage ? findDelivered : findExisting;
  // Downloads keep working during a database outage.
  const rows = await deps.db.read<DeliveredRow>(find(projectId, fileId)).catch(() => null);
  if (rows === null) return claims;
  const [file] = rows;
  if (!file) throw gone();
  return isImage && isCompressed(file) ? buildDeliveryMeta(file) : claims;
}

async function respond(deps: Deps, key: string, meta: ObjectMeta, call: Call): Promise<Readable | Buffer> {
  const found = await findObject(deps, key);
  if (!found) throw gone();
  refuseOtherVersion(call, found.info.etag);
  setHeaders(call, meta, found.info);
  if (notModified(call, found.info)) {
    call.setStatus(304);
    return noBody();
  }
  return openBody(deps, key, found, call);
}

interface Found {
  readonly zone: Zone;
  readonly info: ObjectInfo;
}

/** The file may have moved to the other zone since the URL was signed. */
async function findObject(deps: Deps, key: string): Promise<Found | null> {
  for (const zone of ['private', 'public'] as const) {
    const info = await deps.objects.head(zone, key);
    if (info) return { zone, info };
  }
  return null;
}

function setHeaders(call: Call, meta: ObjectMeta, info: ObjectInfo): void {
  call.setHeader('content-type', meta.contentType);
  call.setHeader('content-disposition', meta.contentDisposition);
  call.setHeader('etag', info.etag);
  call.setHeader('last-modified', info.modifiedAt.toUTCString());
  call.setHeader('accept-ranges', 'bytes');
  call.setHeader('cache-control', 'private, no-cache');
  call.setHeader('content-security-policy', "sandbox; default-src 'none'");
  call.setHeader('cross-origin-resource-policy', 'cross-origin');
  // A link in the file must not leak the signature in its referrer.
  call.setHeader('referrer-policy', 'no-referrer');
}

/** Resuming a download of a file that has changed would join halves of two versions. */
function refuseOtherVersion(call: Call, etag: string): void {
  const wanted = call.headers['if-match'];
  if (wanted === undefined || allowsVersion(wanted, etag)) return;
  throw new PakhusError(
    'VALIDATION_ERROR',
    'The file has changed and does not match If-Match: start the download again',
    {
      status: 412,
      details: { issues: [{ path: 'if-match', message: `must name ${etag}`, code: 'etag' }] },
    },
  );
}

/** If-None-Match overrides If-Modified-Since (RFC 9110). */
function notModified(call: Call, { etag, modifiedAt }: ObjectInfo): boolean {
  const known = call.headers['if-none-match'];
  // In whole seconds, like Last-Modified. An invalid date is NaN and never matches.
  if (known === undefined)
    return (
      Math.floor(modifiedAt.getTime() / 1000) * 1000 <= Date.parse(call.headers['if-modified-since'] ?? '')
    );
  return known.trim() === '*' || parseEtags(known).some((tag) => tag.replace(/^W\//, '') === etag);
}

/** A stream, because the framework would set Content-Length to 0 for an empty buffer. */
const noBody = (): Readable => Readable.from([]);

async function openBody(
  deps: Deps,
  key: string,
  { zone, info }: Found,
  call: Call,
): Promise<Readable | Buffer> {
  const isHead = call.raw.method === 'HEAD';
  const ifRange = call.headers['if-range'];
  const mayBePart = !isHead && (ifRange === undefined || ifRange === info.etag);
  const wanted = mayBePart ? parseRange(call.headers.range, info.bytes) : null;
  if (wanted === 'unsatisfiable') {
    call.setHeader('content-range', `bytes */${info.bytes}`);
    throw new PakhusError(
      'VALIDATION_ERROR',
      `The range is outside the file, which has ${info.bytes} bytes`,
      {
        status: 416,
        details: {
          issues: [{ path: 'range', message: `must be within ${info.bytes} bytes`, code: 'range' }],
        },
      },
    );
  }
  const { start, end } = wanted ?? { start: 0, end: info.bytes - 1 };
  const body =
    isHead || info.bytes === 0
      ? noBody()
      : await deps.objects.get(zone, key, { start, end, etag: info.etag });
  if (wanted) {
    call.setStatus(206);
    call.setHeader('content-range', `bytes ${start}-${end}/${info.bytes}`);
  }
  call.setHeader('content-length', end - start + 1);
  return body;
}
