// Sends one file, in one tab at a time.
import type { StoredFile, UploadOptions } from '@pakhus/client';
import type { BrowsedUser } from './browsed-user.ts';
import type { UploadItem, UploadState } from './upload-item.ts';
import { withUploadLock } from './upload-lock.ts';

interface Target {
  readonly user: BrowsedUser;
  readonly spaceId: string | undefined;
}

/** A second tab with the same file makes its own upload instead of continuing the first one's. */
export function sendUpload(
  { user, spaceId }: Target,
  item: UploadItem,
  onProgress: (progress: Pick<UploadState, 'loaded' | 'rate'>) => void,
): Promise<StoredFile> {
  const { file, folder, ended } = item;
  const isSpace = spaceId !== undefined && spaceId !== 'none';
  return withUploadLock(`${spaceId}|${folder}`, file, (isOwner) => {
    ended.signal.throwIfAborted();
    const options: UploadOptions = {
      folder,
      ...(isSpace && { space_id: spaceId }),
      ...(!isOwner && { resumeStore: null }),
      onProgress: ({ loaded, rate }) => {
        if (item.state.peek().status === 'running') onProgress({ loaded, rate });
      },
    };
    item.task = user.files.upload(file, options);
    if (item.state.peek().status === 'paused') item.task.pause();
    // A paused task never settles: without this, its lock would outlive the file browser and keep it from being continued.
    return Promise.race([item.task, rejectOnAbort(ended.signal)]);
  });
}

const rejectOnAbort = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
