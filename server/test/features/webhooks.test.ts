import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scopes } from '../../src/contract/scope.ts';
import { reseal } from '../../src/features/webhooks/webhooks.jobs.ts';
import { rowsOf } from '../support/database.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { startReceiver } from '../support/receiver.ts';
import { adminSession, createIntegration, createTenant, createUser, sessionOf } from '../support/tenants.ts';
import { createWebhook } from '../support/webhooks.ts';

const url = 'https://hooks.example.com/in';
let service: TestPakhus;
let admin: string;

beforeAll(async () => {
  service = await startTestPakhus({ WEBHOOK_ALLOW_PRIVATE: 'true' });
  admin = await adminSession(service.api);
});
afterAll(() => service.stop());

const tenant = () => createTenant(service.api, admin);

const listeningOf = async (projectId: string): Promise<string> => {
  const [row] = await rowsOf<{ listens: string }>(
    service.databaseUrl,
    `select case when listens_until is null then 'never' when listens_until = 'infinity' then 'for ever'
       when listens_until > now() then 'for a while' else 'no longer' end as listens
     from projects where id = '${projectId}'`,
  );
  return row?.listens ?? '';
};

describe('management', () => {
  test('create, read, list, change and delete work with a key and a session, and are audited', async () => {
    const own = await tenant();
    const session = await sessionOf(service.api, own.email, own.password);
    const created = await service.api.post('/project/webhooks', session, {
      url,
      types: ['file.*', 'user.created'],
    });
    expect(created.status, created.text).toBe(201);
    const { webhook, secret } = created.body;
    expect(webhook).toMatchObject({
      url,
      types: ['file.*', 'user.created'],
      active: true,
      disabled_reason: null,
      failing_since: null,
      previous_secret_until: null,
    });
    expect(secret).toMatch(/^whsec_/);
    expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
    const path = `/project/webhooks/${webhook.id}`;
    expect((await service.api.get(path, own.key)).body).toEqual({ webhook });
    expect((await service.api.get('/project/webhooks', own.key)).body).toEqual({
      webhooks: [webhook],
      next_cursor: null,
    });
    const changed = await service.api.put(path, own.key, { types: null, active: false });
    expect(changed.body.webhook).toMatchObject({ url, types: null, active: false });
    expect((await service.api.delete(path, own.key)).status).toBe(204);
    expect((await service.api.get(path, own.key)).status).toBe(404);
    const audit = await service.api.get('/project/audit?limit=100', own.key);
    const actions = audit.body.logs.map(({ action }: { action: string }) => action);
    expect(actions.filter((action: string) => action.startsWith('webhook.')).reverse()).toEqual([
      'webhook.create',
      'webhook.update',
      'webhook.delete',
    ]);
    expect(JSON.stringify(audit.body)).not.toContain(secret);
  });

  test('an integration with every scope may not manage webhooks, and another project sees none', async () => {
    const [own, other] = [await tenant(), await tenant()];
    const integration = await createIntegration(service.api, own.key, { scopes });
    const webhook = await createWebhook(service.api, own.key, url);
    expect((await service.api.get('/project/webhooks', integration.key)).status).toBe(403);
    expect((await service.api.post('/project/webhooks', integration.key, { url })).status).toBe(403);
    for (const [method, path] of [
      ['GET', ''],
      ['PUT', ''],
      ['DELETE', ''],
      ['POST', '/rotate-secret'],
      ['POST', '/test'],
      ['GET', '/deliveries'],
      ['POST', `/deliveries/${webhook.id}/replay`],
    ] as const) {
      const body = method === 'PUT' ? { body: { active: false } } : {};
      const reply = await service.api.call(method, `${webhook.path}${path}`, { as: other.key, ...body });
      expect(reply.status, `${method} ${path}`).toBe(404);
    }
    expect((await service.api.get('/project/webhooks', other.key)).body.webhooks).toEqual([]);
  });

  test('types that no event has get 422 and the list of those that exist', async () => {
    const { key } = await tenant();
    for (const types of [['file.eaten'], ['files.*'], ['user.created', 'x'], [''], []]) {
      const reply = await service.api.post('/project/webhooks', key, { url, types });
      expect(reply.status, JSON.stringify(types)).toBe(422);
    }
    const reply = await service.api.post('/project/webhooks', key, { url, types: ['file.eaten'] });
    expect(reply.body.error.message).toContain('file.created');
  });

  test('of 15 creations that race for room for 10, exactly 10 succeed, and the others are told what to do', async () => {
    const { key } = await tenant();
    const replies = await Promise.all(
      Array.from({ length: 15 }, () => service.api.post('/project/webhooks', key, { url })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([
      ...Array(10).fill(201),
      ...Array(5).fill(409),
    ]);
    expect(replies.find(({ status }) => status === 409)?.body.error.message).toContain('delete one');
    const page = await service.api.get('/project/webhooks?limit=7', key);
    const rest = await service.api.get(`/project/webhooks?limit=7&cursor=${page.body.next_cursor}`, key);
    expect([page.body.webhooks.length, rest.body.webhooks.length, rest.body.next_cursor]).toEqual([
      7,
      3,
      null,
    ]);
  });

  test('repeated with its Idempotency-Key, a creation makes one webhook and shows the same secret', async () => {
    const { key } = await tenant();
    const send = () =>
      service.api.call('POST', '/project/webhooks', {
        as: key,
        body: { url },
        headers: { 'idempotency-key': 'once' },
      });
    const [first, second] = [await send(), await send()];
    expect(second.body).toEqual(first.body);
    expect(second.headers['idempotency-replayed']).toBe('true');
    expect((await service.api.get('/project/webhooks', key)).body.webhooks).toHaveLength(1);
  });

  test('a project listens while it has a webhook, and for a while after the last one', async () => {
    const own = await tenant();
    expect(await listeningOf(own.id)).toBe('never');
    const [one, two] = [
      await createWebhook(service.api, own.key, url, { active: false }),
      await createWebhook(service.api, own.key, url),
    ];
    expect(await listeningOf(own.id)).toBe('for ever');
    await service.api.delete(two.path, own.key);
    expect(await listeningOf(own.id)).toBe('for ever');
    await service.api.delete(one.path, own.key);
    expect(await listeningOf(own.id)).toBe('for a while');
  });

  test('deleting the project deletes its webhooks and deliveries', async () => {
    const own = await tenant();
    const webhook = await createWebhook(service.api, own.key, url, { active: false });
    await service.api.post(`${webhook.path}/test`, own.key);
    expect((await service.api.delete(`/admin/projects/${own.id}`, admin)).status).toBe(204);
    for (const table of ['webhooks', 'webhook_secrets', 'webhook_deliveries'])
      expect(
        await rowsOf(service.databaseUrl, `select from ${table} where project_id = '${own.id}'`),
      ).toEqual([]);
  });
});

describe('secrets', () => {
  test('no secret is in the database in the clear', async () => {
    const { key } = await tenant();
    const { secret } = await createWebhook(service.api, key, url);
    const rows = await rowsOf<{ dump: string }>(
      service.databaseUrl,
      `select webhooks::text || webhook_secrets::text || encode(sealed_secret, 'escape') as dump
       from webhooks join webhook_secrets on webhook_id = webhooks.id`,
    );
    for (const { dump } of rows) expect(dump).not.toContain(secret.slice(6));
  });

  test('a fifth replacement within a day gets 409, because every replaced secret still signs', async () => {
    const { key } = await tenant();
    const webhook = await createWebhook(service.api, key, url);
    const statuses: number[] = [];
    for (let n = 0; n < 5; n += 1)
      statuses.push((await service.api.post(`${webhook.path}/rotate-secret`, key)).status);
    expect(statuses).toEqual([200, 200, 200, 200, 409]);
  });

  test('a new ENCRYPTION_KEY reads what the old one sealed, and after resealing the old one is not needed', async () => {
    const [old, next] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')];
    const open = { WEBHOOK_ALLOW_PRIVATE: 'true' };
    const first = await startTestPakhus({ ...open, ENCRYPTION_KEY: old });
    const receiver = await startReceiver();
    try {
      const own = await createTenant(first.api, await adminSession(first.api));
      const { secret } = await createWebhook(first.api, own.key, receiver.url);
      await first.pakhus.stop();
      const both = await first.another({ ENCRYPTION_KEY: next, ENCRYPTION_KEY_PREVIOUS: old });
      await reseal(both.pakhus.deps);
      await both.stop();
      const last = await first.another({ ENCRYPTION_KEY: next });
      await createUser(last.api, own.key);
      const [got] = await receiver.receives(1);
      new Webhook(secret).verify(got?.text ?? '', got?.headers as Record<string, string>);
      await last.stop();
    } finally {
      await first.stop();
      await receiver.stop();
    }
  });
});
