// Every refusal and every failure leaves as the one envelope. Nothing of a bug is shown; all of it is logged.
import type { FastifyError } from 'fastify';
import { unauthorized } from '../features/credentials/credentials.service.ts';
import { invalid, PakhusError } from '../kernel/error.ts';
import { brokenConstraint } from '../platform/db/postgres.ts';

export interface ErrorEnvelope {
  readonly error: { readonly code: string; readonly message: string; readonly details: object };
}

export const envelopeOf = ({ code, message, details }: PakhusError): ErrorEnvelope => ({
  error: { code, message, details },
});

/** What the caller is told of anything that was thrown. */
export function toPakhusError(thrown: unknown): PakhusError {
  if (thrown instanceof PakhusError) return thrown;
  const known = refusalsOfFastify[(thrown as FastifyError | undefined)?.code ?? ''];
  if (known) return known();
  const constraint = brokenConstraint(thrown);
  if (constraint && ownerConstraints.test(constraint)) return unauthorized();
  return new PakhusError(
    'INTERNAL_ERROR',
    'Something went wrong on our side; the log has it under this X-Request-Id',
    {
      cause: thrown,
    },
  );
}

/** That what is made belongs to a project or an account: theirs was deleted after the request had been let in. */
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

const refusalsOfFastify: Readonly<Record<string, () => PakhusError>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: wrongContentType,
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => bodyIssue('is not as long as Content-Length says', 'length'),
  FST_ERR_BAD_URL: () =>
    invalid(400, [{ path: 'path', message: 'is not validly percent-encoded', code: 'encoding' }]),
  FST_ERR_MAX_PARAM_LENGTH: () =>
    invalid(400, [{ path: 'path', message: 'holds a parameter that is too long', code: 'maxLength' }]),
};

export const routeNotFound = (method: string, path: string) =>
  new PakhusError(
    'NOT_FOUND',
    `There is no ${method} ${path.slice(0, 200)}: /api/v1/openapi.json lists what there is`,
  );

export const hostMissing = () =>
  invalid(400, [{ path: 'host', message: 'is required by HTTP/1.1', code: 'required' }]);

export const hostRepeated = () =>
  invalid(400, [{ path: 'host', message: 'must be sent once', code: 'repeated' }]);

export const tooFarAhead = () =>
  new PakhusError(
    'RATE_LIMIT_EXCEEDED',
    'Too many requests on one connection ahead of their answers: wait for some, or open another',
    { headers: { 'retry-after': 1 }, details: { retry_after_seconds: 1 } },
  );

const rawReasons: Readonly<Record<string, readonly [status: number, reason: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large', 'has too large headers'],
  CHUNKS: [
    400,
    'Bad Request',
    'has too many tiny chunks: send chunks of at least 256 bytes, or a Content-Length',
  ],
  EXPECTATION: [417, 'Expectation Failed', 'expects what this service does not do'],
};

/** The reply to bytes that never became a request; there is no framework around it any more. */
export function rawRefusal(code: string | undefined, requestId: string): { status: number; text: string } {
  const [status, reason, message] = rawReasons[code ?? ''] ?? [400, 'Bad Request', 'is not valid HTTP'];
  const error = new PakhusError('VALIDATION_ERROR', `The request ${message}`, {
    status,
    details: { issues: [{ path: 'request', message, code: 'http' }] },
  });
  const body = JSON.stringify(envelopeOf(error));
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
