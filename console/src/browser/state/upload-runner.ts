// Runs uploads, three at once; the others wait for their turn.
import type { StoredFile } from '@pakhus/client';
import { batch } from '@preact/signals';
import { hasCode } from '../errors.ts';
import type { BrowsedUser } from './browsed-user.ts';
import type { Totals, UploadItem } from './upload-item.ts';
import type { UploadList } from './upload-list.ts';
import { sendUpload } from './upload-send.ts';

export interface UploadRunnerOptions {
  readonly user: BrowsedUser;
  readonly spaceId: string | undefined;
  onUploaded(file: StoredFile): void;
  onFailed(error: unknown): void;
  /** When nothing is running or waiting any more. */
  onIdle(totals: Totals): void;
}

export interface UploadRunner {
  readonly running: ReadonlySet<UploadItem>;
  enqueue(items: readonly UploadItem[]): void;
  pause(items: readonly UploadItem[]): void;
  /** Of items that have left the list. */
  cancel(items: readonly UploadItem[]): void;
  /** Stops sending. Unfinished uploads stay resumable. */
  dispose(): void;
}

const atOnce = 3;

export function createUploadRunner(list: UploadList, options: UploadRunnerOptions): UploadRunner {
  const waiting = new Set<UploadItem>();
  const running = new Set<UploadItem>();
  const withdraw = (item: UploadItem) => waiting.delete(item) || running.delete(item);

  function startWaiting(): void {
    for (const item of waiting) {
      if (running.size >= atOnce) return;
      waiting.delete(item);
      running.add(item);
      list.set(item, { status: 'running', error: undefined });
      if (item.isStarted) item.task?.resume();
      else void run(item);
    }
  }

  async function run(item: UploadItem): Promise<void> {
    item.isStarted = true;
    try {
      const file = await sendUpload(options, item, (progress) => list.set(item, progress));
      if (item.ended.signal.aborted) return;
      list.set(item, { status: 'done', loaded: item.file.size, rate: 0 });
      options.onUploaded(file);
    } catch (error) {
      if (!item.ended.signal.aborted) fail(item, error);
    } finally {
      delete item.task;
      const wasRunning = running.delete(item);
      startWaiting();
      if (wasRunning && running.size + waiting.size === 0) options.onIdle(list.totals.peek());
    }
  }

  const fail = (item: UploadItem, error: unknown) =>
    batch(() => {
      item.isStarted = false;
      list.set(item, { status: 'failed', rate: 0, error });
      // What is not allowed for one file is not allowed for the others.
      if (hasCode(error, 'FORBIDDEN')) {
        for (const other of waiting) list.set(other, { status: 'failed', error });
        waiting.clear();
      }
      options.onFailed(error);
    });

  const update = (items: readonly UploadItem[], change: (item: UploadItem) => void) =>
    batch(() => {
      items.forEach(change);
      startWaiting();
    });

  return {
    running,
    enqueue: (items) =>
      update(items, (item) => {
        waiting.add(item);
        list.set(item, { status: 'waiting' });
      }),
    pause: (items) =>
      update(items, (item) => {
        if (!withdraw(item)) return;
        list.set(item, { status: 'paused', rate: 0 });
        item.task?.pause();
      }),
    cancel: (items) =>
      update(items, (item) => {
        withdraw(item);
        item.ended.abort();
        item.task?.abort();
      }),
    dispose() {
      waiting.clear();
      running.clear();
      for (const item of list.items) {
        item.task?.pause();
        item.ended.abort();
      }
    },
  };
}
