// Passes the body of a request on to the store.
import type { IncomingMessage } from 'node:http';
import type { Deps } from '../../contract/deps.ts';
import type { Owner } from '../../platform/concurrency/eviction.ts';
import { ClientGone } from '../../platform/forms/form-reader.ts';
import { noteChunk } from '../../platform/heap.ts';
import { PushedBody } from '../../platform/objects/pushed-body.ts';
import { UploadPermit } from '../files/files.permit.ts';

export interface BodySink {
  /** Return false to take no more. */
  take(chunk: Buffer): boolean;
  end(): void;
  /** The body ended before its end: the client is gone, or the signal aborts. Called once at most. */
  cut(reason: unknown): void;
}

/** Returns how to stop. */
export function readBody(raw: IncomingMessage, signal: AbortSignal, sink: BodySink): () => void {
  const onData = (chunk: Buffer) => {
    noteChunk(chunk.length);
    if (!sink.take(chunk)) stop();
  };
  const onEnd = () => {
    stop();
    sink.end();
  };
  const cut = (reason: unknown) => {
    stop();
    sink.cut(reason);
  };
  const onClose = () => raw.complete || cut(new ClientGone());
  const onAbort = () => cut(signal.reason);
  const stop = () => {
    raw.off('data', onData).off('end', onEnd).off('close', onClose);
    signal.removeEventListener('abort', onAbort);
  };
  raw.on('data', onData).on('end', onEnd).on('close', onClose);
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  else if (raw.destroyed) onClose();
  return stop;
}

/** Waits for capacity and passes the permit on. The rest of a refused body is read and dropped; the server limits how long. */
export async function withPermit<Result>(
  deps: Deps,
  owner: Owner,
  userId: string,
  raw: IncomingMessage,
  abort: AbortController,
  work: (permit: UploadPermit) => Promise<Result>,
): Promise<Result> {
  const permit = await UploadPermit.acquire(deps, owner, userId, raw, abort);
  try {
    if (!permit.isBuffered) await permit.waitForPlace();
    return await work(permit);
  } finally {
    permit.release();
    if (!raw.complete) raw.resume();
  }
}

/** A body that is kept whole or not at all. */
export function receiveWhole<Result>(
  deps: Deps,
  owner: Owner,
  userId: string,
  raw: IncomingMessage,
  store: (body: PushedBody, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const abort = new AbortController();
  return withPermit(deps, owner, userId, raw, abort, async ({ gate }) => {
    const body = new PushedBody(() => gate.release('file'));
    const stop = readBody(raw, abort.signal, {
      take(chunk) {
        if (!body.push(chunk)) gate.hold('file');
        gate.count(chunk.length);
        return true;
      },
      end: () => body.end(),
      cut: (reason) => body.destroy(reason),
    });
    try {
      return await store(body, abort.signal);
    } finally {
      stop();
    }
  });
}
