// The feed of events over HTTP, page by page and as a stream.

import type { Call } from '../../contract/call.ts';
import type { Deps } from '../../contract/deps.ts';
import { route } from '../../contract/route.ts';
import { Serialized } from '../../contract/serialized.ts';
import { Type } from '../../kernel/schema.ts';
import { quoted } from '../../kernel/text/json.ts';
import { cursorOf, type FeedPlace, openFeed, parseTypes } from './events.service.ts';
import { streamEvents } from './events.stream.ts';
import { type FeedBatch, follow } from './events.wait.ts';
import { EventsPage, FeedQuery, StreamQuery } from './events.wire.ts';

/** A reader sees what was committed before it asked, unless an older transaction runs for longer than this. */
const pendingMsMax = 1_000;
/** Pages of which nothing was wanted: the reader gets a cursor and asks again. */
const pagesMax = 20;

const access = { actors: ['project', 'integration'], scope: 'events:read', scopeless: ['project'] } as const;

export const eventRoutes = [
  route(
    {
      id: 'events.list',
      method: 'GET',
      path: '/project/events',
      summary: 'Read what has changed',
      description:
        'Every change of files, image jobs, users and spaces, in an order that never changes. Keep `next_cursor` and read on with it: no event is missing between two pages. Events are kept for 7 days. The project records events while it has a webhook, and for 7 days after each read of its events.',
      access,
      rateLimit: 'integration',
      audit: null,
      query: FeedQuery,
      returns: { status: 200, body: EventsPage },
      errors: ['GONE', 'STORAGE_UNAVAILABLE'],
    },
    async ({ deps, actor, query, call }) => {
      const isWanted = parseTypes(query.types);
      const place = await openFeed(deps, actor.projectId, query);
      const { events, place: end } = await firstBatch(deps, place, query, isWanted, call);
      const next = quoted(cursorOf(deps, end));
      return new Serialized(`{"events":[${events.map(({ json }) => json)}],"next_cursor":${next}}`);
    },
  ),
  route(
    {
      id: 'events.stream',
      method: 'GET',
      path: '/project/events/stream',
      summary: 'Follow what changes',
      description:
        'The feed as Server-Sent Events, as long as the connection lasts. The `id` of an event is a cursor: connect again with it as `Last-Event-ID`, as EventSource does, and go on where you were. A comment comes every 15 seconds. A reader that is too slow is cut off.',
      access,
      rateLimit: 'integration',
      audit: null,
      query: StreamQuery,
      reads: {
        headers: Type.Object({
          'Last-Event-ID': Type.Optional(
            Type.String({ description: 'The id of the last event you received; wins over `cursor`.' }),
          ),
        }),
      },
      returns: { status: 200, contentType: 'text/event-stream' },
      errors: ['GONE', 'STORAGE_UNAVAILABLE'],
    },
    async ({ deps, actor, query, call }) => {
      const isWanted = parseTypes(query.types);
      const lastId = call.headers['last-event-id'];
      const cursor = typeof lastId === 'string' && lastId !== '' ? lastId : query.cursor;
      const onEnd = deps.eventReaders.enter(actor.projectId);
      try {
        const place = await openFeed(deps, actor.projectId, { ...query, cursor });
        call.setHeader('content-type', 'text/event-stream');
        call.setHeader('cache-control', 'no-store');
        // Proxies such as nginx would otherwise collect the events.
        call.setHeader('x-accel-buffering', 'no');
        return streamEvents(deps, place, { isWanted, recheck: () => call.recheckCredential(), onEnd });
      } catch (error) {
        onEnd();
        throw error;
      }
    },
  ),
];

/** The first page with a wanted event. An empty one if there is none until the time is up. */
async function firstBatch(
  deps: Deps,
  start: FeedPlace,
  { limit, wait }: { readonly limit: number; readonly wait: number },
  isWanted: ReturnType<typeof parseTypes>,
  call: Call,
): Promise<Pick<FeedBatch, 'events' | 'place'>> {
  const leave = deps.eventReaders.enter(start.projectId);
  const ending = new AbortController();
  const end = () => ending.abort();
  const { socket } = call.raw;
  socket.once('close', end);
  const timer = setTimeout(end, Math.max(wait * 1000, pendingMsMax));
  let place = start;
  let pages = 0;
  try {
    for await (const batch of follow(deps, start, limit, ending.signal)) {
      place = batch.place;
      pages += 1;
      const events = batch.events.filter(isWanted);
      const isOver = wait === 0 && batch.isLast && !batch.isPending;
      if (events.length > 0 || pages === pagesMax || isOver) return { events, place };
    }
    return { events: [], place };
  } finally {
    clearTimeout(timer);
    socket.off('close', end);
    leave();
  }
}
