// Follows the feed while somebody looks: the newest events, and the place to go on from.
import { type EventPattern, type EventsPage, type FeedEvent, PakhusError } from '@pakhus/client';
import { type Signal, useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { client } from '../../frame/api.ts';

/** What is kept, and what one answer brings at most. */
export const rowsMax = 500;
/** So many events within this time are not live any more: nobody can read that fast. */
const rushMs = 5_000;

export interface FeedWish {
  /** Empty for all. */
  readonly types: readonly string[];
  readonly isFromOldest: boolean;
}

type Pause = 'none' | 'person' | 'rush';

export interface Feed {
  /** Newest first. Null before the first answer. */
  readonly events: readonly FeedEvent[] | null;
  readonly error: unknown;
  readonly pause: Pause;
  /** The service cannot be reached; reading goes on by itself when it is back. */
  readonly isLost: boolean;
  setPaused(isPaused: boolean): void;
  retry(): void;
}

/** `began` is where the screen began to listen: another filter shows what has happened since. */
export function useFeed({ types, isFromOldest }: FeedWish, began: RefObject<string>): Feed {
  const events = useSignal<readonly FeedEvent[] | null>(null);
  const error = useSignal<unknown>(null);
  const pause = useSignal<Pause>('none');
  const isLost = useSignal(false);
  const tries = useSignal(0);
  const cursor = useRef<string | null>(isFromOldest ? null : began.current);
  const isSeen = useSeen();
  const isRunning = pause.value === 'none' && isSeen.value;

  const follow = async (signal: AbortSignal) => {
    error.value = null;
    isLost.value = false;
    const rush = createRush();
    const options = {
      types: types as readonly EventPattern[],
      limit: rowsMax,
      cursor: cursor.current,
      signal,
      onRetry: () => {
        isLost.value = true;
      },
    };
    const from = isFromOldest ? ('oldest' as const) : undefined;
    try {
      for await (const page of client.project.events({ ...options, from }).pages()) {
        if (signal.aborted) return;
        take(page);
        if (!rush.add(page.events.length)) continue;
        pause.value = 'rush';
        return;
      }
    } catch (failed) {
      if (!signal.aborted) error.value = failed;
    }
  };
  const take = (page: EventsPage) => {
    isLost.value = false;
    cursor.current = page.next_cursor;
    if (!isFromOldest) began.current ??= page.next_cursor;
    const newest = [...page.events].reverse();
    events.value = [...newest, ...(events.value ?? [])].slice(0, rowsMax);
  };
  useEffect(() => {
    if (!isRunning) return;
    const turn = new AbortController();
    void follow(turn.signal);
    return () => turn.abort();
  }, [isRunning, tries.value]);
  return {
    events: events.value,
    error: error.value,
    pause: pause.value,
    isLost: isLost.value,
    setPaused: (isPaused) => {
      pause.value = isPaused ? 'person' : 'none';
    },
    retry: () => {
      // What lies behind an old cursor is not kept any more: begin anew, and not with a gap in the list.
      if (error.value instanceof PakhusError && error.value.status === 410) {
        cursor.current = null;
        began.current = null;
        events.value = null;
      }
      tries.value += 1;
    },
  };
}

/** Says when more came than fits the list, within a short time. */
function createRush() {
  let since = performance.now();
  let count = 0;
  return {
    add(more: number): boolean {
      const now = performance.now();
      if (now - since > rushMs) {
        since = now;
        count = 0;
      }
      count += more;
      return count >= rowsMax;
    },
  };
}

/** False while the tab is hidden. */
function useSeen(): Signal<boolean> {
  const isSeen = useSignal(!document.hidden);
  useEffect(() => {
    const look = () => {
      isSeen.value = !document.hidden;
    };
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);
  return isSeen;
}
