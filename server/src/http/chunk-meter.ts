// A bound on HTTP chunks. Node hands over every chunk of a chunked body by itself, at several microseconds each: a
// megabyte that comes byte by byte would cost seconds of the event loop, also where the body is only read and dropped.
import type { IncomingMessage } from 'node:http';

/** So many chunks are free, whatever their size. */
const chunksFree = 4_096;
/** Beyond those, chunks have to hold this much on average. */
const averageBytesMin = 256;

const isChunked = ({ headers }: IncomingMessage): boolean => headers['transfer-encoding'] !== undefined;

/** Of a request that is answered before its body was read: Node would read on by itself, past the meter. */
export function keepMetering(request: IncomingMessage): void {
  if (!request.complete && isChunked(request)) request.resume();
}

/** Calls `refuse`, once, as soon as a chunked body is cut too small; what still comes of it is dropped. */
export function meterChunks(request: IncomingMessage, refuse: () => void): void {
  if (!isChunked(request)) return;
  const push = request.push.bind(request);
  let chunks = 0;
  let bytes = 0;
  let refused = false;
  // Node's parser calls `push` for each chunk, whoever reads the stream later.
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
