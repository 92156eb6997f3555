// Reads a JSON body, bounded in size and time, and safe against prototype pollution.
import type { IncomingMessage } from 'node:http';
import { deferred } from '../kernel/async/deferred.ts';
import { joined } from '../kernel/bytes.ts';
import { PakhusError } from '../kernel/error.ts';
import { SmallChunks } from '../kernel/form/small-chunks.ts';
import { parseForeignJson } from '../kernel/text/json.ts';
import { ClientGone } from '../platform/forms/form-reader.ts';
import { bodyTooLarge, malformedBody, wrongContentType } from './error-reply.ts';

const readTimeMs = 30_000;
/** Every request may buffer this much; larger bodies need a slot. */
const freeBytes = 16 * 1024;
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** Resolves to the function that releases the slot. */
type EnterLarge = (signal: AbortSignal) => Promise<() => void>;

/** Undefined for an empty body. */
export async function readJsonBody(
  stream: IncomingMessage,
  bytesMax: number,
  enterLarge: EnterLarge,
): Promise<unknown> {
  if (Number(stream.headers['content-length'] ?? 0) > bytesMax) throw bodyTooLarge(bytesMax);
  const bytes = await readAll(stream, bytesMax, enterLarge);
  if (bytes.length === 0) return undefined;
  try {
    return parseForeignJson(strictUtf8.decode(bytes));
  } catch (error) {
    throw malformedBody(
      error instanceof TypeError ? 'it is not UTF-8' : (error as Error).message.slice(0, 120),
    );
  }
}

/** Refuses other content types, unless the body is empty. */
export function refuseContent({ headers }: IncomingMessage): undefined {
  const length = headers['content-length'];
  if (headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0'))
    throw wrongContentType();
}

function readAll(stream: IncomingMessage, bytesMax: number, enterLarge: EnterLarge): Promise<Buffer> {
  const { promise, resolve, reject } = deferred<Buffer>();
  const chunks: Buffer[] = [];
  const joining = new SmallChunks((chunk) => chunks.push(chunk));
  let length = 0;
  let large: AbortController | null = null;
  let leave = () => {};
  const waitForSlot = ({ signal }: AbortController) => {
    stream.pause();
    enterLarge(signal).then((leaveLarge) => {
      if (signal.aborted) return leaveLarge();
      leave = leaveLarge;
      stream.resume();
    }, reject);
  };
  // A slow client must not hold a connection for ever.
  const timer = setTimeout(() => reject(tooSlow()), readTimeMs);
  stream.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > bytesMax) return reject(bodyTooLarge(bytesMax));
    joining.write(chunk);
    if (length <= freeBytes || large) return;
    large = new AbortController();
    waitForSlot(large);
  });
  const onGone = () => reject(new ClientGone());
  stream.on('end', () => {
    // It closes after every request, and an error with its stack is not free.
    stream.off('close', onGone);
    joining.flush();
    resolve(joined(chunks));
  });
  stream.on('error', onGone);
  stream.on('close', onGone);
  return promise.finally(() => {
    clearTimeout(timer);
    large?.abort();
    leave();
  });
}

const tooSlow = () =>
  new PakhusError('VALIDATION_ERROR', 'The body took too long to arrive: send it within 30 seconds', {
    details: { issues: [{ path: 'body', message: 'took too long to arrive', code: 'time' }] },
  });
