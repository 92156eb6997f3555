import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Api, Reply } from '../support/api.ts';
import { inTransaction, rowsOf } from '../support/database.ts';
import { expectBalanced, reapAll } from '../support/ledger.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { until } from '../support/processes.ts';
import { openRawPost } from '../support/raw-client.ts';
import {
  adminSession,
  createIntegration,
  createPlan,
  createTenant,
  createUser,
  mintToken,
  sessionOf,
  type Tenant,
  unique,
} from '../support/tenants.ts';
import { contentTypeOf, formOf, partsOf, type UploadOptions, upload } from '../support/uploads.ts';

let service: TestPakhus;
let admin: string;
let tenant: Tenant;
let api: Api;

beforeAll(async () => {
  service = await startTestPakhus();
  ({ api } = service);
  admin = await adminSession(api);
  tenant = await createTenant(api, admin);
});
afterAll(() => service.stop());

const waitingInserts = `select from pg_stat_activity where datname = current_database()
  and wait_event_type = 'Lock' and query ~ 'insert into users'`;
const auditedChanges = `select count(*) from audit_logs`;
const advisoryLocks = `select pid from pg_locks l join pg_database d on d.oid = l.database
  where locktype = 'advisory' and datname = current_database()`;

const newKey = () => unique('key');

const post = (path: string, as: string, key: string, body: unknown, on = api) =>
  on.call('POST', path, { as, body, headers: { 'idempotency-key': key } });

const expectReplay = (again: Reply, first: Reply) => {
  expect([again.status, again.text]).toEqual([first.status, first.text]);
  expect(again.headers['idempotency-replayed']).toBe('true');
};

const countUsers = async (key: string) => (await api.get('/project/users?limit=100', key)).body.users.length;

describe('a creating POST with an Idempotency-Key', () => {
  test('is done once: repetitions get the same status and body, and change nothing', async () => {
    const user = await createUser(api, tenant.key);
    const paths: Record<string, object> = {
      '/project/users': { externalId: unique('repeated') },
      '/project/plans': { name: 'repeated', maxFileSize: 5 },
      '/project/keys': { name: 'repeated' },
      '/project/integrations': { name: 'repeated' },
      [`/project/users/${user.id}/spaces`]: {
        name: 'repeated',
        external_id: unique('space'),
        password: 'a password of a space',
      },
      [`/project/users/${user.id}/tokens`]: { scopes: ['files:read'] },
    };
    for (const [path, body] of Object.entries(paths)) {
      const key = newKey();
      const first = await post(path, tenant.key, key, body);
      expect(first.status, `${path}: ${first.text}`).toBe(201);
      expect(first.headers['idempotency-replayed']).toBeUndefined();
      const audited = await rowsOf(service.databaseUrl, auditedChanges);
      expectReplay(await post(path, tenant.key, key, body), first);
      expect(await rowsOf(service.databaseUrl, auditedChanges)).toEqual(audited);
    }
  });

  test('of the admin is done once, too', async () => {
    const body = {
      name: 'repeated',
      email: `${unique('owner')}@example.com`,
      password: 'a password of a tenant',
    };
    const key = newKey();
    const first = await post('/admin/projects', admin, key, body);
    expect(first.status, first.text).toBe(201);
    expectReplay(await post('/admin/projects', admin, key, body), first);
    const rotated = await post(`/admin/projects/${first.body.project.id}/rotate-key`, admin, key, {});
    expect(rotated.status, rotated.text).toBe(200);
    expectReplay(await post(`/admin/projects/${first.body.project.id}/rotate-key`, admin, key, {}), rotated);
  });

  test('is compared by its content, not by the order of its names', async () => {
    const key = newKey();
    const externalId = unique('user');
    const first = await post('/project/users', tenant.key, key, { externalId, active: true });
    expect(first.status, first.text).toBe(201);
    expectReplay(await post('/project/users', tenant.key, key, { active: true, externalId }), first);
    const other = await post('/project/users', tenant.key, key, { externalId, active: false });
    expect([other.status, other.body.error.code]).toEqual([422, 'IDEMPOTENCY_MISMATCH']);
  });

  test('keeps refusals, except those that depend on the credential or the time', async () => {
    const key = newKey();
    const body = { externalId: unique('taken') };
    await post('/project/users', tenant.key, newKey(), body);
    const refused = await post('/project/users', tenant.key, key, body);
    expect(refused.status).toBe(409);
    expectReplay(await post('/project/users', tenant.key, key, body), refused);
    const invalidKey = newKey();
    const invalid = await post('/project/plans', tenant.key, invalidKey, { name: 7 });
    expect(invalid.status).toBe(422);
    expectReplay(await post('/project/plans', tenant.key, invalidKey, { name: 7 }), invalid);

    const user = await createUser(api, tenant.key);
    const minting = { scopes: ['files:read'] };
    const tokens = `/project/users/${user.id}/tokens`;
    await api.put(`/project/users/${user.id}`, tenant.key, { active: false });
    expect((await post(tokens, tenant.key, key, minting)).status).toBe(403);
    await api.put(`/project/users/${user.id}`, tenant.key, { active: true });
    expect((await post(tokens, tenant.key, key, minting)).status).toBe(201);
  });

  test('belongs to a project, a method and a path', async () => {
    const other = await createTenant(api, admin);
    const key = newKey();
    const body = { externalId: unique('user') };
    const first = await post('/project/users', tenant.key, key, body);
    const elsewhere = await post('/project/users', other.key, key, body);
    expect(elsewhere.status).toBe(201);
    expect(elsewhere.body.user.id).not.toBe(first.body.user.id);
    expect((await post('/project/plans', tenant.key, key, { name: 'p', maxFileSize: 1 })).status).toBe(201);
    const session = await sessionOf(api, tenant.email, tenant.password);
    expectReplay(await post('/project/users', session, key, body), first);
  });

  test('is authorized before it is replayed, and gives no caller more than it may do', async () => {
    const user = await createUser(api, tenant.key);
    const path = `/project/users/${user.id}/tokens`;
    const key = newKey();
    const first = await post(path, tenant.key, key, {});
    expect(first.status, first.text).toBe(201);
    const narrow = await createIntegration(api, tenant.key, {
      scopes: ['users:read', 'users:write', 'files:read'],
    });
    const refused = await post(path, narrow.key, key, {});
    expect(refused.status).toBe(403);
    expect(refused.text).not.toContain(first.body.token);
    const revoked = await api.call('POST', path, { as: 'pak_0', headers: { 'idempotency-key': key } });
    expect(revoked.status).toBe(401);
    const { token: reader } = await mintToken(api, tenant.key, user.id, ['files:read']);
    expect((await post(path, reader, key, {})).status).toBe(403);
  });

  test.each(['', ' ', 'a b', 'é', 'k'.repeat(256)])('refuses the key %j', async (key) => {
    const reply = await post('/project/users', tenant.key, key, { externalId: unique('user') });
    expect([reply.status, reply.body.error.details.issues[0].path]).toEqual([400, 'idempotency-key']);
  });

  test('50 at once create one thing, and all get one answer or are asked to wait', async () => {
    const { key: owner } = await createTenant(api, admin);
    const other = await service.another();
    const key = newKey();
    const body = { externalId: unique('once') };
    const instances = [api, other.api];
    const send = (nth: number) => post('/project/users', owner, key, body, instances[nth % 2]);
    const replies = await Promise.all(Array.from({ length: 50 }, (_, nth) => send(nth)));
    const waiting = replies.filter(({ status }) => status === 409);
    for (const reply of waiting) expect(reply.headers['retry-after']).toBe('1');
    const done = replies.filter(({ status }) => status === 201);
    expect(done.length + waiting.length).toBe(50);
    expect(done.length).toBeGreaterThan(0);
    done.push(await send(0), await send(1));
    expect(new Set(done.map(({ text }) => text)).size).toBe(1);
    expect(await countUsers(owner)).toBe(1);
    await other.stop();
  });

  test('is done once even if the lock of the first request is lost while it runs', async () => {
    const { key: owner } = await createTenant(api, admin);
    const other = await service.another();
    const key = newKey();
    const body = { externalId: unique('once') };
    const sent: Promise<Reply>[] = [];
    await inTransaction(service.databaseUrl, async (query) => {
      await query('lock table users in exclusive mode');
      for (const on of [api, other.api]) {
        sent.push(post('/project/users', owner, key, body, on));
        await until(
          'it waits',
          async () => (await rowsOf(service.databaseUrl, waitingInserts)).length === sent.length,
        );
        await rowsOf(service.databaseUrl, `select pg_terminate_backend(pid) from (${advisoryLocks}) locks`);
      }
    });
    const [first, second] = (await Promise.all(sent)) as [Reply, Reply];
    expect([first.status, second.status, second.text]).toEqual([201, 201, first.text]);
    const replayed = [first, second].filter(({ headers }) => headers['idempotency-replayed'] === 'true');
    expect(replayed).toHaveLength(1);
    expect(await countUsers(owner)).toBe(1);
    await other.stop();
  });

  test('leaves nothing behind when its project is deleted', async () => {
    const owner = await createTenant(api, admin);
    const kept = `select from idempotency_keys where owner_id = '${owner.id}'`;
    await post('/project/users', owner.key, newKey(), { externalId: unique('user') });
    expect(await rowsOf(service.databaseUrl, kept)).toHaveLength(1);
    expect((await api.delete(`/admin/projects/${owner.id}`, admin)).status).toBe(204);
    expect(await rowsOf(service.databaseUrl, kept)).toEqual([]);
  });

  test('keeps secrets encrypted, and forgets the answer after a day', async () => {
    const key = newKey();
    const body = { name: 'secret' };
    const first = await post('/project/keys', tenant.key, key, body);
    const rows = await rowsOf<{ answer: Buffer }>(
      service.databaseUrl,
      'select answer from idempotency_keys order by created_at desc limit 1',
    );
    expect(rows[0]?.answer.includes(first.body.api_key)).toBe(false);
    await rowsOf(
      service.databaseUrl,
      `update idempotency_keys set created_at = created_at - interval '25 hours'`,
    );
    const next = await post('/project/keys', tenant.key, key, body);
    expect(next.status).toBe(201);
    expect(next.body.api_key).not.toBe(first.body.api_key);
    expectReplay(await post('/project/keys', tenant.key, key, body), next);
  });
});

describe('an upload with an Idempotency-Key', () => {
  let owner: Tenant;
  beforeAll(async () => {
    owner = await createTenant(api, admin);
  });

  const send = (userId: string, key: string, bytes: Buffer, options: UploadOptions = {}) =>
    upload(api, owner.key, `/project/users/${userId}`, bytes, {
      ...options,
      headers: { 'idempotency-key': key },
    });

  test.each([
    ['small', 1_000],
    ['large', 3_000_000],
  ])(
    'a %s file is stored once, and its repetition is compared by fields and bytes',
    async (_size, length) => {
      const owner = await createTenant(api, admin);
      const user = await createUser(api, owner.key);
      const as = (key: string, bytes: Buffer, options: UploadOptions = {}) =>
        upload(api, owner.key, `/project/users/${user.id}`, bytes, {
          ...options,
          headers: { 'idempotency-key': key },
        });
      const bytes = randomBytes(length);
      const key = newKey();
      const fields = { folder: 'a/b' };
      const first = await as(key, bytes, { fields });
      expect(first.status, first.text).toBe(201);
      expectReplay(await as(key, bytes, { fields, metaAfterFile: true }), first);
      const changed = Buffer.concat([bytes.subarray(1), Buffer.from('x')]);
      for (const [sent, options] of [
        [changed, { fields }],
        [bytes, { fields: { folder: 'a/c' } }],
      ] as const) {
        const mismatch = await as(key, sent, options);
        expect([mismatch.status, mismatch.body.error.code]).toEqual([422, 'IDEMPOTENCY_MISMATCH']);
      }
      const { files } = (await api.get(`/project/users/${user.id}/files`, owner.key)).body;
      expect(files).toHaveLength(1);
      await reapAll(service);
      await expectBalanced(service, owner.id);
    },
  );

  test('a repetition needs no room of its own', async () => {
    const { key: limited } = await createTenant(api, admin);
    await createPlan(api, limited, { storageLimit: 1_500_000, maxFileSize: 1_000_000 });
    const user = await createUser(api, limited);
    const sendTo = (key: string, bytes: Buffer) =>
      upload(api, limited, `/project/users/${user.id}`, bytes, { headers: { 'idempotency-key': key } });
    const key = newKey();
    const bytes = randomBytes(900_000);
    const first = await sendTo(key, bytes);
    expect(first.status, first.text).toBe(201);
    expectReplay(await sendTo(key, bytes), first);
    const refusedKey = newKey();
    const refused = await sendTo(refusedKey, bytes);
    expect(refused.body.error.code).toBe('STORAGE_LIMIT_EXCEEDED');
    expectReplay(await sendTo(refusedKey, bytes), refused);
  });

  test('an image is stored once, with one job', async () => {
    const user = await createUser(api, owner.key);
    const key = newKey();
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    );
    const sendImage = () =>
      api.call('POST', `/project/users/${user.id}/images`, {
        as: owner.key,
        raw: formOf(partsOf(png, { name: 'a.png', type: 'image/png', fileField: 'image' })),
        headers: { 'content-type': contentTypeOf(), 'idempotency-key': key },
      });
    const first = await sendImage();
    expect(first.status, first.text).toBe(202);
    expectReplay(await sendImage(), first);
    const { files } = (await api.get(`/project/users/${user.id}/files`, owner.key)).body;
    expect(files).toHaveLength(1);
  });

  test('while it is being received, another one gets 409; if it is cut off, the next one is stored', async () => {
    const user = await createUser(api, owner.key);
    const key = newKey();
    const bytes = randomBytes(400_000);
    const form = formOf(partsOf(bytes));
    const slow = await openRawPost(service.baseUrl, {
      path: `/project/users/${user.id}/files`,
      as: owner.key,
      headers: [
        `Content-Type: ${contentTypeOf()}`,
        `Content-Length: ${form.length}`,
        `Idempotency-Key: ${key}`,
      ],
    });
    await slow.write(form.subarray(0, 300_000));
    await until(
      'it is being received',
      async () => (await rowsOf(service.databaseUrl, advisoryLocks)).length > 0,
    );
    expect((await send(user.id, key, bytes)).status).toBe(409);
    slow.hangUp();
    let stored: Reply | undefined;
    await until('the key is free', async () => {
      stored = await send(user.id, key, bytes);
      return stored.status !== 409;
    });
    expect(stored?.status, stored?.text).toBe(201);
    expectReplay(await send(user.id, key, bytes), stored as Reply);
  });
});
