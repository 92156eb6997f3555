// Loads what a component shows: once, in pages, and again after a change.
import { useSignal } from '@preact/signals';
import { useCallback, useEffect, useRef } from 'preact/hooks';

export interface Loaded<Data> {
  readonly data: Data | null;
  readonly error: unknown;
  /** Loads again; the old data stays until the new is there. */
  reload(): Promise<void>;
}

/** `keys` are what `load` depends on. */
export function useLoad<Data>(
  load: (signal: AbortSignal) => Promise<Data>,
  keys: readonly unknown[],
): Loaded<Data> {
  const data = useSignal<Data | null>(null);
  const error = useSignal<unknown>(null);
  const running = useRef<AbortController | null>(null);
  const newest = useRef(load);
  newest.current = load;
  const reload = useCallback(async () => {
    running.current?.abort();
    const turn = new AbortController();
    running.current = turn;
    try {
      const result = await newest.current(turn.signal);
      if (turn.signal.aborted) return;
      data.value = result;
      error.value = null;
    } catch (failed) {
      if (!turn.signal.aborted) error.value = failed;
    }
  }, []);
  useEffect(() => {
    data.value = null;
    error.value = null;
    void reload();
    return () => running.current?.abort();
  }, keys);
  return { data: data.value, error: error.value, reload };
}

export interface Pages<Item> {
  readonly items: readonly Item[] | null;
  readonly error: unknown;
  readonly hasMore: boolean;
  more(): Promise<void>;
  reload(): Promise<void>;
}

type ReadPage<Item> = (
  cursor: string | undefined,
  signal: AbortSignal,
) => Promise<{ readonly items: readonly Item[]; readonly next_cursor: string | null }>;

/** As a part of a query. */
export const startAt = (cursor: string | undefined): { cursor?: string } => (cursor ? { cursor } : {});

export function usePages<Item>(read: ReadPage<Item>, keys: readonly unknown[]): Pages<Item> {
  const items = useSignal<readonly Item[] | null>(null);
  const cursor = useSignal<string | null>(null);
  const error = useSignal<unknown>(null);
  const running = useRef<AbortController | null>(null);
  const newest = useRef(read);
  newest.current = read;
  const load = useCallback(async (from: string | null) => {
    running.current?.abort();
    const turn = new AbortController();
    running.current = turn;
    try {
      const page = await newest.current(from ?? undefined, turn.signal);
      if (turn.signal.aborted) return;
      items.value = from === null ? page.items : [...(items.value ?? []), ...page.items];
      cursor.value = page.next_cursor;
      error.value = null;
    } catch (failed) {
      if (!turn.signal.aborted) error.value = failed;
    }
  }, []);
  const reload = useCallback(() => load(null), []);
  useEffect(() => {
    items.value = null;
    void reload();
    return () => running.current?.abort();
  }, keys);
  return {
    items: items.value,
    error: error.value,
    hasMore: cursor.value !== null,
    more: () => load(cursor.value),
    reload,
  };
}
