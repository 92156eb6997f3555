// Ten thousand bad requests to all routes. The service always answers with the error envelope, never with a 500, and is alive
// afterwards. FUZZ_SEED repeats a run, FUZZ_RUNS sets its length.
import { randomInt } from 'node:crypto';
import { connect } from 'node:net';
import fc from 'fast-check';
import { Pool } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isPublic } from '../../src/contract/route.ts';
import { scopes } from '../../src/contract/scope.ts';
import { exampleOf } from '../../src/http/openapi.ts';
import { apiPrefix, type Endpoint, endpoints } from '../../src/http/route-table.ts';
import { readText } from '../support/api.ts';
import { repetitions } from '../support/bounds.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { createLiveSpace } from '../support/spaces.ts';
import {
  adminSession,
  createIntegration,
  createPlan,
  createTenant,
  createUser,
  mintToken,
} from '../support/tenants.ts';

const seed = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31));
const runs = Number(process.env.FUZZ_RUNS ?? repetitions(12_000, 3_000));
const parallel = 64;

type Pools = Readonly<Record<string, readonly string[]>>;

interface FuzzRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | Buffer | null;
}

let service: TestPakhus;
let pool: Pool;
/** Existing ids that a run may delete; no credential of the run depends on them. */
let pools: Pools;
let credentials: Readonly<Record<string, string>>;
/** The user and the space that the delegated credentials depend on. */
let own: Readonly<Record<string, string>>;
let cursors: readonly string[];

beforeAll(async () => {
  service = await startTestPakhus();
  const { api } = service;
  pool = new Pool(new URL(service.baseUrl).origin, { connections: parallel });
  const admin = await adminSession(api);
  const caller = await createTenant(api, admin);
  const victims = await Promise.all([1, 2, 3, 4].map(() => createTenant(api, admin)));
  const many = <Made>(count: number, make: () => Promise<Made>) =>
    Promise.all(Array.from({ length: count }, make));
  const plans = await many(12, () => createPlan(api, caller.key));
  const users = await many(40, () => createUser(api, caller.key));
  const integrations = await many(12, () => createIntegration(api, caller.key));
  const keys = await many(5, () => api.post('/project/keys', caller.key, {}));
  const user = await createUser(api, caller.key);
  const integration = await createIntegration(api, caller.key, { scopes, devMode: true });
  const space = await createLiveSpace(service, caller.id, user.id, scopes);
  own = { userId: user.id, externalId: user.externalId, spaceId: space.id };
  pools = {
    projectId: victims.map(({ id }) => id),
    planId: plans.map(({ id }) => id),
    userId: [...users.map(({ id }) => id)],
    externalId: [...users.map(({ externalId }) => externalId)],
    id: integrations.map(({ id }) => id),
    keyId: keys.map(({ body }) => body.key.id),
  };
  credentials = {
    admin,
    project: caller.key,
    integration: integration.key,
    user: (await mintToken(api, integration.key, user.id)).token,
    space: space.token,
  };
  const lists = ['/project/users', '/project/plans', '/project/integrations', '/project/audit'];
  const pages = await Promise.all(lists.map((path) => api.get(`${path}?limit=1`, caller.key)));
  cursors = pages.map(({ body }) => body.next_cursor).filter(Boolean);
});
afterAll(async () => {
  await pool.close();
  await service.stop();
});

const uuid = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff';

const oddSegments = [
  '%00',
  'a%00b',
  '%zz',
  '%',
  '%e0%a4%a',
  '%ed%a0%80',
  '%ff%fe',
  '..',
  '%2e%2e',
  '..%2f..%2fetc%2fpasswd',
  '.',
  '%2F',
  '%20',
  '+',
  "'%20or%20'1'='1",
  '%F0%9F%92%A9',
  'caf\u00e9',
  'null',
  'undefined',
  '__proto__',
  'constructor',
  'ext',
  '-1',
  '1e309',
  uuid,
  uuid.toUpperCase(),
  `urn:uuid:${uuid}`,
  `%7B${uuid}%7D`,
  uuid.replaceAll('-', ''),
  `${uuid}%0a`,
  'x'.repeat(300),
  'x'.repeat(5000),
  '%41'.repeat(2000),
  ';a=b',
  '*',
  '~',
] as const;

const oddValues: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  -0,
  1e308,
  2 ** 53,
  -(2 ** 63),
  Number.MAX_SAFE_INTEGER,
  '',
  ' ',
  'x'.repeat(257),
  'x'.repeat(70_000),
  '\u0000',
  'a\u0000b',
  '\ud800',
  'a\udfff',
  '\ufeff',
  '\u202e',
  '\u00e9'.repeat(200),
  '\u{1f4a9}'.repeat(128),
  uuid,
  `urn:uuid:${uuid}`,
  `{${uuid}}`,
  '2026-02-30',
  '__proto__',
  'constructor',
  [],
  [[]],
  [null],
  {},
  { length: 3 },
  { toString: 'no' },
  ['files:read', 'files:read'],
  ['*'],
  Array.from({ length: 200 }, () => 'files:read'),
];

const oddQueries: readonly string[] = [
  'limit=0',
  'limit=101',
  'limit=-1',
  'limit=1.5',
  'limit=1e2',
  'limit=0x10',
  'limit=NaN',
  'limit=',
  'limit',
  'limit=99999999999999999999999',
  'limit=1&limit=2',
  'limit[]=1',
  'limit[a]=1',
  'cursor=',
  'cursor=x',
  'cursor=%00',
  'cursor=a&cursor=b',
  `cursor=${'A'.repeat(3000)}`,
  'action=nonsense',
  'action=user.create&action=user.delete',
  'actor_type=admin&actorType=project',
  'user_id=x',
  `user_id=urn:uuid:${uuid}`,
  `project_id=urn:uuid:${uuid}`,
  `user_id=${uuid}&userId=${uuid}`,
  'from=2026-02-30',
  'from=0000-01-01',
  'to=9999-12-31T23:59:59.999999999Z',
  'from=2026-01-01T00:00:00%2B23:59',
  'from=2026-01-01T24:00:00Z',
  'from=2026-01-01T23:59:60Z',
  'from=%2B275760-09-13',
  'from=now&to=yesterday',
  'from=\u00e9',
  '__proto__=1',
  '__proto__[x]=1',
  'constructor=1',
  'a%00b=c%00d',
  '%zz=%zz',
  '%',
  '&&&===',
  '?',
  `x=${'y'.repeat(6000)}`,
  Array.from({ length: 1500 }, (_, at) => `k${at}=1`).join('&'),
];

const oddHeaders: readonly Record<string, string>[] = [
  {},
  {},
  {},
  { authorization: '' },
  { authorization: 'Bearer' },
  { authorization: 'Bearer ' },
  { authorization: 'Bearer a b' },
  { authorization: 'Basic YWRtaW46YWRtaW4=' },
  { authorization: `Bearer pak_${'g'.repeat(64)}` },
  { authorization: `Bearer pak_${'0'.repeat(64)}` },
  { authorization: `Bearer ${'a'.repeat(8000)}` },
  { authorization: 'Bearer a.b.c' },
  { authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.' },
  { authorization: 'Bearer \u00ff\u00fe' },
  { cookie: 'token=' },
  { cookie: 'token=x; token=y' },
  { cookie: ';;;=;token' },
  { cookie: `token=pak_${'0'.repeat(64)}` },
  { cookie: 'token="quoted"' },
  { origin: 'null' },
  { origin: 'https://evil.example' },
  { origin: '\u00e9' },
  { origin: 'x'.repeat(3000) },
  { 'sec-fetch-site': 'cross-site' },
  { 'x-forwarded-for': ',,,' },
  { 'x-forwarded-for': 'x'.repeat(4000) },
  { 'x-real-ip': '\u00e9' },
  { 'x-forwarded-proto': 'https, http' },
  { 'x-request-id': 'a\tb' },
  { 'x-request-id': 'x'.repeat(1000) },
  { 'user-agent': '\u00ff'.repeat(2000) },
  { 'accept-encoding': 'nonsense' },
  { 'if-none-match': '*' },
  { range: 'bytes=9-1' },
  { 'accept-version': '9.9.9' },
];

const contentTypes = [
  'application/json',
  'application/json; charset=utf-16',
  'application/json;;;',
  'application/JSON',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'multipart/form-data; boundary=',
  'multipart/form-data; boundary=x',
  'application/octet-stream',
  'nonsense',
  '/',
  '',
];

const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

const rawBodies: readonly (string | Buffer)[] = [
  '',
  ' ',
  '{',
  '{"a"',
  '{"a":1',
  '[]',
  '[1,2]',
  'null',
  'true',
  '42',
  '"text"',
  '{"a":1}{"b":2}',
  '{"__proto__":{"admin":true}}',
  '{"name":{"__proto__":1}}',
  '{"constructor":{"prototype":{"x":1}}}',
  '{"name":"\\ud800"}',
  '{"name":"\\u0000"}',
  '{"\\u0000":1}',
  '{"\\ud800":1}',
  '{"name":1e999}',
  '{"max":1e400,"window_ms":-1e400}',
  '{"a":1,"a":2}',
  "{'a':1}",
  '{"a":NaN}',
  '\ufeff{}',
  nested(40),
  nested(5000),
  '['.repeat(100_000),
  `{"metadata":${nested(33)}}`,
  Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
  Buffer.from([0x00]),
  Buffer.alloc(1024 * 1024 + 1, 0x20),
  '--x\r\nContent-Disposition: form-data; name="file"\r\n\r\nbytes\r\n--x--\r\n',
  '--x\r\nContent-Disposition: form-data; name="fi',
  '--x--\r\n',
];

/** Mostly from the common part of a list, so that rare and expensive cases do not dominate the run. */
const oneOf = <Value>(values: readonly Value[]) => fc.constantFrom(...values);

function segmentFor(name: string, { route, path }: Endpoint): fc.Arbitrary<string> {
  // The call that would end them is not made on them.
  const ends = route.method !== 'GET' && (path.endsWith(`:${name}`) || name === 'spaceId');
  const known = [...(pools[name] ?? []), ...(own[name] && !ends ? Array(20).fill(own[name]) : [])];
  return fc.oneof(
    { weight: 6, arbitrary: oneOf(known.length > 0 ? known : [uuid]).map(encodeURIComponent) },
    { weight: 2, arbitrary: oneOf(oddSegments) },
    { weight: 1, arbitrary: fc.uuid() },
    {
      weight: 1,
      arbitrary: fc
        .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
        .map((text) => encodeURIComponent(text)),
    },
  );
}

const queryOf = (): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constant('') },
    { weight: 4, arbitrary: oneOf(oddQueries).map((query) => `?${query}`) },
    {
      weight: 1,
      arbitrary: oneOf(cursors.length > 0 ? cursors : ['x']).map((cursor) => `?cursor=${cursor}`),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(oneOf(cursors.length > 0 ? cursors : ['xxxx']), fc.nat(200)).map(([cursor, at]) => {
        const position = at % cursor.length;
        const flipped = cursor[position] === 'A' ? 'B' : 'A';
        return `?cursor=${cursor.slice(0, position)}${flipped}${cursor.slice(position + 1)}`;
      }),
    },
    {
      weight: 1,
      arbitrary: fc
        .array(fc.tuple(fc.string({ maxLength: 8 }), fc.string({ unit: 'grapheme', maxLength: 12 })), {
          maxLength: 4,
        })
        .map((pairs) => `?${new URLSearchParams(pairs)}`),
    },
  );

/** The route's example with one or more fields corrupted, dropped, duplicated or added. */
function spoiledBody({ route }: Endpoint): fc.Arbitrary<string> {
  const example = (route.body ? exampleOf(route.body) : {}) as Record<string, unknown>;
  const names = [...Object.keys(example), 'extra', 'constructor', 'external_id', 'rate_limit_max'];
  const anything = fc.oneof(
    { weight: 4, arbitrary: oneOf(oddValues) },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
  );
  const change = fc.tuple(oneOf(names), fc.option(anything, { nil: undefined, freq: 6 }));
  return fc
    .array(change, { minLength: 1, maxLength: 3 })
    .map((changes) => JSON.stringify({ ...example, ...Object.fromEntries(changes) }));
}

const bodyOf = (endpoint: Endpoint): fc.Arbitrary<string | Buffer> =>
  fc.oneof(
    { weight: 6, arbitrary: spoiledBody(endpoint) },
    { weight: 2, arbitrary: oneOf(rawBodies) },
    {
      weight: 1,
      arbitrary: fc.tuple(spoiledBody(endpoint), fc.nat(400)).map(([text, at]) => text.slice(0, at)),
    },
  );

function fittingCredentials({ route: { access } }: Endpoint): (string | null)[] {
  return isPublic(access) ? [null] : access.actors.map((actor) => credentials[actor] ?? null);
}

function requestTo(endpoint: Endpoint): fc.Arbitrary<FuzzRequest> {
  const names = [...endpoint.path.matchAll(/:(\w+)/g)].map(([, name]) => name as string);
  // Logging out with a valid credential would take it from all later requests.
  const credential = endpoint.path.startsWith('/auth/')
    ? fc.constant(null)
    : fc.oneof(
        { weight: 6, arbitrary: oneOf(fittingCredentials(endpoint)) },
        { weight: 1, arbitrary: oneOf(Object.values(credentials)) },
        { weight: 1, arbitrary: fc.constant(null) },
      );
  return fc
    .record({
      segments: fc.tuple(...names.map((name) => segmentFor(name, endpoint))),
      query: queryOf(),
      credential,
      odd: oneOf(oddHeaders),
      contentType: fc.oneof({ weight: 5, arbitrary: fc.constant('application/json') }, oneOf(contentTypes)),
      body: endpoint.route.method === 'GET' ? fc.constant(null) : bodyOf(endpoint),
    })
    .map(({ segments, query, credential: as, odd, contentType, body }) => {
      let at = 0;
      const path = endpoint.path.replace(/:\w+/g, () => String(segments[at++]));
      return {
        method: endpoint.route.method,
        path: `${apiPrefix}${path}${query}`,
        headers: {
          ...(body === null || contentType === '' ? {} : { 'content-type': contentType }),
          ...(as ? { authorization: `Bearer ${as}` } : {}),
          // Most requests keep a valid credential, so that they get past authentication.
          ...(as && 'authorization' in odd ? {} : odd),
        },
        body,
      };
    });
}

const isEnvelope = (text: string): boolean => {
  try {
    const { error, ...rest } = JSON.parse(text);
    const { code, message, details, ...more } = error;
    return (
      Object.keys({ ...rest, ...more }).length === 0 &&
      typeof code === 'string' &&
      typeof message === 'string' &&
      typeof details === 'object' &&
      details !== null &&
      !Array.isArray(details)
    );
  } catch {
    return false;
  }
};

const complaint = (method: string, status: number, requestId: unknown, text: string): string | null => {
  if (status >= 500) return `answered ${status}: ${text.slice(0, 300)}`;
  if (!requestId) return `answered ${status} without X-Request-Id`;
  if (status >= 400 && method !== 'HEAD' && !isEnvelope(text))
    return `answered ${status} without the envelope: ${text.slice(0, 300)}`;
  return null;
};

test(`fuzz: ${runs} bad requests get no 500, always the envelope, and leave the service alive`, async () => {
  console.log(`fuzz: FUZZ_SEED=${seed} FUZZ_RUNS=${runs}`);
  const each = Math.ceil(runs / endpoints.length);
  const requests = endpoints.flatMap((endpoint, at) =>
    fc.sample(requestTo(endpoint), { seed: seed + at, numRuns: each }),
  );
  expect(requests.length).toBeGreaterThanOrEqual(runs);
  const found: string[] = [];
  const statuses = new Map<number, number>();
  const send = async (request: FuzzRequest) => {
    const { statusCode, headers, body } = await pool.request({ ...request, method: request.method as 'GET' });
    const text = await readText({ headers, body });
    statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
    const wrong = complaint(request.method, statusCode, headers['x-request-id'], text);
    if (wrong) found.push(`${describeRequest(request)} ${wrong}`);
  };
  // Interleaved, so that requests meet the damage done by those to other endpoints.
  const queue = requests.map((request, at) => ({ request, order: (at * 7919) % requests.length }));
  queue.sort((a, b) => a.order - b.order);
  let next = 0;
  const worker = async () => {
    for (let item = queue[next++]; item; item = queue[next++]) {
      const { request } = item;
      await send(request).catch((error: Error) =>
        found.push(`${describeRequest(request)} broke: ${error.message}`),
      );
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  console.log(
    `fuzz: ${[...statuses]
      .sort(([a], [b]) => a - b)
      .map(([status, count]) => `${status}×${count}`)
      .join(' ')}`,
  );
  expect(found.slice(0, 20), `${found.length} complaints; repeat with FUZZ_SEED=${seed}`).toEqual([]);
  expect((await service.api.get('/health')).status).toBe(200);
  // A run in which every request fails authentication would prove little.
  const past = [...statuses].filter(([status]) => status < 300 || status === 404 || status === 422);
  expect(past.reduce((sum, [, count]) => sum + count, 0)).toBeGreaterThan(runs / 4);
});

const describeRequest = ({ method, path, headers, body }: FuzzRequest): string =>
  `${method} ${path.slice(0, 200)} ${JSON.stringify(headers).slice(0, 300)} ${String(body).slice(0, 200)}`;

/** Sends raw bytes and resolves to everything that comes back. */
function speak(bytes: string | Buffer, { finish = false } = {}): Promise<string> {
  const { hostname, port } = new URL(service.baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      if (finish) socket.end(bytes);
      else socket.write(bytes);
    });
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // The server may close while we are still sending; what it sent before counts.
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
    socket.on('close', () => resolve(text));
  });
}

const health = `${apiPrefix}/health`;
const close = 'Host: localhost\r\nConnection: close\r\n';

const rawCases: [name: string, bytes: string, status: number, finish?: boolean][] = [
  ['what is not HTTP', 'hello there\r\n\r\n', 400],
  ['an unknown method', `BREW ${health} HTTP/1.1\r\n${close}\r\n`, 400],
  ['a method that no route has', `TRACE ${health} HTTP/1.1\r\n${close}\r\n`, 404],
  ['headers over 16 KiB', `GET ${health} HTTP/1.1\r\n${close}X: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
  ['a header without a colon', `GET ${health} HTTP/1.1\r\n${close}nonsense\r\n\r\n`, 400],
  ['a NUL in a header', `GET ${health} HTTP/1.1\r\n${close}X: a\u0000b\r\n\r\n`, 400],
  ['HTTP/1.1 without Host', `GET ${health} HTTP/1.1\r\nConnection: close\r\n\r\n`, 400],
  ['a request that ends in its headers', `GET ${health} HTTP/1.1\r\nHost: loc`, 400, true],
  [
    'two lengths',
    `POST ${apiPrefix}/auth/login HTTP/1.1\r\n${close}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`,
    400,
  ],
  ['a negative length', `POST ${apiPrefix}/auth/login HTTP/1.1\r\n${close}Content-Length: -1\r\n\r\n`, 400],
  [
    'a broken chunk',
    `POST ${apiPrefix}/auth/login HTTP/1.1\r\n${close}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
    400,
  ],
  ['an unknown expectation', `GET ${health} HTTP/1.1\r\n${close}Expect: the-unexpected\r\n\r\n`, 417],
  ['a path that does not decode', `GET ${apiPrefix}/project/users/%zz HTTP/1.1\r\n${close}\r\n`, 400],
  ['an unknown path that does not decode', `GET /%zz HTTP/1.1\r\n${close}\r\n`, 400],
  ['a path outside the prefix', `GET /../../etc/passwd HTTP/1.1\r\n${close}\r\n`, 404],
  [
    'an absolute-form target of an unknown path',
    `GET http://localhost/nothing HTTP/1.1\r\n${close}\r\n`,
    404,
  ],
  ['an asterisk as the target', `GET * HTTP/1.1\r\n${close}\r\n`, 404],
];

test.each(rawCases)('raw: %s gets the envelope', async (_name, bytes, status, finish = false) => {
  const answer = await speak(bytes, { finish });
  const [head = '', ...rest] = answer.split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1\\.[01] ${status} `));
  expect(head).toMatch(/^x-request-id: \S+/im);
  expect(isEnvelope(rest.join('\r\n\r\n')), answer).toBe(true);
});

test('raw: HTTP/1.0 and the absolute form are served', async () => {
  for (const bytes of [
    `GET ${health} HTTP/1.0\r\n\r\n`,
    `GET http://localhost${health} HTTP/1.1\r\n${close}\r\n`,
  ]) {
    expect(await speak(bytes), bytes).toMatch(/^HTTP\/1\.[01] 200 /);
  }
});

test('raw: a connection closed before the announced end of its body does not disturb the next request', async () => {
  const head = `POST ${apiPrefix}/auth/login HTTP/1.1\r\n${close}Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{"email":`;
  await Promise.all(Array.from({ length: 20 }, () => speak(head, { finish: true })));
  expect((await service.api.get('/health')).status).toBe(200);
});

test('raw: bytes after a refused request on the same connection get no second reply', async () => {
  const bad = `POST ${apiPrefix}/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nContent-Length: 40\r\n\r\n{}GET ${health} HTTP/1.1\r\n${close}\r\n`;
  expect((await speak(bad)).match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
});
