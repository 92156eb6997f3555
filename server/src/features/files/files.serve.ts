// Serves the objects of the disk store to whoever holds a signed URL: conditional and partial requests, and
// nothing that a browser could run.

import { Readable } from 'node:stream';
import type { Call } from '../../contract/call.ts';
import type { Deps } from '../../contract/deps.ts';
import type { DeliveredRow } from '../../contract/file.ts';
import { retry } from '../../kernel/async/retry.ts';
import { PakhusError } from '../../kernel/error.ts';
import { parseRange } from '../../kernel/media/byte-range.ts';
import type { ObjectInfo, ObjectMeta, Zone } from '../../platform/objects/object-store.ts';
import { buildDeliveryMeta, isCompressed } from './files.objects.ts';
import { findDelivered, findExisting } from './files.sql.ts';

export async function serveObject(deps: Deps, key: string, call: Call): Promise<Readable | Buffer> {
  // The URL is the credential: a page that has it may read with it, also that it is too late.
  call.allowAnyOrigin();
  call.setHeader('access-control-expose-headers', 'X-Request-Id, ETag, Content-Disposition, Content-Range');
  const [, query = ''] = (call.raw.url ?? '').split('?');
  const claims = deps.verifyDownload(key, query);
  if (!claims) {
    throw new PakhusError(
      'FORBIDDEN',
      'This URL has expired or was changed: read the file again to get a new one',
    );
  }
  const meta = await findMeta(deps, key, claims);
  return retry(attemptsMax, isGone, () => respond(deps, key, meta, call));
}

/** A file that changes its zone or its bytes right now is missed once, hardly twice. */
const attemptsMax = 3;

const isGone = (error: unknown): boolean => error instanceof PakhusError && error.code === 'NOT_FOUND';

const gone = () => new PakhusError('NOT_FOUND', 'The file is gone');

/**
 * How to deliver it. A file whose row is gone is gone, also while the reaper has yet to delete its bytes. An image may
 * have been compressed since its URL was signed; nothing else changes its type.
 */
async function findMeta(deps: Deps, key: string, claims: ObjectMeta): Promise<ObjectMeta> {
  const [projectId = '', fileId = ''] = key.split('/');
  const isImage = claims.contentType.startsWith('image/');
  const find = isImage ? findDelivered : findExisting;
  // Bytes are delivered even while the database is away.
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

/** The file may have changed its zone since the URL was signed. */
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
  // A link in what is shown must not carry the signature along.
  call.setHeader('referrer-policy', 'no-referrer');
}

/** Whoever continues a download of what has changed since would join the halves of two files. */
function refuseOtherVersion(call: Call, etag: string): void {
  const wanted = call.headers['if-match'];
  if (wanted === undefined || wanted.trim() === '*' || parseEtags(wanted).includes(etag)) return;
  throw new PakhusError('VALIDATION_ERROR', 'The file is not the one that If-Match names: begin anew', {
    status: 412,
    details: { issues: [{ path: 'if-match', message: `must name ${etag}`, code: 'etag' }] },
  });
}

const parseEtags = (list: string): string[] => list.split(',').map((tag) => tag.trim());

/** A tag tells more than a time: where there is one, the time is not looked at. */
function notModified(call: Call, { etag, modifiedAt }: ObjectInfo): boolean {
  const known = call.headers['if-none-match'];
  // In whole seconds, as Last-Modified says it. What is no date is never reached.
  if (known === undefined)
    return (
      Math.floor(modifiedAt.getTime() / 1000) * 1000 <= Date.parse(call.headers['if-modified-since'] ?? '')
    );
  return known.trim() === '*' || parseEtags(known).some((tag) => tag.replace(/^W\//, '') === etag);
}

/** As a stream: of a buffer the framework would announce the length, which is none. */
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
      `The range lies outside the file, which has ${info.bytes} bytes`,
      {
        status: 416,
        details: {
          issues: [{ path: 'range', message: `must lie within ${info.bytes} bytes`, code: 'range' }],
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
