// Renaming by copying: names never change, so the bytes are uploaded again under the new name, then the old file is deleted.
import type { Progress, StoredFile } from '@pakhus/client';
import type { BrowsedUser } from './browsed-user.ts';

export interface RenameResult {
  readonly copy: StoredFile;
  /** Why the old file is still there; null if it is not. */
  readonly keptBecause: unknown;
}

/** Larger files are streamed, to keep them out of memory. */
const blobBytesMax = 64e6;

/** The old file stays if anything fails. The server compares the checksum, so that the copy has the same bytes. */
export async function renameByCopy(
  user: BrowsedUser,
  fileId: string,
  name: string,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<RenameResult> {
  const file = await user.files.get(fileId, { signal });
  const response = await user.files.download(fileId, { signal });
  const isStreamed = file.size > blobBytesMax && response.body !== null;
  const bytes = isStreamed && response.body ? response.body : await response.blob();
  const { folder, tags, classifier, metadata, visibility, space_id, sha256, mimeType, size } = file;
  const copy = await user.files.upload(bytes, {
    name,
    mimeType,
    size,
    folder,
    tags,
    metadata,
    visibility,
    ...(classifier !== null && { classifier }),
    ...(space_id !== null && { space_id }),
    ...(sha256 !== null && { sha256 }),
    resumeStore: null,
    signal,
    onProgress,
  });
  try {
    await user.files.delete(fileId);
    return { copy, keptBecause: null };
  } catch (error) {
    return { copy, keptBecause: error };
  }
}
