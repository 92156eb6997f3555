import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { RecordedRequest } from './record.ts';

// The router reads the address of the page when it is loaded.
beforeAll(() => {
  vi.stubGlobal('location', { pathname: '/console/', search: '', origin: 'https://files.example.com' });
  vi.stubGlobal('addEventListener', () => undefined);
});
afterEach(() => vi.clearAllMocks());

const request = (changes: Partial<RecordedRequest>): RecordedRequest => ({
  id: 1,
  method: 'GET',
  path: '/project/users',
  query: {},
  body: undefined,
  form: null,
  ...changes,
});

test.each<[Partial<RecordedRequest>, string]>([
  [{}, 'await client.users.list().page();'],
  [{ query: { limit: '50', cursor: 'abc' } }, 'await client.users.list({ limit: "50" }).page();'],
  [{ path: '/project/users/u1' }, 'await client.user({ id: "u1" }).get();'],
  [{ method: 'DELETE', path: '/project/keys/k1' }, 'await client.project.keys.revoke("k1");'],
  [
    { method: 'PUT', path: '/project/users/u1/plan', body: { planId: 'p1' } },
    'await client.user({ id: "u1" }).assignPlan("p1");',
  ],
  [
    { method: 'POST', path: '/project/plans', body: { name: 'a $body $id', maxFileSize: 1 } },
    'await client.project.plans.create({ name: "a $body $id", maxFileSize: 1 });',
  ],
  [
    { method: 'POST', path: '/project/users/u1/files', form: { folder: 'docs', file: 'a.txt' } },
    'await client.user({ id: "u1" }).files.upload(file, { folder: "docs" });',
  ],
  [
    {
      path: '/project/events',
      query: { types: 'file.*,user.deleted', cursor: 'abc', limit: '500', wait: '30' },
    },
    'for await (const event of client.project.events({ types: [ "file.*", "user.deleted" ] })) console.log(event);',
  ],
  [
    { path: '/project/webhooks/w1/deliveries', query: { status: 'failed' } },
    'await (await client.project.webhooks()).deliveries("w1", { status: "failed" }).page();',
  ],
  [
    { method: 'POST', path: '/project/webhooks/w1/deliveries/d1/replay' },
    'await (await client.project.webhooks()).replay("w1", "d1");',
  ],
])('%j is a call of the client', async (changes, call) => {
  const { toCall } = await import('./calls.ts');
  expect(toCall(request(changes))).toBe(call);
});

test('a command can be pasted into a shell, whatever is in it', async () => {
  const { toCurl } = await import('./curl.ts');
  expect(
    toCurl(request({ method: 'POST', query: { q: "o'hara" }, body: { externalId: "o'hara $HOME `id`" } })),
  ).toBe(
    `curl \\
  'https://files.example.com/api/v1/project/users?q=o%27hara' \\
  -H "Authorization: Bearer $PAKHUS_KEY" \\
  --json '{"externalId":"o'\\''hara $HOME \`id\`"}'`,
  );
});

test('reads by the same call are shown once, changes each time', async () => {
  const { withoutRepeats } = await import('./calls.ts');
  const all = ['a', 'b'].flatMap((id, index) => [
    request({ id: index * 2, path: `/project/users/u/files/${id}` }),
    request({ id: index * 2 + 1, method: 'DELETE', path: `/project/users/u/files/${id}` }),
  ]);
  expect(withoutRepeats(all).map(({ id }) => id)).toEqual([0, 1, 3]);
});
