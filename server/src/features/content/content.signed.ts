// Serves the objects of the disk store by signed URL.

import type { Readable } from 'node:stream';
import type { Call } from '../../contract/call.ts';
import type { Deps } from '../../contract/deps.ts';
import { retry } from '../../kernel/async/retry.ts';
import { PakhusError } from '../../kernel/error.ts';
import type { ObjectMeta } from '../../platform/objects/object-store.ts';
import { buildDeliveryMeta, isCompressed } from '../files/files.objects.ts';
import { findDeliveredFile, hasFile } from '../files/files.service.ts';
import { findOwner } from '../objects/objects.service.ts';
import { cacheControlOfUrl } from '../variants/variants.deliver.ts';
import type { Refuse } from './content.plan.ts';
import { type ByteSource, replyWithBytes } from './content.reply.ts';
import { contentGone, isContentGone } from './content.source.ts';

export async function serveObject(deps: Deps, key: string, call: Call): Promise<Readable> {
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
  const { meta, cacheControl } = await findMeta(deps, key, claims);
  return replyWithBytes(call, {
    find: () => retry(attemptsMax, isContentGone, () => findObject(deps, key, meta)),
    embeddedBy: 'cross-origin',
    ...(cacheControl === undefined ? {} : { cacheControl }),
    refuseVersion: otherVersion,
  });
}

/** A file that is being moved or compressed may be missed once, hardly ever twice. */
const attemptsMax = 3;

interface Found {
  readonly meta: ObjectMeta;
  readonly cacheControl?: string;
}

/**
 * A file without a row is deleted, even if the reaper has not removed its object yet. Only images need the row itself:
 * compression may have changed their type since the URL was signed.
 */
async function findMeta(deps: Deps, key: string, claims: ObjectMeta): Promise<Found> {
  const [projectId = '', fileId = ''] = key.split('/');
  // Downloads keep working during a database outage.
  const whileDown = () => undefined;
  if (!claims.contentType.startsWith('image/')) {
    if ((await hasFile(deps, projectId, fileId).catch(whileDown)) === false) throw contentGone();
    return { meta: claims };
  }
  const file = await findDeliveredFile(deps, projectId, fileId).catch(whileDown);
  if (file === null) {
    if ((await isDerived(deps, projectId, fileId).catch(whileDown)) === false) throw contentGone();
    return { meta: claims, cacheControl: cacheControlOfUrl };
  }
  return { meta: file && isCompressed(file) ? buildDeliveryMeta(file) : claims };
}

/** An object that a file owns besides its own, such as a variant of an image, lives as long as the file. */
async function isDerived(deps: Deps, projectId: string, id: string): Promise<boolean> {
  const fileId = await findOwner(deps.db, projectId, id);
  return fileId !== null && (await hasFile(deps, projectId, fileId));
}

/** The file may have moved to the other zone since the URL was signed. */
async function findObject({ objects }: Deps, key: string, meta: ObjectMeta): Promise<ByteSource> {
  for (const zone of ['private', 'public'] as const) {
    const info = await objects.head(zone, key);
    if (!info) continue;
    const { bytes, etag, modifiedAt } = info;
    const { contentType, contentDisposition } = meta;
    return {
      bytes,
      etag,
      modifiedAt,
      contentType,
      contentDisposition,
      sha256: null,
      open: (range, signal) => objects.get(zone, key, { ...range, etag }, signal),
    };
  }
  throw contentGone();
}

const otherVersion: Refuse = (etag) =>
  new PakhusError(
    'VALIDATION_ERROR',
    'The file has changed and does not match If-Match: start the download again',
    {
      status: 412,
      details: { issues: [{ path: 'if-match', message: `must name ${etag}`, code: 'etag' }] },
    },
  );
