// The content of one file of a zip. NOT_FOUND if it is no longer what the layout was computed from.
import type { Readable } from 'node:stream';
import type { Deps } from '../../contract/deps.ts';
import type { ByteRange } from '../../kernel/media/byte-range.ts';
import {
  contentGone,
  findContentOf,
  isContentGone,
  openContent,
  type StoredContent,
} from '../content/content.source.ts';
import { toStorageKey } from '../objects/objects.key.ts';
import type { Zip } from './zip.find.ts';

/** A stretch of a large file, at the pace of the reader. */
export const openEntry = (
  deps: Deps,
  zip: Zip,
  entry: number,
  range: ByteRange,
  signal: AbortSignal,
): Promise<Readable> => wherever(deps, zip, entry, (content) => openContent(deps, content, range, signal));

/** A small file. */
export const readEntry = (
  deps: Deps,
  zip: Zip,
  entry: number,
  into: Buffer,
  signal: AbortSignal,
): Promise<void> =>
  wherever(deps, zip, entry, ({ zone, key, bytes }) => {
    if (bytes !== into.length) throw contentGone();
    return deps.objects.read(zone, key, into, signal);
  });

/** Looks again if the object is not where it was: a change of visibility moves it. */
async function wherever<Result>(
  deps: Deps,
  zip: Zip,
  entry: number,
  open: (content: StoredContent) => Promise<Result>,
): Promise<Result> {
  const content = locate(zip, entry);
  try {
    return await open(content);
  } catch (error) {
    if (!isContentGone(error)) throw error;
    const { projectId, fileId } = content;
    const found = await findContentOf(deps, { projectId, userId: zip.userId, spaceId: null, fileId });
    const result = zip.files[entry]?.result ?? null;
    const isSame = found.bytes === content.bytes && (result === null || found.sha256 === result);
    if (!isSame || found.zone === content.zone) throw error;
    return open(found);
  }
}

function locate({ projectId, files, layout }: Zip, entry: number): StoredContent {
  const file = files[entry];
  if (!file) throw new RangeError(`The zip has no file ${entry}`);
  const key = toStorageKey({ projectId, id: file.id });
  return { projectId, fileId: file.id, zone: file.zone, key, bytes: layout.entries[entry]?.bytes ?? 0 };
}
