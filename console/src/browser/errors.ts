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
}

export function describeError(error: unknown, { t }: Texts): ErrorWords {
  const { code, message, requestId }: KnownFields = Object(error);
  const isOffline = code === 'NETWORK_ERROR' && !navigator.onLine;
  return {
    text: isOffline ? t('offline') : message || t('unexpectedError'),
    note: requestId ? t('requestId', { id: requestId }) : undefined,
  };
}

export const hasCode = (error: unknown, code: string): boolean =>
  (Object(error) as KnownFields).code === code;
