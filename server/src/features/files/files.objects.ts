// Where a file's bytes are and how they are read: keys, zones, URLs, and the removal of objects.
import type { Deps } from '../../contract/deps.ts';
import type { PlacedObject } from '../../contract/placed-object.ts';
import { whileRenewed } from '../../kernel/async/lease.ts';
import { withTimeout } from '../../kernel/async/time-limit.ts';
import { isoOf } from '../../kernel/clock.ts';
import { contentDisposition } from '../../kernel/media/media-type.ts';
import type { ObjectMeta, ObjectStore, Zone } from '../../platform/objects/object-store.ts';
import {
  type AddressedRow,
  type DeliveredRow,
  deleteDoomed,
  deleteDoomedIfDue,
  insertDoomedRewrite,
  postponeDoomed,
} from './files.sql.ts';
import type { FileUrl } from './files.wire.ts';

/** An honest upload may take longer than the grace; its record is moved on as long as `work` lasts. */
export function whileReserved<Result>(
  deps: Deps,
  { key, zone }: PlacedObject,
  work: () => Promise<Result>,
): Promise<Result> {
  const graceSeconds = deps.settings.REAPER_GRACE_SECONDS;
  const renew = () => deps.db.query(postponeDoomed(key, zone, graceSeconds));
  return whileRenewed(graceSeconds, renew, work, (error) =>
    deps.log.warn({ err: error, key }, 'the record of an upload was not renewed'),
  );
}

/** The same for an object that a file owns already and that is written again. False: it is being deleted. */
export async function reserveRewrite(deps: Deps, { zone, key, fileId }: PlacedObject): Promise<boolean> {
  const rows = await deps.db.query(
    insertDoomedRewrite(zone, key, fileId, deps.settings.REAPER_GRACE_SECONDS),
  );
  return rows.length > 0;
}

export const storageKeyOf = (projectId: string, fileId: string): string => `${projectId}/${fileId}`;

export const zoneFor = (store: ObjectStore, visibility: 'private' | 'public'): Zone =>
  store.separatesPublic ? visibility : 'private';

export const objectMetaOf = (name: string, type: string): ObjectMeta => ({
  contentType: type,
  contentDisposition: contentDisposition(name, type),
});

export const isCompressed = ({ compression }: Pick<DeliveredRow, 'compression'>): boolean =>
  compression?.status === 'done';

/** As what a file is delivered: after compression its bytes are of another type than was uploaded. */
export function deliveryOf(file: DeliveredRow): ObjectMeta {
  const format = isCompressed(file) ? file.compression?.format : null;
  return format ? compressedMetaOf(file.name, format) : objectMetaOf(file.name, file.mime_type);
}

export const compressedMetaOf = (name: string, format: string): ObjectMeta =>
  objectMetaOf(
    `${name.replace(/\.[A-Za-z0-9]{1,5}$/, '')}.${format === 'jpeg' ? 'jpg' : format}`,
    `image/${format}`,
  );

/** Permanent for a public file that has reached its public address; signed for every other. */
export function urlOf(deps: Deps, origin: string, file: AddressedRow): FileUrl {
  const { R2_PUBLIC_URL, SIGNED_URL_EXPIRY_SECONDS } = deps.settings;
  if (
    file.visibility === 'public' &&
    R2_PUBLIC_URL !== null &&
    file.zone === zoneFor(deps.objects, 'public')
  ) {
    return { url: `${R2_PUBLIC_URL}/${file.storage_key}`, url_expires_at: null };
  }
  const { contentType, contentDisposition } = deliveryOf(file);
  const url = deps.objects.downloadUrl(file.zone, file.storage_key, {
    contentType,
    contentDisposition,
    origin,
    expiresInSeconds: SIGNED_URL_EXPIRY_SECONDS,
  });
  // The URL counts whole seconds from now.
  return { url, url_expires_at: isoOf((Math.floor(deps.clock() / 1000) + SIGNED_URL_EXPIRY_SECONDS) * 1000) };
}

const removalPatienceMs = 2_000;

/** Removes the object of a deleted file at once, best effort; what fails or takes long is left to the reaper. */
export async function removeObjectSoon(deps: Deps, zone: Zone, key: string): Promise<void> {
  const removal = deps.objects
    .delete(zone, key)
    .then(() => deps.db.query(deleteDoomedIfDue(key, zone)))
    .catch((error: unknown) => deps.log.warn({ err: error, key }, 'an object was left to the reaper'));
  await waitForRemoval(removal);
}

/** A caller waits for a removal, but not for long. */
export const waitForRemoval = (removal: Promise<unknown>): Promise<void> =>
  withTimeout(removalPatienceMs, removal);

/** Removes what a refused upload has stored. Only where the store has confirmed both is the record closed. */
export async function removeRefusedObject(deps: Deps, { zone, key }: PlacedObject): Promise<void> {
  try {
    await deps.objects.delete(zone, key);
    await deps.db.query(deleteDoomed(zone, [key]));
  } catch (error) {
    deps.log.warn({ err: error, key }, 'an object was left to the reaper');
  }
}
