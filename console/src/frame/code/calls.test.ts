import { createClient } from '@pakhus/client';
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
  [{ query: { limit: '50', cursor: 'abc' } }, 'await client.users.list({ limit: 50 }).page();'],
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
  [
    { path: '/project/users/u1/files', query: { q: '50', trashed: 'true', sort: 'name' } },
    'await client.user({ id: "u1" }).files.list({ q: "50", trashed: true, sort: "name" }).page();',
  ],
  [
    { path: '/project/users/u1/files/zip', query: { ids: 'f1,f2' } },
    'await client.user({ id: "u1" }).files.zip({ ids: [ "f1", "f2" ] });',
  ],
  [
    { method: 'DELETE', path: '/project/users/u1/files/f1', query: { permanent: 'true' } },
    'await client.user({ id: "u1" }).files.delete("f1", { permanent: true });',
  ],
  [
    { method: 'POST', path: '/project/users/u1/files/f1/shares', body: { name: 'Ann' } },
    'await (await client.user({ id: "u1" }).shares()).create("f1", { name: "Ann" });',
  ],
  [{ path: '/project/variants' }, 'await (await client.project.variants()).list().page();'],
])('%j is a call of the client', async (changes, call) => {
  const { toCall } = await import('./calls.ts');
  expect(toCall(request(changes))).toBe(call);
});

/** What the person has in hand beside the request. */
const given = { email: 'a@b.example', code: '123456', password: 'secret', jti: 'j1', file: 'bytes' };
/** Of the bodies, what calls take out of them. */
const body = { active: true, planId: 'p1', numbers: [1], parts: [{ number: 1, etag: 'e' }] };
/** The client chooses how to send a file by its size: a small one is a form. */
const sentOtherwise: Readonly<Record<string, string>> = {
  'POST /project/users/{userId}/uploads': 'POST /project/users/{userId}/files',
};

/** Runs a call as a program would, and tells what it asks the service for first. */
async function firstRequestOf(call: string): Promise<string> {
  const sent: string[] = [];
  const refusing: typeof fetch = async (input, init) => {
    const url = new URL(String(input));
    sent.push(`${init?.method ?? 'GET'} ${decodeURIComponent(url.pathname).replace('/api/v1', '')}`);
    return Response.json({ error: { code: 'VALIDATION_ERROR', message: 'refused' } }, { status: 400 });
  };
  const client = createClient({
    baseUrl: 'https://files.example.com',
    key: 'k',
    fetch: refusing,
    retries: 0,
  });
  const names = ['client', ...Object.keys(given)];
  const run = new Function(...names, `return (async () => { ${call} })();`);
  await expect(run(client, ...Object.values(given)), call).rejects.toThrow('refused');
  return sent[0] ?? 'nothing';
}

test('every call asks for the route that it stands for, with its parameters', async () => {
  const { toCall } = await import('./calls.ts');
  const { calls } = await import('./table.ts');
  for (const endpoint of Object.keys(calls)) {
    const [method = '', path = ''] = endpoint.split(' ');
    const form = path.endsWith('/files') && method === 'POST' ? { folder: 'docs' } : null;
    const sent = method === 'GET' || form ? {} : { body };
    const query: Record<string, string> = path.endsWith('/zip') ? { folder: 'a' } : {};
    const call = toCall(request({ method, path, form, query, ...sent }));
    expect(await firstRequestOf(call ?? ''), endpoint).toBe(sentOtherwise[endpoint] ?? endpoint);
  }
});

test('a zip and the content of a file are written to files by curl', async () => {
  const { toCurl } = await import('./curl.ts');
  expect(toCurl(request({ path: '/project/users/u1/files/zip', query: { folder: 'a' } }))).toContain(
    'curl \\\n  -OJ',
  );
  expect(toCurl(request({ path: '/project/users/u1/files/f1/content' }))).toContain('-OJ');
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
