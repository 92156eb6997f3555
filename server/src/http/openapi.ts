// The OpenAPI 3.1 document, from the route table. TypeBox schemas are JSON Schema already; what is added here
// is the outline: paths, security, headers, named schemas, and the errors that follow from a route's guards.
import type { FastifyInstance } from 'fastify';
import type { TObject, TSchema } from 'typebox';
import type { ActorKind } from '../contract/actor.ts';
import { type AnswerShape, isPublic, needsBody, type Route } from '../contract/route.ts';
import { ExternalId } from '../contract/wire.ts';
import { digestPattern } from '../features/files/files.wire.ts';
import { type ErrorCode, errorStatus } from '../kernel/error.ts';
import { allowAnyOrigin } from './cors.ts';
import { errorResponse, headersOf, rateHeaders, sharedHeaders, sharedResponses } from './openapi-errors.ts';
import { guide, tagWords } from './openapi-guide.ts';
import { apiPrefix, type Endpoint, endpoints, isAuthRoute } from './route-table.ts';

type Json = Record<string, unknown>;

export function serveOpenApi(instance: FastifyInstance, version: string): void {
  const document = JSON.stringify(openApiDocument(version));
  instance.get(`${apiPrefix}/openapi.json`, async (_request, reply) => {
    allowAnyOrigin(reply);
    return reply.type('application/json; charset=utf-8').send(document);
  });
}

export function openApiDocument(version: string): Json {
  const paths: Record<string, Json> = {};
  for (const endpoint of endpoints) {
    const path = endpoint.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [endpoint.route.method.toLowerCase()]: operationOf(endpoint) };
  }
  const schemas = new Map<string, unknown>();
  const document = shown(
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
      tags: [...new Set([...endpoints.map(tagOf), pagesTag])].map((name) => ({
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
              'An API key (pak_…), which goes before the cookie, or a session, user or space token, which comes after it.',
          },
          cookie: {
            type: 'apiKey',
            in: 'cookie',
            name: 'token',
            description:
              'The session cookie that login sets. One that is not good is 401, whatever Bearer token comes with it.',
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
 * A schema may show another bound than the one it checks: `x-shown` holds what replaces it here. One with an `x-name`
 * goes to `schemas`, and a reference to it stands in its place: whoever validates by it sees no reference.
 */
function shown(part: unknown, schemas: Map<string, unknown>): unknown {
  if (Array.isArray(part)) return part.map((inner) => shown(inner, schemas));
  if (typeof part !== 'object' || part === null) return part;
  const { 'x-shown': instead, 'x-name': name, ...rest } = part as Json;
  if (typeof name === 'string') return referenceTo(name, { ...rest, 'x-shown': instead }, schemas);
  return Object.fromEntries(
    Object.entries({ ...rest, ...(instead as Json | undefined) }).map(([field, inner]) => [
      field,
      shown(inner, schemas),
    ]),
  );
}

/** What may be null is its schema or null: the name is that of the thing, which is never null itself. */
function referenceTo(name: string, schema: Json, schemas: Map<string, unknown>): Json {
  const { type } = schema;
  const nullable = Array.isArray(type);
  const content = shown(nullable ? { ...schema, type: type[0] } : schema, schemas);
  const known = schemas.get(name);
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(content))
    throw new Error(`Two schemas that differ are both named ${name}`);
  schemas.set(name, content);
  const reference = { $ref: `#/components/schemas/${name}` };
  return nullable ? { anyOf: [reference, { type: 'null' }] } : reference;
}

const pagesTag = 'reference';

const pageOf = (name: string, summary: string, media: Json): Json => ({
  get: {
    operationId: `${pagesTag}.${name}`,
    tags: [pagesTag],
    summary,
    security: [],
    responses: {
      200: { description: 'Done', headers: headersOf(), content: media },
      500: errorResponse(500, ['INTERNAL_ERROR']),
    },
  },
});

const html: Json = { 'text/html': { schema: { type: 'string' }, example: '<!doctype html>…' } };

/** Served beside the table: what is written for its readers. */
const pages: Readonly<Record<string, Json>> = {
  '/openapi.json': pageOf('document', 'This document', {
    'application/json': {
      schema: { type: 'object', required: ['openapi', 'info', 'paths'], additionalProperties: true },
      example: { openapi: '3.1.0', info: { title: 'Pakhus', version: '1.0.0' }, paths: {} },
    },
  }),
  '/reference': pageOf('page', 'This document for people, to read and to try out', html),
  '/docs': pageOf('docs', 'The same page as /reference', html),
};

const tagOf = ({ route }: Endpoint): string => route.id.split('.', 1)[0] ?? '';

function operationOf(endpoint: Endpoint): Json {
  const { route, operationId } = endpoint;
  const parameters = parseParameters(endpoint);
  return {
    operationId,
    tags: [tagOf(endpoint)],
    summary: route.summary,
    description: [route.description, accessNote(route)].filter(Boolean).join('\n\n'),
    security: isPublic(route.access) ? [] : [{ bearer: [] }, { cookie: [] }],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.body ? { requestBody: requestBodyOf(route, route.body) } : {}),
    responses: { ...errorsOf(endpoint), ...successesOf(route) },
  };
}

function accessNote({ access }: Route): string {
  if (isPublic(access)) return '';
  const list = (actors: readonly ActorKind[]) => actors.map((actor) => `\`${actor}\``).join(', ');
  const { actors, scope, scopeless, session } = access;
  const exempt = scopeless ? `, not needed by ${list(scopeless)}` : '';
  return `Callers: ${list(actors)}.${scope ? ` Scope: \`${scope}\`${exempt}.` : ''}${session ? ' Needs a session.' : ''}`;
}

function parseParameters({ route, subjectBy }: Endpoint): Json[] {
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
    ...parametersIn('cookie', route.reads?.cookies),
  ];
}

function parametersIn(place: 'query' | 'header' | 'cookie', fields: TObject | undefined): Json[] {
  const mandatory = new Set<string>(fields?.required ?? []);
  return Object.entries(fields?.properties ?? {}).map(([name, schema]) => {
    const required = mandatory.has(name) && !('default' in (schema as Json));
    return { name, in: place, required, schema: required ? schema : withExampleInWords(schema as Json) };
  });
}

/** The reference fills examples in: a cursor, a filter or a digest that nobody asked for would spoil the first try. */
function withExampleInWords({ examples, ...schema }: Json): Json {
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

function requestBodyOf(route: Route, schema: TSchema): Json {
  const required = needsBody(route);
  const type = route.multipart ? 'multipart/form-data' : 'application/json';
  return { required, content: { [type]: { schema: withoutNul(schema), example: requestExampleOf(schema) } } };
}

const doneWords = { 200: 'Done', 201: 'Created', 202: 'Accepted', 204: 'Done; no body' };

function successesOf(route: Route): Json {
  const { returns, also = {} } = route;
  const answers: Json = { [returns.status]: answerOf(route, doneWords[returns.status], returns) };
  for (const [status, answer] of Object.entries(also))
    answers[status] = answerOf(route, answer.description, answer);
  return answers;
}

function answerOf(route: Route, description: string, { body, contentType, headers }: AnswerShape): Json {
  const limited = isLimited(route) ? Object.keys(rateHeaders) : [];
  const content = body
    ? { [contentType ?? 'application/json']: { schema: body, example: exampleOf(body) } }
    : contentType && { [contentType]: {} };
  return {
    description,
    headers: { ...headersOf(...limited), ...ownHeaders(headers) },
    ...(content ? { content } : {}),
  };
}

const isLimited = ({ access, path, loginLimited }: Route): boolean =>
  loginLimited === true || (!isPublic(access) && path.startsWith('/project/'));

const ownHeaders = (headers: TObject | undefined): Json =>
  Object.fromEntries(Object.entries(headers?.properties ?? {}).map(([name, schema]) => [name, { schema }]));

interface Refusals {
  readonly codes: Set<ErrorCode>;
  readonly headers: TObject | undefined;
}

/** Beside what the route declares: what its guards, its validation and the reading of its body can answer. */
function refusalsOf({ route, subjectBy }: Endpoint): Map<number, Refusals> {
  const byStatus = new Map<number, Refusals>();
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
  // A body is read wherever one may be sent, also where none is asked for.
  if (route.method !== 'GET') {
    add('VALIDATION_ERROR');
    add('VALIDATION_ERROR', 413);
  }
  if (subjectBy) add('NOT_FOUND');
  if (isLimited(route)) add('RATE_LIMIT_EXCEEDED');
  if (isAuthRoute(route)) add('FORBIDDEN');
  if (!isPublic(route.access)) {
    add('UNAUTHORIZED');
    add('FORBIDDEN');
  }
  add('INTERNAL_ERROR');
  add('STORAGE_UNAVAILABLE');
  return byStatus;
}

const errorsOf = (endpoint: Endpoint): Json =>
  Object.fromEntries(
    [...refusalsOf(endpoint)].map(([status, { codes, headers }]) => [
      status,
      errorResponse(status, [...codes], {
        limited: isLimited(endpoint.route),
        headers: headers && ownHeaders(headers),
      }),
    ]),
  );

/** A value that fits a schema, put together from the examples of its parts; `at` is its place in a list. */
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

/** No text may hold a NUL, which PostgreSQL cannot store: said of each field that has no stricter pattern. */
function withoutNul(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withoutNul);
  if (typeof part !== 'object' || part === null) return part;
  const node = part as Json;
  const isFreeText = [node.type].flat().includes('string') && !freeOfNul.some((rule) => rule in node);
  return {
    ...(isFreeText ? { pattern: '^[^\\u0000]*$' } : {}),
    ...Object.fromEntries(Object.entries(node).map(([name, inner]) => [name, withoutNul(inner)])),
  };
}

/** What leaves no room for one. */
const freeOfNul = ['pattern', 'enum', 'const', 'x-shown'];

/**
 * The body of a request that works when it is sent as it is: optional ids and digests are left out, since whatever they
 * name is not there.
 */
export function requestExampleOf(schema: TSchema): unknown {
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, TSchema>;
    required?: string[];
  };
  const sent = Object.entries(properties).filter(
    ([name, field]) => required.includes(name) || !namesWhatExists(field as Json),
  );
  return Object.fromEntries(sent.map(([name, field]) => [name, exampleOf(field)]));
}

const namesWhatExists = ({ format, pattern }: Json): boolean =>
  format === 'uuid' || pattern === digestPattern;

/** So that a list of days runs on from day to day. */
const dayAfter = (date: string, days: number): string =>
  new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10);
