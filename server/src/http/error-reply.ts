// Turns every error into the error envelope. The cause of a 500 is logged, never sent.
import type { FastifyError } from 'fastify';
import { unauthorized } from '../features/credentials/credentials.service.ts';
import { invalid, PakhusError } from '../kernel/error.ts';
import { brokenConstraint } from '../platform/db/postgres.ts';

export interface ErrorEnvelope {
  readonly error: { readonly code: string; readonly message: string; readonly details: object };
}

export const toEnvelope = ({ code, message, details }: PakhusError): ErrorEnvelope => ({
  error: { code, message, details },
});

/** The error to send for anything that was thrown. */
export function toPakhusError(thrown: unknown): PakhusError {
  if (thrown instanceof PakhusError) return thrown;
  const known = fastifyErrors[(thrown as FastifyError | undefined)?.code ?? ''];
  if (known) return known();
  const constraint = brokenConstraint(thrown);
  if (constraint && ownerConstraints.test(constraint)) return unauthorized();
  return new PakhusError(
    'INTERNAL_ERROR',
    'Internal error: report it to the operator with this X-Request-Id, which is in the log',
    {
      cause: thrown,
    },
  );
}

/** Broken if the caller's project or account was deleted while the request ran. */
const ownerConstraints = /_(project|account)_id_fkey$/;

const bodyIssue = (message: string, code: string) => invalid(422, [{ path: 'body', message, code }]);

export const malformedBody = (why: string) => bodyIssue(`is not valid JSON: ${why}`, 'json');

export const bodyTooLarge = (bytesMax: number) =>
  new PakhusError(
    'VALIDATION_ERROR',
    `The body is too large: send at most ${bytesMax / 1024} KiB of JSON here`,
    {
      status: 413,
      details: { issues: [{ path: 'body', message: `is larger than ${bytesMax} bytes`, code: 'size' }] },
    },
  );

export const bodyMissing = () => bodyIssue('is empty: send a JSON object', 'required');

export const wrongContentType = () =>
  bodyIssue('has the wrong content type: send application/json', 'content_type');

const fastifyErrors: Readonly<Record<string, () => PakhusError>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: wrongContentType,
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    bodyIssue('has another length than Content-Length says: send the two alike', 'length'),
  FST_ERR_BAD_URL: () =>
    invalid(400, [
      { path: 'path', message: 'is not valid percent-encoding: encode % as %25', code: 'encoding' },
    ]),
  FST_ERR_MAX_PARAM_LENGTH: () =>
    invalid(400, [
      {
        path: 'path',
        message: 'contains a parameter that is too long: send at most 4096 characters',
        code: 'maxLength',
      },
    ]),
};

export const routeNotFound = (method: string, path: string) =>
  new PakhusError(
    'NOT_FOUND',
    `There is no ${method} ${path.slice(0, 200)}: see /api/v1/openapi.json for all routes`,
  );

export const hostMissing = () =>
  invalid(400, [{ path: 'host', message: 'is required by HTTP/1.1', code: 'required' }]);

export const hostRepeated = () =>
  invalid(400, [{ path: 'host', message: 'must be sent once', code: 'repeated' }]);

export const tooFarAhead = () =>
  new PakhusError(
    'RATE_LIMIT_EXCEEDED',
    'Too many pipelined requests on one connection: wait for answers, or open another connection',
    { headers: { 'retry-after': 1 }, details: { retry_after_seconds: 1 } },
  );

const rawReasons: Readonly<Record<string, readonly [status: number, reason: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [
    431,
    'Request Header Fields Too Large',
    'has headers that are too large: send at most 16 KiB of them',
  ],
  CHUNKS: [
    400,
    'Bad Request',
    'has too many tiny chunks: send chunks of at least 256 bytes, or a Content-Length',
  ],
  EXPECTATION: [
    417,
    'Expectation Failed',
    'has an Expect header that is not supported: leave it out, or send 100-continue',
  ],
};

/** The answer to bytes that never became a request, which the framework does not handle. */
export function buildRawRefusal(
  code: string | undefined,
  requestId: string,
): { status: number; text: string } {
  const [status, reason, message] = rawReasons[code ?? ''] ?? [400, 'Bad Request', 'is not valid HTTP'];
  const error = new PakhusError('VALIDATION_ERROR', `The request ${message}`, {
    status,
    details: { issues: [{ path: 'request', message, code: 'http' }] },
  });
  const body = JSON.stringify(toEnvelope(error));
  const lines = [
    `HTTP/1.1 ${status} ${reason}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Vary: Origin',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
    '',
    body,
  ];
  return { status, text: lines.join('\r\n') };
}
