// The trash, files that expire, and files that are held.
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { moveMisplaced } from '../../src/features/files/files.move.ts';
import { emptyTrash, removeExpired } from '../../src/features/files/files.upkeep.ts';
import { rowsOf } from '../support/database.ts';
import { readFeed } from '../support/feed.ts';
import { expectBalanced, never, objectsOf, reapUntilDone } from '../support/ledger.ts';
import { until } from '../support/processes.ts';
import { type SentFile, sendFile, trySendFile } from '../support/send-file.ts';
import { type PakhusOnStore, startOn, storesFor } from '../support/stores.ts';
import {
  adminSession,
  createIntegration,
  createPlan,
  createTenant,
  createUser,
  unique,
} from '../support/tenants.ts';

describe.each(storesFor('trash'))('on $name', (store) => {
  let service: PakhusOnStore;
  let admin: string;

  beforeAll(async () => {
    service = await startOn(store);
    admin = await adminSession(service.api);
  });
  afterAll(() => service?.stop());

  const api = () => service.api;

  /** A user in a project that keeps its trash for 30 days, unless told otherwise. */
  async function projectWithTrash(trashDays = 30) {
    const tenant = await createTenant(api(), admin);
    const { id: userId } = await createUser(api(), tenant.key);
    const reply = await api().put('/project/settings', tenant.key, { trash_days: trashDays });
    expect(reply.status, reply.text).toBe(200);
    const path = `/project/users/${userId}`;
    const send = (sent?: SentFile) => sendFile(api(), tenant.key, userId, sent);
    const fileAt = (id: string) => `${path}/files/${id}`;
    const used = async () => (await api().get(path, tenant.key)).body.user.storageUsed as number;
    const trash = async () => (await api().get(`${path}/files?trashed=true`, tenant.key)).body.files;
    return { ...tenant, userId, path, send, fileAt, used, trash };
  }

  const at = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();

  /** As if this file's time had come. */
  const letExpire = (fileId: string) =>
    rowsOf(service.databaseUrl, `update files set expires_at = now() where id = '${fileId}'`);

  test('settings: the default is no trash; only the owner reads and sets it, within bounds', async () => {
    const tenant = await createTenant(api(), admin);
    expect((await api().get('/project/settings', tenant.key)).body).toEqual({ settings: { trash_days: 0 } });
    for (const trash_days of [-1, 366, 1.5, '30', null])
      expect((await api().put('/project/settings', tenant.key, { trash_days })).status).toBe(422);
    expect((await api().put('/project/settings', tenant.key, { trash_days: 365 })).body.settings).toEqual({
      trash_days: 365,
    });
    const { key } = await createIntegration(api(), tenant.key, {
      scopes: ['users:read', 'files:read', 'files:write', 'files:delete'],
    });
    expect((await api().get('/project/settings', key)).status).toBe(403);
    expect((await api().put('/project/settings', key, { trash_days: 1 })).status).toBe(403);
  });

  test('a deleted file is in no list, has no detail and counts to the quota, until it is restored', async () => {
    const { key, path, send, fileAt, used, trash, id: projectId } = await projectWithTrash();
    const id = await send({ fields: { folder: 'a/b', tags: 'x,y' } });
    const before = (await api().get(fileAt(id), key)).body.file;
    expect((await api().delete(fileAt(id), key)).status).toBe(204);
    expect((await api().get(fileAt(id), key)).status).toBe(404);
    expect((await api().get(`${path}/files`, key)).body.files).toEqual([]);
    expect((await api().get(`${path}/files?tags=x`, key)).body.files).toEqual([]);
    expect((await api().get(`${path}/files/folders`, key)).body.folders).toEqual([]);
    expect((await api().delete(fileAt(id), key)).status).toBe(404);
    expect(await used()).toBe(5);
    const [{ trashed_at, purge_at, ...trashed }] = await trash();
    const { url: _url, url_expires_at: _at, ...shown } = before;
    expect(trashed).toEqual(shown);
    expect(Date.parse(purge_at) - Date.parse(trashed_at)).toBe(30 * 86_400_000);
    const { files, bytes, trashed: shownTrash } = (await api().get('/project/stats/storage', key)).body;
    expect({ files, bytes, trashed: shownTrash }).toEqual({
      files: 0,
      bytes: 0,
      trashed: { files: 1, bytes: 5 },
    });
    await reapUntilDone(service);
    await expectBalanced(service, projectId);
    const restored = await api().post(`${fileAt(id)}/restore`, key);
    expect(restored.status, restored.text).toBe(200);
    expect(restored.body.file).toEqual({ ...shown, updated_at: expect.any(String) });
    expect((await api().get(`${path}/files?tags=x`, key)).body.files).toHaveLength(1);
    const detail = (await api().get(fileAt(id), key)).body.file;
    expect(await (await fetch(detail.url)).text()).toBe('hello');
    expect(await trash()).toEqual([]);
    expect((await api().post(`${fileAt(id)}/restore`, key)).status).toBe(404);
    await expectBalanced(service, projectId);
  });

  test('permanent=true deletes past the trash, and out of it', async () => {
    const { key, send, fileAt, used, trash, id: projectId } = await projectWithTrash();
    const [one, two] = [await send(), await send()];
    expect((await api().delete(`${fileAt(one)}?permanent=true`, key)).status).toBe(204);
    expect((await api().delete(fileAt(two), key)).status).toBe(204);
    expect(await trash()).toHaveLength(1);
    expect((await api().delete(`${fileAt(two)}?permanent=true`, key)).status).toBe(204);
    expect(await trash()).toEqual([]);
    expect(await used()).toBe(0);
    await expectBalanced(service, projectId);
    expect((await api().delete(`${fileAt(two)}?permanent=true`, key)).status).toBe(404);
  });

  test('the trash is paged, confined to a space, and takes no other filters', async () => {
    const { key, path, send, fileAt } = await projectWithTrash();
    const space = (await api().post(`${path}/spaces`, key, { external_id: unique('s'), name: 's' })).body
      .space;
    const inside = await send({ fields: { space_id: space.id } });
    const ids = [await send(), await send(), inside];
    for (const id of ids) expect((await api().delete(fileAt(id), key)).status).toBe(204);
    const first = (await api().get(`${path}/files?trashed=true&limit=2`, key)).body;
    const rest = (await api().get(`${path}/files?trashed=true&limit=2&cursor=${first.next_cursor}`, key))
      .body;
    const shown = [...first.files, ...rest.files].map((file: { id: string }) => file.id);
    expect(shown).toEqual([...ids].reverse());
    const of = async (query: string) =>
      (await api().get(`${path}/files?trashed=true&${query}`, key)).body.files;
    expect((await of(`space_id=${space.id}`)).map((file: { id: string }) => file.id)).toEqual([inside]);
    expect(await of('space_id=none')).toHaveLength(2);
    expect((await api().get(`${path}/files?trashed=true&folder=a`, key)).status).toBe(400);
    expect((await api().delete(`${path}/spaces/${space.id}`, key)).status).toBe(204);
    expect(await of('space_id=none')).toHaveLength(3);
    expect((await api().post(`${fileAt(inside)}/restore`, key)).body.file.space_id).toBeNull();
  });

  test('a file that no longer fits the plan is not restored and stays', async () => {
    const { key, path, send, fileAt, trash } = await projectWithTrash();
    const id = await send();
    await api().delete(fileAt(id), key);
    const refusals = [
      [{ allowedMimes: ['image/*'] }, 'MIME_NOT_ALLOWED'],
      [{ maxFileSize: 4 }, 'FILE_TOO_LARGE'],
      [{ storageLimit: 4 }, 'STORAGE_LIMIT_EXCEEDED'],
    ] as const;
    for (const [limits, code] of refusals) {
      const plan = await createPlan(api(), key, { name: unique('plan'), ...limits });
      expect((await api().put(`${path}/plan`, key, { planId: plan.id })).status).toBe(200);
      const reply = await api().post(`${fileAt(id)}/restore`, key);
      expect([reply.status, reply.body.error?.code]).toEqual([422, code]);
      expect(await trash()).toHaveLength(1);
    }
    const plan = await createPlan(api(), key, { name: unique('plan'), storageLimit: 5 });
    await api().put(`${path}/plan`, key, { planId: plan.id });
    expect((await api().post(`${fileAt(id)}/restore`, key)).status).toBe(200);
  });

  test('a public file in the trash is public nowhere, and public again when it is restored', async () => {
    const { key, send, fileAt, id: projectId } = await projectWithTrash();
    const id = await send({ fields: { visibility: 'public' } });
    const zones = async () => (await objectsOf(service, projectId)).map((place) => place.split('/')[0]);
    const zone = service.pakhus.deps.objects.separatesPublic ? 'public' : 'private';
    expect(await zones()).toEqual([zone]);
    await api().delete(fileAt(id), key);
    await until('the object is private', async () => (await zones()).join() === 'private');
    expect((await api().post(`${fileAt(id)}/restore`, key)).body.file.visibility).toBe('public');
    await moveMisplaced(service.pakhus.deps, never);
    await until('the object is back', async () => (await zones()).join() === zone);
    await expectBalanced(service, projectId);
  });

  test('what the trash keeps no longer is deleted for good; fewer days apply to what is in it', async () => {
    const { key, send, fileAt, used, trash, id: projectId } = await projectWithTrash();
    const [old, young] = [await send(), await send()];
    for (const id of [old, young]) await api().delete(fileAt(id), key);
    const daysAgo = (days: number, id: string) =>
      rowsOf(
        service.databaseUrl,
        `update trashed_files set trashed_at = now() - interval '${days} days' where id = '${id}'`,
      );
    await daysAgo(31, old);
    await daysAgo(3, young);
    await emptyTrash(service.pakhus.deps, never);
    expect((await trash()).map((file: { id: string }) => file.id)).toEqual([young]);
    await api().put('/project/settings', key, { trash_days: 2 });
    await emptyTrash(service.pakhus.deps, never);
    expect(await trash()).toEqual([]);
    expect(await used()).toBe(0);
    await reapUntilDone(service);
    await expectBalanced(service, projectId);
  });

  test('deleting a user or a project deletes its trash as well', async () => {
    const { key, path, send, fileAt, id: projectId } = await projectWithTrash();
    await api().delete(fileAt(await send()), key);
    expect((await api().delete(path, key)).status).toBe(204);
    await reapUntilDone(service);
    expect(await objectsOf(service, projectId)).toEqual([]);
    const other = await projectWithTrash();
    await api().delete(other.fileAt(await other.send()), other.key);
    expect((await api().delete(`/admin/projects/${other.id}`, admin)).status).toBe(204);
    await reapUntilDone(service);
    expect(await objectsOf(service, other.id)).toEqual([]);
  });

  test('an image keeps its job in the trash: what was done stays done, and what was not is done afterwards', async () => {
    const { key, send, fileAt, trash, id: projectId } = await projectWithTrash();
    const bytes = await sharp({ create: { width: 64, height: 48, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    const image = { bytes, type: 'image/png', as: 'image', fields: { format: 'webp' } } as const;
    const statusOf = async (id: string) => (await api().get(fileAt(id), key)).body.file?.compression.status;
    const done = await send(image);
    await until('the image is compressed', async () => (await statusOf(done)) === 'done');
    await api().delete(fileAt(done), key);
    expect((await trash())[0].compression).toMatchObject({ status: 'done', format: 'webp' });
    expect((await api().post(`${fileAt(done)}/restore`, key)).body.file.compression.status).toBe('done');
    const content = await fetch((await api().get(fileAt(done), key)).body.file.url);
    expect(content.headers.get('content-type')).toBe('image/webp');
    const early = await send(image);
    await api().delete(fileAt(early), key);
    await api().post(`${fileAt(early)}/restore`, key);
    await until('the image is compressed', async () => (await statusOf(early)) === 'done');
    await api().delete(`${fileAt(done)}?permanent=true`, key);
    const jobs = await rowsOf(service.databaseUrl, `select from compression_jobs where file_id = '${done}'`);
    expect(jobs).toEqual([]);
    await reapUntilDone(service);
    await expectBalanced(service, projectId);
  });

  test('events and audit: trashed, restored, expired and deleted, once each', async () => {
    const { key, send, fileAt } = await projectWithTrash();
    const feed = await readFeed(api(), key);
    const id = await send();
    await api().delete(fileAt(id), key);
    await api().post(`${fileAt(id)}/restore`, key);
    await letExpire(id);
    await removeExpired(service.pakhus.deps, never);
    await api().delete(`${fileAt(id)}?permanent=true`, key);
    const told = (await feed.next(5)).map(({ type, data }) => [type, data.id]);
    const types = ['file.created', 'file.trashed', 'file.restored', 'file.expired', 'file.deleted'];
    expect(told).toEqual(types.map((type) => [type, id]));
    const { logs } = (await api().get('/project/audit', key)).body;
    const actions = logs
      .filter((log: { resource_id: string }) => log.resource_id === id)
      .map((log: { action: string }) => log.action);
    expect(actions).toEqual(['file.delete', 'file.expire', 'file.restore', 'file.trash', 'file.upload']);
  });

  test('expires_at: refused in the past; a file whose time has come is gone at once, and its room soon', async () => {
    const { key, path, send, fileAt, used, trash, id: projectId } = await projectWithTrash(0);
    const past = await trySendFile(api(), key, path.split('/').at(-1) as string, {
      fields: { expires_at: at(-1) },
    });
    expect(past.status).toBe(422);
    const soon = at(3600);
    const id = await send({ fields: { expires_at: soon } });
    expect((await api().get(fileAt(id), key)).body.file.expires_at).toBe(soon);
    expect((await api().put(fileAt(id), key, { expires_at: at(-5) })).status).toBe(422);
    expect((await api().put(fileAt(id), key, { expires_at: null })).body.file).not.toHaveProperty(
      'expires_at',
    );
    expect((await api().put(fileAt(id), key, { expires_at: soon })).body.file.expires_at).toBe(soon);
    const { url } = (await api().get(fileAt(id), key)).body.file;
    await letExpire(id);
    expect((await api().get(fileAt(id), key)).status).toBe(404);
    expect((await api().get(`${path}/files`, key)).body.files).toEqual([]);
    expect((await api().put(fileAt(id), key, { tags: ['x'] })).status).toBe(404);
    if (store.name === 'disk') expect((await fetch(url)).status).toBe(404);
    await removeExpired(service.pakhus.deps, never);
    expect(await used()).toBe(0);
    expect(await trash()).toEqual([]);
    await reapUntilDone(service);
    await expectBalanced(service, projectId);
  });

  test('retain_until: holds against deletion, expiry, and deletion of user and project; never shortened', async () => {
    const { key, path, send, fileAt, id: projectId } = await projectWithTrash(0);
    const id = await send();
    const until1 = at(3600);
    const { key: other } = await createIntegration(api(), key, {
      scopes: ['users:read', 'files:read', 'files:write', 'files:delete'],
    });
    expect((await api().put(fileAt(id), other, { retain_until: until1 })).status).toBe(403);
    expect((await api().put(fileAt(id), key, { retain_until: at(-1) })).status).toBe(422);
    expect((await api().put(fileAt(id), key, { retain_until: until1 })).body.file.retain_until).toBe(until1);
    for (const retain_until of [null, at(1800)])
      expect((await api().put(fileAt(id), key, { retain_until })).status).toBe(422);
    const refused = await api().delete(`${fileAt(id)}?permanent=true`, key);
    expect([refused.status, refused.body.error.code]).toEqual([423, 'LOCKED']);
    expect(refused.body.error.details.retain_until).toBe(until1);
    expect((await api().delete(path, key)).status).toBe(423);
    expect((await api().delete(`/admin/projects/${projectId}`, admin)).status).toBe(423);
    expect((await api().put(fileAt(id), other, { tags: ['still'], retain_until: until1 })).status).toBe(200);
    await letExpire(id);
    await removeExpired(service.pakhus.deps, never);
    expect(await rowsOf(service.databaseUrl, `select from files where id = '${id}'`)).toHaveLength(1);
    // It stays for everybody to see, and nothing else of it changes.
    expect((await api().get(fileAt(id), key)).body.file.retain_until).toBe(until1);
    expect((await api().get(`${path}/files`, key)).body.files).toHaveLength(1);
    expect((await api().put(fileAt(id), key, { tags: ['yet'] })).status).toBe(200);
    const content = await fetch(`${service.baseUrl}${fileAt(id)}/content`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(await content.text()).toBe('hello');
    expect((await api().post(`${fileAt(id)}/copy`, key, {})).status).toBe(201);
    await rowsOf(service.databaseUrl, `update files set retain_until = now() where id = '${id}'`);
    expect((await api().get(fileAt(id), key)).status).toBe(404);
    await removeExpired(service.pakhus.deps, never);
    expect(await rowsOf(service.databaseUrl, `select from files where id = '${id}'`)).toHaveLength(0);
    expect((await api().delete(path, key)).status).toBe(204);
  });
});
