// The queue of uploads: each can be paused, resumed, cancelled and retried.
import { batch } from '@preact/signals';
import { hasCode } from '../errors.ts';
import type { NewUpload, UploadItem, UploadStatus } from './upload-item.ts';
import { createUploadList, type UploadList } from './upload-list.ts';
import { createUploadRunner, type UploadRunnerOptions } from './upload-runner.ts';

export interface Uploads extends Pick<UploadList, 'items' | 'version' | 'totals'> {
  /** Bytes a second of all that are running. */
  rate(): number;
  add(uploads: readonly NewUpload[]): void;
  pause(item: UploadItem): void;
  /** Also retries an upload that failed. */
  resume(item: UploadItem): void;
  cancel(item: UploadItem): void;
  pauseAll(): void;
  resumeAll(): void;
  retryFailed(): void;
  cancelAll(): void;
  /** Removes those that are done. */
  clearDone(): void;
  /** Stops sending. Unfinished uploads stay resumable. */
  dispose(): void;
}

const hasStatus =
  (status: UploadStatus) =>
  ({ state }: UploadItem): boolean =>
    state.peek().status === status;
const isPaused = hasStatus('paused');
const isFailed = hasStatus('failed');
const isDone = hasStatus('done');

export function createUploads(options: UploadRunnerOptions): Uploads {
  const list = createUploadList();
  const runner = createUploadRunner(list, options);

  const resumeWhere = (matches: (item: UploadItem) => boolean) => runner.enqueue(list.items.filter(matches));
  const removeWhere = (matches: (item: UploadItem) => boolean) =>
    batch(() => runner.cancel(list.removeWhere(matches)));
  const retryDisconnected = () =>
    resumeWhere((item) => isFailed(item) && hasCode(item.state.peek().error, 'NETWORK_ERROR'));
  addEventListener('online', retryDisconnected);

  return {
    ...list,
    rate: () => [...runner.running].reduce((sum, { state }) => sum + state.peek().rate, 0),
    add: (uploads) => batch(() => runner.enqueue(list.add(uploads))),
    pause: (item) => runner.pause([item]),
    resume: (item) => {
      if (isPaused(item) || isFailed(item)) runner.enqueue([item]);
    },
    cancel: (item) => removeWhere((other) => other === item),
    pauseAll: () => runner.pause(list.items),
    resumeAll: () => resumeWhere(isPaused),
    retryFailed: () => resumeWhere(isFailed),
    cancelAll: () => removeWhere((item) => !isDone(item)),
    clearDone: () => removeWhere(isDone),
    dispose() {
      removeEventListener('online', retryDisconnected);
      runner.dispose();
    },
  };
}
