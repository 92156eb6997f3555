// Repeated requests, refreshed tokens, errors and cancelling, seen through a proxy that fails on purpose.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type FaultProxy, startFaultProxy } from '../../server/test/support/fault-proxy.ts';
import { type Client, createClient, PakhusError } from '../src/index.ts';
import { serve } from './support/served.ts';

const served = serve();
let proxy: FaultProxy;
let client: Client;

beforeAll(async () => {
  proxy = await startFaultProxy(served.baseUrl);
  client = createClient({ baseUrl: `${proxy.url}/`, key: served.key, retries: 2 });
});
beforeEach(() => proxy.set());
afterAll(() => proxy?.close());

test('a creation whose answer is lost happens once', async () => {
  proxy.set({ fault: { kind: 'storedThenLost' }, count: 1 });
  const user = await client.users.create({ externalId: 'once' });
  expect(proxy.seen).toEqual(['POST /api/v1/project/users', 'POST /api/v1/project/users']);
  expect((await client.user('once').get()).id).toBe(user.id);
});

test.each([502, 503, 504])('%i is repeated', async (status) => {
  proxy.set({ fault: { kind: 'status', status }, count: 2 });
  expect((await client.user('anna').get()).external_id).toBe('anna');
  expect(proxy.seen).toHaveLength(3);
});

test('an answer that is cut off is asked for again', async () => {
  proxy.set({ fault: { kind: 'cutReply', bytes: 10 }, count: 1 });
  expect((await client.user('anna').get()).external_id).toBe('anna');
});

test('a request that is not safe to repeat is sent once', async () => {
  proxy.set({ fault: { kind: 'storedThenLost' } });
  const login = client.spaces.login({ external_id: 'none', password: 'a long password' });
  await expect(login).rejects.toMatchObject({ code: 'NETWORK_ERROR', status: 0 });
  expect(proxy.seen).toHaveLength(1);
});

test('a copy whose answer is lost happens once, and a batch is sent once', async () => {
  await client.users.create({ externalId: 'copier' });
  const { files } = client.user('copier');
  const { id } = await files.upload('hello', { name: 'copied.txt' });
  proxy.set({ fault: { kind: 'storedThenLost' }, count: 1 });
  const copy = await files.copy(id, { folder: 'copies' });
  expect(proxy.seen).toHaveLength(2);
  const { files: copies } = await files.list({ folder: 'copies' }).page();
  expect(copies.map((one) => one.id)).toEqual([copy.id]);
  proxy.set({ fault: { kind: 'storedThenLost' } });
  const batch = files.batch({ ids: [id], action: 'copy' });
  await expect(batch).rejects.toMatchObject({ code: 'NETWORK_ERROR' });
  expect(proxy.seen).toHaveLength(1);
});

test('other mistakes are not repeated, and say what the server said', async () => {
  const error = await client.users.create({ externalId: '' }).catch((thrown: unknown) => thrown);
  if (!(error instanceof PakhusError)) throw error;
  expect(error).toMatchObject({ code: 'VALIDATION_ERROR', status: 422, retryAfter: null });
  expect(error.details.issues).toContainEqual(expect.objectContaining({ path: 'externalId' }));
  expect(error.requestId).toBeTypeOf('string');
  expect(proxy.seen).toHaveLength(1);
});

test('a page of a proxy is told apart from the API', async () => {
  proxy.set({ fault: { kind: 'page' } });
  await expect(client.health()).rejects.toMatchObject({ code: 'UNEXPECTED_ANSWER', status: 200 });
  proxy.set({ fault: { kind: 'page', status: 404 } });
  await expect(client.health()).rejects.toMatchObject({ code: 'UNEXPECTED_ANSWER', status: 404 });
});

test('a server that is away is a NETWORK_ERROR', async () => {
  const nobody = createClient({ baseUrl: 'http://127.0.0.1:9', retries: 0 });
  await expect(nobody.health()).rejects.toMatchObject({
    code: 'NETWORK_ERROR',
    status: 0,
    name: 'PakhusError',
  });
});

test('a rate limit is waited for', async () => {
  const { integration, api_key } = await client.project.integrations.create({
    name: 'slow',
    scopes: ['users:read'],
    rateLimitMax: 2,
    rateLimitWindow: 1000,
  });
  const slow = createClient({ baseUrl: served.baseUrl, key: api_key });
  const names = await Promise.all([1, 2, 3, 4].map(async () => (await slow.user('anna').get()).external_id));
  expect(names).toEqual(['anna', 'anna', 'anna', 'anna']);
  const hasty = createClient({ baseUrl: served.baseUrl, key: api_key, retries: 0 });
  const refused = await Promise.all(
    [1, 2, 3].map(() =>
      hasty
        .user('anna')
        .get()
        .catch((error: unknown) => error),
    ),
  );
  expect(refused).toContainEqual(
    expect.objectContaining({ code: 'RATE_LIMIT_EXCEEDED', retryAfter: expect.any(Number) }),
  );
  await client.project.integrations.delete(integration.id);
});

test('requests that are refused together ask for one new token', async () => {
  const anna = client.user('anna');
  const spent = await anna.tokens.mint();
  await anna.tokens.revoke(spent.jti);
  let asked = 0;
  const page = createClient({
    baseUrl: served.baseUrl,
    token: async () => (asked++ === 0 ? spent.token : (await anna.tokens.mint()).token),
  });
  const lists = await Promise.all([1, 2, 3, 4].map(() => page.user().files.list().page()));
  expect(lists.map(({ files }) => files.length)).toEqual([0, 0, 0, 0]);
  expect(asked).toBe(2);
});

test('a token that stays refused is an error, and so is a function that fails', async () => {
  const refused = createClient({ baseUrl: served.baseUrl, token: () => 'nonsense' });
  await expect(refused.users.list().page()).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  const failing = createClient({
    baseUrl: served.baseUrl,
    token: () => Promise.reject(new Error('no session')),
  });
  await expect(failing.users.list().page()).rejects.toThrow('no session');
});

test('a credential without a user is told to name one', async () => {
  await expect(client.user().get()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
});

test('everything can be cancelled', async () => {
  const signal = AbortSignal.abort();
  await expect(client.health({ signal })).rejects.toMatchObject({ name: 'AbortError' });
  await expect(client.users.list({}, { signal }).page()).rejects.toMatchObject({ name: 'AbortError' });
  await expect(client.user('anna').files.upload('a', { signal })).rejects.toMatchObject({
    name: 'AbortError',
  });
  proxy.set({ fault: { kind: 'status', status: 503 } });
  const controller = new AbortController();
  const waiting = client.health({ signal: controller.signal });
  await expect.poll(() => proxy.seen.length).toBeGreaterThan(0);
  controller.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
});

test('lists page by themselves, stop when the loop does, and go on at a cursor', async () => {
  for (const n of [1, 2, 3, 4, 5]) await client.users.create({ externalId: `listed-${n}` });
  proxy.set();
  for await (const user of client.users.list({ limit: 2 })) {
    expect(user.id).toBeTypeOf('string');
    break;
  }
  expect(proxy.seen).toHaveLength(1);
  const list = client.users.list({ limit: 2 });
  const { next_cursor } = await list.page();
  const ids = new Set<string>();
  for await (const page of list.pages()) for (const { id } of page.users) ids.add(id);
  const rest = new Set<string>();
  for await (const { id } of client.users.list({ limit: 2, cursor: next_cursor ?? '' })) rest.add(id);
  expect(ids.size).toBe(rest.size + 2);
});
