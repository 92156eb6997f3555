// Reads the feed of events for commands: where to begin, and what to say when the service is away and at the end.
import type { Client, EventOptions, EventPattern, EventsPage } from '@pakhus/client/node';
import type { Context } from '../frame/command.ts';
import { exitCodes, reportFailure } from '../frame/failure.ts';

export interface FeedOptions {
  readonly types: string | undefined;
  readonly from: string | undefined;
  readonly cursor: string | undefined;
  readonly once: boolean;
}

/** The service knows the types, and names the wrong one. */
export const parseTypes = (types: string | undefined): readonly EventPattern[] =>
  (types ?? '')
    .split(',')
    .map((type) => type.trim())
    .filter(Boolean) as EventPattern[];

export function openPages(
  client: Client,
  { types, from, cursor, once }: FeedOptions,
  context: Context,
): AsyncIterable<EventsPage> {
  const place = from === 'oldest' ? ({ from, cursor } as const) : { cursor };
  const options = { ...place, types: parseTypes(types), signal: context.signal };
  return once ? readOnce(client, options) : follow(client, options, context);
}

/** Says once when the service is away, and once when it is back. */
async function* follow(
  client: Client,
  options: EventOptions,
  { err, signal }: Context,
): AsyncGenerator<EventsPage> {
  let isAway = false;
  const onRetry = (error: unknown) => {
    if (!isAway) err.say(`${reportFailure(error, signal).message}; trying until it answers`);
    isAway = true;
  };
  for await (const page of client.project.events({ ...options, onRetry }).pages()) {
    if (isAway) err.say('The service answers again');
    isAway = false;
    yield page;
  }
}

const pageEvents = 1000;

/** What is there now. */
async function* readOnce(client: Client, options: EventOptions): AsyncGenerator<EventsPage> {
  for (let { cursor } = options; ; ) {
    const page = await client.project.events({ ...options, cursor, limit: pageEvents }).page();
    yield page;
    cursor = page.next_cursor;
    if (page.events.length === 0 && (await isAtEnd(client, cursor, options.signal))) return;
  }
}

/** A page is also empty if no event of many had one of the types. */
async function isAtEnd(client: Client, cursor: string, signal: AbortSignal | undefined): Promise<boolean> {
  const { events } = await client.project.events({ cursor, limit: 1, signal }).page();
  return events.length === 0;
}

/**
 * Gives each page to `handle`, until they end or the command is interrupted. Then prints the cursor after the last page that was handled
 * to its end, so that `again` goes on from there.
 */
export async function handlePages(
  { out, err, signal, isJson }: Context,
  pages: AsyncIterable<EventsPage>,
  handle: (page: EventsPage) => Promise<void>,
  again: string,
): Promise<number> {
  let cursor: string | undefined;
  try {
    for await (const page of pages) {
      await handle(page);
      cursor = page.next_cursor;
    }
    return exitCodes.done;
  } catch (error) {
    if (!signal.aborted) throw error;
    return exitCodes.interrupted;
  } finally {
    if (cursor !== undefined && isJson) await out.print({ next_cursor: cursor }, '');
    // A cursor may begin with a hyphen, which only --cursor= takes.
    if (cursor !== undefined) err.say(`To go on from here: ${again} --cursor=${cursor}`);
  }
}
