// The OpenAPI 3.1 document, from the route table. TypeBox schemas are JSON Schema already; what is added here
// is the outline: paths, security, and the errors that follow from a route's guards.
import type { FastifyInstance } from 'fastify';
import type { TSchema } from 'typebox';
import { isPublic, type Route } from '../contract/route.ts';
import { type ErrorCode, errorStatus } from '../kernel/error.ts';
import { apiPrefix, type Endpoint, endpoints } from './route-table.ts';

type Json = Record<string, unknown>;

export function serveOpenApi(instance: FastifyInstance, version: string): void {
  const document = JSON.stringify(openApiDocument(version));
  instance.get(`${apiPrefix}/openapi.json`, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').header('access-control-allow-origin', '*').send(document),
  );
}

export function openApiDocument(version: string): Json {
  const paths: Record<string, Json> = {};
  for (const endpoint of endpoints) {
    const path = endpoint.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [endpoint.route.method.toLowerCase()]: operationOf(endpoint) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Pakhus',
      version,
      summary: 'Multi-tenant file storage',
      description:
        'Request fields are accepted in camelCase and in snake_case. Lists are paged with `limit` and `cursor`. Every error has the shape of `Error`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: apiPrefix }],
    tags: [...new Set(endpoints.map(tagOf))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key (pak_…), or a session, user or space token.',
        },
        cookie: {
          type: 'apiKey',
          in: 'cookie',
          name: 'token',
          description: 'The session cookie that login sets.',
        },
      },
      schemas: { Error: errorSchema },
      headers: rateHeaders,
    },
  };
}

const errorSchema: Json = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'details'],
      properties: {
        code: { type: 'string', enum: Object.keys(errorStatus) },
        message: { type: 'string', description: 'Says what to do differently.' },
        details: {
          type: 'object',
          description: 'With `issues`, a list of {path, message, code}, for validation errors.',
        },
      },
    },
  },
};

const rateHeaders: Json = {
  'X-RateLimit-Limit': { description: 'Requests in a window.', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { description: 'What is left of them.', schema: { type: 'integer' } },
  'X-RateLimit-Reset': { description: 'When the window ends, in unix seconds.', schema: { type: 'integer' } },
};

const tagOf = ({ route }: Endpoint): string => route.id.split('.', 1)[0] ?? '';

function operationOf(endpoint: Endpoint): Json {
  const { route, operationId } = endpoint;
  const parameters = parametersOf(endpoint);
  return {
    operationId,
    tags: [tagOf(endpoint)],
    summary: route.summary,
    description: [route.description, accessNote(route)].filter(Boolean).join('\n\n'),
    security: isPublic(route.access) ? [] : [{ bearer: [] }, { cookie: [] }],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.body ? { requestBody: requestBodyOf(route, route.body) } : {}),
    responses: { [route.returns.status]: successOf(route), ...errorsOf(endpoint) },
  };
}

function accessNote({ access }: Route): string {
  if (isPublic(access)) return '';
  const callers = access.actors.map((actor) => `\`${actor}\``).join(', ');
  return `Callers: ${callers}.${access.scope ? ` Scope: \`${access.scope}\`.` : ''}${access.session ? ' Needs a session.' : ''}`;
}

function parametersOf({ route, subjectBy }: Endpoint): Json[] {
  const subject: Json[] = [];
  if (subjectBy === 'userId')
    subject.push(
      pathParameter('userId', { type: 'string', format: 'uuid' }, '6f9619ff-8b86-4d01-b42d-00cf4fc964ff'),
    );
  if (subjectBy === 'externalId')
    subject.push(pathParameter('externalId', { type: 'string', minLength: 1 }, 'customer-42'));
  const inPath = Object.entries(route.params?.properties ?? {}).map(([name, schema]) =>
    pathParameter(name, schema, exampleOf(schema)),
  );
  const required = new Set<string>(route.query?.required ?? []);
  const inQuery = Object.entries(route.query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.has(name) && !('default' in (schema as Json)),
    schema,
  }));
  return [...subject, ...inPath, ...inQuery];
}

const pathParameter = (name: string, schema: object, example: unknown): Json => ({
  name,
  in: 'path',
  required: true,
  schema,
  example,
});

function requestBodyOf(route: Route, schema: TSchema): Json {
  const required = ((schema as { required?: string[] }).required ?? []).length > 0;
  const type = route.multipart ? 'multipart/form-data' : 'application/json';
  return { required, content: { [type]: { schema, example: exampleOf(schema) } } };
}

function successOf(route: Route): Json {
  const { status, body, contentType = 'application/json' } = route.returns;
  const description = { 200: 'Done', 201: 'Created', 202: 'Accepted', 204: 'Done; no body' }[status];
  const limited = !isPublic(route.access) && route.path.startsWith('/project/');
  const headers = limited
    ? {
        headers: Object.fromEntries(
          Object.keys(rateHeaders).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
        ),
      }
    : {};
  return body
    ? { description, ...headers, content: { [contentType]: { schema: body, example: exampleOf(body) } } }
    : { description, ...headers };
}

/** Beside what the route declares: what its guards and its validation can answer. */
export function errorCodesOf({
  route,
  subjectBy,
}: Pick<Endpoint, 'route' | 'subjectBy'>): Map<number, Set<ErrorCode>> {
  const byStatus = new Map<number, Set<ErrorCode>>();
  const add = (code: ErrorCode, status: number = errorStatus[code]) =>
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(code));
  for (const code of route.errors) add(code);
  if (route.params || route.query || subjectBy) add('VALIDATION_ERROR', 400);
  if (route.body) {
    add('VALIDATION_ERROR');
    add('VALIDATION_ERROR', 413);
  }
  if (subjectBy) add('NOT_FOUND');
  if (route.loginLimited) add('RATE_LIMIT_EXCEEDED');
  if (route.path.startsWith('/auth/')) add('FORBIDDEN');
  if (!isPublic(route.access)) {
    add('UNAUTHORIZED');
    add('FORBIDDEN');
    if (route.path.startsWith('/project/')) add('RATE_LIMIT_EXCEEDED');
  }
  add('INTERNAL_ERROR');
  add('STORAGE_UNAVAILABLE');
  return byStatus;
}

function errorsOf(endpoint: Endpoint): Json {
  const answers: Json = {};
  for (const [status, codes] of [...errorCodesOf(endpoint)].sort(([a], [b]) => a - b)) {
    const listed = [...codes];
    answers[status] = {
      description: listed.map((code) => `\`${code}\``).join(', '),
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/Error' },
          example: { error: { code: listed[0], message: 'What to do differently', details: {} } },
        },
      },
    };
  }
  return answers;
}

/** A value that fits a schema, put together from the examples of its parts. */
export function exampleOf(schema: TSchema | undefined): unknown {
  const node = (schema ?? {}) as Json;
  const [given] = (node.examples as unknown[] | undefined) ?? [];
  if (given !== undefined) return given;
  if ('default' in node) return node.default;
  if ('const' in node) return node.const;
  const type = Array.isArray(node.type) ? node.type[0] : node.type;
  if (type === 'object') {
    return Object.fromEntries(
      Object.entries((node.properties ?? {}) as Record<string, TSchema>).map(([name, inner]) => [
        name,
        exampleOf(inner),
      ]),
    );
  }
  if (type === 'array') return [exampleOf(node.items as TSchema)];
  throw new Error(`A schema has no example: ${JSON.stringify(node)}`);
}
