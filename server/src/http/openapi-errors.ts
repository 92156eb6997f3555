// The errors in the OpenAPI document: the envelope, and one shared response for each status and code, with its headers
// and examples.
import { type ErrorCode, errorStatus } from '../kernel/error.ts';

type Json = Record<string, unknown>;

const issueSchema: Json = {
  'x-name': 'Issue',
  type: 'object',
  description: 'One problem in a request.',
  required: ['path', 'message', 'code'],
  properties: {
    path: {
      type: 'string',
      description: 'The field or parameter, such as `corsOrigins.0`; `body` for the whole body.',
    },
    message: { type: 'string' },
    code: { type: 'string', description: 'The rule that was violated, such as `required` or `maxLength`.' },
  },
};

const errorSchema: Json = {
  'x-name': 'Error',
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'details'],
      properties: {
        code: { 'x-name': 'ErrorCode', type: 'string', enum: Object.keys(errorStatus) },
        message: { type: 'string', description: 'For people: what is wrong and what to do about it.' },
        details: {
          type: 'object',
          description: 'For programs: the fields depend on the code.',
          properties: {
            issues: { type: 'array', items: issueSchema },
            part: {
              type: 'string',
              enum: ['database', 'storage', 'capacity'],
              description: 'With `STORAGE_UNAVAILABLE`: the part that is down or overloaded.',
            },
            outcome: {
              type: 'string',
              enum: ['unknown'],
              description:
                'With `STORAGE_UNAVAILABLE`: the change may have been made, or may still be. Check before you retry. If absent, nothing was changed.',
            },
            file_id: {
              type: 'string',
              format: 'uuid',
              description: 'With an unknown outcome of an upload: the id of the file if it was stored.',
            },
          },
          additionalProperties: true,
        },
      },
    },
  },
};

const header = (description: string, type: 'string' | 'integer', example: unknown): Json => ({
  description,
  schema: { type, examples: [example] },
});

/** In every answer to a limited caller, except for errors that occur before the request is counted. */
export const rateHeaders: Json = {
  'X-RateLimit-Limit': header(
    'Requests per window. Only if the caller is limited and the request was counted: requests with an invalid credential or a refused origin are not.',
    'integer',
    1000,
  ),
  'X-RateLimit-Remaining': header('Requests left in the window.', 'integer', 998),
  'X-RateLimit-Reset': header('When the window ends, in Unix seconds.', 'integer', 1_769_860_800),
  RateLimit: header(
    'Requests left in the window (`r`) and seconds until it ends (`t`), by draft-ietf-httpapi-ratelimit-headers.',
    'string',
    '"requests";r=998;t=57',
  ),
  'RateLimit-Policy': header(
    'Requests per window (`q`) and its length in seconds (`w`), by the same draft.',
    'string',
    '"requests";q=1000;w=60',
  ),
};

export const sharedHeaders: Json = {
  'X-Request-Id': {
    ...header('The id of this request in the log.', 'string', '6f9619ff-8b86-4d01-b42d-00cf4fc964ff'),
    required: true,
  },
  ...rateHeaders,
  'WWW-Authenticate': { ...header('How to authenticate.', 'string', 'Bearer'), required: true },
  'Retry-After': { ...header('Seconds to wait before retrying.', 'integer', 2), required: true },
};

/** References to shared headers, by name. */
export const referToHeaders = (...names: readonly string[]): Json =>
  Object.fromEntries(
    ['X-Request-Id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );

type Said = readonly [message: string, details?: Json];

const issue = (path: string, message: string, code: string): Said => [
  `${path}: ${message}`,
  { issues: [{ path, message, code }] },
];

/** Named, because a code may have several examples. */
const said: Readonly<Record<ErrorCode, Readonly<Record<string, Said>>>> = {
  VALIDATION_ERROR: {
    field: issue('tags', 'must NOT have more than 32 items', 'maxItems'),
    missing: issue('name', 'is required', 'required'),
    json: issue('body', 'is not valid JSON: Unexpected end of JSON input', 'json'),
    type: issue('body', 'has the wrong content type: send application/json', 'content_type'),
  },
  UNAUTHORIZED: {
    credential: ['The credential is missing, expired or revoked: log in or send a valid key or token'],
  },
  FORBIDDEN: {
    scope: [
      'The credential lacks the scope files:write: grant it, or send another credential',
      { missing_scope: 'files:write' },
    ],
    caller: [
      'This needs a project session or project key: send another credential',
      { allowed: ['project'] },
    ],
  },
  NOT_FOUND: { user: ['There is no such user in this project: check the id'] },
  CONFLICT: {
    taken: [
      'A user with this external id exists already in this project: choose another external id',
      { field: 'external_id' },
    ],
  },
  GONE: {
    events: [
      'The events after this cursor are not kept any more: read your resources again, and follow the feed from now on or from=oldest',
    ],
  },
  IDEMPOTENCY_MISMATCH: {
    content: [
      'This Idempotency-Key was sent with other content: repeat the first request unchanged, or choose a new key',
    ],
  },
  LOCKED: {
    held: [
      'The file is held until 2027-01-31T12:00:00.000Z: it cannot be deleted before',
      { retain_until: '2027-01-31T12:00:00.000Z' },
    ],
  },
  PRECONDITION_FAILED: {
    version: [
      'The file has changed since you read it: read it again, and send its new ETag as If-Match',
      { etag: '"pZGm1Av0IEBKARczz7exkN"' },
    ],
  },
  STORAGE_LIMIT_EXCEEDED: {
    plan: [
      "Not enough storage left in the user's plan: delete something or raise its storageLimit",
      { limit: 'storageLimit' },
    ],
  },
  FILE_TOO_LARGE: { size: ['A file may have at most 10485760 bytes here', { bytes_max: 10_485_760 }] },
  MIME_NOT_ALLOWED: {
    type: [
      'The plan does not allow files of type text/html',
      { declared: 'image/png', detected: 'text/html', allowed: ['image/*', 'application/pdf'] },
    ],
  },
  OVER_QUOTA: {
    files: [
      'The user may have at most 10000000 files: delete some or raise maxFiles of its plan',
      { limit: 'maxFiles', max: 10_000_000 },
    ],
  },
  RATE_LIMIT_EXCEEDED: { wait: ['Too many requests: try again in 42 s', { retry_after_seconds: 42 }] },
  INTERNAL_ERROR: {
    bug: ['Internal error: report it to the operator with this X-Request-Id, which is in the log'],
  },
  STORAGE_UNAVAILABLE: {
    database: ['The database is not available right now: try again in a moment', { part: 'database' }],
    unknown: [
      'The database did not confirm the change in time. It may have been made: check before you send it again',
      { part: 'database', outcome: 'unknown', file_id: '0197c2a4-6f0e-7c35-9d53-0c7f3a1b2e44' },
    ],
  },
};

/** VALIDATION_ERROR has other statuses, depending on where the problem is. */
const saidElsewhere: Readonly<Record<number, Readonly<Record<string, Said>>>> = {
  400: {
    path: issue('userId', 'must be a UUID', 'format'),
    query: issue('limit', 'must be <= 100', 'maximum'),
  },
  412: {
    version: [
      'The file has changed and does not match If-Match: start the download again',
      { issues: [{ path: 'if-match', message: 'must name "3xk9-sg-1qfl6ezvgw"', code: 'etag' }] },
    ],
  },
  413: {
    size: [
      'The body is too large: send at most 1024 KiB of JSON here',
      { issues: [{ path: 'body', message: 'is larger than 1048576 bytes', code: 'size' }] },
    ],
  },
  415: {
    type: [
      'The body has the wrong content type: send application/offset+octet-stream',
      {
        issues: [
          { path: 'content-type', message: 'must be application/offset+octet-stream', code: 'content_type' },
        ],
      },
    ],
  },
  416: {
    range: [
      'The range is outside the file, which has 4096 bytes',
      { issues: [{ path: 'range', message: 'must be within 4096 bytes', code: 'range' }] },
    ],
  },
  460: {
    checksum: [
      'The checksum does not match the body, which was dropped: send it again',
      { issues: [{ path: 'upload-checksum', message: 'does not match the body', code: 'digest' }] },
    ],
  },
};

const headersByStatus: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  429: [...Object.keys(rateHeaders), 'Retry-After'],
  503: ['Retry-After'],
};

/** A response that stands for any of these codes. */
export function errorAnswer(status: number, codes: readonly ErrorCode[], headers: Json = {}): Json {
  const found = codes.flatMap((code) => listExamples(status, code, codes.length > 1));
  const examples = Object.fromEntries(found.map(([name, error]) => [name, { value: { error } }]));
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    headers: { ...referToHeaders(...(headersByStatus[status] ?? [])), ...headers },
    content: {
      'application/json': {
        schema: errorSchema,
        ...(found.length === 1 ? { example: { error: found[0]?.[1] } } : { examples }),
      },
    },
  };
}

/** If several codes share a response, one example each, named after the code. */
function listExamples(status: number, code: ErrorCode, byCode: boolean): [name: string, error: Json][] {
  const elsewhere = errorStatus[code] === status ? undefined : saidElsewhere[status];
  const found = Object.entries(elsewhere ?? said[code]).map(
    ([name, [message, details = {}]]): [string, Json] => [name, { code, message, details }],
  );
  return byCode ? found.slice(0, 1).map(([, error]) => [code, error]) : found;
}

/** Responses that many operations share, by status and code. */
const sharedNames: readonly [name: string, status: number, code: ErrorCode][] = [
  ['InvalidParameter', 400, 'VALIDATION_ERROR'],
  ['Unauthorized', 401, 'UNAUTHORIZED'],
  ['Forbidden', 403, 'FORBIDDEN'],
  ['NotFound', 404, 'NOT_FOUND'],
  ['Conflict', 409, 'CONFLICT'],
  ['BodyTooLarge', 413, 'VALIDATION_ERROR'],
  ['InvalidBody', 422, 'VALIDATION_ERROR'],
  ['RateLimited', 429, 'RATE_LIMIT_EXCEEDED'],
  ['InternalError', 500, 'INTERNAL_ERROR'],
  ['Unavailable', 503, 'STORAGE_UNAVAILABLE'],
];

/** The headers of responses to callers that may be limited. */
const counted = referToHeaders(...Object.keys(rateHeaders));
const countedName = (name: string): string => `Counted${name}`;

/** Each one twice: with and without the rate headers. */
export const sharedResponses: Json = Object.fromEntries(
  sharedNames.flatMap(([name, status, code]) =>
    status === 429
      ? [[name, errorAnswer(status, [code])]]
      : [
          [name, errorAnswer(status, [code])],
          [countedName(name), errorAnswer(status, [code], counted)],
        ],
  ),
);

/** A reference if the response is a shared one. */
export function errorResponse(
  status: number,
  codes: readonly ErrorCode[],
  { limited = false, headers }: { readonly limited?: boolean; readonly headers?: Json | undefined } = {},
): Json {
  const [name] =
    sharedNames.find(
      ([, itsStatus, code]) => itsStatus === status && codes.length === 1 && code === codes[0],
    ) ?? [];
  if (name === undefined || headers)
    return errorAnswer(status, codes, { ...(limited ? counted : {}), ...headers });
  return { $ref: `#/components/responses/${limited && status !== 429 ? countedName(name) : name}` };
}
