// One file as its detail read shows it, and changes that fail if somebody else was faster.
import type { FileChange, ListedFile, StoredFile } from '@pakhus/client';
import { type ReadonlySignal, signal } from '@preact/signals';
import type { BrowsedUser } from './browsed-user.ts';

export interface Detail {
  readonly file: ReadonlySignal<StoredFile | null>;
  readonly error: ReadonlySignal<unknown>;
  load(): Promise<void>;
  /** Rejects with PRECONDITION_FAILED if the file has changed since it was read. */
  save(change: FileChange): Promise<ListedFile>;
  dispose(): void;
}

export function createDetail(user: BrowsedUser, fileId: string): Detail {
  const file = signal<StoredFile | null>(null);
  const error = signal<unknown>(null);
  const abort = new AbortController();
  const { signal: aborted } = abort;
  let etag: string | undefined;
  const onHeaders = (headers: Headers) => {
    etag = headers.get('etag') ?? undefined;
  };
  async function load(): Promise<void> {
    error.value = null;
    try {
      file.value = await user.files.get(fileId, { signal: aborted, onHeaders });
    } catch (cause) {
      if (!aborted.aborted) error.value = cause;
    }
  }
  return {
    file,
    error,
    load,
    async save(change) {
      const saved = await user.files.update(fileId, change, { ifMatch: etag, onHeaders, signal: aborted });
      const before = file.peek();
      // What was cleared is absent.
      if (before) file.value = { ...saved, url: before.url, url_expires_at: before.url_expires_at };
      // A public file has another address.
      if (change.visibility) await load();
      return saved;
    },
    dispose: () => abort.abort(),
  };
}
