// Quotas under contention, and uploads that race with whatever can take their ground away. Afterwards the
// counters equal the sums, and the store holds the objects of the rows and no other.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Reply } from '../support/api.ts';
import { bytesOf } from '../support/bytes.ts';
import { rowsOf } from '../support/database.ts';
import {
  expectBalanced,
  insertReservation,
  objectsOf,
  placesOf,
  reapUntilDone,
  setReserved,
  unsettledOf,
} from '../support/ledger.ts';
import { type PakhusOnStore, startOn, storesFor } from '../support/stores.ts';
import {
  adminSession,
  createPlan,
  createTenant,
  createUser,
  type Tenant,
  unique,
} from '../support/tenants.ts';
import { type UploadOptions, upload } from '../support/uploads.ts';

for (const store of storesFor('quotas')) describe(`on ${store.name}`, suite.bind(null, store));

function suite(store: Parameters<typeof startOn>[0]): void {
  let service: PakhusOnStore;
  let admin: string;

  beforeAll(async () => {
    service = await startOn(store);
    admin = await adminSession(service.api);
  });
  afterAll(() => service.stop());

  const tenantWithUser = async (plan: object = {}): Promise<Tenant & { path: string }> => {
    const tenant = await createTenant(service.api, admin);
    await createPlan(service.api, tenant.key, { maxFileSize: 1 << 30, ...plan });
    return { ...tenant, path: `/project/users/${(await createUser(service.api, tenant.key)).id}` };
  };
  const spaceOf = async (
    { key, path }: { key: string; path: string },
    fields: object = {},
  ): Promise<string> =>
    (await service.api.post(`${path}/spaces`, key, { external_id: unique('s'), name: 's', ...fields })).body
      .space.id;
  const countsOf = (replies: readonly Reply[]): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const { status, body } of replies) {
      const outcome = status < 400 ? String(status) : `${status} ${body.error.code}`;
      counts[outcome] = (counts[outcome] ?? 0) + 1;
    }
    return counts;
  };
  /** All are held back until every one is ready to go. */
  const released = async <Result>(
    count: number,
    send: (nth: number) => Promise<Result>,
  ): Promise<Result[]> => {
    let release: () => void = () => undefined;
    const barrier = new Promise<void>((resolve) => {
      release = resolve;
    });
    const all = Array.from({ length: count }, async (_, nth) => {
      await barrier;
      return send(nth);
    });
    release();
    return Promise.all(all);
  };

  const size = 100 << 10;
  const room = 10 << 20;
  const fitting = Math.floor(room / size);

  test('files.upload: of 1,000 uploads of 100 KiB racing for 10 MiB, exactly 102 succeed', async () => {
    const tenant = await tenantWithUser({ storageLimit: room });
    const bytes = bytesOf(size);
    const replies = await released(1000, () => upload(service.api, tenant.key, tenant.path, bytes));
    expect(countsOf(replies)).toEqual({ 201: fitting, '422 STORAGE_LIMIT_EXCEEDED': 1000 - fitting });
    const { body } = await service.api.get(`${tenant.path}/storage`, tenant.key);
    expect(body).toMatchObject({ storageUsed: fitting * size, overQuota: false });
    expect(await placesOf(service, tenant.id)).toHaveLength(fitting);
    await expectBalanced(service, tenant.id);
  });

  test("files.upload: a space's limit within a larger quota is as exact, and the owner is charged too", async () => {
    const tenant = await tenantWithUser({ storageLimit: room * 10 });
    const spaceId = await spaceOf(tenant, { limit_bytes: room });
    const [bytes, meta] = [bytesOf(size), { space_id: spaceId }];
    const replies = await released(400, () => upload(service.api, tenant.key, tenant.path, bytes, { meta }));
    expect(countsOf(replies)).toEqual({ 201: fitting, '422 STORAGE_LIMIT_EXCEEDED': 400 - fitting });
    const space = (await service.api.get(`${tenant.path}/spaces/${spaceId}`, tenant.key)).body.space;
    expect(space.used_bytes).toBe(fitting * size);
    const { body } = await service.api.get(`${tenant.path}/storage`, tenant.key);
    expect(body.storageUsed).toBe(fitting * size);
    expect((await upload(service.api, tenant.key, tenant.path, bytes)).status).toBe(201);
    await expectBalanced(service, tenant.id);
  });

  test('files.upload: waiting for the lock of a user or space delays no other user, and the upload succeeds', async () => {
    const heldUser = await tenantWithUser();
    const { key } = heldUser;
    const newPath = async () => `/project/users/${(await createUser(service.api, key)).id}`;
    const withHeldSpace = { key, path: await newPath() };
    const spaceId = await spaceOf(withHeldSpace);
    const free = await Promise.all([newPath(), newPath(), newPath()]);
    let answered = 0;
    const send = async (path: string, meta: object = {}) => {
      const reply = await upload(service.api, key, path, bytesOf(1000), { meta });
      answered += 1;
      return reply;
    };
    const client = new pg.Client({ connectionString: service.databaseUrl });
    await client.connect();
    await client.query(`begin; select from users where id = '${heldUser.path.split('/').at(-1)}' for update;
      select from spaces where id = '${spaceId}' for update`);
    const waiting = Array.from({ length: 5 }, () => [
      send(heldUser.path),
      send(withHeldSpace.path, { space_id: spaceId }),
    ]).flat();
    try {
      const others = await Promise.all(Array.from({ length: 42 }, (_, nth) => send(free[nth % 3] as string)));
      expect(countsOf(others)).toEqual({ 201: 42 });
      expect(answered).toBe(42);
    } finally {
      await client.query('commit');
      await client.end();
    }
    expect(countsOf(await Promise.all(waiting))).toEqual({ 201: 10 });
    await expectBalanced(service, heldUser.id);
  });

  test('files.upload: if the database refuses a batch, its files are stored one by one', async () => {
    const tenant = await tenantWithUser();
    const [store_files] = await rowsOf<{ definition: string }>(
      service.databaseUrl,
      `select pg_get_functiondef('store_files'::regproc) as definition`,
    );
    await rowsOf(service.databaseUrl, 'drop function store_files');
    try {
      const replies = await released(20, () => upload(service.api, tenant.key, tenant.path, bytesOf(100)));
      expect(countsOf(replies)).toEqual({ 201: 20 });
    } finally {
      await rowsOf(service.databaseUrl, store_files?.definition ?? '');
    }
    const again = await released(20, () => upload(service.api, tenant.key, tenant.path, bytesOf(100)));
    expect(countsOf(again)).toEqual({ 201: 20 });
    await expectBalanced(service, tenant.id);
  });

  test('files.upload: large and small uploads racing for the same room never overshoot', async () => {
    const storageLimit = 3 << 20;
    const tenant = await tenantWithUser({ storageLimit });
    const [small, large] = [bytesOf(50 << 10), bytesOf(700 << 10)];
    const replies = await released(60, (nth) =>
      upload(service.api, tenant.key, tenant.path, nth % 3 ? small : large),
    );
    for (const outcome of Object.keys(countsOf(replies)))
      expect(['201', '422 STORAGE_LIMIT_EXCEEDED']).toContain(outcome);
    const { body } = await service.api.get(`${tenant.path}/storage`, tenant.key);
    expect(body.storageUsed).toBeLessThanOrEqual(storageLimit);
    expect(body.storageAvailable).toBeLessThan(700 << 10);
    await reapUntilDone(service);
    await expectBalanced(service, tenant.id);
  });

  test('files.delete: of 100 concurrent deletes of one file, one is 204 and 99 are 404, and the quota is refunded once', async () => {
    const tenant = await tenantWithUser();
    const spaceId = await spaceOf(tenant);
    const meta = { space_id: spaceId };
    await upload(service.api, tenant.key, tenant.path, bytesOf(7), { meta });
    const { file } = (await upload(service.api, tenant.key, tenant.path, bytesOf(1000), { meta })).body;
    const replies = await released(100, () =>
      service.api.delete(`${tenant.path}/files/${file.id}`, tenant.key),
    );
    expect(countsOf(replies)).toEqual({ 204: 1, '404 NOT_FOUND': 99 });
    expect((await service.api.get(`${tenant.path}/storage`, tenant.key)).body.storageUsed).toBe(7);
    const space = (await service.api.get(`${tenant.path}/spaces/${spaceId}`, tenant.key)).body.space;
    expect(space.used_bytes).toBe(7);
    await expectBalanced(service, tenant.id);
  });

  test('files: concurrent uploads, deletes and moves of 200 files keep every counter right', async () => {
    const tenant = await tenantWithUser();
    const spaceId = await spaceOf(tenant);
    const replies = await released(200, async (nth) => {
      const options: UploadOptions = nth % 2 ? { meta: { space_id: spaceId } } : {};
      const made = await upload(service.api, tenant.key, tenant.path, bytesOf(nth * 50), options);
      if (made.status !== 201) return made;
      const at = `${tenant.path}/files/${made.body.file.id}`;
      if (nth % 3 === 0) return service.api.delete(at, tenant.key);
      return nth % 3 === 1 ? service.api.put(at, tenant.key, { visibility: 'public' }) : made;
    });
    expect(replies.filter((reply) => reply.status >= 400).map((reply) => reply.text)).toEqual([]);
    await reapUntilDone(service);
    await expectBalanced(service, tenant.id);
  });

  describe('reserved bytes', () => {
    const idIn = (path: string): string => path.split('/').at(-1) as string;
    const storageOf = async ({ key, path }: Tenant & { path: string }) =>
      (await service.api.get(`${path}/storage`, key)).body;
    const refusedFor = ({ status, body }: Reply): string =>
      status === 201 ? 'stored' : `${body.error.code} ${body.error.details.limit}`;

    test('users: storageAvailable is what used and reserved bytes leave, and never negative', async () => {
      const tenant = await tenantWithUser({ storageLimit: 1000 });
      await upload(service.api, tenant.key, tenant.path, bytesOf(300));
      await setReserved(service, 'users', idIn(tenant.path), 450);
      const snapshot = {
        storageUsed: 300,
        storageReserved: 450,
        storageLimit: 1000,
        storageAvailable: 250,
        usagePercent: 30,
        overQuota: false,
      };
      expect(await storageOf(tenant)).toEqual(snapshot);
      const { user } = (await service.api.get(tenant.path, tenant.key)).body;
      expect(user).toMatchObject(snapshot);
      const { users } = (await service.api.get('/project/users', tenant.key)).body;
      expect(users).toMatchObject([snapshot]);
      const changed = await service.api.put(tenant.path, tenant.key, { active: true });
      expect(changed.body.user).toMatchObject(snapshot);

      const small = await createPlan(service.api, tenant.key, { maxFileSize: 1000, storageLimit: 500 });
      await service.api.put(`${tenant.path}/plan`, tenant.key, { planId: small.id });
      expect(await storageOf(tenant)).toMatchObject({ storageAvailable: 0, overQuota: false });
      const unlimited = await createPlan(service.api, tenant.key, { maxFileSize: 1000, storageLimit: null });
      await service.api.put(`${tenant.path}/plan`, tenant.key, { planId: unlimited.id });
      expect(await storageOf(tenant)).toMatchObject({ storageReserved: 450, storageAvailable: null });
    });

    test.each([
      ['small', 10_000],
      ['large', 700 << 10],
    ])('files.upload: a %s file must fit beside the reserved bytes of its user', async (_size, bytes) => {
      const tenant = await tenantWithUser({ storageLimit: 2 * bytes });
      const send = (length: number) => upload(service.api, tenant.key, tenant.path, bytesOf(length));
      await setReserved(service, 'users', idIn(tenant.path), bytes + 1);
      const refused = await send(bytes);
      expect(refused.status).toBe(422);
      expect(refusedFor(refused)).toBe('STORAGE_LIMIT_EXCEEDED storageLimit');
      expect(refused.body.error.message).toContain('cancel unfinished uploads');
      expect(refusedFor(await send(bytes - 1))).toBe('stored');
      expect(await storageOf(tenant)).toMatchObject({
        storageUsed: bytes - 1,
        storageReserved: bytes + 1,
        storageAvailable: 0,
      });
      await setReserved(service, 'users', idIn(tenant.path), 0);
      expect(refusedFor(await send(bytes)), 'the reservation is gone').toBe('stored');
      await reapUntilDone(service);
      await expectBalanced(service, tenant.id);
    });

    test.each([
      ['small', 10_000],
      ['large', 700 << 10],
    ])('files.upload: a %s file must fit beside the reserved bytes of its space', async (_size, bytes) => {
      const tenant = await tenantWithUser();
      const spaceId = await spaceOf(tenant, { limit_bytes: 2 * bytes });
      const send = (length: number) =>
        upload(service.api, tenant.key, tenant.path, bytesOf(length), { meta: { space_id: spaceId } });
      await setReserved(service, 'spaces', spaceId, bytes + 1);
      expect(refusedFor(await send(bytes))).toBe('STORAGE_LIMIT_EXCEEDED limit_bytes');
      expect(refusedFor(await send(bytes - 1))).toBe('stored');
      const { space } = (await service.api.get(`${tenant.path}/spaces/${spaceId}`, tenant.key)).body;
      expect(space).toMatchObject({ used_bytes: bytes - 1, reserved_bytes: bytes + 1 });
      await reapUntilDone(service);
      await expectBalanced(service, tenant.id);
    });

    test.each(['users', 'spaces'] as const)(
      'files.upload: of 200 concurrent uploads, exactly those that fit beside the reserved bytes of %s are stored',
      async (table) => {
        const limit = 100_000;
        const tenant = await tenantWithUser(table === 'users' ? { storageLimit: limit } : {});
        const spaceId = await spaceOf(tenant, table === 'spaces' ? { limit_bytes: limit } : {});
        await setReserved(service, table, table === 'users' ? idIn(tenant.path) : spaceId, 40_500);
        const options = table === 'users' ? {} : { meta: { space_id: spaceId } };
        const replies = await released(200, () =>
          upload(service.api, tenant.key, tenant.path, bytesOf(1000), options),
        );
        expect(countsOf(replies)).toEqual({ 201: 59, '422 STORAGE_LIMIT_EXCEEDED': 141 });
        await reapUntilDone(service);
        await expectBalanced(service, tenant.id);
      },
    );

    test('files.upload: uploads racing with reservations fill the limit exactly', async () => {
      const limit = 100_000;
      const tenant = await tenantWithUser({ storageLimit: limit });
      const reserve = () =>
        rowsOf(
          service.databaseUrl,
          `with room as (update users set reserved_bytes = reserved_bytes + 1000
             where id = '${idIn(tenant.path)}' and used_bytes + reserved_bytes + 1000 <= ${limit} returning *)
           ${insertReservation('select project_id, id as user_id, null::uuid as space_id, 1000 as bytes from room')}`,
        );
      const [replies] = await Promise.all([
        released(150, () => upload(service.api, tenant.key, tenant.path, bytesOf(1000))),
        released(60, reserve),
      ]);
      const { storageUsed, storageReserved, storageAvailable } = await storageOf(tenant);
      expect(countsOf(replies)[201]).toBe(storageUsed / 1000);
      expect({ taken: storageUsed + storageReserved, storageAvailable }).toEqual({
        taken: limit,
        storageAvailable: 0,
      });
      await reapUntilDone(service);
      await expectBalanced(service, tenant.id);
    });

    test('users.delete, spaces.delete: reserved bytes are no obstacle', async () => {
      const tenant = await tenantWithUser({ storageLimit: 1000 });
      const spaceId = await spaceOf(tenant);
      await setReserved(service, 'users', idIn(tenant.path), 500);
      await setReserved(service, 'spaces', spaceId, 500);
      expect((await service.api.delete(`${tenant.path}/spaces/${spaceId}`, tenant.key)).status).toBe(204);
      expect((await service.api.delete(tenant.path, tenant.key)).status).toBe(204);
    });

    test('the database refuses fewer than 0 reserved bytes', async () => {
      const tenant = await tenantWithUser();
      const spaceId = await spaceOf(tenant);
      const refusal = { code: '23514', constraint: 'byte_count_check' };
      for (const [table, id] of Object.entries({ users: idIn(tenant.path), spaces: spaceId })) {
        const statement = `update ${table} set reserved_bytes = -1 where id = '${id}'`;
        await expect(rowsOf(service.databaseUrl, statement)).rejects.toMatchObject(refusal);
      }
    });
  });

  describe('races', () => {
    const uploads = 60;
    const bytesFor = (nth: number) => bytesOf(nth % 5 === 0 ? 400 << 10 : 2000);

    /** Uploads, with `interfere` started in the middle of them. */
    const race = async (
      tenant: { key: string; path: string },
      options: UploadOptions,
      interfere: () => Promise<Reply>,
    ): Promise<{ counts: Record<string, number>; interference: Reply }> => {
      const [interference, ...replies] = await released(uploads + 1, (nth) =>
        nth === 0
          ? upload(service.api, tenant.key, tenant.path, bytesFor(1), options).then(interfere)
          : upload(service.api, tenant.key, tenant.path, bytesFor(nth), options),
      );
      const counts = countsOf(replies);
      expect(Object.keys(counts).filter((outcome) => outcome.startsWith('5'))).toEqual([]);
      return { counts, interference: interference as Reply };
    };
    const settle = async (tenant: Tenant) => {
      await reapUntilDone(service);
      await expectBalanced(service, tenant.id);
    };

    test('users.delete: uploads racing with the deletion of their user leave nothing', async () => {
      const tenant = await tenantWithUser();
      const { interference } = await race(tenant, {}, () => service.api.delete(tenant.path, tenant.key));
      expect(interference.status, interference.text).toBe(204);
      await settle(tenant);
      expect(await objectsOf(service, tenant.id)).toEqual([]);
    });

    test('spaces.delete: uploads racing with the deletion of their space end in 201 or 404, and every file stays', async () => {
      const tenant = await tenantWithUser();
      const spaceId = await spaceOf(tenant);
      const at = `${tenant.path}/spaces/${spaceId}`;
      const { counts, interference } = await race(tenant, { meta: { space_id: spaceId } }, () =>
        service.api.delete(at, tenant.key),
      );
      expect(interference.status, interference.text).toBe(204);
      await settle(tenant);
      expect(await placesOf(service, tenant.id)).toHaveLength((counts[201] ?? 0) + 1);
      const { files } = (await service.api.get(`${tenant.path}/files?space_id=none&limit=100`, tenant.key))
        .body;
      expect(files).toHaveLength((counts[201] ?? 0) + 1);
    });

    test('projects.delete: uploads racing with the deletion of their project leave nothing, five times', async () => {
      for (let round = 0; round < 5; round += 1) {
        const tenant = await tenantWithUser();
        const { interference } = await race(tenant, {}, () =>
          service.api.delete(`/admin/projects/${tenant.id}`, admin),
        );
        expect(interference.status, interference.text).toBe(204);
        await reapUntilDone(service);
        expect(await objectsOf(service, tenant.id)).toEqual([]);
        expect(await unsettledOf(service, tenant.id)).toBe(0);
        const left = await rowsOf(
          service.databaseUrl,
          `select 1 from files where project_id = '${tenant.id}'`,
        );
        expect(left).toEqual([]);
      }
    });

    test('users.assignPlan: once a smaller plan applies, no upload exceeds it', async () => {
      const tenant = await tenantWithUser();
      const small = await createPlan(service.api, tenant.key, { maxFileSize: 1 << 30, storageLimit: 5000 });
      const { interference } = await race(tenant, {}, () =>
        service.api.put(`${tenant.path}/plan`, tenant.key, { planId: small.id }),
      );
      expect(interference.status, interference.text).toBe(200);
      const { storageUsed } = (await service.api.get(`${tenant.path}/storage`, tenant.key)).body;
      const next = await upload(
        service.api,
        tenant.key,
        tenant.path,
        bytesOf(5000 - Math.min(storageUsed, 4999)),
      );
      expect(next.status).toBe(storageUsed < 5000 ? 201 : 422);
      await settle(tenant);
    });

    test('spaces.update: uploads racing with the deactivation of their space end in 201 or 403', async () => {
      const tenant = await tenantWithUser();
      const spaceId = await spaceOf(tenant);
      const at = `${tenant.path}/spaces/${spaceId}`;
      const meta = { space_id: spaceId };
      const { counts } = await race(tenant, { meta }, () =>
        service.api.put(at, tenant.key, { active: false }),
      );
      for (const outcome of Object.keys(counts)) expect(['201', '403 FORBIDDEN']).toContain(outcome);
      expect((await upload(service.api, tenant.key, tenant.path, 'x', { meta })).status).toBe(403);
      await settle(tenant);
    });

    test('users.update: uploads racing with the deactivation of their user end in 201 or 403', async () => {
      const tenant = await tenantWithUser();
      const { counts } = await race(tenant, {}, () =>
        service.api.put(tenant.path, tenant.key, { active: false }),
      );
      for (const outcome of Object.keys(counts)) expect(['201', '403 FORBIDDEN']).toContain(outcome);
      expect((await upload(service.api, tenant.key, tenant.path, 'x')).status).toBe(403);
      await settle(tenant);
    });

    test('files.delete: deletes racing with the deletion of their space delete every file once', async () => {
      const tenant = await tenantWithUser();
      const spaceId = await spaceOf(tenant);
      const made = await Promise.all(
        Array.from({ length: 40 }, () =>
          upload(service.api, tenant.key, tenant.path, bytesOf(100), { meta: { space_id: spaceId } }),
        ),
      );
      const replies = await released(41, (nth) =>
        nth === 20
          ? service.api.delete(`${tenant.path}/spaces/${spaceId}`, tenant.key)
          : service.api.delete(
              `${tenant.path}/files/${made[nth < 20 ? nth : nth - 1]?.body.file.id}`,
              tenant.key,
            ),
      );
      expect(countsOf(replies)).toEqual({ 204: 41 });
      await settle(tenant);
      expect(await objectsOf(service, tenant.id)).toEqual([]);
    });
  });
}
