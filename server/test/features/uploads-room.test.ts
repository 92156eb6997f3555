// Room that uploads reserve: never more than there is, and in the end exactly what is used. TEST_UPLOADS sets how many
// requests there are, TEST_SEED repeats a run.
import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { uploadUpkeep } from '../../src/features/uploads/uploads.jobs.ts';
import type { Api, Reply } from '../support/api.ts';
import { bytesOf } from '../support/bytes.ts';
import { rowsOf } from '../support/database.ts';
import { expectBalanced, expireUploads, never, reapUntilDone, wrongCounters } from '../support/ledger.ts';
import { until } from '../support/processes.ts';
import { type PakhusOnStore, startOn, storesFor } from '../support/stores.ts';
import {
  adminSession,
  createPlan,
  createTenant,
  createUser,
  type Tenant,
  unique,
} from '../support/tenants.ts';
import { createTus, headTus, offsetOf, patchTus } from '../support/tus.ts';
import { upload } from '../support/uploads.ts';

const count = Number(process.env.TEST_UPLOADS ?? 150);

/** What the database looked like at each commit that changed a user or a space, in the order of the commits. */
const watchRoom = `
  create table room_log (
    seq bigserial, kind text, id uuid, taken bigint, room bigint, reserved bigint, promised bigint
  );
  create function log_room() returns trigger language plpgsql as $$
  begin
    if tg_table_name = 'users' then
      insert into room_log (kind, id, taken, room, reserved, promised)
        select 'user', u.id, u.used_bytes + u.reserved_bytes, p.storage_limit, u.reserved_bytes,
          (select coalesce(sum(up.reserved), 0) from uploads up where up.user_id = u.id and up.status = 'uploading')
        from users u left join plans p on p.id = coalesce(u.plan_id,
          (select d.id from plans d where d.project_id = u.project_id and d.is_default))
        where u.id = new.id;
    else
      insert into room_log (kind, id, taken, room, reserved, promised)
        select 'space', s.id, s.used_bytes + s.reserved_bytes, s.limit_bytes, s.reserved_bytes,
          (select coalesce(sum(up.reserved), 0) from uploads up where up.space_id = s.id and up.status = 'uploading')
        from spaces s where s.id = new.id;
    end if;
    return null;
  end $$;
  create constraint trigger watch_users after update on users
    deferrable initially deferred for each row execute function log_room();
  create constraint trigger watch_spaces after update on spaces
    deferrable initially deferred for each row execute function log_room();`;

/** Commits that took more than there was, or whose counter was not the sum of the reservations. */
const wrongCommits = `
  select * from (
    select *, lag(taken) over (partition by kind, id order by seq) as before from room_log) entry
  where (taken > room and taken > before) or reserved <> promised order by seq`;

for (const store of storesFor('room of uploads')) {
  describe(`on ${store.name}`, () => {
    let service: PakhusOnStore;
    let api: Api;
    let admin: string;

    beforeAll(async () => {
      service = await startOn(store);
      ({ api } = service);
      admin = await adminSession(api);
      await rowsOf(service.databaseUrl, watchRoom);
    });
    afterAll(() => service.stop());

    /** A busy service asks to come back later. */
    const patiently = (send: () => Promise<Reply>): Promise<Reply> =>
      until('it is answered', async () => {
        const reply = await send();
        return reply.status !== 503 && reply;
      });
    const createIn = ({ key }: Tenant, userId: string, fields: object): Promise<Reply> =>
      patiently(() =>
        api.post(`/project/users/${userId}/uploads`, key, {
          name: 'a.bin',
          mimeType: 'text/plain',
          ...fields,
        }),
      );

    test(`of ${count} creations at once with room for 70, exactly 70 succeed`, async () => {
      const tenant = await createTenant(api, admin);
      await createPlan(api, tenant.key, { storageLimit: 70_999, maxFileSize: 1_000 });
      const user = await createUser(api, tenant.key);
      const replies = await Promise.all(
        Array.from({ length: count }, (_, nth) =>
          nth % 3
            ? createIn(tenant, user.id, { size: 1_000, mode: nth % 2 ? 'direct' : 'resumable' })
            : patiently(() => createTus(api, tenant.key, user.id, { size: 1_000 })),
        ),
      );
      const codes = replies.map(({ status, body }) => (status === 201 ? 'created' : body.error.code));
      expect(codes.filter((code) => code === 'created').length).toBe(70);
      expect(new Set(codes)).toEqual(new Set(['created', 'STORAGE_LIMIT_EXCEEDED']));
      const { body } = await api.get(`/project/users/${user.id}/storage`, tenant.key);
      expect(body).toMatchObject({ storageUsed: 0, storageReserved: 70_000, storageAvailable: 999 });
      expect(await wrongCounters(service)).toEqual([]);
      expect(await rowsOf(service.databaseUrl, wrongCommits)).toEqual([]);
    });

    test('uploads, files, cancellations, expiry and changed limits never take more than there is', async () => {
      const seed = Number(process.env.TEST_SEED ?? randomInt(2 ** 31));
      console.log(`uploads-room on ${store.name}: TEST_SEED=${seed}`);
      let state = seed;
      const random = (below: number): number => {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
        return Math.floor((state / 2 ** 32) * below);
      };
      const tenant = await createTenant(api, admin);
      const { key } = tenant;
      const plans = [
        await createPlan(api, key, { storageLimit: 60_000, maxFileSize: 20_000 }),
        await createPlan(api, key, { storageLimit: 35_000, maxFileSize: 20_000 }),
      ];
      const user = await createUser(api, key);
      const path = `/project/users/${user.id}`;
      const made = await api.post(`${path}/spaces`, key, {
        external_id: unique('s'),
        name: 's',
        limit_bytes: 20_000,
      });
      const spaceId = made.body.space.id as string;
      const open: { id: string; path: string; size: number | null }[] = [];
      const files: string[] = [];
      const take = <Item>(items: Item[]): Item | undefined => items.splice(random(items.length), 1)[0];
      const somewhere = () => (random(2) ? { space_id: spaceId } : {});

      const create = async () => {
        if (random(4) === 0) {
          const reply = await createTus(api, key, user.id, {
            size: null,
            metadata: { filename: 'a', ...(random(2) ? { space_id: spaceId } : {}) },
          });
          if (reply.status === 201)
            open.push({
              id: '',
              path: `/uploads/${String(reply.headers.location).split('/').at(-1)}`,
              size: null,
            });
          return [reply];
        }
        const size = random(6_000);
        const reply = await createIn(tenant, user.id, { size, ...somewhere() });
        const { id, url, status } = reply.body.upload ?? {};
        if (status === 'uploading') open.push({ id, size, path: `/uploads/${url.split('/').at(-1)}` });
        return [reply];
      };
      const send = async () => {
        const one = take(open);
        if (!one) return create();
        const head = await headTus(api, one.path);
        if (head.status !== 200) return [];
        const at = offsetOf(head);
        const end = one.size ?? at + random(4_000);
        const isLast = random(3) > 0;
        const body = bytesOf(isLast ? end - at : random(end - at));
        const length = one.size === null && isLast ? { 'upload-length': String(end) } : {};
        const reply = await patchTus(api, one.path, at, body, length);
        const fileId = reply.headers['pakhus-file-id'];
        if (fileId) files.push(String(fileId));
        else open.push(one);
        return [reply];
      };
      const cancel = async () => {
        const one = take(open);
        return one ? [await api.call('DELETE', one.path, { headers: { 'tus-resumable': '1.0.0' } })] : [];
      };
      const expire = async () => {
        const one = take(open);
        if (one?.id)
          await rowsOf(service.databaseUrl, `update uploads set expires_at = now() where id = '${one.id}'`);
        await uploadUpkeep.run(service.pakhus.deps, never);
        return [];
      };
      const store1 = async () => {
        const reply = await upload(api, key, path, bytesOf(random(5_000)), { meta: somewhere() });
        if (reply.status === 201) files.push(reply.body.file.id);
        return reply;
      };
      const batch = () => Promise.all(Array.from({ length: 12 }, store1));
      const remove = async () => {
        const id = take(files);
        return id ? [await api.delete(`${path}/files/${id}`, key)] : [];
      };
      const assign = async () => [await api.put(`${path}/plan`, key, { planId: plans[random(2)]?.id })];
      const limit = async () => [
        await api.put(`${path}/spaces/${spaceId}`, key, { limit_bytes: 8_000 + random(20_000) }),
      ];
      const steps = [
        create,
        create,
        create,
        send,
        send,
        send,
        send,
        cancel,
        expire,
        batch,
        remove,
        remove,
        assign,
        limit,
      ];
      let left = count;
      const work = async () => {
        while (left > 0) {
          left -= 1;
          const step = steps[random(steps.length)] as () => Promise<Reply[]>;
          for (const { status, text } of await step())
            expect([200, 201, 204, 404, 409, 413, 422, 503], text).toContain(status);
        }
      };
      const looks = (async () => {
        while (left > 0) expect(await wrongCounters(service)).toEqual([]);
      })();
      await Promise.all([...Array.from({ length: 8 }, work), looks]);
      expect(files.length + open.length, 'something succeeded').toBeGreaterThan(0);
      expect(await wrongCounters(service)).toEqual([]);
      expect(await rowsOf(service.databaseUrl, wrongCommits)).toEqual([]);

      await expireUploads(service);
      expect(await rowsOf(service.databaseUrl, 'select from users where reserved_bytes <> 0')).toEqual([]);
      expect(await rowsOf(service.databaseUrl, 'select from spaces where reserved_bytes <> 0')).toEqual([]);
      await reapUntilDone(service);
      await expectBalanced(service, tenant.id);
    });
  });
}
