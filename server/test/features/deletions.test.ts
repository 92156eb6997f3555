// Deleting users, spaces and projects with more files than one chunk holds.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inTransaction, isSomebodyWaiting, rowsOf } from '../support/database.ts';
import { expectBalanced, reapUntilDone } from '../support/ledger.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { until } from '../support/processes.ts';
import { adminSession, createTenant, createUser, unique } from '../support/tenants.ts';
import { upload } from '../support/uploads.ts';

/** More than two chunks of 250. */
const many = 520;

let service: TestPakhus;
let admin: string;

beforeAll(async () => {
  service = await startTestPakhus();
  admin = await adminSession(service.api);
});
afterAll(() => service.stop());

/** A user with very many files, every other of them in a space; the batches they are stored in share a timestamp. */
async function crowdedUser() {
  const tenant = await createTenant(service.api, admin);
  const { id: userId } = await createUser(service.api, tenant.key);
  const path = `/project/users/${userId}`;
  const space = { external_id: unique('s'), name: 's' };
  const spaceId = (await service.api.post(`${path}/spaces`, tenant.key, space)).body.space.id as string;
  const send = async (nth: number) => {
    const meta = { tags: ['all', `t${nth % 3}`], ...(nth % 2 ? { space_id: spaceId } : {}) };
    expect((await upload(service.api, tenant.key, path, `file ${nth}`, { meta })).status).toBe(201);
  };
  for (let first = 0; first < many; first += 40)
    await Promise.all(Array.from({ length: Math.min(40, many - first) }, (_, nth) => send(first + nth)));
  return { ...tenant, userId, path, spaceId };
}

const countOf = async (from: string): Promise<number> => {
  const [row] = await rowsOf<{ count: number }>(service.databaseUrl, `select count(*)::int from ${from}`);
  return row?.count ?? 0;
};

const storageOf = async (key: string) => (await service.api.get('/project/stats/storage', key)).body;

test('users.delete: all files go, with objects, tags and counts, and those of another user stay', async () => {
  const at = await crowdedUser();
  const other = await createUser(service.api, at.key);
  expect((await upload(service.api, at.key, `/project/users/${other.id}`, 'stays')).status).toBe(201);
  expect((await service.api.delete(at.path, at.key)).status).toBe(204);
  expect((await service.api.get(at.path, at.key)).status).toBe(404);
  expect(await countOf(`files where project_id = '${at.id}'`)).toBe(1);
  expect(await countOf(`file_tags where user_id = '${at.userId}'`)).toBe(0);
  expect(await storageOf(at.key)).toMatchObject({ users: 1, files: 1, bytes: 5 });
  await reapUntilDone(service);
  await expectBalanced(service, at.id);
});

test('spaces.delete: all files move to the level of the owner', async () => {
  const at = await crowdedUser();
  const before = await storageOf(at.key);
  expect((await service.api.delete(`${at.path}/spaces/${at.spaceId}`, at.key)).status).toBe(204);
  expect(await countOf(`files where user_id = '${at.userId}' and space_id is null`)).toBe(many);
  expect(await storageOf(at.key)).toEqual(before);
  await expectBalanced(service, at.id);
});

test('projects.delete: all files of all users go with their objects', async () => {
  const at = await crowdedUser();
  const other = await createUser(service.api, at.key);
  expect((await upload(service.api, at.key, `/project/users/${other.id}`, 'goes')).status).toBe(201);
  expect((await service.api.delete(`/admin/projects/${at.id}`, admin)).status).toBe(204);
  expect(await countOf(`files where project_id = '${at.id}'`)).toBe(0);
  await reapUntilDone(service);
  await expectBalanced(service, at.id);
});

test('deletions of a file, its space, its user and its project at once end without a deadlock or a 500', async () => {
  const at = await crowdedUser();
  const { files } = (await service.api.get(`${at.path}/files`, at.key)).body;
  const replies = await Promise.all([
    service.api.delete(`${at.path}/files/${files[0].id}`, at.key),
    service.api.delete(`${at.path}/spaces/${at.spaceId}`, at.key),
    service.api.delete(at.path, at.key),
    service.api.delete(`/admin/projects/${at.id}`, admin),
  ]);
  // 401: the project has gone first, and the key with it. 503: the lock was not free in time.
  for (const { status } of replies) expect([204, 401, 404, 503]).toContain(status);
  await service.api.delete(`/admin/projects/${at.id}`, admin);
  expect(await countOf(`files where project_id = '${at.id}'`)).toBe(0);
  await reapUntilDone(service);
  await expectBalanced(service, at.id);
});

test('users.delete: a deletion that fails in a later chunk deletes nothing', async () => {
  const at = await crowdedUser();
  const files = `files where user_id = '${at.userId}'`;
  // Somebody holds the newest file for longer than anyone waits for a lock.
  await inTransaction(service.databaseUrl, async (query) => {
    await query(`select from ${files} order by created_at desc, id desc limit 1 for update`);
    const deletion = service.api.delete(at.path, at.key);
    await until('the deletion waits', () => isSomebodyWaiting(service.databaseUrl));
    expect((await service.api.get(`${at.path}/files`, at.key)).body.files).not.toEqual([]);
    expect((await deletion).status).toBe(503);
  });
  expect(await countOf(files)).toBe(many);
  await expectBalanced(service, at.id);
});
