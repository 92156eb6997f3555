// Deleting with undo: files disappear at once and are deleted some seconds later, or when the page goes away.
import type { BrowsedUser } from './browsed-user.ts';
import type { FileItem } from './entries.ts';

export interface Deletions {
  isPending(fileId: string): boolean;
  /** How many would be deleted if the page went away now. */
  readonly pending: number;
  /** Returns what takes it back, which works until `onSent` is called. */
  schedule(items: readonly FileItem[], onSent: () => void): () => void;
  /** Sends what is pending without waiting. */
  flush(): void;
}

export interface DeletionOptions {
  readonly user: BrowsedUser;
  readonly undoMs: number;
  onDeleted(items: readonly FileItem[]): void;
  onFailed(items: readonly FileItem[], error: unknown): void;
}

const atOnce = 4;
/** When the page goes away, nothing waits for an answer. */
const atOnceLeaving = 100;

export function createDeletions(options: DeletionOptions): Deletions {
  const { user, undoMs, onDeleted, onFailed } = options;
  const pending = new Set<string>();
  const batches = new Set<(lanes: number) => void>();

  async function send(items: readonly FileItem[], lanes: number): Promise<void> {
    let queue = items.values();
    const deleted: FileItem[] = [];
    if (user.deleteAll && items.length > 1)
      try {
        await user.deleteAll(items.map(({ key }) => key));
        deleted.push(...queue);
      } catch {
        // One of them is gone or held: the others can go.
        queue = items.values();
      }
    const failed: FileItem[] = [];
    let firstError: unknown;
    const lane = async () => {
      for (const item of queue)
        try {
          await user.files.delete(item.key).catch(ignoreGone);
          deleted.push(item);
        } catch (error) {
          firstError ??= error;
          failed.push(item);
        }
    };
    await Promise.all(Array.from({ length: Math.min(lanes, items.length) }, lane));
    for (const { key } of items) pending.delete(key);
    if (deleted.length > 0) onDeleted(deleted);
    if (failed.length > 0) onFailed(failed, firstError);
  }

  return {
    isPending: (fileId) => pending.has(fileId),
    get pending() {
      return pending.size;
    },
    schedule(items, onSent) {
      for (const { key } of items) pending.add(key);
      const commit = (lanes: number) => {
        clearTimeout(timer);
        if (!batches.delete(commit)) return;
        onSent();
        void send(items, lanes);
      };
      const timer = setTimeout(() => commit(atOnce), undoMs);
      batches.add(commit);
      return () => {
        clearTimeout(timer);
        if (!batches.delete(commit)) return;
        for (const { key } of items) pending.delete(key);
      };
    },
    flush: () => {
      for (const commit of [...batches]) commit(atOnceLeaving);
    },
  };
}

/** Somebody else deleted it first. */
function ignoreGone(error: unknown): void {
  if ((error as { status?: number }).status !== 404) throw error;
}
