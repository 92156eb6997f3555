// Reads the feed of events as an integrator does.
import { expect } from 'vitest';
import type { Api } from './api.ts';

export interface ShownEvent {
  readonly id: string;
  readonly type: string;
  readonly created_at: string;
  readonly project_id: string;
  readonly user_id: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: the resource of the event; tests compare it with a detail read.
  readonly data: any;
}

export interface FeedReader {
  /** Everything since the last call; waits until there are at least this many. */
  next(countMin: number): Promise<ShownEvent[]>;
  readonly cursor: string;
}

/** Begins now, or after a cursor. */
export async function readFeed(api: Api, key: string, query = '', start?: string): Promise<FeedReader> {
  let cursor = start;
  const read = async (wait: number) => {
    const after = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { status, body, text } = await api.get(`/project/events?wait=${wait}${query}${after}`, key);
    expect(status, text).toBe(200);
    cursor = body.next_cursor as string;
    return body.events as ShownEvent[];
  };
  if (cursor === undefined) await read(0);
  return {
    async next(countMin) {
      const found: ShownEvent[] = [];
      while (found.length < countMin) found.push(...(await read(10)));
      return found;
    },
    get cursor() {
      return cursor as string;
    },
  };
}
