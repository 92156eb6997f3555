// Holds a reply against the OpenAPI document: a documented status, and a body of the documented shape.
import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { expect } from 'vitest';
import { openApiDocument } from '../../src/http/openapi.ts';

type Json = Record<string, unknown>;

interface Operation {
  readonly id: string;
  readonly pattern: RegExp;
  readonly method: string;
  readonly responses: Record<string, { content?: Record<string, { schema: Json }> }>;
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
      responses: operation.responses as Operation['responses'],
    })),
  );

/** With no room for fields that are not documented: one that slipped in may be one that nobody should see. */
function closed<Schema>(schema: Schema): Schema {
  if (typeof schema !== 'object' || schema === null) return schema;
  for (const part of Object.values(schema)) closed(part);
  if ('properties' in schema && !('additionalProperties' in schema))
    Object.assign(schema, { additionalProperties: false });
  return schema;
}

const validators = new Map<string, ValidateFunction>();

export function expectDocumented(
  method: string,
  path: string,
  reply: { status: number; body: unknown; text: string },
): void {
  const pathname = path.split('?', 1)[0] ?? '';
  const operation = operations.find(
    (candidate) => candidate.method === method && candidate.pattern.test(pathname),
  );
  if (reply.status >= 400 && method !== 'HEAD') expectEnvelope(method, path, reply);
  if (!operation) return;
  const documented = operation.responses[reply.status];
  const what = `${operation.id} answered ${reply.status}: ${reply.text.slice(0, 300)}`;
  // A 503 of the health check shows the health, not an error.
  if (operation.id === 'health.read') return;
  expect(documented, `${what}, which OpenAPI does not list`).toBeDefined();
  const schema = documented?.content?.['application/json']?.schema;
  if (!schema) return;
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

function expectEnvelope(
  method: string,
  path: string,
  { status, body, text }: { status: number; body: unknown; text: string },
): void {
  const what = `${method} ${path} answered ${status}: ${text.slice(0, 300)}`;
  if (/"status":"degraded"/.test(text)) return;
  expect(body, what).toEqual({
    error: { code: expect.any(String), message: expect.any(String), details: expect.any(Object) },
  });
}
