// The HTTP client of the tests. It checks every reply against the OpenAPI document and the error envelope, so each test
// also tests the document.
import { Agent, type Dispatcher, request as httpRequest } from 'undici';
import { expect } from 'vitest';
import { expectDocumented } from './documented.ts';

export interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies freely; expectDocumented checks their shape.
  readonly body: any;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
}

export interface CallOptions {
  /** A Bearer credential. */
  readonly as?: string | undefined;
  readonly cookie?: string;
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly raw?: string | Buffer | FormData;
  readonly headers?: Record<string, string>;
}

export interface Api {
  readonly baseUrl: string;
  call(method: string, path: string, options?: CallOptions): Promise<Reply>;
  get(path: string, as?: string): Promise<Reply>;
  post(path: string, as: string | undefined, body?: unknown): Promise<Reply>;
  put(path: string, as: string | undefined, body?: unknown): Promise<Reply>;
  patch(path: string, as: string | undefined, body?: unknown): Promise<Reply>;
  delete(path: string, as?: string): Promise<Reply>;
}

const agent = new Agent({ connections: 256, keepAliveTimeout: 1_000 });

export function apiOf(baseUrl: string): Api {
  const call = (method: string, path: string, options: CallOptions = {}) =>
    send(baseUrl, method, path, options);
  return {
    baseUrl,
    call,
    get: (path, as) => call('GET', path, { as }),
    post: (path, as, body) => call('POST', path, { as, body }),
    put: (path, as, body) => call('PUT', path, { as, body }),
    patch: (path, as, body) => call('PATCH', path, { as, body }),
    delete: (path, as) => call('DELETE', path, { as }),
  };
}

async function send(baseUrl: string, method: string, path: string, options: CallOptions): Promise<Reply> {
  const { as, cookie, body, raw, headers = {} } = options;
  const response = await httpRequest(`${baseUrl}${path}`, {
    method: method as 'GET',
    dispatcher: agent,
    headers: {
      ...(as ? { authorization: `Bearer ${as}` } : {}),
      ...(cookie ? { cookie: `token=${cookie}` } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: (raw ?? (body === undefined ? null : JSON.stringify(body))) as string | null,
  });
  const text = await readText(response);
  const reply: Reply = { status: response.statusCode, headers: response.headers, text, body: parsed(text) };
  expect(reply.headers['x-request-id'], 'every response carries X-Request-Id').toBeTruthy();
  if (baseUrl.endsWith('/api/v1')) expectDocumented(method, path, reply);
  return reply;
}

/** A stream of events has no end: its beginning is enough. */
export async function readText({
  headers,
  body,
}: Pick<Dispatcher.ResponseData, 'headers' | 'body'>): Promise<string> {
  if (headers['content-type'] !== 'text/event-stream') return body.text();
  for await (const chunk of body) return String(chunk);
  return '';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
