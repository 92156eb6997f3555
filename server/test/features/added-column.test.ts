// A newer release may add a column while processes of this release still run. Their prepared statements, made for the old
// table, must keep working.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Reply } from '../support/api.ts';
import { bytesOf } from '../support/bytes.ts';
import { rowsOf } from '../support/database.ts';
import { blankPng } from '../support/image-files.ts';
import { expectBalanced } from '../support/ledger.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { trySendFile } from '../support/send-file.ts';
import { adminSession, createPlan, createTenant, createUser, unique } from '../support/tenants.ts';
import { upload } from '../support/uploads.ts';

let service: TestPakhus;

beforeAll(async () => {
  service = await startTestPakhus();
});
afterAll(() => service.stop());

const tables = ['files', 'users', 'spaces', 'plans', 'projects', 'objects', 'compression_jobs'];

test('files: storing, reading, changing, listing and deleting still work after a column is added', async () => {
  const tenant = await createTenant(service.api, await adminSession(service.api));
  await createPlan(service.api, tenant.key, { maxFileSize: 1 << 30, storageLimit: 1 << 30 });
  const { key } = tenant;
  // Several, because changes of one user wait for each other.
  const users = await Promise.all(Array.from({ length: 8 }, () => createUser(service.api, key)));

  /** Every operation on one file in a new space. */
  const life = async (nth: number): Promise<Reply[]> => {
    const user = users[nth % users.length] as { id: string };
    const path = `/project/users/${user.id}`;
    const space = await service.api.post(`${path}/spaces`, key, { external_id: unique('s'), name: 's' });
    expect(space.status, space.text).toBe(201);
    const meta = { space_id: space.body.space.id, folder: 'a' };
    const made = await upload(service.api, key, path, bytesOf(nth % 4 ? 100 : 400_000), { meta });
    const at = `${path}/files/${made.body.file?.id}`;
    return [
      space,
      made,
      await service.api.get(at, key),
      await service.api.put(at, key, { folder: 'b', visibility: 'public' }),
      await service.api.get(`${path}/files?folder=b`, key),
      await service.api.get(`${path}/files/folders`, key),
      await service.api.delete(`${path}/spaces/${space.body.space.id}`, key),
      await service.api.delete(at, key),
      await trySendFile(service.api, key, user.id, { bytes: blankPng(4, 4), type: 'image/png', as: 'image' }),
    ];
  };
  /** Concurrently, so that every connection of the pool prepares every statement. */
  const lives = async () => {
    const replies = await Promise.all(Array.from({ length: 48 }, (_, nth) => life(nth)));
    return [...new Set(replies.map((each) => each.map(({ status }) => status).join()))];
  };

  const asUsual = ['201,201,200,200,200,200,204,204,202'];
  expect(await lives()).toEqual(asUsual);
  for (const table of tables)
    await rowsOf(
      service.databaseUrl,
      `alter table ${table} add column added_since text not null default 'x'`,
    );
  expect(await lives()).toEqual(asUsual);
  expect(await lives(), 'and again, on statements that were planned anew').toEqual(asUsual);
  await expectBalanced(service, tenant.id);
});

test('database functions return named columns, not rows of a table', async () => {
  const shaped = await rowsOf<{ name: string }>(
    service.databaseUrl,
    `select p.proname as name from pg_proc p join pg_type t on t.oid = p.prorettype
     left join pg_class c on c.oid = t.typrelid
     where p.pronamespace = 'public'::regnamespace and c.relkind = 'r'`,
  );
  expect(shaped).toEqual([]);
  const copied = await rowsOf<{ name: string }>(
    service.databaseUrl,
    `select p.oid::regprocedure::text as name from pg_proc p where p.pronamespace = 'public'::regnamespace
     and p.prosrc ~* '(select|returning)\\s+(\\w+\\.)?\\*|%rowtype'`,
  );
  expect(copied).toEqual([]);
});
