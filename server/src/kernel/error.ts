// The error class and the catalogue of codes. Callers see the message of a PakhusError; any other error is a bug, is
// logged, and shows as INTERNAL_ERROR without its message.

export const errorStatus = {
  VALIDATION_ERROR: 422,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  GONE: 410,
  IDEMPOTENCY_MISMATCH: 422,
  PRECONDITION_FAILED: 412,
  LOCKED: 423,
  STORAGE_LIMIT_EXCEEDED: 422,
  FILE_TOO_LARGE: 422,
  MIME_NOT_ALLOWED: 422,
  OVER_QUOTA: 422,
  RATE_LIMIT_EXCEEDED: 429,
  INTERNAL_ERROR: 500,
  STORAGE_UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof errorStatus;

export interface Issue {
  readonly path: string;
  readonly message: string;
  readonly code: string;
}

interface ErrorOptions {
  readonly details?: Readonly<Record<string, unknown>>;
  /** Only for VALIDATION_ERROR, whose status depends on the place of the mistake: 400, 413, 422 or 431. */
  readonly status?: number;
  /** Sent with the answer. */
  readonly headers?: Readonly<Record<string, string | number>>;
  /** Logged, never sent. */
  readonly cause?: unknown;
}

export class PakhusError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string | number>>;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'PakhusError';
    this.code = code;
    this.status = options.status ?? errorStatus[code];
    this.details = options.details ?? {};
    this.headers = options.headers ?? {};
  }
}

/** An error and its causes in one line, for operators, never for callers. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // If several addresses of a host failed, the error itself has no message.
  const inner = error.cause ?? (error instanceof AggregateError ? error.errors[0] : undefined);
  if (inner === undefined) return error.message || error.name;
  return error.message ? `${error.message} (${reasonOf(inner)})` : reasonOf(inner);
}

/** A mistake in a body (422) or in a path, query or header parameter (400). */
export function invalid(status: 400 | 422, issues: readonly Issue[]): PakhusError {
  const first = issues[0];
  const message = first ? `${first.path}: ${first.message}` : 'The request is not valid';
  return new PakhusError('VALIDATION_ERROR', message, { status, details: { issues } });
}

/** A part that the service depends on is down; the same request may succeed later. */
export function outage(
  part: 'database' | 'storage' | 'capacity',
  message: string,
  cause?: unknown,
  retryAfterSeconds = 2,
): PakhusError {
  return new PakhusError('STORAGE_UNAVAILABLE', message, {
    details: { part },
    headers: { 'retry-after': retryAfterSeconds },
    cause,
  });
}
