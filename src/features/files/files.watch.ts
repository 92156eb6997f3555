// The client of an upload, while it sends: whether it is still there, and whether it gets on.
import type { IncomingMessage } from 'node:http';
import { PakhusError } from '../../kernel/error.ts';
import { ClientGone } from '../../platform/multipart.ts';

/** Of a body that is all here. */
const nothingToStop = () => undefined;

/** Aborts when the client hangs up. Returns how to stop watching. */
export function watchClient(raw: IncomingMessage, abort: AbortController): () => void {
  if (raw.complete) return nothingToStop;
  const onClose = () => {
    if (!raw.complete) abort.abort(new ClientGone());
  };
  raw.on('close', onClose);
  return () => {
    raw.off('close', onClose);
    // What is left of a refused body is read and dropped; the server bounds for how long.
    if (!raw.complete) raw.resume();
  };
}

const paceCheckMs = 20_000;
const paceBytesMin = 10 * 1024;

/** Aborts when the client sends so slowly that it only means to hold a place. Returns how to stop watching. */
export function watchPace(raw: IncomingMessage, abort: AbortController): () => void {
  if (raw.complete) return nothingToStop;
  let bytesBefore = raw.socket.bytesRead;
  // While it is paused, because the store is behind, it is we who are slow.
  let wasPaused = false;
  const onPause = () => {
    wasPaused = true;
  };
  const pace = setInterval(() => {
    const { bytesRead } = raw.socket;
    if (!raw.complete && !wasPaused && bytesRead - bytesBefore < paceBytesMin) abort.abort(tooSlow());
    wasPaused = raw.isPaused();
    bytesBefore = bytesRead;
  }, paceCheckMs).unref();
  raw.on('pause', onPause);
  return () => {
    clearInterval(pace);
    raw.off('pause', onPause);
  };
}

const tooSlow = () =>
  new PakhusError(
    'VALIDATION_ERROR',
    `The upload is too slow: send at least ${paceBytesMin} bytes every ${paceCheckMs / 1000} s`,
    {
      details: { issues: [{ path: 'body', message: 'arrives too slowly', code: 'time' }] },
    },
  );
