// Requests with bytes as their body are dispatched by undici without the layers of fetch, which take more CPU time for a
// small upload than reading, hashing and describing the file together. Everything else is left to fetch.
import type { Agent, Dispatcher } from 'undici';

export function createLeanFetch(): typeof fetch {
  let loading: Promise<Agent> | undefined;
  return async (input, init) => {
    const { body } = init ?? {};
    if (!(body instanceof Uint8Array) || typeof input !== 'string') return fetch(input, init);
    // Most commands never need it.
    loading ??= import('undici').then(({ Agent }) => new Agent());
    return send(await loading, input, init ?? {}, body);
  };
}

function send(agent: Agent, url: string, init: RequestInit, body: Uint8Array): Promise<Response> {
  const pathAt = url.indexOf('/', url.indexOf('//') + 2);
  const { signal } = init;
  const options = {
    origin: url.slice(0, pathAt),
    path: url.slice(pathAt),
    method: (init.method ?? 'POST') as Dispatcher.HttpMethod,
    headers: init.headers as Record<string, string>,
    body,
  };
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    const chunks: Buffer[] = [];
    let head: { status: number; headers: Dispatcher.ResponseData['headers'] } | undefined;
    const abort = () => controller?.abort(signal?.reason);
    const settle = (act: () => void) => {
      signal?.removeEventListener('abort', abort);
      act();
    };
    signal?.addEventListener('abort', abort, { once: true });
    agent.dispatch(options, {
      onRequestStart: (started) => {
        controller = started;
        if (signal?.aborted) abort();
      },
      onResponseStart: (_controller, status, headers) => {
        head = { status, headers };
      },
      onResponseData: (_controller, chunk) => {
        chunks.push(chunk);
      },
      onResponseEnd: () => settle(() => resolve(toResponse(head?.status ?? 0, head?.headers ?? {}, chunks))),
      onResponseError: (_controller, error) => settle(() => reject(error)),
    });
  });
}

/** As much of a Response as the client uses. A real one costs as much as the request. */
const toResponse = (
  status: number,
  headers: Dispatcher.ResponseData['headers'],
  chunks: readonly Buffer[],
): Response =>
  ({
    status,
    headers: {
      get: (name: string) => [headers[name.toLowerCase()]].flat()[0] ?? null,
    },
    text: async () => Buffer.concat(chunks).toString(),
  }) as Response;
