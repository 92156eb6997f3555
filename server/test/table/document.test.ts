// Consistency of the OpenAPI document, and replies of every route that no other test provokes.
import { randomUUID } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isPublic } from '../../src/contract/route.ts';
import { scopes } from '../../src/contract/scope.ts';
import { openApiDocument } from '../../src/http/openapi.ts';
import { type Endpoint, endpoints } from '../../src/http/route-table.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { adminSession, createTenant, createUser, sessionOf } from '../support/tenants.ts';
import { upload } from '../support/uploads.ts';

type Json = Record<string, unknown>;

const document = openApiDocument('test');
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
for (const format of ['password', 'moment', 'binary']) ajv.addFormat(format, true);
ajv.addSchema({ $id: 'openapi', components: document.components });

let service: TestPakhus;
beforeAll(async () => {
  service = await startTestPakhus();
});
afterAll(() => service.stop());

/** Every object of the document with a schema and examples, and every schema with examples. */
function* exampled(part: unknown, at = '#'): Generator<{ at: string; schema: object; examples: unknown[] }> {
  if (typeof part !== 'object' || part === null) return;
  const node = part as Json;
  if (typeof node.schema === 'object' && node.schema) {
    const named = Object.values((node.examples ?? {}) as Record<string, { value: unknown }>);
    const examples = [...('example' in node ? [node.example] : []), ...named.map(({ value }) => value)];
    if (examples.length > 0) yield { at, schema: node.schema, examples };
  }
  if (Array.isArray(node.examples)) yield { at, schema: node, examples: node.examples };
  for (const [name, inner] of Object.entries(node))
    if (name !== 'example' && name !== 'examples') yield* exampled(inner, `${at}/${name}`);
}

const problemsOf = (schema: object, value: unknown): string => {
  const standing = JSON.stringify(schema).replaceAll('"#/components', '"openapi#/components');
  const validate = ajv.compile(JSON.parse(standing));
  return validate(value) ? '' : ajv.errorsText(validate.errors);
};

test('document: every example matches its schema', () => {
  const all = [...exampled(document)];
  expect(all.length).toBeGreaterThan(500);
  const wrong = all.flatMap(({ at, schema, examples }) =>
    examples.map((example) => problemsOf(schema, example) && `${at}: ${problemsOf(schema, example)}`),
  );
  expect(wrong.filter(Boolean)).toEqual([]);
});

test('document: every reference resolves', () => {
  const names = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path ?? '');
  expect(names.length).toBeGreaterThan(500);
  const lost = [...new Set(names)].filter(
    (path) => path.split('/').reduce<unknown>((part, key) => (part as Json)?.[key], document) === undefined,
  );
  expect(lost).toEqual([]);
});

test('document: errors document the rate-limit count exactly on routes with a limit, and every shared error is used', () => {
  const { paths, components } = document as Record<string, Record<string, Record<string, Json>>>;
  const answers = (path: string, method: string) =>
    Object.values(
      paths?.[path]?.[method]?.responses as Record<string, { $ref?: string; headers?: Json }>,
    ).map(({ $ref, headers }) => headers ?? components?.responses?.[$ref?.split('/').at(-1) ?? '']?.headers);
  const counts = (headers: unknown) => 'X-RateLimit-Remaining' in (headers as Json);
  expect(answers('/project/users/{userId}/files', 'post').map(counts)).not.toContain(false);
  expect(answers('/auth/login', 'post').map(counts)).not.toContain(false);
  expect(answers('/admin/projects', 'post').map(counts)).not.toContain(true);
  const text = JSON.stringify(paths);
  const shared = Object.keys(components?.responses ?? {});
  expect(shared.filter((name) => !text.includes(`"#/components/responses/${name}"`))).toEqual([]);
});

test('document: every resource with an id is a named schema, and every name is used', () => {
  const { schemas, ...others } = document.components as Record<string, Record<string, Json>>;
  const names = Object.keys(schemas ?? {});
  expect(names.filter((name) => !/^[A-Z][A-Za-z]+$/.test(name))).toEqual([]);
  const text = JSON.stringify(document);
  expect(names.filter((name) => !text.includes(`"#/components/schemas/${name}"`))).toEqual([]);
  expect(names).toEqual(
    expect.arrayContaining(
      'ApiKey AuditEntry FileDetail Integration Job Plan Project Scope Session Space StorageSnapshot StoredFile User'.split(
        ' ',
      ),
    ),
  );
  const inline: string[] = [];
  const look = (part: unknown, at: string): void => {
    if (typeof part !== 'object' || part === null) return;
    const { properties } = part as { properties?: Json };
    if (properties && 'id' in properties) inline.push(at);
    for (const [name, inner] of Object.entries(part)) look(inner, `${at}/${name}`);
  };
  look([document.paths, others], '#');
  expect(inline).toEqual([]);
  expect(text).not.toContain('x-name');
});

test('document: the introduction explains every caller and scope, and uploads document the digest they verify', () => {
  const { info, paths } = document as { info: Json; paths: Record<string, Record<string, Json>> };
  const explained = [...String(info.description).matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name);
  expect(explained).toEqual(['admin', 'project', 'integration', 'user', 'space', ...scopes]);
  for (const kind of ['files', 'images']) {
    const parameters = paths[`/project/users/{userId}/${kind}`]?.post?.parameters;
    expect(parameters).toContainEqual(expect.objectContaining({ name: 'Content-Digest', in: 'header' }));
  }
});

test('document: the example of a month of statistics has 30 consecutive days', () => {
  const { paths } = document as { paths: Record<string, { get: Json }> };
  const example = JSON.stringify(paths['/project/stats/requests']?.get.responses);
  const dates = [...example.matchAll(/"date":"([^"]+)"/g)].map(([, date]) => date);
  expect(dates).toHaveLength(30);
  expect([dates[0], dates[1], dates.at(-1)]).toEqual(['2026-01-01', '2026-01-02', '2026-01-30']);
});

test('document: every folder in a request or reply has at most 512 characters', () => {
  const found: unknown[] = [];
  const look = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return;
    const { folder, name, schema } = part as Json;
    if (typeof folder === 'object') found.push((folder as Json).maxLength);
    if (name === 'folder' || name === 'prefix') found.push((schema as Json).maxLength);
    for (const inner of Object.values(part)) look(inner);
  };
  look(document);
  expect(new Set(found)).toEqual(new Set([512]));
  expect(JSON.stringify(document)).not.toContain('x-shown');
});

// The test client checks each reply against the document, so only the status is asserted here.
test('document: an unreadable body is 422 or 413 on every unsafe route that takes no stream of bytes, even if it takes none', async () => {
  const admin = await adminSession(service.api);
  const tenant = await createTenant(service.api, admin);
  const user = await createUser(service.api, tenant.key);
  const session = await sessionOf(service.api, tenant.email, tenant.password);
  const ids: Record<string, string> = { userId: user.id, externalId: user.externalId };
  const large = `{"a":"${'x'.repeat(1024 * 1024)}"}`;
  const bodies: [type: string, raw: string, status: number][] = [
    ['application/json', '{bad', 422],
    ['text/plain', 'hello', 422],
    ['application/json', large, 413],
  ];
  const surprises: string[] = [];
  const takesJson = ({ route }: Endpoint) =>
    route.method !== 'GET' && route.method !== 'HEAD' && !route.stream && !route.dialect;
  for (const { route, path } of endpoints.filter(takesJson)) {
    const filled = path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? randomUUID());
    const asAdmin = !isPublic(route.access) && !route.access.actors.includes('project');
    for (const [type, raw, status] of bodies) {
      const reply = await service.api.call(route.method, filled, {
        as: asAdmin ? admin : session,
        raw,
        headers: { 'content-type': type, 'x-forwarded-for': randomUUID() },
      });
      if (reply.status !== status)
        surprises.push(`${route.method} ${path} with ${type}: ${reply.status} instead of ${status}`);
    }
  }
  expect(surprises).toEqual([]);
});

test('document: downloads answer 200, 206, 304, 416, 403 and 404 as documented', async () => {
  const { key } = await createTenant(service.api, await adminSession(service.api));
  const user = await createUser(service.api, key);
  const { body } = await upload(service.api, key, `/project/users/${user.id}`, 'twelve bytes');
  const url = body.file.url.slice(service.baseUrl.length);
  const get = (path: string, headers: Record<string, string> = {}) =>
    service.api.call('GET', path, { headers });
  const whole = await get(url);
  expect([whole.status, whole.text]).toEqual([200, 'twelve bytes']);
  const part = await get(url, { range: 'bytes=0-5', 'if-range': String(whole.headers.etag) });
  expect([part.status, part.text, part.headers['content-range']]).toEqual([206, 'twelve', 'bytes 0-5/12']);
  expect((await get(url, { 'if-none-match': String(whole.headers.etag) })).status).toBe(304);
  expect((await get(url, { range: 'bytes=12-' })).status).toBe(416);
  expect((await get(url.replace('expires=', 'expires=1'))).status).toBe(403);
  await service.api.delete(`/project/users/${user.id}/files/${body.file.id}`, key);
  expect((await get(url)).status).toBe(404);
});
