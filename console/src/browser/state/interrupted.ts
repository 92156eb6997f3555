// Uploads that a reload or a crash interrupted, which this browser remembers and the server still waits for.
import { type ReadonlySignal, signal } from '@preact/signals';
import { forget } from '../memory.ts';
import type { BrowsedUser } from './browsed-user.ts';
import type { NewUpload } from './upload-item.ts';
import { heldLocks, toFingerprint } from './upload-lock.ts';

export interface InterruptedUpload {
  readonly uploadId: string;
  readonly name: string;
  readonly size: number;
  readonly folder: string;
  /** Of the file: its name, size and date. */
  readonly fingerprint: string;
  /** In local storage. */
  readonly key: string;
}

export interface Interrupted {
  readonly uploads: ReadonlySignal<readonly InterruptedUpload[]>;
  /** Those of the files that were interrupted, with the folders that they were meant for; the others go to `folder`. */
  match(files: readonly File[], folder: string): NewUpload[];
  discard(): Promise<void>;
  dispose(): void;
}

/** More are not looked through: they come again after these are done. */
const uploadsMax = 100;

export function createInterrupted(user: BrowsedUser): Interrupted {
  const uploads = signal<readonly InterruptedUpload[]>([]);
  const abort = new AbortController();
  const { signal: aborted } = abort;

  async function find(): Promise<void> {
    const keys = rememberedKeys();
    if (keys.length === 0) return;
    const { uploads: listed } = await user.uploads.list({ limit: uploadsMax }, { signal: aborted }).page();
    const locks = await heldLocks();
    uploads.value = listed.flatMap(({ id, status, name, size }) => {
      const found = status === 'uploading' && size !== null ? findKey(keys, name, size) : null;
      if (!found || size === null || locks.some((lock) => lock.endsWith(found.fingerprint))) return [];
      return [{ uploadId: id, name, size, ...found }];
    });
  }
  // A credential that may not list uploads has nothing to continue.
  find().catch(() => undefined);

  return {
    uploads,
    match(files, folder) {
      const left = [...uploads.peek()];
      const matched = files.map((file) => {
        const at = left.findIndex(({ fingerprint }) => fingerprint === toFingerprint(file));
        const [found] = at < 0 ? [] : left.splice(at, 1);
        return { file, folder: found?.folder ?? folder };
      });
      uploads.value = left;
      return matched;
    },
    async discard() {
      const discarded = uploads.peek();
      uploads.value = [];
      for (const { key, uploadId } of discarded) {
        forget(key);
        await user.uploads.cancel(uploadId, { signal: aborted }).catch(() => undefined);
      }
    },
    dispose: () => abort.abort(),
  };
}

function rememberedKeys(): string[] {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith('pakhus|'));
  } catch {
    return [];
  }
}

/** Keys are `pakhus|root|user|space|folder|name|name:size:date`; only folders and names can contain a bar. */
export function findKey(
  keys: readonly string[],
  name: string,
  size: number,
): Pick<InterruptedUpload, 'key' | 'folder' | 'fingerprint'> | null {
  const start = `|${name}|${name}:${size}:`;
  for (const key of keys) {
    const at = key.lastIndexOf(start);
    if (at < 0 || !/^\d+$/.test(key.slice(at + start.length))) continue;
    const folder = key.slice(0, at).split('|').slice(4).join('|');
    return { key, folder, fingerprint: key.slice(at + 1) };
  }
  return null;
}
