// How many files and spaces a user may have: exact however many are made at once, and counted down again by whatever
// removes them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Reply } from '../support/api.ts';
import { bytesOf } from '../support/bytes.ts';
import { rowsOf } from '../support/database.ts';
import { blankPng } from '../support/image-files.ts';
import { expectBalanced, reapUntilDone, wrongCounters } from '../support/ledger.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { trySendFile } from '../support/send-file.ts';
import { adminSession, createPlan, createTenant, createUser, unique } from '../support/tenants.ts';
import { upload } from '../support/uploads.ts';

let service: TestPakhus;
let admin: string;

beforeAll(async () => {
  service = await startTestPakhus();
  admin = await adminSession(service.api);
});
afterAll(() => service.stop());

const targetWith = async (plan: object) => {
  const tenant = await createTenant(service.api, admin);
  const { id: planId } = await createPlan(service.api, tenant.key, { maxFileSize: 1 << 30, ...plan });
  const user = await createUser(service.api, tenant.key);
  return { ...tenant, planId, userId: user.id, path: `/project/users/${user.id}` };
};
type Target = Awaited<ReturnType<typeof targetWith>>;

const newSpace = ({ path, key }: Target) =>
  service.api.post(`${path}/spaces`, key, { external_id: unique('s'), name: 's' });

const outcomesOf = (replies: readonly Reply[]) => {
  const refused = replies.filter(({ status }) => status !== 201);
  for (const { status, body } of refused) expect([status, body.error.code]).toEqual([422, 'OVER_QUOTA']);
  return { made: replies.length - refused.length, details: refused[0]?.body.error.details };
};

describe('files', () => {
  test('files.upload: of 30 uploads of several kinds racing for 7 files, exactly 7 are stored', async () => {
    const at = await targetWith({ maxFiles: 7 });
    const spaceId = (await newSpace(at)).body.space.id;
    const replies = await Promise.all(
      Array.from({ length: 30 }, (_, nth) =>
        upload(service.api, at.key, at.path, bytesOf(nth % 5 === 0 ? 400_000 : nth), {
          ...(nth % 2 ? { meta: { space_id: spaceId } } : {}),
        }),
      ),
    );
    expect(outcomesOf(replies)).toEqual({ made: 7, details: { limit: 'maxFiles', max: 7 } });
    await reapUntilDone(service);
    await expectBalanced(service, at.id);
  });

  test('files.upload: deleting a file makes room for another; lowering the limit deletes nothing', async () => {
    const at = await targetWith({ maxFiles: 2 });
    const send = () => upload(service.api, at.key, at.path, 'x');
    const [{ body }, second] = [await send(), await send()];
    expect([second.status, (await send()).status]).toEqual([201, 422]);
    expect((await service.api.delete(`${at.path}/files/${body.file.id}`, at.key)).status).toBe(204);
    expect([(await send()).status, (await send()).status]).toEqual([201, 422]);
    await service.api.put(`/project/plans/${at.planId}`, at.key, { maxFiles: 0 });
    expect((await send()).body.error.details).toEqual({ limit: 'maxFiles', max: 0 });
    expect((await service.api.get(`${at.path}/files`, at.key)).body.files).toHaveLength(2);
    await service.api.put(`/project/plans/${at.planId}`, at.key, { maxFiles: null });
    expect((await send()).status).toBe(201);
    await expectBalanced(service, at.id);
  });

  test('images.upload: an image counts as a file', async () => {
    const at = await targetWith({ maxFiles: 1 });
    const send = () =>
      trySendFile(service.api, at.key, at.userId, { bytes: blankPng(8, 8), type: 'image/png', as: 'image' });
    expect((await send()).status).toBe(202);
    expect((await send()).body.error.code).toBe('OVER_QUOTA');
  });

  test('files.upload: without a limit in the plan, or without a plan, the limit is ten million', async () => {
    const planned = await targetWith({});
    const tenant = await createTenant(service.api, admin);
    const user = await createUser(service.api, tenant.key);
    const unplanned = { ...tenant, path: `/project/users/${user.id}` };
    for (const { key, path } of [planned, unplanned]) {
      const setCount = (count: number) =>
        rowsOf(
          service.databaseUrl,
          `update users set file_count = ${count} where id = '${path.split('/').at(-1)}'`,
        );
      await setCount(9_999_999);
      expect((await upload(service.api, key, path, 'x')).status).toBe(201);
      const refused = await upload(service.api, key, path, 'x');
      expect(refused.body.error).toMatchObject({
        code: 'OVER_QUOTA',
        details: { limit: 'maxFiles', max: 10_000_000 },
      });
      await setCount(1);
    }
    expect(await wrongCounters(service)).toEqual([]);
  });

  test('spaces.delete, users.delete, projects.delete: counts stay right for files that go or move with them', async () => {
    const at = await targetWith({ maxFiles: 4 });
    const spaceId = (await newSpace(at)).body.space.id;
    for (const meta of [{ space_id: spaceId }, { space_id: spaceId }, {}])
      await upload(service.api, at.key, at.path, 'x', { meta });
    await service.api.delete(`${at.path}/spaces/${spaceId}`, at.key);
    expect(await wrongCounters(service)).toEqual([]);
    expect((await upload(service.api, at.key, at.path, 'x')).status).toBe(201);
    expect((await upload(service.api, at.key, at.path, 'x')).status).toBe(422);
    const other = await createUser(service.api, at.key);
    await upload(service.api, at.key, `/project/users/${other.id}`, 'x');
    await service.api.delete(at.path, at.key);
    expect(await wrongCounters(service)).toEqual([]);
    await service.api.delete(`/admin/projects/${at.id}`, admin);
    expect(await wrongCounters(service)).toEqual([]);
  });
});

describe('spaces', () => {
  test('spaces.create: of 12 concurrent calls with a limit of 3, exactly 3 succeed; deleting one makes room for one', async () => {
    const at = await targetWith({ maxSpaces: 3 });
    const replies = await Promise.all(Array.from({ length: 12 }, () => newSpace(at)));
    expect(outcomesOf(replies)).toEqual({ made: 3, details: { limit: 'maxSpaces', max: 3 } });
    const { id } = replies.find(({ status }) => status === 201)?.body.space ?? {};
    expect((await service.api.delete(`${at.path}/spaces/${id}`, at.key)).status).toBe(204);
    const again = await Promise.all(Array.from({ length: 4 }, () => newSpace(at)));
    expect(outcomesOf(again).made).toBe(1);
  });

  test('spaces.create: without a limit in the plan, the limit is a thousand', async () => {
    const at = await targetWith({});
    await rowsOf(
      service.databaseUrl,
      `insert into spaces (project_id, user_id, external_id, name)
       select '${at.id}', '${at.userId}', 'many-' || n, 's' from generate_series(1, 999) n`,
    );
    expect((await newSpace(at)).status).toBe(201);
    expect((await newSpace(at)).body.error.details).toEqual({ limit: 'maxSpaces', max: 1000 });
  });
});
