// Builds the OpenAPI 3.1 document from the route table. TypeBox schemas are JSON Schema already; this adds paths, security,
// headers, named schemas, and the errors that a route's guards can give.
import type { FastifyInstance } from 'fastify';
import type { ActorKind } from '../contract/actor.ts';
import { type AnswerShape, isPublic, needsBody, type Route } from '../contract/route.ts';
import { ExternalId } from '../contract/wire.ts';
import { digestPattern } from '../features/files/files.wire.ts';
import { type ErrorCode, errorStatus } from '../kernel/error.ts';
import type { TObject, TSchema } from '../kernel/schema.ts';
import { allowAnyOrigin } from './cors.ts';
import { IdempotencyHeaders, RepeatHeaders, ReplayedHeaders } from './idempotency.ts';
import {
  errorResponse,
  rateHeaders,
  referToHeaders,
  sharedHeaders,
  sharedResponses,
} from './openapi-errors.ts';
import { guide, tagWords } from './openapi-guide.ts';
import { apiPrefix, type Endpoint, endpoints } from './route-table.ts';

type Json = Record<string, unknown>;

export function serveOpenApi(instance: FastifyInstance, version: string): void {
  let document: string | undefined;
  instance.get(`${apiPrefix}/openapi.json`, async (_request, reply) => {
    document ??= JSON.stringify(openApiDocument(version));
    allowAnyOrigin(reply);
    return reply.type('application/json; charset=utf-8').send(document);
  });
}

export function openApiDocument(version: string): Json {
  const paths: Record<string, Json> = {};
  for (const endpoint of endpoints.filter(({ route }) => !route.dialect)) {
    const path = endpoint.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [endpoint.route.method.toLowerCase()]: buildOperation(endpoint) };
  }
  const schemas = new Map<string, unknown>();
  const document = toDocumented(
    {
      openapi: '3.1.0',
      info: {
        title: 'Pakhus',
        version,
        summary: 'Multi-tenant file storage',
        description: guide,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: apiPrefix }],
      tags: [...new Set([...endpoints.map(findTag), pagesTag])].map((name) => ({
        name,
        description: tagWords[name],
      })),
      paths: { ...paths, ...pages },
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description:
              'An API key (pak_…), which takes precedence over the cookie, or a session, user or space token, which does not.',
          },
          cookie: {
            type: 'apiKey',
            in: 'cookie',
            name: 'token',
            description:
              'The session cookie that login sets. An invalid one gives 401, even together with a valid Bearer token.',
          },
        },
        headers: sharedHeaders,
        responses: sharedResponses,
      },
    },
    schemas,
  ) as Json & { components: Json };
  const byName = [...schemas].sort(([a], [b]) => (a < b ? -1 : 1));
  return { ...document, components: { ...document.components, schemas: Object.fromEntries(byName) } };
}

/**
 * Replaces parts of a schema by its `x-shown`, for schemas that document another rule than they check. Moves schemas with
 * an `x-name` to `schemas` and leaves references; the validators keep using the originals.
 */
function toDocumented(part: unknown, schemas: Map<string, unknown>): unknown {
  if (Array.isArray(part)) return part.map((inner) => toDocumented(inner, schemas));
  if (typeof part !== 'object' || part === null) return part;
  const { 'x-shown': instead, 'x-name': name, ...rest } = part as Json;
  if (typeof name === 'string') return referenceTo(name, { ...rest, 'x-shown': instead }, schemas);
  return Object.fromEntries(
    Object.entries({ ...rest, ...(instead as Json | undefined) }).map(([field, inner]) => [
      field,
      toDocumented(inner, schemas),
    ]),
  );
}

/** A nullable schema becomes `anyOf` its reference or null: the named schema itself is never null. */
function referenceTo(name: string, schema: Json, schemas: Map<string, unknown>): Json {
  const { type } = schema;
  const nullable = Array.isArray(type);
  const content = toDocumented(nullable ? { ...schema, type: type[0] } : schema, schemas);
  const known = schemas.get(name);
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(content))
    throw new Error(`Two different schemas are named ${name}`);
  schemas.set(name, content);
  const reference = { $ref: `#/components/schemas/${name}` };
  return nullable ? { anyOf: [reference, { type: 'null' }] } : reference;
}

const pagesTag = 'reference';

const describePage = (name: string, summary: string, media: Json): Json => ({
  get: {
    operationId: `${pagesTag}.${name}`,
    tags: [pagesTag],
    summary,
    security: [],
    responses: {
      200: { description: 'Done', headers: referToHeaders(), content: media },
      500: errorResponse(500, ['INTERNAL_ERROR']),
    },
  },
});

const html: Json = { 'text/html': { schema: { type: 'string' }, example: '<!doctype html>…' } };

/** The pages for readers, which are not in the route table. */
const pages: Readonly<Record<string, Json>> = {
  '/openapi.json': describePage('document', 'This document', {
    'application/json': {
      schema: { type: 'object', required: ['openapi', 'info', 'paths'], additionalProperties: true },
      example: { openapi: '3.1.0', info: { title: 'Pakhus', version: '1.0.0' }, paths: {} },
    },
  }),
  '/reference': describePage('page', 'Interactive API reference', html),
  '/docs': describePage('docs', 'The same page as /reference', html),
};

const findTag = ({ route }: Endpoint): string => route.id.split('.', 1)[0] ?? '';

function buildOperation(endpoint: Endpoint): Json {
  const { route, operationId } = endpoint;
  const parameters = buildParameters(endpoint);
  return {
    operationId,
    tags: [findTag(endpoint)],
    summary: route.summary,
    description: [route.description, accessNote(route)].filter(Boolean).join('\n\n'),
    security: isPublic(route.access) ? [] : [{ bearer: [] }, { cookie: [] }],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.body ? { requestBody: buildRequestBody(route, route.body) } : {}),
    ...(route.stream ? { requestBody: buildStreamBody(route.stream) } : {}),
    responses: { ...buildErrors(endpoint), ...buildSuccesses(route) },
  };
}

function accessNote({ access }: Route): string {
  if (isPublic(access)) return '';
  const list = (actors: readonly ActorKind[]) => actors.map((actor) => `\`${actor}\``).join(', ');
  const { actors, scope, scopeByBody, scopeless, session } = access;
  const either = scopeByBody ? ` Scope: \`${scopeByBody.join('` or `')}\`, as the body demands.` : '';
  const exempt = scopeless ? `, not needed by ${list(scopeless)}` : '';
  return `Callers: ${list(actors)}.${either}${scope ? ` Scope: \`${scope}\`${exempt}.` : ''}${session ? ' Needs a session.' : ''}`;
}

function buildParameters({ route, subjectBy }: Endpoint): Json[] {
  const subject: Json[] = [];
  if (subjectBy === 'userId')
    subject.push(
      pathParameter('userId', { type: 'string', format: 'uuid' }, '6f9619ff-8b86-4d01-b42d-00cf4fc964ff'),
    );
  if (subjectBy === 'externalId')
    subject.push(pathParameter('externalId', ExternalId, exampleOf(ExternalId)));
  const inPath = Object.entries(route.params?.properties ?? {}).map(([name, schema]) =>
    pathParameter(name, schema, exampleOf(schema)),
  );
  return [
    ...subject,
    ...inPath,
    ...parametersIn('query', route.query),
    ...parametersIn('query', route.reads?.query),
    ...parametersIn('header', route.reads?.headers),
    ...parametersIn('header', route.idempotent && IdempotencyHeaders),
    ...parametersIn('cookie', route.reads?.cookies),
  ];
}

function parametersIn(place: 'query' | 'header' | 'cookie', fields: TObject | undefined): Json[] {
  const mandatory = new Set<string>(fields?.required ?? []);
  return Object.entries(fields?.properties ?? {}).map(([name, schema]) => {
    const required = mandatory.has(name) && !('default' in (schema as Json));
    return {
      name,
      in: place,
      required,
      schema: required ? schema : withExampleInDescription(schema as Json),
    };
  });
}

/** The reference page prefills examples: an optional cursor, filter or digest would break the first request. */
function withExampleInDescription({ examples, ...schema }: Json): Json {
  const [example] = (examples as unknown[] | undefined) ?? [];
  if (example === undefined) return schema;
  const text = typeof example === 'string' ? example : JSON.stringify(example);
  return {
    ...schema,
    description: [schema.description, `For example \`${text}\`.`].filter(Boolean).join(' '),
  };
}

const pathParameter = (name: string, schema: object, example: unknown): Json => ({
  name,
  in: 'path',
  required: true,
  schema,
  example,
});

function buildRequestBody(route: Route, schema: TSchema): Json {
  const required = needsBody(route);
  const type = route.multipart ? 'multipart/form-data' : 'application/json';
  return { required, content: { [type]: { schema: withoutNul(schema), example: requestExampleOf(schema) } } };
}

const buildStreamBody = (types: readonly string[]): Json => ({
  required: true,
  content: Object.fromEntries(types.map((type) => [type, {}])),
});

const successDescriptions = { 200: 'Done', 201: 'Created', 202: 'Accepted', 204: 'Done; no body' };

function buildSuccesses(route: Route): Json {
  const { returns, also = {} } = route;
  const answers: Json = {
    [returns.status]: buildAnswer(route, successDescriptions[returns.status], returns),
  };
  for (const [status, answer] of Object.entries(also))
    answers[status] = buildAnswer(route, answer.description, answer);
  return answers;
}

function buildAnswer(route: Route, description: string, answer: AnswerShape): Json {
  const { body, contentType, or, headers } = answer;
  const limited = isLimited(route) ? Object.keys(rateHeaders) : [];
  const content = body
    ? {
        [contentType ?? 'application/json']: { schema: body, example: exampleOf(body) },
        ...(or && { [or.contentType]: { schema: { type: 'string' }, example: or.example } }),
      }
    : contentType && { [contentType]: {} };
  return {
    description,
    headers: {
      ...referToHeaders(...limited),
      ...ownHeaders(headers),
      ...ownHeaders(route.idempotent && ReplayedHeaders),
    },
    ...(content ? { content } : {}),
  };
}

const isLimited = ({ rateLimit }: Route): boolean => rateLimit !== null;

const ownHeaders = (headers: TObject | undefined): Json =>
  Object.fromEntries(Object.entries(headers?.properties ?? {}).map(([name, schema]) => [name, { schema }]));

interface ErrorsOfStatus {
  readonly codes: Set<ErrorCode>;
  readonly headers: TObject | undefined;
}

/** What the route declares, and what its guards, its validation and the reading of its body can give. */
function collectErrors({ route, subjectBy }: Endpoint): Map<number, ErrorsOfStatus> {
  const byStatus = new Map<number, ErrorsOfStatus>();
  const add = (code: ErrorCode, status: number = errorStatus[code], headers?: TObject) => {
    const known = byStatus.get(status);
    byStatus.set(status, {
      codes: (known?.codes ?? new Set()).add(code),
      headers: headers ?? known?.headers,
    });
  };
  for (const error of route.errors) {
    if (typeof error === 'string') add(error);
    else add(error.code, error.status, error.headers);
  }
  if (route.params || route.query || subjectBy) add('VALIDATION_ERROR', 400);
  // A body is read even if the route needs none.
  if (route.method !== 'GET') {
    add('VALIDATION_ERROR');
    add('VALIDATION_ERROR', 413);
  }
  if (subjectBy) add('NOT_FOUND');
  if (route.idempotent) {
    add('VALIDATION_ERROR', 400);
    add('CONFLICT', 409, RepeatHeaders);
    add('IDEMPOTENCY_MISMATCH');
  }
  if (isLimited(route)) add('RATE_LIMIT_EXCEEDED');
  if (route.csrf === 'always') add('FORBIDDEN');
  if (!isPublic(route.access)) {
    add('UNAUTHORIZED');
    add('FORBIDDEN');
  }
  add('INTERNAL_ERROR');
  add('STORAGE_UNAVAILABLE');
  return byStatus;
}

const buildErrors = (endpoint: Endpoint): Json =>
  Object.fromEntries(
    [...collectErrors(endpoint)].map(([status, { codes, headers }]) => [
      status,
      errorResponse(status, [...codes], {
        limited: isLimited(endpoint.route),
        headers: headers && ownHeaders(headers),
      }),
    ]),
  );

/** A value for a schema, built from the examples of its parts; `at` is its index in a list. */
export function exampleOf(schema: TSchema | undefined, at = 0): unknown {
  const node = (schema ?? {}) as Json;
  const [given] = (node.examples as unknown[] | undefined) ?? [];
  if (given !== undefined) return node.format === 'date' ? dayAfter(String(given), at) : given;
  if ('default' in node) return node.default;
  if ('const' in node) return node.const;
  if (Array.isArray(node.enum)) return node.enum[0];
  const type = Array.isArray(node.type) ? node.type[0] : node.type;
  if (type === 'object') {
    return Object.fromEntries(
      Object.entries((node.properties ?? {}) as Record<string, TSchema>).map(([name, inner]) => [
        name,
        exampleOf(inner, at),
      ]),
    );
  }
  if (type === 'array') {
    const length = Math.max(1, Number(node.minItems ?? 0));
    return Array.from({ length }, (_, place) => exampleOf(node.items as TSchema, place));
  }
  throw new Error(`A schema has no example: ${JSON.stringify(node)}`);
}

/** PostgreSQL cannot store NUL: adds a pattern to each text field that has no stricter one. */
function withoutNul(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withoutNul);
  if (typeof part !== 'object' || part === null) return part;
  const node = part as Json;
  const isFreeText = [node.type].flat().includes('string') && !excludesNul.some((rule) => rule in node);
  return {
    ...(isFreeText ? { pattern: '^[^\\u0000]*$' } : {}),
    ...Object.fromEntries(Object.entries(node).map(([name, inner]) => [name, withoutNul(inner)])),
  };
}

/** Rules that exclude NUL already. */
const excludesNul = ['pattern', 'enum', 'const', 'x-shown'];

/** A request body that works as it is. Leaves out optional ids and digests: nothing that they refer to exists. */
export function requestExampleOf(schema: TSchema): unknown {
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, TSchema>;
    required?: string[];
  };
  const sent = Object.entries(properties).filter(
    ([name, field]) => required.includes(name) || !refersToSomething(field as Json),
  );
  return Object.fromEntries(sent.map(([name, field]) => [name, exampleOf(field)]));
}

const refersToSomething = ({ format, pattern }: Json): boolean =>
  format === 'uuid' || pattern === digestPattern;

/** Makes the days of an example list consecutive. */
const dayAfter = (date: string, days: number): string =>
  new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10);
