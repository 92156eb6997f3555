// The reaper: what it deletes, what it never deletes, and that it always finishes.

import { randomUUID } from 'node:crypto';
import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CreateMultipartUploadCommand, UploadPartCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FileRow } from '../../src/contract/file.ts';
import { mover } from '../../src/features/files/files.jobs.ts';
import { moveFile } from '../../src/features/files/files.move.ts';
import { reaper } from '../../src/features/objects/objects.jobs.ts';
import { bytesOf, sha256 } from '../support/bytes.ts';
import { inTransaction, isSomebodyWaiting, rowsOf } from '../support/database.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { expectBalanced, never, objectsOf, reapAll, reapOn, unsettledOf } from '../support/ledger.ts';
import { until } from '../support/processes.ts';
import { openRawPost } from '../support/raw-client.ts';
import { testS3Server } from '../support/s3-server.ts';
import { type PakhusOnStore, startOn, storesFor } from '../support/stores.ts';
import { adminSession, createTenant, createUser } from '../support/tenants.ts';
import { contentTypeOf, formOf, partsOf, upload } from '../support/uploads.ts';

for (const store of storesFor('the reaper')) describe(`on ${store.name}`, suite.bind(null, store));

const meta = { contentType: 'text/plain', contentDisposition: 'attachment' };

function suite(store: Parameters<typeof startOn>[0]): void {
  let service: PakhusOnStore;
  let proxy: FaultProxy | null = null;
  let admin: string;

  beforeAll(async () => {
    const server = store.name === 's3' ? testS3Server() : undefined;
    proxy = server ? await startFaultProxy(server.endpoint) : null;
    // Only the test itself starts the reaper.
    service = await startOn(store, { ROLE: 'api', ...(proxy ? { S3_ENDPOINT: proxy.url } : {}) });
    admin = await adminSession(service.api);
  });
  afterAll(async () => {
    proxy?.set();
    await service.stop();
    await proxy?.close();
  });

  const tenantWithUser = async () => {
    const { id, key } = await createTenant(service.api, admin);
    return { id, key, path: `/project/users/${(await createUser(service.api, key)).id}` };
  };
  const sql = <Row>(statement: string) => rowsOf<Row>(service.databaseUrl, statement);
  const objects = () => service.pakhus.deps.objects;
  /** A row of the ledger whose hold ends in the given number of seconds. */
  const record = (
    projectId: string,
    fileId: string,
    zone: string,
    state: string,
    seconds: number,
    { isHeld = false, lateSeconds = null }: { isHeld?: boolean; lateSeconds?: number | null } = {},
  ) =>
    sql(`insert into objects (project_id, file_id, id, zone, state, held_until, holder, late_until)
      values ('${projectId}', '${fileId}', '${fileId}', '${zone}', '${state}', now() + interval '${seconds} seconds',
        ${isHeld ? `'${randomUUID()}'` : 'null'}, now() + make_interval(secs => ${lateSeconds}))
      on conflict (project_id, file_id, id, zone) do update set state = excluded.state,
        held_until = excluded.held_until, holder = excluded.holder, late_until = excluded.late_until`);
  /** The object of an upload that never committed. */
  const orphan = async (
    projectId: string,
    heldForSeconds: number,
    zone: 'private' | 'public' = 'private',
  ) => {
    const fileId = randomUUID();
    const key = `${projectId}/${fileId}`;
    await objects().put(zone, key, Buffer.from('orphan'), meta);
    await record(projectId, fileId, zone, 'writing', heldForSeconds);
    return key;
  };
  const publicFile = async () => {
    const tenant = await tenantWithUser();
    const made = await upload(service.api, tenant.key, tenant.path, 'public', {
      meta: { visibility: 'public' },
    });
    const { id: fileId, storageKey } = made.body.file;
    return { ...tenant, fileId, storageKey };
  };
  const reapNow = () => reapOn(service);
  const outage = async (work: () => Promise<void>) => {
    if (proxy) {
      proxy.set({ fault: { kind: 'status', status: 503, code: 'ServiceUnavailable' } });
      await work().finally(() => proxy?.set());
      return;
    }
    // As if the disk were not mounted.
    const folder = join(service.dataDir, 'objects');
    await rename(folder, `${folder}.away`);
    await work().finally(async () => {
      await rm(folder, { recursive: true, force: true });
      await rename(`${folder}.away`, folder);
    });
  };

  test('files.move: a late write to the public zone does not expose a private file again', async () => {
    const { id, key, path, fileId, storageKey } = await publicFile();
    await record(id, fileId, 'public', 'rewriting', 3_600, { isHeld: true });
    await service.api.put(`${path}/files/${fileId}`, key, { visibility: 'private' });
    const lingering = () =>
      sql(`select from objects where file_id = '${fileId}' and state = 'deleting' and holder is null
        and late_until > now() + interval '50 minutes'`);
    await until('the public object is deleted', async () => (await lingering()).length === 1);
    expect(await objectsOf(service, id)).toEqual([`private/${storageKey}`]);
    // A write that the worker sent before it lost its hold arrives now.
    await objects().put('public', storageKey, Buffer.from('late'), meta);
    const lookAgain = () =>
      sql(`update objects set held_until = now() where file_id = '${fileId}' and state = 'deleting'`);
    await lookAgain();
    await outage(async () => {
      await expect(mover.run(service.pakhus.deps, never)).resolves.toBeUndefined();
    });
    await lookAgain();
    await mover.run(service.pakhus.deps, never);
    expect(await objectsOf(service, id)).toEqual([`private/${storageKey}`]);
    expect(await lingering(), 'the row stays while a late write may arrive').toHaveLength(1);
    await reapAll(service);
    await expectBalanced(service, id);
  });

  test('files.move: a mover that read the file before another move does not copy it again', async () => {
    const { id, key, path, fileId, storageKey } = await publicFile();
    const [stale] = await sql<FileRow>(`select * from files where id = '${fileId}'`);
    await service.api.put(`${path}/files/${fileId}`, key, { visibility: 'private' });
    await objects().put('private', storageKey, Buffer.from('written since'), meta);
    await objects().put('public', storageKey, Buffer.from('left behind'), meta);
    const asked = { ...(stale as FileRow), visibility: 'private' as const, compression: null };
    expect(await moveFile(service.pakhus.deps, id, asked)).toBe(false);
    const { body } = await service.api.get(`${path}/files/${fileId}`, key);
    expect(await (await fetch(body.file.url)).text()).toBe('written since');
    expect(await unsettledOf(service, id)).toBe(0);
    await objects().delete('public', storageKey);
  });

  test('files.move: a zone that the reaper could not clear is reused once no late request can arrive', async () => {
    const { id, key, path, fileId, storageKey } = await publicFile();
    const lateFor = (seconds: number) =>
      record(id, fileId, 'private', 'deleting', 480, { lateSeconds: seconds });
    await lateFor(20);
    await service.api.put(`${path}/files/${fileId}`, key, { visibility: 'private' });
    await mover.run(service.pakhus.deps, never);
    expect(await objectsOf(service, id)).toEqual([`public/${storageKey}`]);
    await lateFor(-10);
    await mover.run(service.pakhus.deps, never);
    expect(await objectsOf(service, id)).toEqual([`private/${storageKey}`]);
    await expectBalanced(service, id);
  });

  test('files.move: a file leaves the public zone despite an abandoned copy, but waits for a copy in progress', async () => {
    const { id, key, path, fileId, storageKey } = await publicFile();
    const copy = (isHeld: boolean) => record(id, fileId, 'private', 'moving', 3_600, { isHeld });
    await copy(true);
    await service.api.put(`${path}/files/${fileId}`, key, { visibility: 'private' });
    expect(await objectsOf(service, id), 'another mover may be at it').toEqual([`public/${storageKey}`]);
    await copy(false);
    await mover.run(service.pakhus.deps, never);
    expect(await objectsOf(service, id)).toEqual([`private/${storageKey}`]);
    await expectBalanced(service, id);
  });

  test('files.reap: an object whose rewrite died with its process goes back to its file', async () => {
    const { id, key, path } = await tenantWithUser();
    const { id: fileId } = (await upload(service.api, key, path, 'bytes')).body.file;
    await record(id, fileId, 'private', 'rewriting', 0, { isHeld: true });
    await reapNow();
    const read = (await service.api.get(`${path}/files/${fileId}`, key)).body.file;
    expect(await (await fetch(read.url)).text()).toBe('bytes');
    await expectBalanced(service, id);
  });

  test('files.delete: an object that a worker is rewriting is deleted with its file, and again after the last write', async () => {
    const { id, key, path } = await tenantWithUser();
    const { id: fileId, storageKey } = (await upload(service.api, key, path, 'bytes')).body.file;
    await record(id, fileId, 'private', 'rewriting', 600, { isHeld: true });
    expect((await service.api.delete(`${path}/files/${fileId}`, key)).status).toBe(204);
    expect(await objectsOf(service, id)).toEqual([]);
    await objects().put('private', storageKey, Buffer.from('late'), meta);
    expect(await unsettledOf(service, id)).toBe(1);
    await reapAll(service);
    await expectBalanced(service, id);
    expect(await objectsOf(service, id)).toEqual([]);
  });

  test.each(['user', 'project'] as const)(
    'files.move: a file that is moved while its %s is deleted leaves no object',
    async (what) => {
      const { id, key, path } = await tenantWithUser();
      const { id: fileId, storageKey } = (await upload(service.api, key, path, 'bytes')).body.file;
      await objects().copy('private', 'public', storageKey);
      await inTransaction(service.databaseUrl, async (query) => {
        await query(`update files set zone = 'public' where id = '${fileId}';
          update objects set state = 'deleting', held_until = now() where file_id = '${fileId}';
          insert into objects (project_id, file_id, id, zone, state)
          values ('${id}', '${fileId}', '${fileId}', 'public', 'stored')`);
        const deleting =
          what === 'user'
            ? service.api.delete(path, key)
            : service.api.delete(`/admin/projects/${id}`, admin);
        await until('the deletion waits', () => isSomebodyWaiting(service.databaseUrl));
        await query('commit');
        expect((await deleting).status).toBe(204);
      });
      await reapAll(service);
      expect(await objectsOf(service, id)).toEqual([]);
    },
  );

  test('files.reap: an unfinished upload is deleted after its grace period, in both zones, and never before', async () => {
    const { id } = await tenantWithUser();
    await orphan(id, -1);
    await orphan(id, 0, 'public');
    const young = await orphan(id, 60);
    expect(await reapNow()).toBeGreaterThanOrEqual(2);
    expect(await objectsOf(service, id)).toEqual([`private/${young}`]);
    expect(await unsettledOf(service, id)).toBe(1);
    await reapAll(service);
    await expectBalanced(service, id);
  });

  test('files.reap: a record without an object is removed', async () => {
    const { id } = await tenantWithUser();
    const fileId = randomUUID();
    await record(id, fileId, 'private', 'reserved', 0);
    await reapNow();
    expect(await unsettledOf(service, id)).toBe(0);
  });

  test('files.reap: a stored object is never deleted because of a record for the other zone', async () => {
    const { id, key, path } = await tenantWithUser();
    const live = (await upload(service.api, key, path, 'alive')).body.file;
    const shared = (await upload(service.api, key, path, 'alive too', { meta: { visibility: 'public' } }))
      .body.file;
    await record(id, live.id, 'public', 'moving', 0);
    await record(id, shared.id, 'private', 'deleting', 0);
    await reapNow();
    await expectBalanced(service, id);
    for (const [file, text] of [
      [live, 'alive'],
      [shared, 'alive too'],
    ]) {
      const read = (await service.api.get(`${path}/files/${file.id}`, key)).body.file;
      expect(await (await fetch(read.url)).text()).toBe(text);
    }
  });

  if (store.name === 's3')
    test('files.reap: when both zones share one bucket, a record for either zone never deletes an object that a file owns', async () => {
      const { id, key, path } = await tenantWithUser();
      const { file } = (await upload(service.api, key, path, 'kept')).body;
      await record(id, file.id, 'public', 'deleting', 0);
      const another = await service.another({ S3_PUBLIC_BUCKET: '' });
      await reapOn(another);
      await another.stop();
      expect(await objectsOf(service, id)).toEqual([`private/${file.storageKey}`]);
      await expectBalanced(service, id);
    });

  test('files.reap: a leftover copy in the zone that a file has left is deleted, and the file stays', async () => {
    const { id, key, path } = await tenantWithUser();
    const { file } = (await upload(service.api, key, path, 'kept')).body;
    await objects().put('public', file.storageKey, Buffer.from('left'), meta);
    await record(id, file.id, 'public', 'deleting', 0);
    await reapNow();
    expect(await objectsOf(service, id)).toEqual([`private/${file.storageKey}`]);
    await expectBalanced(service, id);
  });

  test('files.delete: while the store is down the file is gone at once; its object is deleted when the store is back', async () => {
    const { id, key, path } = await tenantWithUser();
    const files: { id: string }[] = [];
    for (let nth = 0; nth < 5; nth += 1)
      files.push((await upload(service.api, key, path, bytesOf(100))).body.file);
    await outage(async () => {
      for (const file of files)
        expect((await service.api.delete(`${path}/files/${file.id}`, key)).status).toBe(204);
      expect((await service.api.get(`${path}/storage`, key)).body.storageUsed).toBe(0);
      await reapNow();
      expect(await unsettledOf(service, id)).toBe(5);
    });
    expect(await objectsOf(service, id)).toHaveLength(5);
    await reapAll(service);
    await expectBalanced(service, id);
  });

  test('files.reap: an object that the store fails to delete is retried with back-off, without a limit', async () => {
    const { id } = await tenantWithUser();
    await orphan(id, -1);
    const stateOf = async () => {
      const [row] = await sql<{ attempts: number; wait: number; held: boolean }>(
        `select attempts, extract(epoch from held_until - now())::float as wait, holder is not null as held
         from objects where project_id = '${id}'`,
      );
      return row as { attempts: number; wait: number; held: boolean };
    };
    const waits: number[] = [];
    await outage(async () => {
      for (let attempt = 1; attempt <= 3; attempt += 1) {
        await reapNow();
        const state = await stateOf();
        expect(state).toMatchObject({ attempts: attempt, held: false });
        expect(state.wait).toBeGreaterThan(0);
        waits.push(state.wait);
        // Not due yet: another run does nothing.
        await reapNow();
        expect((await stateOf()).attempts).toBe(attempt);
        await sql(`update objects set held_until = now() - interval '1 second' where project_id = '${id}'`);
      }
      await sql(`update objects set attempts = 1000 where project_id = '${id}'`);
      await reapNow();
      expect((await stateOf()).wait).toBeLessThanOrEqual(6 * 3600);
    });
    expect([...waits].sort((a, b) => a - b)).toEqual(waits);
    expect(waits[2]).toBeGreaterThan((waits[0] ?? 0) * 2);
    await reapAll(service);
    await expectBalanced(service, id);
  });

  test('files.reap: two concurrent reapers share the work, and each object is counted once', async () => {
    const { id } = await tenantWithUser();
    const fileIds = Array.from({ length: 1200 }, () => randomUUID());
    for (const fileId of fileIds.slice(0, 30))
      await objects().put('private', `${id}/${fileId}`, Buffer.from('x'), meta);
    await sql(`insert into objects (project_id, file_id, id, zone, state, held_until)
      select '${id}', f::uuid, f::uuid, 'private', 'writing', now() - interval '1 second'
      from unnest(array['${fileIds.join("','")}']) f`);
    const another = await service.another();
    const reaped = await Promise.all([reapNow(), reapOn(another), reapNow()]);
    await another.stop();
    expect(reaped.reduce((sum, count) => sum + count, 0)).toBe(1200);
    await expectBalanced(service, id);
  });

  test('files.reap: objects held by a reaper that died are taken over when its hold expires', async () => {
    const { id } = await tenantWithUser();
    await orphan(id, -10);
    const hold = (interval: string) =>
      sql(`update objects set state = 'deleting', holder = '${randomUUID()}', held_until = now() + interval '${interval}'
        where project_id = '${id}'`);
    await hold('10 minutes');
    await reapNow();
    expect(await objectsOf(service, id)).toHaveLength(1);
    await hold('-1 second');
    await reapNow();
    await expectBalanced(service, id);
  });

  test('files.reap: unfinished writes in the store are swept after the grace period, and never before', async () => {
    await beginUnfinished(service);
    const { deps } = service.pakhus;
    await reaper.run(deps, never);
    expect(await unfinishedIn(service)).toBe(1);
    // The age cannot be changed, so a grace period that ends in a minute makes it old.
    await reaper.run({ ...deps, settings: { ...deps.settings, REAPER_GRACE_SECONDS: -60 } }, never);
    expect(await unfinishedIn(service)).toBe(0);
  });

  test('files.upload: an upload that takes longer than the grace period is not swept', async () => {
    const { id, key, path } = await tenantWithUser();
    const bytes = bytesOf(18 << 20);
    const form = formOf(partsOf(bytes));
    const client = await openRawPost(service.baseUrl, {
      path: `${path}/files`,
      as: key,
      headers: [`Content-Type: ${contentTypeOf()}`, `Content-Length: ${form.length}`],
    });
    await client.write(form.subarray(0, 17 << 20));
    await until('the store is being written', async () => (await unfinishedIn(service)) === 1);
    const { deps } = service.pakhus;
    await reaper.run({ ...deps, settings: { ...deps.settings, REAPER_GRACE_SECONDS: -60 } }, never);
    expect(await unfinishedIn(service)).toBe(1);
    await client.write(form.subarray(17 << 20));
    const reply = await client.reply();
    client.end();
    expect(reply.status, reply.text).toBe(201);
    await expectBalanced(service, id);
    const { sha256: kept } = (await service.api.get(`${path}/files`, key)).body.files[0];
    expect(kept).toBe(sha256(bytes));
  });

  test('files.upload: an upload whose object the reaper has claimed commits nothing and is refused with 503', async () => {
    const { id, key, path } = await tenantWithUser();
    const form = formOf(partsOf(bytesOf(3 << 20)));
    const client = await openRawPost(service.baseUrl, {
      path: `${path}/files`,
      as: key,
      headers: [`Content-Type: ${contentTypeOf()}`, `Content-Length: ${form.length}`],
    });
    await client.write(form.subarray(0, 2 << 20));
    // Not while it is only reserved: the start of the write would renew the hold.
    const isWriting = `select from objects where project_id = '${id}' and state = 'writing'`;
    await until('the upload is being written', async () => (await sql(isWriting)).length === 1);
    await sql(`update objects set held_until = now() - interval '1 second' where project_id = '${id}'`);
    await reapNow();
    await client.write(form.subarray(2 << 20));
    const reply = await client.reply();
    client.end();
    expect([reply.status, JSON.parse(reply.text).error.code]).toEqual([503, 'STORAGE_UNAVAILABLE']);
    expect((await service.api.get(`${path}/storage`, key)).body.storageUsed).toBe(0);
    expect((await service.api.get(`${path}/files`, key)).body.files).toEqual([]);
    await reapAll(service);
    await expectBalanced(service, id);
    expect(await objectsOf(service, id)).toEqual([]);
  });

  test('files.upload: an upload that has lost its object before the first byte writes nothing and is refused with 503', async () => {
    const { id, key, path } = await tenantWithUser();
    await sql(`create function lose_object() returns trigger language plpgsql as 'begin return null; end';
      create trigger lose_object before update on objects for each row
        when (new.state = 'writing' and new.project_id = '${id}') execute function lose_object()`);
    // The store is down, so that an attempt to write would get another error.
    await outage(async () => {
      const reply = await upload(service.api, key, path, bytesOf(3 << 20));
      expect([reply.status, reply.body.error.code]).toEqual([503, 'STORAGE_UNAVAILABLE']);
      expect(reply.body.error.message).toBe('The upload took too long and was discarded: send it again');
    });
    await sql('drop function lose_object cascade');
    await reapAll(service);
    await expectBalanced(service, id);
  });

  test('files.upload: while the store is down an upload is 503 with Retry-After and leaves nothing', async () => {
    const { id, key, path } = await tenantWithUser();
    await outage(async () => {
      for (const size of [10, 400 << 10]) {
        const reply = await upload(service.api, key, path, bytesOf(size));
        expect([reply.status, reply.body.error.code]).toEqual([503, 'STORAGE_UNAVAILABLE']);
        expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
      }
    });
    expect((await service.api.get(`${path}/storage`, key)).body.storageUsed).toBe(0);
    await reapAll(service);
    await expectBalanced(service, id);
    expect(await objectsOf(service, id)).toEqual([]);
    expect((await upload(service.api, key, path, 'back')).status).toBe(201);
  });

  if (store.name === 's3') {
    test('files.upload: the reaper finds an object that the store wrote but did not confirm', async () => {
      const { id, key, path } = await tenantWithUser();
      proxy?.set({ fault: { kind: 'storedThenLost' }, when: (request) => request.method === 'PUT' });
      const reply = await upload(service.api, key, path, bytesOf(1000));
      proxy?.set();
      expect(reply.status).toBe(503);
      expect(await unsettledOf(service, id)).toBe(1);
      await reapAll(service);
      await expectBalanced(service, id);
      expect(await objectsOf(service, id)).toEqual([]);
    });
  }
}

async function unfinishedIn({ buckets, dataDir }: PakhusOnStore): Promise<number> {
  return buckets ? buckets.unfinishedUploads() : (await readdir(join(dataDir, 'objects', 'tmp'))).length;
}

async function beginUnfinished({ buckets, dataDir }: PakhusOnStore): Promise<void> {
  if (!buckets) {
    await writeFile(join(dataDir, 'objects', 'tmp', 'left'), 'half');
    return;
  }
  const object = { Bucket: buckets.bucket, Key: `${randomUUID()}/${randomUUID()}` };
  const { UploadId } = await buckets.sdk.send(new CreateMultipartUploadCommand(object));
  const part = { ...object, UploadId, PartNumber: 1, Body: Buffer.from('half') };
  await buckets.sdk.send(new UploadPartCommand(part));
}
