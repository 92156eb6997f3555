// Finds the image of a file by a variant. The first request has it made; all of them wait for it a little, without holding a
// connection of the database.
import { pinnedSpaceOf, type TenantActor } from '../../contract/actor.ts';
import type { Deps } from '../../contract/deps.ts';
import type { VariantKey, VariantWait } from '../../contract/variant.ts';
import { isoOf } from '../../kernel/clock.ts';
import { outage, PakhusError } from '../../kernel/error.ts';
import { newId } from '../../kernel/id.ts';
import { contentDisposition, type Disposition } from '../../kernel/media/media-type.ts';
import { projectTransaction } from '../../platform/db/project-work.ts';
import { compressedName } from '../files/files.objects.ts';
import { fileNotFound } from '../files/files.service.ts';
import { toStorageKey } from '../objects/objects.key.ts';
import {
  countUnfinished,
  deleteLost,
  type FoundRow,
  findImage,
  type RequestOutcome,
  requestImage,
} from './variants.images.sql.ts';
import { variantNotFound } from './variants.service.ts';

/** Variant images are never public: a public file's are delivered by the service or by a signed URL. */
export const zone = 'private';

/** The queue's payload. */
export type MakingOrder = VariantKey;

export const makingQueue = 'variants.make';

/** For notifications that got lost with their connection. */
const lookEveryMs = 1_000;
/** What strangers can have one project make at the same time. */
export const unfinishedMax = 64;
/** How soon a client should ask again. */
export const retryAfterSeconds = 2;

export interface DeliveredVariant {
  readonly recipeId: string;
  readonly objectId: string;
  readonly projectId: string;
  readonly fileId: string;
  readonly zone: typeof zone;
  /** In the store. */
  readonly key: string;
  readonly name: string;
  readonly contentType: string;
  readonly bytes: number;
  readonly width: number;
  readonly height: number;
  /** Hex. */
  readonly sha256: string;
  /** Of the bytes, so that it changes with the file's content and with the variant. */
  readonly etag: string;
  readonly modifiedAt: Date;
}

/** `pending`: it takes longer than a request should wait. */
export async function deliverVariant(
  deps: Deps,
  actor: TenantActor,
  userId: string,
  fileId: string,
  name: string,
): Promise<DeliveredVariant | 'pending'> {
  const find = async (): Promise<Found> => {
    const { projectId } = actor;
    const statement = findImage(projectId, userId, pinnedSpaceOf(actor), fileId, name);
    const [row] = await deps.db.read<FoundRow>(statement);
    if (!row) throw fileNotFound();
    if (row.recipe_id === null) throw variantNotFound();
    return { key: { projectId, fileId, recipeId: row.recipe_id }, row };
  };
  const found = await find();
  return settle(deps, found) ?? waitFor(deps, found, find);
}

interface Found {
  readonly key: VariantKey;
  readonly row: FoundRow;
}

/** The image, or the reason why there is none. Undefined if it is to be made, or in the making. */
function settle(deps: Deps, { key, row }: Found): DeliveredVariant | undefined {
  if (row.state !== 'ready' && row.state !== 'failed') return undefined;
  if (row.present_sha256 !== null && !row.content_sha256?.equals(row.present_sha256)) return undefined;
  if (row.state === 'failed') {
    if (row.may_retry) return undefined;
    throw toRefusal(row);
  }
  if (row.store !== deps.objects.kind) return undefined;
  if (!row.used_lately) deps.variantDesk.noteUse(key);
  return toDelivered(key, row);
}

function toDelivered({ projectId, fileId, recipeId }: VariantKey, row: FoundRow): DeliveredVariant {
  const sha256 = row.sha256.toString('hex');
  return {
    projectId,
    fileId,
    recipeId,
    objectId: row.object_id,
    zone,
    key: toStorageKey({ projectId, id: row.object_id }),
    name: compressedName(row.file_name, row.format),
    contentType: `image/${row.format}`,
    bytes: row.bytes,
    width: row.width,
    height: row.height,
    sha256,
    etag: `"${sha256.slice(0, 32)}"`,
    modifiedAt: new Date(row.made_at),
  };
}

function toRefusal({ failure, error }: FoundRow): PakhusError {
  const message = error ?? 'The image could not be made';
  if (failure === 'outage') return outage('storage', message, undefined, 30);
  return new PakhusError('VALIDATION_ERROR', `There is no image of this file: ${message}`, {
    details: { issues: [{ path: 'variant', message, code: 'image' }] },
  });
}

async function waitFor(
  deps: Deps,
  first: Found,
  find: () => Promise<Found>,
): Promise<DeliveredVariant | 'pending'> {
  const until = performance.now() + deps.variantDesk.waitMsMax;
  let wait: VariantWait | null = null;
  let found = first;
  try {
    for (;;) {
      wait ??= deps.variantDesk.wait(found.key);
      if (!isUnderWay(found)) await deps.variantDesk.together(found.key, () => requestMaking(deps, found));
      const leftMs = until - performance.now();
      if (wait === null || leftMs <= 0 || !(await wait.next(Math.min(leftMs, lookEveryMs)))) return 'pending';
      const before = found.key;
      found = await find();
      const image = settle(deps, found);
      if (image) return image;
      if (found.key.recipeId !== before.recipeId) {
        wait.end();
        wait = null;
      }
    }
  } finally {
    wait?.end();
  }
}

const isUnderWay = ({ row: { state, overdue } }: Found): boolean =>
  (state === 'pending' || state === 'making') && !overdue;

/** Whoever finds nobody making it sends the job, in the same transaction as the row. */
async function requestMaking(deps: Deps, { key, row }: Found): Promise<void> {
  const { projectId } = key;
  const outcome = await projectTransaction(deps, projectId, async (tx) => {
    const statement = requestImage(key, row.present_sha256, deps.objects.kind, unfinishedMax);
    const [asked] = await tx.query<{ outcome: RequestOutcome }>(statement);
    if (asked?.outcome === 'queued') {
      const [ahead] = await tx.query<{ images: number }>(countUnfinished(projectId, unfinishedMax));
      await deps.queue.send(tx, makingQueue, newId(), key, toPriority(ahead?.images ?? 0));
    }
    return asked?.outcome;
  });
  if (outcome === 'gone') throw fileNotFound();
  if (outcome === 'crowded') throw crowded();
}

/** Images of a project with many in the making give way to those of others. */
const toPriority = (ahead: number): number => -Math.ceil(Math.log2(ahead + 1));

const crowded = () =>
  outage(
    'capacity',
    `This project has ${unfinishedMax} variants in the making, the most at a time: ask again in a moment`,
    undefined,
    retryAfterSeconds,
  );

/** For an image whose object is not in the store: the next request has it made again. */
export async function forgetLost({ db }: Deps, image: DeliveredVariant): Promise<void> {
  await db.query(deleteLost(image, image.objectId));
}

/** Such an object never changes: what replaces it has another URL. */
export const cacheControlOfUrl = 'private, max-age=3600, immutable';

/** A signed URL that delivers the image without a credential. */
export function buildVariantUrl(
  deps: Deps,
  origin: string,
  { key, name, contentType }: DeliveredVariant,
  wish?: Disposition,
): { url: string; url_expires_at: string } {
  const { SIGNED_URL_EXPIRY_SECONDS: expiresInSeconds } = deps.settings;
  const options = {
    contentType,
    contentDisposition: contentDisposition(name, contentType, wish),
    origin,
    expiresInSeconds,
    cacheControl: cacheControlOfUrl,
  };
  const expiresAtMs = (Math.floor(deps.clock() / 1000) + expiresInSeconds) * 1000;
  return { url: deps.objects.downloadUrl(zone, key, options), url_expires_at: isoOf(expiresAtMs) };
}
