// Who is logged in. The cookie belongs to all tabs, so they tell each other when the account changes.
import type { Session } from '@pakhus/client';
import { PakhusError } from '@pakhus/client';
import { signal } from '@preact/signals';
import { forget, recall, remember } from '../browser/memory.ts';
import { client, onSessionEnded } from './api.ts';

/** Undefined before it is known, null when nobody is logged in. */
export const session = signal<Session | null | undefined>(undefined);

/** Set while a screen waits for the person to log in again. */
export const ended = signal<{ readonly resume: () => void; readonly giveUp: () => void } | null>(null);

const tabs = new BroadcastChannel('pakhus.session');

tabs.addEventListener('message', ({ data: accountId }) => {
  if (session.value === undefined || accountId === (session.value?.id ?? null)) return;
  // What this tab shows belongs to another account now, or to nobody.
  location.reload();
});

/** Scripts cannot read the cookie. Without this hint, nobody is logged in: asking would only log a 401 in the browser. */
const hint = 'pakhus.account';

export async function loadSession(): Promise<void> {
  if (session.value === undefined && !recall(hint)) {
    session.value = null;
    return;
  }
  try {
    session.value = await client.auth.me();
    remember(hint, session.value.id);
  } catch (error) {
    if (!(error instanceof PakhusError) || error.status !== 401) throw error;
    session.value = null;
    forget(hint);
  }
}

/** After a login: the session's cookie is set. */
export async function enter(): Promise<void> {
  const before = session.value;
  await loadSession();
  tabs.postMessage(session.value?.id ?? null);
  const waiting = ended.value;
  ended.value = null;
  if (!waiting) return;
  if (before && before.id === session.value?.id) waiting.resume();
  else location.reload();
}

export function leave(): void {
  forget(hint);
  session.value = null;
  tabs.postMessage(null);
  ended.value?.giveUp();
  ended.value = null;
}

/** Requests that fail at the same time wait for the same login. */
let restoring: Promise<void> | null = null;

onSessionEnded(() => {
  if (!session.value) return Promise.reject(new Error('Nobody was logged in'));
  restoring ??= new Promise<void>((resume, reject) => {
    ended.value = { resume, giveUp: () => reject(new Error('Logged out')) };
  }).finally(() => {
    restoring = null;
  });
  return restoring;
});
