// Reads the feed of events. Loaded when it is needed; what it imported, bundlers would split off the rest.
import type { Http } from '../http.ts';
import type { Listing } from '../listing.ts';
import type { EventPattern, EventsPage, FeedEvent } from '../types.ts';

export interface EventOptions {
  /** Goes on after this one, which `onCursor` or a page gave you. Without it: from now on. */
  readonly cursor?: string | null | undefined;
  /** Without a cursor: begins with the oldest event that is kept. */
  readonly from?: 'oldest' | undefined;
  /** Only these. */
  readonly types?: readonly EventPattern[] | undefined;
  /** Events on a page; 100 by default. */
  readonly limit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Called when your loop is done with everything before this cursor. Save it, and begin with it after a restart. Reading goes on when
   * the promise that it returns is fulfilled.
   */
  readonly onCursor?: ((cursor: string) => unknown) | undefined;
  /** Called when the service cannot be reached, each time before another attempt: reading goes on by itself when it is back. */
  readonly onRetry?: ((error: unknown) => void) | undefined;
}

/** `for await (const event of feed)` and `pages()` wait for new events, and never end by themselves. */
export interface EventFeed extends Listing<FeedEvent, EventsPage> {
  /** What is there now. Empty if nothing is. */
  page(): Promise<EventsPage>;
  /** Server-Sent Events, as the server sends them, to hand on to a page of yours. */
  stream(): Promise<Response>;
}

const waitSeconds = 30;
/** For one read with its retries. After that the connection may be dead without anybody noticing, and another one is opened. */
const turnMsMax = 3 * waitSeconds * 1000;

/** Pages without end. */
export async function* pages(http: Http, options: EventOptions): AsyncGenerator<EventsPage, void, void> {
  const { signal, onCursor } = options;
  // The first answer comes at once: with its cursor, nothing that happens later can be missed.
  let page = await readPage(http, options);
  for (;;) {
    yield page;
    const { next_cursor: cursor } = page;
    await onCursor?.(cursor);
    page = await readPatiently(http, { ...options, cursor }, signal);
  }
}

/** Every event of those pages. */
export async function* events(http: Http, options: EventOptions): AsyncGenerator<FeedEvent, void, void> {
  for await (const page of pages(http, options)) yield* page.events;
}

export const readPage = (http: Http, options: EventOptions): Promise<EventsPage> =>
  http.call('GET /project/events', {
    query: toQuery(options),
    signal: options.signal,
  }) as Promise<EventsPage>;

export async function openStream(http: Http, options: EventOptions): Promise<Response> {
  const token = await http.credential();
  const query = new URLSearchParams(toPlace(options));
  return http.raw(`${http.root}/project/events/stream?${query}`, {
    method: 'GET',
    headers: token ? { authorization: `Bearer ${token}` } : {},
    signal: options.signal,
  });
}

/** Waits for an event, and outlasts restarts and outages of the service. */
async function readPatiently(http: Http, options: EventOptions, outer?: AbortSignal): Promise<EventsPage> {
  const query = { ...toQuery(options), wait: waitSeconds };
  for (;;) {
    outer?.throwIfAborted();
    // Not AbortSignal.any: on a signal that lives as long as the program, Node keeps all that were ever made.
    const turn = new AbortController();
    const end = () => turn.abort(outer?.reason);
    const timer = setTimeout(end, turnMsMax);
    outer?.addEventListener('abort', end);
    try {
      const sending = { query, signal: turn.signal, retries: Infinity, onRetry: options.onRetry };
      return (await http.call('GET /project/events', sending)) as EventsPage;
    } catch (error) {
      if (!turn.signal.aborted) throw error;
    } finally {
      clearTimeout(timer);
      outer?.removeEventListener('abort', end);
    }
  }
}

const toPlace = ({ cursor, from, types = [] }: EventOptions) => ({
  ...(cursor && { cursor }),
  ...(from && { from }),
  ...(types.length > 0 && { types: types.join() }),
});

const toQuery = (options: EventOptions) => ({
  ...toPlace(options),
  ...(options.limit !== undefined && { limit: options.limit }),
});
