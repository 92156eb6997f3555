// Where a file's bytes are stored and how they are delivered: zone, type, name and URL.
import type { Deps } from '../../contract/deps.ts';
import type { AddressedRow, DeliveredRow, ReadRow } from '../../contract/file.ts';
import { Serialized } from '../../contract/serialized.ts';
import { isoOf } from '../../kernel/clock.ts';
import { contentDisposition } from '../../kernel/media/media-type.ts';
import type { ObjectMeta, ObjectStore, Zone } from '../../platform/objects/object-store.ts';

import type { FileUrl } from './files.wire.ts';

export const zoneFor = (store: ObjectStore, visibility: 'private' | 'public'): Zone =>
  store.separatesPublic ? visibility : 'private';

export const buildObjectMeta = (name: string, type: string): ObjectMeta => ({
  contentType: type,
  contentDisposition: contentDisposition(name, type),
});

export const isCompressed = ({ compression }: Pick<DeliveredRow, 'compression'>): boolean =>
  compression?.status === 'done';

/** Compression may have changed the type since the upload. */
export function buildDeliveryMeta(file: DeliveredRow): ObjectMeta {
  const format = isCompressed(file) ? file.compression?.format : null;
  return format ? buildCompressedMeta(file.name, format) : buildObjectMeta(file.name, file.mime_type);
}

export const buildCompressedMeta = (name: string, format: string): ObjectMeta =>
  buildObjectMeta(compressedName(name, format), `image/${format}`);

/** Its extension tells the format that it has now. */
export const compressedName = (name: string, format: string): string =>
  `${name.replace(/\.[A-Za-z0-9]{1,5}$/, '')}.${format === 'jpeg' ? 'jpg' : format}`;

/** Permanent for a public file whose object is in the public zone, signed for every other file. */
export function buildFileUrl(deps: Deps, origin: string, file: AddressedRow): FileUrl {
  const { R2_PUBLIC_URL, SIGNED_URL_EXPIRY_SECONDS } = deps.settings;
  if (
    file.visibility === 'public' &&
    R2_PUBLIC_URL !== null &&
    file.zone === zoneFor(deps.objects, 'public')
  ) {
    return { url: `${R2_PUBLIC_URL}/${file.storage_key}`, url_expires_at: null };
  }
  const { contentType, contentDisposition } = buildDeliveryMeta(file);
  const url = deps.objects.downloadUrl(file.zone, file.storage_key, {
    contentType,
    contentDisposition,
    origin,
    expiresInSeconds: SIGNED_URL_EXPIRY_SECONDS,
  });
  // A signed URL expires at a whole second.
  return { url, url_expires_at: isoOf((Math.floor(deps.clock() / 1000) + SIGNED_URL_EXPIRY_SECONDS) * 1000) };
}

/** The answer to a detail read. */
export function serializeDetail(deps: Deps, origin: string, file: ReadRow): Serialized {
  const { url, url_expires_at } = buildFileUrl(deps, origin, file);
  const expiry = url_expires_at === null ? 'null' : `"${url_expires_at}"`;
  // Not JSON-escaped: a URL has nothing to escape, and scanning it costs as much as signing it.
  return new Serialized(`{"file":${file.view.slice(0, -1)},"url":"${url}","url_expires_at":${expiry}}}`);
}
