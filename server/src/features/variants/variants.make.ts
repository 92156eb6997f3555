// One attempt at a variant image: downloads the file's object, has the engine make the image and stores that as an object of its own.
// The file itself is never touched. Killed at any line, the attempt leaves at most an object that the reaper deletes, and a row that
// the next attempt takes over.
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import type { Deps } from '../../contract/deps.ts';
import type { HeldObject } from '../../contract/object-ref.ts';
import type { VariantKey } from '../../contract/variant.ts';
import { newId } from '../../kernel/id.ts';
import type { ImageRecipe } from '../../kernel/media/image-recipe.ts';
import { hashStream } from '../../platform/hashing/buffered-hash.ts';
import { ImageFault, ImageRefused, ImageStarved } from '../../platform/images/image-engine.ts';
import { Refusal, refuseOtherThanImage, signatureBytes } from '../../platform/images/image-header.ts';
import type { ImageResult } from '../../platform/images/image-protocol.ts';
import { buildCompressedMeta } from '../files/files.objects.ts';
import { downloadObject } from '../images/images.download.ts';
import { inWorkFolder } from '../images/images.workspace.ts';
import { whileWriting } from '../objects/objects.hold.ts';
import { toStorageKey } from '../objects/objects.key.ts';
import { removeRefused } from '../objects/objects.remove.ts';
import { completeDerived, reserveDerived } from '../objects/objects.service.ts';
import { type MakingOrder, zone } from './variants.deliver.ts';
import { evictOver } from './variants.evict.ts';
import {
  claimImage,
  deleteUnwanted,
  type MakingRow,
  markFailed,
  markPending,
  markReady,
  notifyWaiting,
} from './variants.images.sql.ts';

/** Larger files are not downloaded for a preview. */
const inputBytesMax = 512 << 20;
/** After so long, an image that only failed to be made in time may be tried again. */
const faultSeconds = 86_400;
/** The same if a part of the service was down. */
const outageSeconds = 60;

export async function makeVariant(deps: Deps, key: MakingOrder, signal: AbortSignal): Promise<void> {
  const [row] = await deps.db.query<MakingRow>(claimImage(key));
  if (!row) {
    // The file or the recipe has gone, or an earlier attempt has finished after all.
    await deps.db.query(deleteUnwanted(key));
    return;
  }
  if (row.cut_short && row.attempts > deps.settings.IMAGE_MAX_ATTEMPTS)
    return fail(deps, key, row, 'fault', 'The process that made it was killed each time', null);
  const read: ReadContent = { sha256: null };
  await inWorkFolder(async (folder) => {
    try {
      await attempt(deps, key, row, read, folder, signal);
    } catch (error) {
      await settleFailure(deps, key, row, read, error, signal);
    }
  });
}

/** What the attempt has read, once it knows. */
interface ReadContent {
  sha256: Buffer | null;
}

async function attempt(
  deps: Deps,
  key: VariantKey,
  row: MakingRow,
  read: ReadContent,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  const [input, output] = [join(folder, 'input'), join(folder, 'output')];
  await refuseUnfit(deps, row, signal);
  const { sha256 } = await downloadObject(deps, row.zone, row.storage_key, input, signal);
  if (!isContent(row, sha256)) throw new ImageFault('The stored object is not the file that was uploaded');
  read.sha256 = sha256;
  const image = await deps.images.compress(input, output, toRecipe(row), signal);
  const object: HeldObject = {
    projectId: key.projectId,
    fileId: key.fileId,
    id: newId(),
    zone,
    holder: newId(),
  };
  await reserveDerived(deps, object);
  const meta = buildCompressedMeta(row.file_name, image.format);
  // If this fails, its request may still reach the store: the reaper deletes the object when that is over.
  await whileWriting(deps, object, () =>
    deps.objects.put(zone, toStorageKey(object), createReadStream(output), meta, {
      signal,
      bytesMax: image.bytes,
    }),
  );
  const resultSha256 = await hashStream(deps.hashing, 'sha256', createReadStream(output));
  if (await finish(deps, key, row, object, image, resultSha256, sha256)) {
    deps.variantDesk.counts.made += 1;
    await evictOver(deps, key.projectId).catch((error: unknown) =>
      deps.log.warn({ err: error }, 'could not evict variants, leaving it to the periodic task'),
    );
  } else await removeRefused(deps, object);
}

/** Before the download, which may be gigabytes: a stranger may ask for variants of any file. */
async function refuseUnfit(deps: Deps, row: MakingRow, signal: AbortSignal): Promise<void> {
  const { zone: where, storage_key: key, file_bytes: bytes } = row;
  if (bytes > inputBytesMax)
    throw new ImageRefused(`It has ${bytes} bytes, more than the ${inputBytesMax} allowed`);
  const chunks: Buffer[] = [];
  if (bytes > 0)
    for await (const chunk of await deps.objects.get(
      where,
      key,
      { start: 0, end: signatureBytes - 1 },
      signal,
    ))
      chunks.push(chunk as Buffer);
  try {
    refuseOtherThanImage(Buffer.concat(chunks));
  } catch (error) {
    throw error instanceof Refusal ? new ImageRefused(error.message) : error;
  }
}

/** While the file is being compressed, its object may be the upload or the result. */
const isContent = ({ file_sha256, result_sha256 }: MakingRow, found: Buffer): boolean =>
  file_sha256 === null || found.equals(file_sha256) || (result_sha256?.equals(found) ?? false);

const toRecipe = ({ format, quality, width, height, fit }: MakingRow): ImageRecipe => ({
  format,
  quality,
  fit,
  ...(width === null ? {} : { width }),
  ...(height === null ? {} : { height }),
});

/** False if the file or the recipe has gone, or if another attempt has taken over. Throws if the hold was lost. */
const finish = (
  deps: Deps,
  key: VariantKey,
  { claim }: MakingRow,
  object: HeldObject,
  { bytes, width, height }: ImageResult,
  sha256: Buffer,
  contentSha256: Buffer,
): Promise<boolean> =>
  deps.db.transaction(async (tx) => {
    const made = {
      objectId: object.id,
      bytes,
      width,
      height,
      sha256,
      contentSha256,
      store: deps.objects.kind,
    };
    const [ready] = await tx.query(markReady(key, claim, made));
    if (!ready) return false;
    if (!(await completeDerived(tx, object))) throw new Error('The reaper has taken the object of a variant');
    await tx.query(notifyWaiting(key));
    return true;
  });

/** What can never succeed fails at once and for good. Everything else is tried again while attempts are left. */
async function settleFailure(
  deps: Deps,
  key: VariantKey,
  row: MakingRow,
  { sha256 }: ReadContent,
  error: unknown,
  signal: AbortSignal,
): Promise<void> {
  if (error instanceof ImageRefused) return fail(deps, key, row, 'refused', error.message, sha256);
  // Not the image's fault: a graceful stop, or a busy machine.
  const excused = signal.aborted || error instanceof ImageStarved;
  const reason =
    error instanceof ImageFault
      ? error.message.slice(0, 300)
      : 'It could not be read or written: a part of the service was unavailable';
  if (!excused && row.attempts >= deps.settings.IMAGE_MAX_ATTEMPTS)
    return fail(deps, key, row, error instanceof ImageFault ? 'fault' : 'outage', reason, sha256);
  const attempts = excused ? row.attempts - 1 : row.attempts;
  await deps.db.query(markPending(key, row.claim, attempts, reason));
  deps.log.warn({ err: error, file_id: key.fileId, attempts: row.attempts }, 'a variant failed, retrying');
  throw error;
}

const retrySeconds = { refused: null, fault: faultSeconds, outage: outageSeconds } as const;

async function fail(
  deps: Deps,
  key: VariantKey,
  row: MakingRow,
  failure: keyof typeof retrySeconds,
  reason: string,
  contentSha256: Buffer | null,
): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const statement = markFailed(key, row.claim, failure, reason, retrySeconds[failure], contentSha256);
    const [failed] = await tx.query(statement);
    if (!failed) return;
    await tx.query(notifyWaiting(key));
    deps.variantDesk.counts.failed += 1;
  });
}
