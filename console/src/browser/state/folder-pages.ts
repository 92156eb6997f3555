// Reads a folder page by page, one request at a time.
import type { ListedFile } from '@pakhus/client';
import { batch, type ReadonlySignal, signal } from '@preact/signals';
import type { BrowsedUser } from './browsed-user.ts';

export type ListingStatus = 'loading' | 'ready' | 'failed';

export interface FolderPages {
  readonly status: ReadonlySignal<ListingStatus>;
  readonly error: ReadonlySignal<unknown>;
  readonly isComplete: ReadonlySignal<boolean>;
  /** Starts with the first page of a folder, and drops the answer to an earlier request. */
  open(folder: string): void;
  /** Does nothing while a page is being read, or when there are no more. */
  loadMore(): void;
  dispose(): void;
}

export interface FolderPagesOptions {
  readonly user: BrowsedUser;
  readonly spaceId: string | undefined;
  onPage(page: { readonly folders: readonly string[]; readonly files: readonly ListedFile[] }): void;
  onError(error: unknown): void;
}

const pageSize = 100;

export function createFolderPages({ user, spaceId, onPage, onError }: FolderPagesOptions): FolderPages {
  const status = signal<ListingStatus>('loading');
  const error = signal<unknown>(null);
  const isComplete = signal(false);
  let prefix = '';
  let cursor: string | null = null;
  let running: AbortController | null = null;

  async function load(abort: AbortController): Promise<void> {
    const { signal } = abort;
    const query = {
      prefix,
      limit: pageSize,
      ...(spaceId && { space_id: spaceId }),
      ...(cursor && { cursor }),
    };
    try {
      const page = await user.files.folders(query, { signal }).page();
      if (signal.aborted) return;
      batch(() => {
        onPage(page);
        cursor = page.next_cursor;
        isComplete.value = cursor === null;
        status.value = 'ready';
      });
    } catch (cause) {
      if (signal.aborted) return;
      batch(() => {
        error.value = cause;
        status.value = 'failed';
      });
      onError(cause);
    } finally {
      if (running === abort) running = null;
    }
  }

  function loadMore(): void {
    if (running || isComplete.peek()) return;
    running = new AbortController();
    status.value = 'loading';
    void load(running);
  }

  return {
    status,
    error,
    isComplete,
    open(folder) {
      running?.abort();
      running = null;
      prefix = folder;
      cursor = null;
      isComplete.value = false;
      loadMore();
    },
    loadMore,
    dispose: () => running?.abort(),
  };
}
