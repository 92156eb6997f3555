// One request to a receiver and the beginning of its answer.
import type { Client } from 'undici';
import { deferred } from '../../kernel/async/deferred.ts';
import type { Target } from './target.ts';

export interface OutboundRequest {
  /** Requests with the same one may share a connection. */
  readonly sender: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Gives up with an OutboundAborted. */
  readonly signal?: AbortSignal;
}

export interface OutboundAnswer {
  readonly status: number;
  /** How its body begins. */
  readonly text: string;
}

/** More of an answer is not read, and its connection is closed. */
const answerBytesMax = 16 << 10;
/** A status that came in time counts, even if its body does not end. */
const bodyMsMax = 2_000;
/** Of the answer, for its owner to read. */
const textBytesMax = 1_024;

type Exchanged = OutboundAnswer & { readonly isComplete: boolean };

/**
 * Sends one request and reads the beginning of the answer. Rejects with undici's error, or with the reason of the signal.
 * Unless the answer is complete, the caller must destroy the client.
 */
export function exchange(
  client: Client,
  { headers, body }: OutboundRequest,
  { path }: Target,
  signal: AbortSignal,
): Promise<Exchanged> {
  const { promise, resolve, reject } = deferred<Exchanged>();
  const chunks: Buffer[] = [];
  let status = 0;
  let bytes = 0;
  let waiting: NodeJS.Timeout | undefined;
  const answer = (isComplete: boolean) => resolve({ status, text: toText(chunks), isComplete });
  const fail = (error: unknown) => (status > 0 ? answer(false) : reject(error));
  const giveUp = () => fail(signal.reason);
  signal.addEventListener('abort', giveUp);
  if (signal.aborted) giveUp();
  client.dispatch(
    { method: 'POST', path, headers, body },
    {
      onRequestStart: () => undefined,
      onResponseStart: (_controller, code) => {
        if (code < 200) return;
        status = code;
        waiting = setTimeout(() => answer(false), bodyMsMax);
      },
      onResponseData: (_controller, chunk) => {
        if (bytes < textBytesMax) chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > answerBytesMax) answer(false);
      },
      onResponseEnd: () => answer(true),
      onResponseError: (_controller, error) => fail(error),
    },
  );
  return promise.finally(() => {
    clearTimeout(waiting);
    signal.removeEventListener('abort', giveUp);
  });
}

/** Text that a database stores: no NUL, and no half character at the end. */
function toText(chunks: readonly Buffer[]): string {
  const start = Buffer.concat(chunks).subarray(0, textBytesMax);
  return new TextDecoder().decode(start, { stream: true }).replaceAll('\0', '\ufffd');
}
