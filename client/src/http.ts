// Sends requests: credentials, repetition of what may be repeated, and errors.
import { delay } from './delay.ts';
import { PakhusError, toError } from './error.ts';
import type { AnswerOf, BodyOf, Endpoint, QueryOf } from './types.ts';

export interface ClientOptions {
  /** Where the service is, for example `https://files.example.com`. */
  readonly baseUrl: string;
  /** The key of a project or an integration. For servers only: never put it into a page. */
  readonly key?: string;
  /**
   * A session, user or space token. A function is called when a token is needed and when the last one was refused, so that it
   * can ask your back end for a new one.
   */
  readonly token?: string | (() => string | Promise<string>);
  /** How often a request is repeated after a lost connection, 429 or 503. 5 by default. */
  readonly retries?: number;
  /** Instead of the global one. */
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called with the headers of the answer: ETag, RateLimit and others. */
  readonly onHeaders?: ((headers: Headers) => void) | undefined;
}

export interface CreateOptions extends CallOptions {
  /**
   * Your own, to repeat a request safely after a restart of your program. By default each call has a new one. Null: none,
   * which costs the server less; whether a request with a lost answer was carried out is then yours to find out.
   */
  readonly idempotencyKey?: string | null | undefined;
}

export interface Sending<E extends Endpoint> extends CallOptions {
  /** In the order of the path. */
  readonly params?: readonly (string | PathPart)[];
  readonly query?: QueryOf<E> | undefined;
  readonly body?: BodyOf<E>;
  readonly form?: BodyInit;
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of the client's. */
  readonly retries?: number;
  /** Called with the failure of each attempt that is repeated. */
  readonly onRetry?: ((error: unknown) => void) | undefined;
}

/** A part of a path that is encoded already. A function, because a token may have to be asked for first. */
export type PathPart = () => string | Promise<string>;

/** A request to an address that needs no credential. */
export interface RawRequest {
  readonly signal?: AbortSignal | undefined;
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: BodyInit;
}

export interface Http {
  /** The address of the API. */
  readonly root: string;
  readonly retries: number;
  /** Resolves to the JSON of the answer. */
  call<E extends Endpoint>(endpoint: E, sending?: Sending<E>): Promise<AnswerOf<E>>;
  /** Resolves to the answer itself, whose body may then be read as it arrives. */
  open<E extends Endpoint>(endpoint: E, sending?: Sending<E>): Promise<Response>;
  /** The same as `call`, with a key that makes repetition safe. */
  create<E extends Endpoint>(endpoint: E, sending: Sending<E>, options?: CreateOptions): Promise<AnswerOf<E>>;
  /** One try, without a credential. Resolves to any answer below 400. */
  raw(url: string, request: RawRequest): Promise<Response>;
  /** The token or key in use. */
  credential(): Promise<string | undefined>;
}

const prefix = '/api/v1';
const firstWaitMs = 500;
const longestWaitMs = 30_000;

export function createHttp(options: ClientOptions): Http {
  const { retries = 5, fetch: send = globalThis.fetch.bind(globalThis) } = options;
  const root = toRoot(options.baseUrl);
  const credentials = createCredentials(options);

  async function raw(url: string, request: RawRequest): Promise<Response> {
    const { signal, ...rest } = request;
    let response: Response;
    try {
      response = await send(url, { ...rest, signal: signal ?? null });
    } catch (cause) {
      throw toNetworkError(cause, signal);
    }
    if (response.status < 400) return response;
    throw toError(response.status, response.headers, await response.text().catch(() => ''));
  }

  async function request<E extends Endpoint, Answer>(
    endpoint: E,
    sending: Sending<E>,
    read: (response: Response, signal?: AbortSignal) => Answer | Promise<Answer>,
  ): Promise<Answer> {
    const { signal } = sending;
    const [method = '', path = ''] = endpoint.split(' ');
    const url = root + (await fillPath(path, sending.params)) + toQuery(sending.query);
    const json = sending.body === undefined ? null : JSON.stringify(sending.body);
    const isRepeatable = method !== 'POST' || 'idempotency-key' in (sending.headers ?? {});
    let isRefreshed = false;
    const attempt = async (): Promise<Answer> => {
      const token = await credentials.get();
      const headers: Record<string, string> = { ...sending.headers };
      if (token) headers.authorization = `Bearer ${token}`;
      if (json !== null) headers['content-type'] = 'application/json';
      try {
        const body = json ?? sending.form;
        const response = await raw(url, { method, headers, ...(body && { body }), signal });
        const answer = await read(response, signal);
        sending.onHeaders?.(response.headers);
        return answer;
      } catch (error) {
        if (!credentials.canRefresh || isRefreshed || statusOf(error) !== 401) throw error;
        isRefreshed = true;
        await credentials.forget(token);
        return attempt();
      }
    };
    const { onRetry } = sending;
    return repeat(attempt, { retries: sending.retries ?? retries, isRepeatable, signal, onRetry });
  }

  const call: Http['call'] = (endpoint, sending = {}) => request(endpoint, sending, readJson) as never;

  return {
    root,
    retries,
    raw,
    call,
    open: (endpoint, sending = {}) => request(endpoint, sending, (response) => response),
    create: (endpoint, sending, { idempotencyKey = crypto.randomUUID(), ...options } = {}) =>
      call(endpoint, {
        ...sending,
        ...options,
        headers: { ...sending.headers, ...(idempotencyKey && { 'idempotency-key': idempotencyKey }) },
      }),
    credential: () => credentials.get(),
  };
}

/** Undefined for an empty answer. */
async function readJson(response: Response, signal?: AbortSignal): Promise<unknown> {
  let text: string;
  try {
    text = await response.text();
  } catch (cause) {
    throw toNetworkError(cause, signal);
  }
  try {
    return text ? JSON.parse(text) : undefined;
  } catch (cause) {
    const message = 'The answer is not JSON: is baseUrl the address of Pakhus?';
    throw new PakhusError('UNEXPECTED_ANSWER', message, { status: response.status, cause });
  }
}

export const statusOf = (error: unknown): number => (error instanceof PakhusError ? error.status : -1);

function toNetworkError(cause: unknown, signal?: AbortSignal): unknown {
  if (signal?.aborted) return signal.reason;
  const why = cause instanceof Error ? cause.message : String(cause);
  return new PakhusError('NETWORK_ERROR', `The connection failed: ${why}`, { cause });
}

interface Repetition {
  readonly signal?: AbortSignal | undefined;
  readonly retries: number;
  /** Without it, only a request that the server refused before any work is repeated. */
  readonly isRepeatable: boolean;
  readonly onRetry: ((error: unknown) => void) | undefined;
}

/** Retries transient failures with exponential back-off and jitter, and never before Retry-After. */
async function repeat<Result>(
  attempt: () => Promise<Result>,
  { retries, isRepeatable, signal, onRetry }: Repetition,
): Promise<Result> {
  for (let failures = 0; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      if (failures >= retries || !isTransient(error, isRepeatable)) throw error;
      onRetry?.(error);
      await delay(pauseAfter(failures, error), signal);
    }
  }
}

/** 409 with Retry-After: the first request with this idempotency key is still being worked on. */
export function isTransient(error: unknown, isRepeatable = true): boolean {
  if (!(error instanceof PakhusError)) return false;
  const { status, code, retryAfter } = error;
  if (status === 429 || status === 503) return isRepeatable || retryAfter !== null;
  return (
    isRepeatable &&
    (code === 'NETWORK_ERROR' || status === 502 || status === 504 || (status === 409 && retryAfter !== null))
  );
}

export function pauseAfter(failures: number, error: unknown): number {
  const growing = Math.min(longestWaitMs, firstWaitMs * 2 ** failures);
  const asked = error instanceof PakhusError ? (error.retryAfter ?? 0) * 1000 : 0;
  return asked + growing * (0.5 + Math.random() / 2);
}

function createCredentials({ key, token }: ClientOptions) {
  let current: Promise<string> | undefined;
  return {
    canRefresh: typeof token === 'function',
    get: async (): Promise<string | undefined> => {
      if (typeof token !== 'function') return token ?? key;
      current ??= Promise.resolve().then(token);
      return current.catch((error) => {
        current = undefined;
        throw error;
      });
    },
    /** Requests that were refused together ask for one new token. */
    forget: async (refused: string | undefined) => {
      const before = current;
      if (before && (await before) === refused && current === before) current = undefined;
    },
  };
}

function toRoot(baseUrl: string): string {
  const trimmed = baseUrl.replace(/\/+$/, '');
  return trimmed.endsWith(prefix) ? trimmed : trimmed + prefix;
}

async function fillPath(path: string, params: readonly (string | PathPart)[] = []): Promise<string> {
  const parts = await Promise.all(
    params.map((part) => (typeof part === 'function' ? part() : encodeURIComponent(part))),
  );
  return path.replace(/\{\w+\}/g, () => parts.shift() ?? '');
}

function toQuery(query: unknown): string {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null);
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text && `?${text}`;
}
