// Errors in words for people: what the server said, and the id under which the operator finds it.
import type { Texts } from './texts.ts';

export interface ErrorWords {
  readonly text: string;
  readonly note: string | undefined;
}

/** What errors of the client have, and others may lack. */
interface KnownFields {
  readonly code?: string;
  readonly message?: string;
  readonly requestId?: string | null;
  readonly details?: { readonly retain_until?: string };
}

export function describeError(error: unknown, { t, dateTime }: Texts): ErrorWords {
  const { code, message, requestId, details }: KnownFields = Object(error);
  const isOffline = code === 'NETWORK_ERROR' && !navigator.onLine;
  const heldUntil = code === 'LOCKED' && details?.retain_until;
  return {
    text: isOffline
      ? t('offline')
      : heldUntil
        ? t('held', { time: dateTime(heldUntil) })
        : message || t('unexpectedError'),
    note: requestId ? t('requestId', { id: requestId }) : undefined,
  };
}

export const hasCode = (error: unknown, code: string): boolean =>
  (Object(error) as KnownFields).code === code;
