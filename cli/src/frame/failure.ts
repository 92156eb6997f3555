// How a command fails: one sentence, and an exit code that scripts can rely on.

export const exitCodes = {
  done: 0,
  failed: 1,
  misused: 2,
  notFound: 3,
  notAllowed: 4,
  refused: 5,
  unreachable: 6,
  interrupted: 130,
} as const;

export type Failure = Exclude<keyof typeof exitCodes, 'done'>;

export const exitCodeMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  done: 'Done',
  failed: 'Failed',
  misused: 'The command was not used as its help says',
  notFound: 'Not found',
  notAllowed: 'Not allowed: not logged in, or without permission',
  refused: 'Refused by a limit: quota, size, type or rate',
  unreachable: 'The server cannot be reached',
  interrupted: 'Interrupted',
};

/** The message is a sentence that says what to do. */
export class CommandError extends Error {
  constructor(
    readonly failure: Failure,
    message: string,
    options: ErrorOptions = {},
  ) {
    super(message, options);
    this.name = 'CommandError';
  }
}

export interface FailureReport {
  readonly failure: Failure;
  readonly message: string;
  /** Of the server's reply. */
  readonly code?: string;
  readonly status?: number;
  readonly requestId?: string;
}

const limitCodes = new Set([
  'STORAGE_LIMIT_EXCEEDED',
  'FILE_TOO_LARGE',
  'MIME_NOT_ALLOWED',
  'OVER_QUOTA',
  'RATE_LIMIT_EXCEEDED',
]);
const networkCodes =
  /^(NETWORK_ERROR|ECONN|ENOTFOUND|EAI_|EHOST|ENET|ETIMEDOUT|EPIPE|UND_ERR_|CERT_|ERR_TLS|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/;

/** What any error means to the caller. Errors of the client are told by their `status` and `code`. */
export function reportFailure(error: unknown, signal: AbortSignal | undefined): FailureReport {
  if (signal?.aborted) return { failure: 'interrupted', message: 'Interrupted' };
  if (error instanceof CommandError) return { failure: error.failure, message: describeError(error) };
  const { status, code, requestId } = error as { status?: unknown; code?: unknown; requestId?: unknown };
  const message = describeError(error);
  if (isUnreachable(error))
    return { failure: 'unreachable', message: `The service cannot be reached: ${innermost(error)}` };
  if (typeof status !== 'number') return { failure: 'failed', message };
  return {
    failure: failureOfReply(status, String(code)),
    message,
    status,
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof requestId === 'string' ? { requestId } : {}),
  };
}

function failureOfReply(status: number, code: string): Failure {
  if (status === 401 || status === 403) return 'notAllowed';
  if (status === 404 || status === 410) return 'notFound';
  return limitCodes.has(code) || status === 413 || status === 415 || status === 429 ? 'refused' : 'failed';
}

function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && networkCodes.test(code)) return true;
  return isUnreachable(error.cause ?? (error instanceof AggregateError ? error.errors[0] : undefined));
}

const innermost = (error: unknown): string => {
  const inner =
    error instanceof Error ? (error.cause ?? (error as Partial<AggregateError>).errors?.[0]) : undefined;
  return inner === undefined ? describeError(error) : innermost(inner);
};

/** An error and its causes in one line. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner = error.cause ?? (error instanceof AggregateError ? error.errors[0] : undefined);
  if (inner === undefined) return error.message || error.name;
  return error.message ? `${error.message} (${describeError(inner)})` : describeError(inner);
}
