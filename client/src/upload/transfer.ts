// Sends bytes to a URL and tells how many have left.
import { type HeaderReader, PakhusError, toError } from '../error.ts';
import type { Http } from '../http.ts';
import { type Chunk, sizeOf } from './source.ts';

export interface Transfer {
  readonly method: 'PATCH' | 'PUT';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Chunk;
  readonly signal: AbortSignal;
  readonly onSent: (bytes: number) => void;
}

/** Resolves to the headers of the answer. Only XMLHttpRequest tells pages the progress of a body. */
export async function transfer(http: Http, url: string, request: Transfer): Promise<HeaderReader> {
  if (typeof XMLHttpRequest === 'function') return transferByXhr(url, request);
  const { onSent, ...rest } = request;
  const { headers } = await http.raw(url, rest);
  onSent(sizeOf(request.body));
  return headers;
}

const transferByXhr = (
  url: string,
  { method, headers, body, signal, onSent }: Transfer,
): Promise<HeaderReader> =>
  new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const xhr = new XMLHttpRequest();
    const abort = () => xhr.abort();
    xhr.open(method, url);
    for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value);
    xhr.upload.onprogress = ({ loaded }) => onSent(loaded);
    xhr.onloadend = () => {
      signal.removeEventListener('abort', abort);
      if (signal.aborted) return reject(signal.reason);
      if (xhr.status === 0) return reject(new PakhusError('NETWORK_ERROR', 'The connection failed'));
      const answered = { get: (name: string) => xhr.getResponseHeader(name) };
      if (xhr.status >= 400) return reject(toError(xhr.status, answered, xhr.responseText));
      onSent(sizeOf(body));
      resolve(answered);
    };
    signal.addEventListener('abort', abort);
    xhr.send(body);
  });
