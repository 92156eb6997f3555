// The console's client: the public API with the session's cookie. It remembers what was asked, for the drawer "as code", and
// when the session has ended it waits for a new login and then goes on.
import { createClient } from '@pakhus/client';
import { createHttp } from '../../../client/src/http.ts';
import { lastingFetch } from '../browser/fetch.ts';
import { recordRequest } from './code/record.ts';
import { serviceUrl } from './router.tsx';

const apiRoot = `${serviceUrl}/api/v1`;

/** Set by the session: resolves when the person is logged in again, rejects if they will not. */
let restoreSession: (() => Promise<void>) | null = null;

export function onSessionEnded(restore: () => Promise<void>): void {
  restoreSession = restore;
}

/** A wrong password or code is no ended session. */
const isLogin = (path: string): boolean =>
  /^\/auth\/(login|2fa\/login|forgot-password|reset-password)$/.test(path);

/** Deletions of many files outlive the page, like that of a single one. */
const isBatch = (path: string): boolean => path.endsWith('/files/batch');

async function send(input: string | URL | Request, given?: RequestInit): Promise<Response> {
  const url = String(input);
  if (!url.startsWith(apiRoot)) return fetch(input, given);
  const path = url.slice(apiRoot.length);
  const init = isBatch(path) ? { ...given, keepalive: true } : given;
  recordRequest(path, init);
  const response = await lastingFetch(input, init);
  if (response.status !== 401 || isLogin(path) || !restoreSession || init?.body instanceof ReadableStream)
    return response;
  try {
    await restoreSession();
  } catch {
    return response;
  }
  return lastingFetch(input, init);
}

export const client = createClient({ baseUrl: serviceUrl, fetch: send });

/** For addresses that the browser opens itself. */
export const http = createHttp({ baseUrl: serviceUrl, fetch: send });

/** For accounts: a person should read about a limit at once, not wait until it has passed. */
export const accountClient = createClient({ baseUrl: serviceUrl, fetch: send, retries: 0 });
