// A bound on HTTP chunks. Every chunk of a chunked body costs Node several microseconds: a megabyte of one-byte chunks
// would block the event loop for seconds, even if the body is only discarded.
import type { IncomingMessage } from 'node:http';

/** This many chunks may have any size. */
const chunksFree = 4_096;
/** Beyond that, the average size of all chunks must be at least this. */
const averageBytesMin = 256;

const isChunked = ({ headers }: IncomingMessage): boolean => headers['transfer-encoding'] !== undefined;

/** For a request answered before its body was read: otherwise Node discards the body without calling the meter. */
export function keepMetering(request: IncomingMessage): void {
  if (!request.complete && isChunked(request)) request.resume();
}

/** Calls `refuse` once if the chunks are too small, and drops the rest of the body. */
export function meterChunks(request: IncomingMessage, refuse: () => void): void {
  if (!isChunked(request)) return;
  const push = request.push.bind(request);
  let chunks = 0;
  let bytes = 0;
  let refused = false;
  // Node's parser calls `push` for each chunk.
  request.push = (chunk: Buffer | null, encoding?: BufferEncoding): boolean => {
    if (refused) return true;
    chunks += 1;
    bytes += chunk?.length ?? 0;
    if (chunks <= chunksFree + bytes / averageBytesMin) return push(chunk, encoding);
    refused = true;
    refuse();
    return true;
  };
}
