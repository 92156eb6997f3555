// The requests of the screen that is open, newest first. Secrets are masked before anything is kept.
import { signal } from '@preact/signals';

export interface RecordedRequest {
  readonly id: number;
  readonly method: string;
  /** Below the API's prefix, without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** A JSON body, masked; undefined for none. */
  readonly body: unknown;
  /** The fields of a form; a file is there by its name. */
  readonly form: Readonly<Record<string, string>> | null;
}

const keptMax = 100;
const secrets = /^(password|currentPassword|newPassword|code|token|challenge_token|jti)$/;

export const requests = signal<readonly RecordedRequest[]>([]);
let lastId = 0;

export const forgetRequests = (): void => {
  requests.value = [];
};

export function recordRequest(pathAndQuery: string, init: RequestInit = {}): void {
  const [path = '', search = ''] = pathAndQuery.split('?');
  // The console's own bookkeeping, and bytes of an upload under way.
  if (path === '/auth/me' || path.startsWith('/uploads/')) return;
  lastId += 1;
  const entry: RecordedRequest = {
    id: lastId,
    // The browser downloads what the console has only asked for; a program does both at once.
    method: init.method === 'HEAD' ? 'GET' : (init.method ?? 'GET'),
    path,
    query: Object.fromEntries(new URLSearchParams(search)),
    body: typeof init.body === 'string' ? mask(parse(init.body)) : undefined,
    form: init.body instanceof FormData ? readForm(init.body) : null,
  };
  const others = requests.value.filter((known) => !isSameRead(known, entry));
  requests.value = [entry, ...others].slice(0, keptMax);
}

/** Collapses polling and the pages of one list. */
const isSameRead = (known: RecordedRequest, entry: RecordedRequest): boolean =>
  entry.method === 'GET' && known.method === 'GET' && known.path === entry.path;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function mask(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, secrets.test(name) ? '…' : value]),
  );
}

const readForm = (form: FormData): Readonly<Record<string, string>> =>
  Object.fromEntries([...form].map(([name, value]) => [name, value instanceof File ? value.name : value]));
