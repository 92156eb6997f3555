// Addresses of small pictures for tiles on the screen. Each costs a detail read, so only what stays in view is asked for.
import type { ListedFile } from '@pakhus/client';
import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { previewOf } from '../kinds.ts';
import type { BrowsedUser } from './browsed-user.ts';

export interface Thumbnails {
  /** Null until it is known, and for what has none. */
  of(file: ListedFile): ReadonlySignal<string | null>;
  /** The tile is on the screen. Returns what ends that. */
  show(file: ListedFile): () => void;
  dispose(): void;
}

/** A tile that is scrolled past is not asked for. */
const settleMs = 250;
const atOnce = 3;
/** The whole picture is loaded. */
const bytesMax = 3e6;
const keptMax = 500;

export const hasThumbnail = (file: ListedFile): boolean =>
  previewOf(file.mimeType) === 'image' && file.size > 0 && file.size <= bytesMax;

export function createThumbnails(user: BrowsedUser): Thumbnails {
  const known = new Map<string, Signal<string | null>>();
  const wanted = new Set<string>();
  const abort = new AbortController();
  let running = 0;
  let isRefused = false;

  const of = (fileId: string) => {
    const found = known.get(fileId) ?? signal<string | null>(null);
    // To the end: those that were used last are kept.
    known.delete(fileId);
    known.set(fileId, found);
    const [oldest] = known.keys();
    if (known.size > keptMax && oldest !== undefined) known.delete(oldest);
    return found;
  };
  const pump = () => {
    for (const fileId of wanted) {
      if (running >= atOnce || isRefused) return;
      wanted.delete(fileId);
      void read(fileId);
    }
  };
  async function read(fileId: string): Promise<void> {
    running += 1;
    try {
      of(fileId).value = (await user.files.get(fileId, { signal: abort.signal })).url;
    } catch (error) {
      const { status = 0 } = error as { status?: number };
      isRefused ||= status === 403 || status === 429;
    } finally {
      running -= 1;
      pump();
    }
  }
  return {
    of: ({ id }) => of(id),
    show(file) {
      if (!hasThumbnail(file) || of(file.id).peek() !== null) return () => undefined;
      const timer = setTimeout(() => {
        wanted.add(file.id);
        pump();
      }, settleMs);
      return () => {
        clearTimeout(timer);
        wanted.delete(file.id);
      };
    },
    dispose: () => {
      wanted.clear();
      abort.abort();
    },
  };
}
