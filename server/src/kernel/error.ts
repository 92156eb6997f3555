// The one error class and the one catalogue of codes. A PakhusError is what a caller is told;
// anything else that is thrown is a bug, is logged, and shows as INTERNAL_ERROR without a word of its own.

export const errorStatus = {
  VALIDATION_ERROR: 422,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
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
  /** Only for VALIDATION_ERROR, whose status depends on where the mistake was: 400, 413, 422 or 431. */
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

/** What went wrong, down to the first cause, in one line: for operators, never for callers. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Several addresses of a host were tried in vain: the error itself says nothing then.
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

/** A part that the service stands on is away; the same request may succeed a little later. */
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
