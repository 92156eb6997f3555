// The feed as Server-Sent Events.
import { Readable } from 'node:stream';
import type { Deps } from '../../contract/deps.ts';
import type { FeedEvent } from '../../contract/event.ts';
import { cursorAfter, type FeedPlace } from './events.service.ts';
import { type FeedBatch, follow } from './events.wait.ts';

const pageEvents = 500;
/** Proxies close connections that are silent for longer, often after a minute. */
const heartbeatMs = 15_000;
/** A reader that is further behind is cut off. It goes on where it was with its Last-Event-ID. */
const behindBytesMax = 4 << 20;
/** For EventSource: how soon to connect again. */
const opening = 'retry: 1000\n\n';

export interface StreamOptions {
  readonly isWanted: (event: Pick<FeedEvent, 'type'>) => boolean;
  /** Rejects when the caller may not read any more. Called with every heartbeat. */
  readonly recheck: () => Promise<void>;
  readonly onEnd: () => void;
}

export function streamEvents(deps: Deps, start: FeedPlace, options: StreamOptions): Readable {
  const ended = new AbortController();
  const stream = new Readable({
    read() {
      // Events are pushed as they come.
    },
    destroy(error, done) {
      clearInterval(beating);
      ended.abort();
      options.onEnd();
      done(error);
    },
  });
  const beating = setInterval(() => void beat(stream, options.recheck), heartbeatMs);
  stream.push(opening);
  void pushAll(deps, stream, start, options, ended.signal).catch((error: unknown) => {
    deps.log.warn({ err: error }, 'a stream of events was cut, its reader will connect again');
    stream.destroy();
  });
  return stream;
}

async function pushAll(
  deps: Deps,
  stream: Readable,
  start: FeedPlace,
  { isWanted }: StreamOptions,
  signal: AbortSignal,
): Promise<void> {
  for await (const batch of follow(deps, start, pageEvents, signal)) {
    const text = toFrames(deps, batch, isWanted);
    if (text !== '') stream.push(text);
    if (stream.readableLength > behindBytesMax) stream.destroy();
  }
  // The service stops, or the reader has gone.
  stream.push(null);
}

/** A comment keeps the connection alive. The credential may have been revoked meanwhile. */
async function beat(stream: Readable, recheck: () => Promise<void>): Promise<void> {
  stream.push(': still here\n\n');
  await recheck().catch(() => stream.push(null));
}

const toFrames = (deps: Deps, { events, place }: FeedBatch, isWanted: StreamOptions['isWanted']): string =>
  events
    .filter(isWanted)
    .map((event) => `id: ${cursorAfter(deps, place, event)}\nevent: ${event.type}\ndata: ${event.json}\n\n`)
    .join('');
