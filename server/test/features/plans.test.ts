import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import {
  adminSession,
  createPlan,
  createTenant,
  createUser,
  type Tenant,
  unique,
} from '../support/tenants.ts';

let service: TestPakhus;
let admin: string;
let tenant: Tenant;

beforeAll(async () => {
  service = await startTestPakhus();
  admin = await adminSession(service.api);
  tenant = await createTenant(service.api, admin);
});
afterAll(() => service.stop());

const defaultsOf = async (key: string) => {
  const { body } = await service.api.get('/project/plans?limit=100', key);
  return body.plans.filter((plan: { is_default: boolean }) => plan.is_default);
};

test('plans.create: the first plan is the default, later ones are not', async () => {
  const { key } = await createTenant(service.api, admin);
  const first = await createPlan(service.api, key);
  await createPlan(service.api, key);
  expect((await defaultsOf(key)).map((plan: { id: string }) => plan.id)).toEqual([first.id]);
});

test('plans.create: 20 concurrent first plans leave exactly one default', async () => {
  const { key } = await createTenant(service.api, admin);
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => service.api.post('/project/plans', key, { name: 'p', maxFileSize: 1 })),
  );
  expect(replies.map((reply) => reply.status)).toEqual(Array(20).fill(201));
  expect(await defaultsOf(key)).toHaveLength(1);
});

test('plans.makeDefault: 50 parallel swaps leave exactly one default and give no 5xx', async () => {
  const { key } = await createTenant(service.api, admin);
  const plans = [
    await createPlan(service.api, key),
    await createPlan(service.api, key),
    await createPlan(service.api, key),
  ];
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, at) =>
      service.api.put(`/project/plans/${plans[at % 3]?.id}/default`, key),
    ),
  );
  expect(replies.map((reply) => reply.status)).toEqual(Array(50).fill(200));
  expect(await defaultsOf(key)).toHaveLength(1);
});

test('plans.update: only the given fields change, null clears, both casings count', async () => {
  const plan = await createPlan(service.api, tenant.key, {
    description: 'old',
    storageLimit: 5,
    allowedMimes: ['Image/*'],
  });
  const changed = await service.api.put(`/project/plans/${plan.id}`, tenant.key, {
    storage_limit: 7,
    description: null,
  });
  expect(changed.body.plan).toMatchObject({
    name: 'standard',
    description: null,
    storageLimit: 7,
    allowedMimes: ['image/*'],
  });
  const both = await service.api.put(`/project/plans/${plan.id}`, tenant.key, {
    storage_limit: 7,
    storageLimit: 8,
  });
  expect(both.status).toBe(422);
});

test('plans.delete: a plan with users stays; without the default, the oldest remaining plan becomes it', async () => {
  const { key } = await createTenant(service.api, admin);
  const [first, second] = [await createPlan(service.api, key), await createPlan(service.api, key)];
  await createPlan(service.api, key);
  const user = await createUser(service.api, key);
  expect((await service.api.delete(`/project/plans/${first.id}`, key)).body.error.code).toBe('CONFLICT');
  await service.api.put(`/project/users/${user.id}/plan`, key, { planId: second.id });
  expect((await service.api.delete(`/project/plans/${first.id}`, key)).status).toBe(204);
  expect((await defaultsOf(key))[0].id).toBe(second.id);
});

test('plans.delete: the default plan cannot be deleted while users without a plan follow it', async () => {
  const { key } = await createTenant(service.api, admin);
  const user = await createUser(service.api, key);
  const first = await createPlan(service.api, key, { maxFileSize: 10 });
  const planOf = async () => (await service.api.get(`/project/users/${user.id}`, key)).body.user.plan?.id;
  const remove = (id: string) => service.api.delete(`/project/plans/${id}`, key);
  expect(await planOf()).toBe(first.id);
  expect((await remove(first.id)).body.error.code).toBe('CONFLICT');
  const second = await createPlan(service.api, key);
  await service.api.put(`/project/plans/${second.id}/default`, key);
  expect((await remove(first.id)).status).toBe(204);
  expect(await planOf()).toBe(second.id);
});

test('users.create: a new user gets a plan even while default plans are deleted', async () => {
  const { key } = await createTenant(service.api, admin);
  const plans = [];
  for (let nth = 0; nth < 9; nth += 1) plans.push(await createPlan(service.api, key));
  for (const { id } of plans.slice(0, -1)) {
    const [created] = await Promise.all([
      service.api.post('/project/users', key, { externalId: unique('u') }),
      service.api.delete(`/project/plans/${id}`, key),
    ]);
    expect(created.status, created.text).toBe(201);
    expect(created.body.user.plan).not.toBeNull();
  }
});

test("plans: another tenant's plan is answered as nonexistent", async () => {
  const plan = await createPlan(service.api, tenant.key);
  const other = await createTenant(service.api, admin);
  for (const [method, path] of [
    ['GET', ''],
    ['PUT', ''],
    ['DELETE', ''],
    ['PUT', '/default'],
  ] as const) {
    const reply = await service.api.call(method, `/project/plans/${plan.id}${path}`, {
      as: other.key,
      ...(method === 'PUT' ? { body: {} } : {}),
    });
    expect(reply.status, `${method} ${path}`).toBe(404);
  }
  const user = await createUser(service.api, other.key);
  expect(
    (await service.api.put(`/project/users/${user.id}/plan`, other.key, { planId: plan.id })).status,
  ).toBe(404);
  expect(
    (await service.api.post('/project/users', other.key, { externalId: unique('u'), planId: plan.id }))
      .status,
  ).toBe(404);
});

test('plans: maxFiles and maxSpaces can be set, changed and cleared, and are shown and audited', async () => {
  const { key } = await createTenant(service.api, admin);
  const plan = await createPlan(service.api, key, { maxFiles: 5, max_spaces: 0 });
  expect(plan).toMatchObject({ maxFiles: 5, maxSpaces: 0 });
  expect(await createPlan(service.api, key)).toMatchObject({ maxFiles: null, maxSpaces: null });
  const at = `/project/plans/${plan.id}`;
  expect((await service.api.put(at, key, { maxFiles: null })).body.plan).toMatchObject({
    maxFiles: null,
    maxSpaces: 0,
  });
  const user = await createUser(service.api, key);
  const shown = await service.api.get(`/project/users/${user.id}`, key);
  expect(shown.body.user.plan).toMatchObject({ maxFiles: null, maxSpaces: 0 });
  const { body } = await service.api.get('/project/audit?action=plan.update', key);
  expect(body.logs[0].metadata).toEqual({ old: { maxFiles: 5 }, new: { maxFiles: null } });
  for (const maxFiles of [-1, 1.5, '7', 2 ** 53])
    expect((await service.api.put(at, key, { maxFiles })).status).toBe(422);
});

test('plans.create: every bad field is named', async () => {
  const reply = await service.api.post('/project/plans', tenant.key, {
    storageLimit: -1,
    allowedMimes: ['nonsense', '*/png'],
  });
  expect(reply.status).toBe(422);
  const paths = reply.body.error.details.issues.map((issue: { path: string }) => issue.path);
  expect(paths).toEqual(
    expect.arrayContaining(['name', 'maxFileSize', 'storageLimit', 'allowedMimes.0', 'allowedMimes.1']),
  );
});
