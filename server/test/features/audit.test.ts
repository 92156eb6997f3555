import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scopes } from '../../src/contract/scope.ts';
import { purgeAudit } from '../../src/features/audit/audit.retention.ts';
import { onServer, rowsOf } from '../support/database.ts';
import { adminEmail, adminPassword, startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { createLiveSpace } from '../support/spaces.ts';
import {
  adminSession,
  createIntegration,
  createPlan,
  createTenant,
  createUser,
  logIn,
  mintToken,
  sessionOf,
  type Tenant,
  unique,
} from '../support/tenants.ts';

interface AuditRow {
  readonly id: string;
  readonly project_id: string | null;
  readonly actor_type: string;
  readonly actor_id: string | null;
  readonly actor_key_id: string | null;
  readonly user_id: string | null;
  readonly action: string;
  readonly resource_type: string | null;
  readonly resource_id: string | null;
  readonly ip_address: string | null;
  readonly user_agent: string | null;
  readonly metadata: { readonly old?: Record<string, unknown>; readonly new?: Record<string, unknown> };
}

let service: TestPakhus;
let admin: string;
let adminId: string;

beforeAll(async () => {
  // No background work: the tests decide when rows are purged.
  service = await startTestPakhus({ ROLE: 'api' });
  admin = await adminSession(service.api);
  adminId = (await service.api.get('/auth/me', admin)).body.session.id;
});
afterAll(() => service.stop());

const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

async function rowsWhere(condition: string): Promise<AuditRow[]> {
  await service.pakhus.deps.auditQueue.flush();
  return rowsOf<AuditRow>(
    service.databaseUrl,
    `select * from audit_logs where ${condition} order by created_at, id`,
  );
}

/** The rows that `work` adds to a project. */
async function rowsOfWork(projectId: string, work: () => Promise<unknown>): Promise<AuditRow[]> {
  const before = new Set((await rowsWhere(`project_id = '${projectId}'`)).map(({ id }) => id));
  await work();
  return (await rowsWhere(`project_id = '${projectId}'`)).filter(({ id }) => !before.has(id));
}

describe('every change leaves exactly one row', () => {
  let tenant: Tenant;
  let keyId: string;

  beforeAll(async () => {
    tenant = await createTenant(service.api, admin);
    keyId = (await service.api.get('/project/keys', tenant.key)).body.keys[0].id;
  });

  const byKey = () => ({ actor_type: 'project', actor_id: tenant.id, actor_key_id: keyId });

  /** One successful call, and the one row that it leaves. */
  async function rowOf(method: string, path: string, body?: unknown, as = tenant.key, projectId = tenant.id) {
    let answer: { body: Record<string, { id: string }>; text: string; status: number } | undefined;
    const rows = await rowsOfWork(projectId, async () => {
      answer = await service.api.call(method, path, {
        as,
        ...(body === undefined ? {} : { body }),
        headers: { 'x-forwarded-for': '192.0.2.7', 'user-agent': 'the audit suite' },
      });
    });
    expect(answer?.status, answer?.text).toBeLessThan(300);
    expect(rows.map(({ action }) => action)).toHaveLength(1);
    const [row] = rows as [AuditRow];
    expect(row).toMatchObject({ ip_address: '192.0.2.7', user_agent: 'the audit suite' });
    return { row, body: answer?.body ?? {} };
  }

  test.each([
    ['203.0.113.7:51234', '203.0.113.7'],
    ['[2001:DB8::7]:443', '2001:db8::7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['<script>alert(1)</script>', null],
    ['203.0.113.7.evil.example', null],
    ['unknown', null],
  ])('ip_address is an address or null: %s', async (forwarded, address) => {
    const [row] = await rowsOfWork(tenant.id, async () => {
      const headers = { 'x-forwarded-for': forwarded };
      const body = { externalId: unique('user') };
      const made = await service.api.call('POST', '/project/users', { as: tenant.key, body, headers });
      expect(made.status, made.text).toBe(201);
    });
    expect(row?.ip_address).toBe(address);
  });

  test('plans', async () => {
    const made = await rowOf('POST', '/project/plans', { name: 'small', maxFileSize: 10 });
    const id = made.body.plan?.id ?? '';
    expect(made.row).toMatchObject({
      action: 'plan.create',
      resource_type: 'plan',
      resource_id: id,
      ...byKey(),
    });
    expect(made.row.metadata.new).toMatchObject({ name: 'small', maxFileSize: 10 });
    const changed = await rowOf('PUT', `/project/plans/${id}`, { name: 'large' });
    expect(changed.row).toMatchObject({ action: 'plan.update', resource_id: id });
    expect(changed.row.metadata).toEqual({ old: { name: 'small' }, new: { name: 'large' } });
    const second = await createPlan(service.api, tenant.key);
    const swapped = await rowOf('PUT', `/project/plans/${second.id}/default`);
    expect(swapped.row).toMatchObject({
      action: 'plan.update',
      resource_id: second.id,
      metadata: { old: { default_plan_id: id }, new: { default_plan_id: second.id } },
    });
    const gone = await rowOf('DELETE', `/project/plans/${id}`);
    expect(gone.row).toMatchObject({
      action: 'plan.delete',
      resource_id: id,
      metadata: { old: { name: 'large' } },
    });
  });

  test('users and tokens', async () => {
    const plan = await createPlan(service.api, tenant.key);
    const made = await rowOf('POST', '/project/users', { externalId: 'anna' });
    const id = made.body.user?.id ?? '';
    const about = { resource_type: 'user', resource_id: id, user_id: id };
    expect(made.row).toMatchObject({ action: 'user.create', ...about, ...byKey() });
    expect(made.row.metadata.new).toMatchObject({ external_id: 'anna' });
    const changed = await rowOf('PUT', `/project/users/${id}`, { active: true });
    expect(changed.row).toMatchObject({ action: 'user.update', ...about });
    expect(changed.row.metadata).toEqual({ old: { active: true }, new: { active: true } });
    const assigned = await rowsOfWork(tenant.id, () =>
      service.api.put('/project/users/ext/anna/plan', tenant.key, { planId: plan.id }),
    );
    const metadata = { new: { plan_id: plan.id } };
    // Both rows may bear the same millisecond, so that neither comes first for sure.
    const byAction = assigned.toSorted((one, other) => one.action.localeCompare(other.action));
    expect(byAction).toMatchObject([
      { action: 'plan.assign', resource_type: 'plan', resource_id: plan.id, user_id: id, metadata },
      { action: 'user.plan_change', ...about, metadata },
    ]);
    const minted = await rowOf('POST', `/project/users/${id}/tokens`, { scopes: ['files:read'] });
    const { jti } = minted.body as unknown as { jti: string };
    expect(minted.row).toMatchObject({ action: 'token.mint', resource_id: jti, user_id: id });
    const revoked = await rowOf('POST', `/project/users/${id}/tokens/revoke`, { jti });
    expect(revoked.row).toMatchObject({ action: 'token.revoke', resource_id: jti, user_id: id });
    const gone = await rowOf('DELETE', `/project/users/${id}`);
    expect(gone.row).toMatchObject({
      action: 'user.delete',
      ...about,
      metadata: { old: { external_id: 'anna' } },
    });
  });

  test('keys and integrations', async () => {
    const key = await rowOf('POST', '/project/keys', { name: 'till' });
    const keyMade = key.body.key?.id ?? '';
    expect(key.row).toMatchObject({
      action: 'api_key.create',
      resource_id: keyMade,
      metadata: { new: { name: 'till' } },
    });
    const ended = await rowOf('DELETE', `/project/keys/${keyMade}`);
    expect(ended.row).toMatchObject({ action: 'api_key.revoke', resource_id: keyMade });
    const made = await rowOf('POST', '/project/integrations', { scopes: ['files:read'] });
    const id = made.body.integration?.id ?? '';
    expect(made.row).toMatchObject({ action: 'integration.create', resource_id: id });
    expect(made.row.metadata.new).toMatchObject({ scopes: ['files:read'] });
    const changed = await rowOf('PUT', `/project/integrations/${id}`, { scopes: [], devMode: true });
    expect(changed.row.action).toBe('integration.update');
    expect(changed.row.metadata).toEqual({
      old: { scopes: ['files:read'], devMode: false },
      new: { scopes: [], devMode: true },
    });
    const rotated = await rowOf('POST', `/project/integrations/${id}/rotate-key`);
    expect(rotated.row.action).toBe('integration.update');
    const gone = await rowOf('DELETE', `/project/integrations/${id}`);
    expect(gone.row).toMatchObject({ action: 'integration.revoke', resource_id: id });
  });

  test('projects and settings, by the admin', async () => {
    const { id } = await createTenant(service.api, admin);
    const byAdmin = { actor_type: 'admin', actor_id: adminId, actor_key_id: claimsOf(admin).jti };
    const created = await rowsWhere(`project_id = '${id}'`);
    expect(created).toMatchObject([{ action: 'project.create', resource_id: id, ...byAdmin }]);
    const renamed = await rowOf('PATCH', `/admin/projects/${id}`, { name: 'renamed' }, admin, id);
    expect(renamed.row).toMatchObject({
      action: 'project.update',
      metadata: { new: { name: 'renamed' } },
      ...byAdmin,
    });
    const status = await rowOf('PATCH', `/admin/projects/${id}/status`, { active: false }, admin, id);
    expect(status.row).toMatchObject({
      action: 'project.update',
      metadata: { old: { active: true }, new: { active: false } },
    });
    const [key] = await rowsOf<{ id: string }>(
      service.databaseUrl,
      `select id from api_keys where project_id = '${id}'`,
    );
    const rotated = await rowsOfWork(id, () =>
      service.api.call('POST', `/admin/projects/${id}/rotate-key`, { as: admin }),
    );
    expect(rotated.toSorted((a, b) => (a.action < b.action ? -1 : 1))).toMatchObject([
      { action: 'api_key.create', ...byAdmin },
      { action: 'api_key.revoke', resource_id: key?.id, ...byAdmin },
    ]);
    const gone = await rowOf('DELETE', `/admin/projects/${id}`, undefined, admin, id);
    expect(gone.row).toMatchObject({ action: 'project.delete', resource_id: id, ...byAdmin });
    for (const [path, body] of [
      ['rate-limit', { max: 900, window_ms: 60_000 }],
      ['audit-retention', { retention_days: 30 }],
    ] as const) {
      await service.api.put(`/admin/settings/${path}`, admin, body);
      const rows = await rowsWhere(
        `action = 'settings.update' and resource_id = '${path.replace('-', '_')}'`,
      );
      expect(rows).toMatchObject([{ project_id: null, metadata: { old: null, new: body }, ...byAdmin }]);
    }
  });

  test('sessions: login and logout, and refused logins with the e-mail that was tried', async () => {
    const { id, email, password } = await createTenant(service.api, admin);
    const rows = await rowsOfWork(id, async () => {
      const session = await sessionOf(service.api, email, password);
      await logIn(service.api, email, 'not the password');
      await service.api.post('/auth/logout', session);
    });
    const actor = { actor_type: 'project', actor_id: id };
    expect(new Set(rows.map(({ action }) => action))).toEqual(
      new Set(['auth.login', 'auth.login_failed', 'auth.logout']),
    );
    expect(rows).toHaveLength(3);
    for (const row of rows) expect(row).toMatchObject(actor);
    expect(rows.find(({ action }) => action === 'auth.login_failed')?.metadata).toEqual({ email });
    await logIn(service.api, adminEmail, adminPassword);
    expect(
      await rowsWhere(`action = 'auth.login' and actor_id = '${adminId}' and project_id is null`),
    ).not.toEqual([]);
  });

  test('keys, sessions, integrations and their tokens are recorded as different actors', async () => {
    const { id: integrationId, key } = await createIntegration(service.api, tenant.key, { scopes });
    const [integrationKey] = await rowsOf<{ id: string }>(
      service.databaseUrl,
      `select id from api_keys where integration_id = '${integrationId}'`,
    );
    const session = await sessionOf(service.api, tenant.email, tenant.password);
    const bySession = await rowOf('POST', '/project/users', { externalId: randomUUID() }, session);
    expect(bySession.row).toMatchObject({
      actor_type: 'project',
      actor_id: tenant.id,
      actor_key_id: claimsOf(session).jti,
    });
    const byIntegration = await rowOf('POST', '/project/users', { externalId: randomUUID() }, key);
    expect(byIntegration.row).toMatchObject({
      actor_type: 'integration',
      actor_id: integrationId,
      actor_key_id: integrationKey?.id,
    });
  });

  test('a refused request leaves no row', async () => {
    const { key } = await createIntegration(service.api, tenant.key, { scopes: [] });
    const user = await createUser(service.api, tenant.key);
    const { token } = await mintToken(service.api, tenant.key, user.id);
    const space = await createLiveSpace(service, tenant.id, user.id, scopes);
    const rows = await rowsOfWork(tenant.id, async () => {
      const refused = await Promise.all([
        service.api.post('/project/users', tenant.key, { externalId: user.externalId }),
        service.api.post('/project/users', tenant.key, {}),
        service.api.post('/project/users', key, { externalId: randomUUID() }),
        service.api.post('/project/users', token, { externalId: randomUUID() }),
        service.api.delete(`/project/users/${user.id}`, space.token),
        service.api.delete(`/project/plans/${randomUUID()}`, tenant.key),
      ]);
      expect(refused.map(({ status }) => status)).toEqual([409, 422, 403, 403, 403, 404]);
    });
    expect(rows).toEqual([]);
  });

  test('of 40 concurrent changes each leaves one row', async () => {
    const rows = await rowsOfWork(tenant.id, () =>
      Promise.all(Array.from({ length: 40 }, () => createUser(service.api, tenant.key))),
    );
    expect(rows.map(({ action }) => action)).toEqual(Array(40).fill('user.create'));
    expect(new Set(rows.map(({ resource_id }) => resource_id)).size).toBe(40);
  });

  test('no row holds a password, a key, a token or a hash', async () => {
    const mine = await createTenant(service.api, admin);
    const session = await sessionOf(service.api, mine.email, mine.password);
    await logIn(service.api, mine.email, 'the wrong secret');
    const integration = await createIntegration(service.api, mine.key, { scopes });
    const rotated = await service.api.post(`/project/integrations/${integration.id}/rotate-key`, mine.key);
    const second = await service.api.post('/project/keys', mine.key, {});
    const user = await createUser(service.api, mine.key);
    const { token } = await mintToken(service.api, mine.key, user.id);
    await service.api.post(`/admin/projects/${mine.id}/rotate-key`, admin);
    const text = JSON.stringify(await rowsWhere(`project_id = '${mine.id}'`));
    const secrets = [
      mine.password,
      'the wrong secret',
      '$argon2',
      ...[mine.key, integration.key, rotated.body.api_key, second.body.api_key].map((key: string) =>
        key.slice(12),
      ),
      ...[session, token].flatMap((jwt) => jwt.split('.').slice(1)),
    ];
    for (const secret of secrets) expect(text.includes(secret), secret.slice(0, 12)).toBe(false);
  });
});

describe('reading', () => {
  const logsOf = async (as: string, query = '', path = '/project/audit') => {
    const reply = await service.api.get(`${path}${query}`, as);
    expect(reply.status, reply.text).toBe(200);
    return reply.body as { logs: (AuditRow & { created_at: string })[]; next_cursor: string | null };
  };

  test('lists only rows of this project, newest first, and is itself recorded', async () => {
    const [mine, other] = [await createTenant(service.api, admin), await createTenant(service.api, admin)];
    await createUser(service.api, mine.key);
    await createUser(service.api, other.key);
    const first = await logsOf(mine.key);
    expect(first.logs.map(({ action }) => action)).toEqual(['user.create', 'project.create']);
    expect(new Set(first.logs.map(({ project_id }) => project_id))).toEqual(new Set([mine.id]));
    const second = await logsOf(mine.key);
    expect(second.logs[0]).toMatchObject({ action: 'audit.read', actor_type: 'project', actor_id: mine.id });
    expect(second.logs).toHaveLength(3);
    const session = await sessionOf(service.api, mine.email, mine.password);
    expect((await logsOf(session)).logs.map(({ action }) => action).slice(0, 2)).toEqual([
      'auth.login',
      'audit.read',
    ]);
  });

  test('the admin reads every project, or one; that read is recorded under no project', async () => {
    const mine = await createTenant(service.api, admin);
    await createUser(service.api, mine.key);
    const one = await logsOf(admin, `?project_id=${mine.id}`, '/admin/audit');
    expect(one.logs.map(({ action }) => action)).toEqual(['user.create', 'project.create']);
    const all = await logsOf(admin, '?limit=1', '/admin/audit');
    expect(all.logs[0]).toMatchObject({ action: 'audit.read', actor_type: 'admin', project_id: null });
    const ignored = await createTenant(service.api, admin);
    const own = await logsOf(mine.key, `?project_id=${ignored.id}`);
    expect(own.logs.every(({ project_id }) => project_id === mine.id)).toBe(true);
  });

  test('filters by action, user, actor type and time, in both spellings', async () => {
    const mine = await createTenant(service.api, admin);
    const [anna, bent] = [await createUser(service.api, mine.key), await createUser(service.api, mine.key)];
    const { key } = await createIntegration(service.api, mine.key, { scopes });
    await service.api.put(`/project/users/${anna.id}`, key, { active: true });
    const seen = async (query: string) => (await logsOf(mine.key, query)).logs.map(({ action }) => action);
    expect(await seen('?action=user.create')).toEqual(['user.create', 'user.create']);
    for (const name of ['user_id', 'userId']) {
      expect(await seen(`?${name}=${anna.id}`)).toEqual(['user.update', 'user.create']);
    }
    expect(await seen(`?user_id=${bent.id}&action=user.update`)).toEqual([]);
    expect(await seen('?actor_type=integration')).toEqual(['user.update']);
    expect(await seen('?actorType=admin')).toEqual(['project.create']);
    expect(await seen(`?user_id=${randomUUID()}`)).toEqual([]);
    const { logs } = await logsOf(mine.key, '?action=user.create');
    const [newest, oldest] = [logs[0]?.created_at, logs[1]?.created_at];
    const between = await logsOf(mine.key, `?action=user.create&from=${oldest}&to=${newest}`);
    expect(between.logs).toEqual(logs);
    expect(await seen('?from=2999-01-01')).toEqual([]);
    expect(await seen('?to=2000-01-01T00:00:00%2B02:00')).toEqual([]);
    expect((await logsOf(mine.key, `?action=user.create&from=${newest?.slice(0, -1)}`)).logs).toEqual(
      logs.filter(({ created_at }) => created_at === newest),
    );
  });

  test('a time is a date with or without a time of day, UTC by default; anything else is 400, never 500', async () => {
    const { key } = await createTenant(service.api, admin);
    const statusOf = async (moment: string) =>
      (await service.api.get(`/project/audit?from=${encodeURIComponent(moment)}`, key)).status;
    for (const good of [
      '2026-01-31',
      '2026-01-31T12:00Z',
      '2026-01-31T12:00:00.123456789Z',
      '2024-02-29',
      '2026-01-31T00:00:00+23:59',
      '2026-01-31T12:00:00',
    ]) {
      expect(await statusOf(good), good).toBe(200);
    }
    for (const bad of [
      '',
      'now',
      '2026',
      '2026-02-30',
      '2023-02-29',
      '2026-13-01',
      '0000-01-01',
      '0001-01-01T00:00:00+01:00',
      '9999-12-31T23:59:59-01:00',
      '2026-01-31Z',
      '2026-01-31T25:00:00Z',
      'infinity',
      '+275760-09-13',
    ]) {
      expect(await statusOf(bad), bad).toBe(400);
    }
  });

  test('a bad limit, filter or cursor is 400 with the issue; bounds are 1 and 100, and 50 is the default', async () => {
    const { key } = await createTenant(service.api, admin);
    for (const query of [
      'limit=0',
      'limit=101',
      'limit=x',
      'limit=1.5',
      'action=nonsense',
      'actor_type=user',
      'user_id=x',
      'cursor=x',
    ]) {
      for (const [path, as] of [
        ['/project/audit', key],
        ['/admin/audit', admin],
      ] as const) {
        const reply = await service.api.get(`${path}?${query}`, as);
        expect([reply.status, reply.body.error?.code], query).toEqual([400, 'VALIDATION_ERROR']);
        expect(reply.body.error.details.issues).toHaveLength(1);
      }
    }
    await Promise.all(Array.from({ length: 60 }, () => createUser(service.api, key)));
    expect((await logsOf(key)).logs).toHaveLength(50);
    expect((await logsOf(key, '?limit=100')).logs.length).toBeGreaterThanOrEqual(61);
    expect((await logsOf(key, '?limit=1')).logs).toHaveLength(1);
  });

  test('pages neither lose nor repeat rows that share a timestamp', async () => {
    const mine = await createTenant(service.api, admin);
    await onServer(
      service.databaseUrl,
      `insert into audit_logs (project_id, actor_type, action, created_at)
       select '${mine.id}', 'project', 'file.upload', now() from generate_series(1, 57)`,
    );
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: { logs: { id: string }[]; next_cursor: string | null } = await logsOf(
        mine.key,
        `?action=file.upload&limit=10${cursor ? `&cursor=${cursor}` : ''}`,
      );
      seen.push(...page.logs.map(({ id }) => id));
      cursor = page.next_cursor;
    }
    expect(seen).toHaveLength(57);
    expect(new Set(seen).size).toBe(57);
    expect(seen).toEqual([...seen].sort().reverse());
  });

  test("a cursor of another tenant's log, or of the admin's, is refused", async () => {
    const [mine, other] = [await createTenant(service.api, admin), await createTenant(service.api, admin)];
    await createUser(service.api, mine.key);
    const own = (await logsOf(mine.key, '?limit=1')).next_cursor;
    const all = (await logsOf(admin, '?limit=1', '/admin/audit')).next_cursor;
    expect((await service.api.get(`/project/audit?cursor=${own}`, other.key)).status).toBe(400);
    expect((await service.api.get(`/project/audit?cursor=${all}`, mine.key)).status).toBe(400);
    expect((await service.api.get(`/project/audit?cursor=${own}`, mine.key)).status).toBe(200);
  });

  test('rows survive their project with a null project_id', async () => {
    const mine = await createTenant(service.api, admin);
    const user = await createUser(service.api, mine.key);
    expect((await service.api.delete(`/admin/projects/${mine.id}`, admin)).status).toBe(204);
    const { logs } = await logsOf(admin, `?user_id=${user.id}`, '/admin/audit');
    expect(logs).toMatchObject([{ action: 'user.create', project_id: null, resource_id: user.id }]);
    const gone = await logsOf(admin, '?action=project.delete&limit=100', '/admin/audit');
    expect(gone.logs.find(({ resource_id }) => resource_id === mine.id)).toMatchObject({ project_id: null });
    expect((await logsOf(admin, `?project_id=${mine.id}`, '/admin/audit')).logs).toEqual([]);
  });
});

describe('the table', () => {
  test('refuses every update, delete and truncate', async () => {
    await createTenant(service.api, admin);
    for (const statement of [
      "update audit_logs set action = 'nothing'",
      'update audit_logs set project_id = null',
      'delete from audit_logs',
      'truncate audit_logs',
      'truncate audit_logs cascade',
    ]) {
      await expect(rowsOf(service.databaseUrl, statement), statement).rejects.toThrow(/immutable/);
    }
  });

  test('the purge deletes exactly the rows older than the retention', async () => {
    const mine = await createTenant(service.api, admin);
    const insert = (age: string, count: number) =>
      onServer(
        service.databaseUrl,
        `insert into audit_logs (project_id, actor_type, action, created_at)
         select '${mine.id}', 'project', 'file.download', now() - interval '${age}' from generate_series(1, ${count})`,
      );
    await insert('31 days', 6_000);
    await insert('29 days', 7);
    expect(await purgeAudit(service.pakhus.deps.db, 30)).toEqual({ partitions: [], rows: 6_000 });
    expect(await rowsWhere(`project_id = '${mine.id}' and action = 'file.download'`)).toHaveLength(7);
    expect(await rowsWhere(`project_id = '${mine.id}' and action = 'project.create'`)).toHaveLength(1);
    expect(await purgeAudit(service.pakhus.deps.db, 30)).toEqual({ partitions: [], rows: 0 });
    // The permission to delete ended with the purge.
    await expect(
      service.pakhus.deps.db.transaction((tx) =>
        tx.query({ text: 'delete from audit_logs', values: [], name: '' }),
      ),
    ).rejects.toThrow(/immutable/);
  });

  test('the retention is 365 days by default, from 1 to 3650', async () => {
    const own = await startTestPakhus({ ROLE: 'api' });
    try {
      const session = await adminSession(own.api);
      const path = '/admin/settings/audit-retention';
      expect((await own.api.get(path, session)).body).toEqual({ retention_days: 365 });
      for (const days of [0, 3651, 1.5, '30', null]) {
        expect((await own.api.put(path, session, { retention_days: days })).status, String(days)).toBe(422);
      }
      for (const days of [1, 3650]) {
        expect((await own.api.put(path, session, { retentionDays: days })).body).toEqual({
          retention_days: days,
        });
      }
      expect((await own.api.get(path, session)).body).toEqual({ retention_days: 3650 });
    } finally {
      await own.stop();
    }
  });
});

describe('a failure to record never fails the change', () => {
  let own: TestPakhus;
  let session: string;
  let tenant: Tenant;

  beforeAll(async () => {
    own = await startTestPakhus({ ROLE: 'api' });
    session = await adminSession(own.api);
    tenant = await createTenant(own.api, session);
  });
  afterAll(() => own.stop());

  const mutations = async () => {
    const plan = await own.api.post('/project/plans', tenant.key, { name: 'p', maxFileSize: 1 });
    const user = await own.api.post('/project/users', tenant.key, { externalId: randomUUID() });
    const mint = await own.api.post(`/project/users/${user.body.user?.id}/tokens`, tenant.key, {});
    const login = await logIn(own.api, tenant.email, tenant.password);
    const failed = await logIn(own.api, tenant.email, 'not the password');
    const gone = await own.api.delete(`/project/users/${user.body.user?.id}`, tenant.key);
    return [plan, user, mint, login, failed, gone].map(({ status }) => status);
  };
  const all = [201, 201, 201, 200, 401, 204];

  test('while another transaction holds the table', async () => {
    const client = new pg.Client({ connectionString: own.databaseUrl });
    await client.connect();
    try {
      await client.query('begin; lock table audit_logs in access exclusive mode');
      expect(await mutations()).toEqual(all);
    } finally {
      await client.end();
    }
    expect(await mutations()).toEqual(all);
  });

  test('while the table is missing; afterwards recording resumes, including held rows', async () => {
    const count = async (action: string) => {
      await own.pakhus.deps.auditQueue.flush();
      const statement = `select count(*)::int as rows from audit_logs where action = '${action}'`;
      return (await rowsOf<{ rows: number }>(own.databaseUrl, statement))[0]?.rows ?? 0;
    };
    const refusedBefore = await count('auth.login_failed');
    await rowsOf(own.databaseUrl, 'alter table audit_logs rename to audit_logs_away');
    try {
      expect(await mutations()).toEqual(all);
    } finally {
      await rowsOf(own.databaseUrl, 'alter table audit_logs_away rename to audit_logs');
    }
    const createdBefore = await count('user.create');
    expect(await mutations()).toEqual(all);
    expect(await count('user.create')).toBe(createdBefore + 1);
    // The login that was refused during the outage, and the one after it.
    expect(await count('auth.login_failed')).toBe(refusedBefore + 2);
  });
});

test('held rows are written when the service stops', async () => {
  const other = await service.another();
  const email = `${randomUUID()}@example.com`;
  await logIn(other.api, email, 'not the password');
  await other.stop();
  expect(await rowsWhere(`metadata ->> 'email' = '${email}'`)).toHaveLength(1);
});
