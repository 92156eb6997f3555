// The storage of the user, read again after uploads and deletions.
import type { StorageSnapshot } from '@pakhus/client';
import { type ReadonlySignal, signal } from '@preact/signals';
import type { BrowsedUser } from './browsed-user.ts';

export interface Quota {
  /** Null if it is not known, also because the credential may not read it. */
  readonly storage: ReadonlySignal<StorageSnapshot | null>;
  /** Soon, and once for many calls. */
  refresh(): void;
  dispose(): void;
}

const debounceMs = 400;

export function createQuota(user: BrowsedUser): Quota {
  const storage = signal<StorageSnapshot | null>(null);
  const abort = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const read = async () => {
    timer = undefined;
    try {
      storage.value = await user.storage({ signal: abort.signal });
    } catch {
      // The bar is a help: files work without it.
    }
  };
  void read();
  return {
    storage,
    refresh: () => {
      timer ??= setTimeout(read, debounceMs);
    },
    dispose: () => {
      clearTimeout(timer);
      abort.abort();
    },
  };
}
