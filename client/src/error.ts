// The one class of errors that the client throws.
import type { components } from './api.ts';
import type { ErrorCode } from './types.ts';

/** Codes of the client itself, beside those of the server. */
export type ClientErrorCode =
  /** No answer: the server could not be reached, or the connection was lost. `status` is 0. */
  | 'NETWORK_ERROR'
  /** An answer that is not the API's, for example of a proxy. */
  | 'UNEXPECTED_ANSWER'
  /** The caller gave something that the client cannot use. */
  | 'INVALID_ARGUMENT'
  /** A webhook that was not signed with the secret, or too long ago. */
  | 'INVALID_SIGNATURE';

export interface ErrorFacts {
  readonly status?: number;
  readonly requestId?: string | null;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  /** In seconds. */
  readonly retryAfter?: number | null;
  readonly cause?: unknown;
}

export class PakhusError extends Error {
  override readonly name = 'PakhusError';
  readonly code: ErrorCode | ClientErrorCode;
  /** The HTTP status; 0 if there was no answer. */
  readonly status: number;
  /** Tell it to the operator: it is in the log of the service. */
  readonly requestId: string | null;
  readonly details: Readonly<Record<string, unknown>>;
  /** Seconds to wait before another try, if the server said so. */
  readonly retryAfter: number | null;

  constructor(code: ErrorCode | ClientErrorCode, message: string, facts: ErrorFacts = {}) {
    super(message, { cause: facts.cause });
    this.code = code;
    this.status = facts.status ?? 0;
    this.requestId = facts.requestId ?? null;
    this.details = facts.details ?? {};
    this.retryAfter = facts.retryAfter ?? null;
  }
}

/** What is used of Headers. */
export interface HeaderReader {
  get(name: string): string | null;
}

/** What the server said, or UNEXPECTED_ANSWER if something else answered. */
export function toError(status: number, headers: HeaderReader, text: string): PakhusError {
  const said = parseError(text);
  return new PakhusError(
    said?.code ?? 'UNEXPECTED_ANSWER',
    said?.message ?? `The server answered ${status} without saying why`,
    {
      status,
      requestId: headers.get('x-request-id'),
      // In seconds. A date, as some proxies send it, counts as none.
      retryAfter: Number(headers.get('retry-after')) || null,
      details: said?.details,
    },
  );
}

function parseError(text: string): components['schemas']['Error']['error'] | undefined {
  try {
    return JSON.parse(text).error;
  } catch {
    return undefined;
  }
}
