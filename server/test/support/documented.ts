// Checks a reply against the OpenAPI document: status, type, headers and the shape of the body.
import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { expect } from 'vitest';
import { openApiDocument } from '../../src/http/openapi.ts';

type Json = Record<string, unknown>;

interface Operation {
  readonly id: string;
  readonly pattern: RegExp;
  readonly method: string;
  readonly responses: Record<string, Answer>;
}

interface Answer {
  readonly content?: Record<string, { schema?: Json }>;
  readonly headers: Record<string, { required?: boolean }>;
}

interface Seen {
  readonly status: number;
  readonly body: unknown;
  readonly text: string;
  readonly headers: Record<string, string | string[] | undefined>;
}

const ajv = new Ajv({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addFormat('password', true);
ajv.addFormat('moment', true);

const document = openApiDocument('test') as { paths: Record<string, Record<string, Json>>; components: Json };
ajv.addSchema(closed(structuredClone({ $id: 'openapi', components: document.components })));

/** Static segments before parameters, as the router prefers them. */
const operations: readonly Operation[] = Object.entries(document.paths)
  .sort(
    ([a], [b]) =>
      (a.includes('{') ? 1 : 0) - (b.includes('{') ? 1 : 0) ||
      (b.includes('/ext/') ? 1 : 0) - (a.includes('/ext/') ? 1 : 0) ||
      a.split('{').length - b.split('{').length,
  )
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: String(operation.operationId),
      pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
      method: method.toUpperCase(),
      responses: Object.fromEntries(
        Object.entries(operation.responses as Json).map(([status, answer]) => [status, answerOf(answer)]),
      ),
    })),
  );

function answerOf(given: unknown): Answer {
  const answer = resolved(given) as Answer;
  const headers = Object.entries(answer.headers).map(([name, header]) => [name, resolved(header)]);
  return { ...answer, headers: Object.fromEntries(headers) };
}

/** Resolves a reference; returns anything else unchanged. */
function resolved(part: unknown): unknown {
  const { $ref } = part as { $ref?: string };
  if ($ref === undefined) return part;
  const keys = $ref.replace('#/', '').split('/');
  return keys.reduce<unknown>((inner, key) => (inner as Json)[key], document);
}

/** Refuses undocumented fields: one that slipped in may be secret. */
function closed<Schema>(schema: Schema): Schema {
  if (typeof schema !== 'object' || schema === null) return schema;
  for (const part of Object.values(schema)) closed(part);
  if ('properties' in schema && !('additionalProperties' in schema))
    Object.assign(schema, { additionalProperties: false });
  return schema;
}

/** Creations by tus and by the IETF draft answer with a Location instead of a body, and HEAD has none. */
const hasNoBody = (method: string, { text, headers }: Seen): boolean =>
  text === '' && (method === 'HEAD' || headers.location !== undefined);

const validators = new Map<string, ValidateFunction>();

export function expectDocumented(method: string, path: string, reply: Seen): void {
  const pathname = path.split('?', 1)[0] ?? '';
  const operation = operations.find(
    (candidate) => candidate.method === method && candidate.pattern.test(pathname),
  );
  if (!operation) {
    if (reply.status >= 400 && method !== 'HEAD') expectEnvelope(method, path, reply);
    return;
  }
  const documented = operation.responses[reply.status];
  const what = `${operation.id} answered ${reply.status}: ${reply.text.slice(0, 300)}`;
  expect(documented, `${what}, which OpenAPI does not list`).toBeDefined();
  if (!documented) return;
  expectHeaders(what, documented, reply);
  if (hasNoBody(method, reply)) return;
  expectType(what, documented, reply);
  const schema = documented.content?.['application/json']?.schema;
  if (!schema || isOtherType(documented, reply)) return;
  const key = `${operation.id} ${reply.status}`;
  let validate = validators.get(key);
  if (!validate) {
    validate = ajv.compile(
      closed(JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"openapi#/components'))),
    );
    validators.set(key, validate);
  }
  expect(
    validate(reply.body),
    `${what}, which is not as documented: ${JSON.stringify(validate.errors)}`,
  ).toBe(true);
}

/**
 * Errors carry all documented headers, except the rate-limit count, which only 429 must have. Other replies carry those
 * marked as required. No reply carries a count that is not documented.
 */
function expectHeaders(what: string, { headers }: Answer, reply: Seen): void {
  const missing = Object.entries(headers)
    .filter(([name, { required }]) => required || isSureOf(reply.status, name))
    .map(([name]) => name)
    .filter((name) => !reply.headers[name.toLowerCase()]);
  expect(missing, `${what}, without headers that are documented`).toEqual([]);
  if (reply.headers['x-ratelimit-limit'])
    expect(Object.keys(headers), `${what}, with a count`).toContain('X-RateLimit-Limit');
}

function expectType(what: string, { content = {} }: Answer, reply: Seen): void {
  const types = Object.keys(content);
  if (types.length === 0 || types.includes('*/*')) return;
  const [type] = String(reply.headers['content-type']).split(';', 1);
  expect(types, `${what}, as a type that is not documented`).toContain(type);
}

/** Documented, but not JSON. */
const isOtherType = ({ content = {} }: Answer, { headers }: Seen): boolean => {
  const [type = ''] = String(headers['content-type']).split(';', 1);
  return type !== 'application/json' && type in content;
};

const isSureOf = (status: number, header: string): boolean =>
  status === 429 || (status >= 400 && !/^(X-)?RateLimit/.test(header) && !isOfRepetition(status, header));

/** Only a conflict with a request in progress passes by itself. */
const isOfRepetition = (status: number, header: string): boolean =>
  status === 409 && header === 'Retry-After';

function expectEnvelope(method: string, path: string, { status, body, text }: Seen): void {
  const what = `${method} ${path} answered ${status}: ${text.slice(0, 300)}`;
  expect(body, what).toEqual({
    error: { code: expect.any(String), message: expect.any(String), details: expect.any(Object) },
  });
}
