// Many files at once: copies, batches, and folders as a whole.
import { randomUUID } from 'node:crypto';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readFeed } from '../support/feed.ts';
import { expectBalanced, reapUntilDone } from '../support/ledger.ts';
import { until } from '../support/processes.ts';
import { type SentFile, sendFile } from '../support/send-file.ts';
import { type PakhusOnStore, startOn, storesFor } from '../support/stores.ts';
import {
  adminSession,
  createIntegration,
  createPlan,
  createTenant,
  createUser,
  mintToken,
  unique,
} from '../support/tenants.ts';

interface Shown {
  readonly id: string;
  readonly name: string;
  readonly folder: string;
}

describe.each(storesFor('many-files'))('on $name', (store) => {
  let service: PakhusOnStore;
  let admin: string;

  beforeAll(async () => {
    service = await startOn(store);
    admin = await adminSession(service.api);
  });
  afterAll(() => service?.stop());

  const api = () => service.api;

  async function userWithFiles() {
    const tenant = await createTenant(api(), admin);
    const { id: userId } = await createUser(api(), tenant.key);
    const path = `/project/users/${userId}`;
    const send = (sent?: SentFile) => sendFile(api(), tenant.key, userId, sent);
    const sendTo = (...folders: string[]) =>
      Promise.all(folders.map((folder) => send({ fields: { folder } })));
    const files = async (query = '') =>
      (await api().get(`${path}/files?limit=100${query}`, tenant.key)).body.files as Shown[];
    const foldersOf = async () => (await files()).map(({ folder }) => folder).sort();
    const used = async () => (await api().get(path, tenant.key)).body.user.storageUsed as number;
    const batch = (body: object, as = tenant.key) => api().post(`${path}/files/batch`, as, body);
    return { ...tenant, userId, path, send, sendTo, files, foldersOf, used, batch };
  }

  const newSpace = async (key: string, path: string, fields: object = {}): Promise<string> =>
    (await api().post(`${path}/spaces`, key, { external_id: unique('s'), name: 's', ...fields })).body.space
      .id;

  const contentOf = async (key: string, path: string, id: string): Promise<Response> =>
    fetch((await api().get(`${path}/files/${id}`, key)).body.file.url);

  describe('copy', () => {
    test('a copy has the bytes and values of its source, and what was said about it', async () => {
      const { key, path, send, used, id: projectId } = await userWithFiles();
      const id = await send({ fields: { folder: 'a', tags: 'x', metadata: '{"n":1}' } });
      const spaceId = await newSpace(key, path);
      const plain = await api().post(`${path}/files/${id}/copy`, key, {});
      expect(plain.status, plain.text).toBe(201);
      expect(plain.body.file).toMatchObject({
        name: 'a.txt',
        folder: 'a',
        tags: ['x'],
        metadata: { n: 1 },
        size: 5,
      });
      expect(plain.body.file.id).not.toBe(id);
      const other = { name: 'b.txt', folder: 'b/c', space_id: spaceId, visibility: 'public' };
      const changed = await api().post(`${path}/files/${id}/copy`, key, other);
      expect(changed.body.file).toMatchObject(other);
      expect((await api().delete(`${path}/files/${id}`, key)).status).toBe(204);
      for (const { body } of [plain, changed]) {
        const content = await contentOf(key, path, body.file.id);
        expect(await content.text()).toBe('hello');
        expect(content.headers.get('content-disposition')).toContain(body.file.name);
      }
      expect(await used()).toBe(10);
      await expectBalanced(service, projectId);
    });

    test('copies at the edge of the quota: the last that fits is made, the next is refused and leaves nothing', async () => {
      const { key, path, send, used, userId, id: projectId } = await userWithFiles();
      const plan = await createPlan(api(), key, { name: unique('p'), storageLimit: 20 });
      await api().put(`/project/users/${userId}/plan`, key, { planId: plan.id });
      const id = await send();
      const replies = await Promise.all(
        Array.from({ length: 8 }, () => api().post(`${path}/files/${id}/copy`, key, {})),
      );
      expect(replies.filter(({ status }) => status === 201)).toHaveLength(3);
      for (const { status, body } of replies)
        if (status !== 201) expect([status, body.error.code]).toEqual([422, 'STORAGE_LIMIT_EXCEEDED']);
      expect(await used()).toBe(20);
      await reapUntilDone(service);
      await expectBalanced(service, projectId);
    });

    test('a compressed image is copied as it is now', async () => {
      const { key, path, send, id: projectId } = await userWithFiles();
      const bytes = await sharp({ create: { width: 60, height: 40, channels: 3, background: 'blue' } })
        .png()
        .toBuffer();
      const id = await send({ bytes, type: 'image/png', as: 'image', fields: { format: 'webp' } });
      const detail = async () => (await api().get(`${path}/files/${id}`, key)).body.file;
      await until('it is compressed', async () => (await detail()).compression.status === 'done');
      const { file } = (await api().post(`${path}/files/${id}/copy`, key, {})).body;
      expect(file).toMatchObject({ name: 'a.webp', mimeType: 'image/webp', compression: null });
      expect(file.size).toBe((await detail()).compression.compressed_size);
      const content = Buffer.from(await (await contentOf(key, path, file.id)).arrayBuffer());
      expect(content.subarray(8, 12).toString()).toBe('WEBP');
      expect(content.length).toBe(file.size);
      await expectBalanced(service, projectId);
    });

    test('refused: a foreign file, a foreign space, a type that the plan no longer allows', async () => {
      const { key, path, send } = await userWithFiles();
      const other = await userWithFiles();
      const foreign = await other.send();
      expect((await api().post(`${path}/files/${foreign}/copy`, key, {})).status).toBe(404);
      const id = await send();
      const space_id = await newSpace(other.key, other.path);
      expect((await api().post(`${path}/files/${id}/copy`, key, { space_id })).status).toBe(404);
      const plan = await createPlan(api(), key, { name: unique('p'), allowedMimes: ['image/*'] });
      await api().put(`${path}/plan`, key, { planId: plan.id });
      expect((await api().post(`${path}/files/${id}/copy`, key, {})).body.error.code).toBe(
        'MIME_NOT_ALLOWED',
      );
    });

    test('repeated with the same Idempotency-Key, one copy is made', async () => {
      const { key, path, send, files } = await userWithFiles();
      const id = await send();
      const copy = () =>
        api().call('POST', `${path}/files/${id}/copy`, {
          as: key,
          body: { name: 'c.txt' },
          headers: { 'idempotency-key': 'once' },
        });
      const [first, second] = [await copy(), await copy()];
      expect([first.status, second.status]).toEqual([201, 201]);
      expect(second.body.file.id).toBe(first.body.file.id);
      expect(await files()).toHaveLength(2);
    });
  });

  describe('batch', () => {
    test('update: every file gets the values, an event and an audit row', async () => {
      const { key, sendTo, batch, foldersOf } = await userWithFiles();
      const ids = await sendTo('a', 'b', 'c');
      const feed = await readFeed(api(), key);
      const reply = await batch({ ids, action: 'update', set: { folder: 'z', tags: ['t'] } });
      expect(reply.status, reply.text).toBe(200);
      expect(reply.body.files.map(({ id }: Shown) => id)).toEqual(ids);
      expect(await foldersOf()).toEqual(['z', 'z', 'z']);
      const told = (await feed.next(3)).map(({ type, data }) => `${type} ${data.id} ${data.folder}`);
      expect(told.sort()).toEqual(ids.map((id) => `file.updated ${id} z`).sort());
    });

    test('with one foreign or unknown id nothing is done, whatever the action', async () => {
      const { key, sendTo, batch, foldersOf, used, id: projectId } = await userWithFiles();
      const ids = await sendTo('a', 'b');
      const other = await userWithFiles();
      for (const strange of [await other.send(), randomUUID()])
        for (const action of ['update', 'delete', 'restore', 'copy']) {
          const set = action === 'update' ? { set: { folder: 'z' } } : {};
          const reply = await batch({ ids: [...ids, strange], action, ...set });
          expect([reply.status, action]).toEqual([404, action]);
          if (action !== 'restore') expect(reply.body.error.message).toContain(strange);
        }
      expect(await foldersOf()).toEqual(['a', 'b']);
      expect(await used()).toBe(10);
      await reapUntilDone(service);
      await expectBalanced(service, projectId);
      expect((await batch({ ids, action: 'update' }, key)).status).toBe(422);
      expect((await batch({ ids: [], action: 'delete' })).status).toBe(422);
      expect((await batch({ ids: Array(1001).fill(ids[0]), action: 'delete' })).status).toBe(422);
      expect((await batch({ ids, action: 'delete', set: { folder: 'z' } })).status).toBe(422);
    });

    test('delete, restore and copy: all of them, with quota and objects', async () => {
      const { key, sendTo, batch, files, used, id: projectId } = await userWithFiles();
      await api().put('/project/settings', key, { trash_days: 7 });
      const ids = await sendTo('a', 'b', 'c', 'd');
      expect((await batch({ ids, action: 'delete' })).body).toEqual({ deleted: ids });
      expect(await files()).toEqual([]);
      expect(await used()).toBe(20);
      expect((await batch({ ids, action: 'restore' })).body.files).toHaveLength(4);
      const copied = await batch({ ids, action: 'copy', set: { folder: 'copies' } });
      expect(copied.status, copied.text).toBe(200);
      expect(await files('&folder=copies')).toHaveLength(4);
      expect(await used()).toBe(40);
      await api().put('/project/settings', key, { trash_days: 0 });
      await batch({ ids, action: 'delete' });
      expect(await used()).toBe(20);
      await reapUntilDone(service);
      await expectBalanced(service, projectId);
    });

    test('files come back in the order of the ids, each once, also if one is named twice in other letters', async () => {
      const { key, send, batch, id: projectId } = await userWithFiles();
      await api().put('/project/settings', key, { trash_days: 7 });
      // The large one is copied last.
      const sizes = [1 << 20, 1, 2, 3];
      const ids: string[] = [];
      for (const size of sizes) ids.push(await send({ bytes: Buffer.alloc(size) }));
      const wanted = { ids: [...ids, ids[0]?.toUpperCase()] };
      const copied = await batch({ ...wanted, action: 'copy' });
      expect(copied.body.files.map(({ size }: { size: number }) => size)).toEqual(sizes);
      expect((await batch({ ...wanted, action: 'delete' })).body.deleted).toEqual(ids);
      const restored = await batch({ ids: [...ids].reverse(), action: 'restore' });
      expect(restored.body.files.map(({ id }: Shown) => id)).toEqual([...ids].reverse());
      await expectBalanced(service, projectId);
    });

    test('a copy of many that does not fit as a whole makes none', async () => {
      const { key, sendTo, batch, files, used, userId, id: projectId } = await userWithFiles();
      const ids = await sendTo('a', 'b', 'c');
      const plan = await createPlan(api(), key, { name: unique('p'), storageLimit: 29 });
      await api().put(`/project/users/${userId}/plan`, key, { planId: plan.id });
      expect((await batch({ ids, action: 'copy' })).body.error.code).toBe('STORAGE_LIMIT_EXCEEDED');
      expect(await files()).toHaveLength(3);
      expect(await used()).toBe(15);
      await reapUntilDone(service);
      await expectBalanced(service, projectId);
    });

    test('each action needs its own scope', async () => {
      const { key, userId, sendTo, batch } = await userWithFiles();
      const ids = await sendTo('a');
      const { key: integration } = await createIntegration(api(), key, {
        scopes: ['users:read', 'files:read', 'files:write'],
      });
      const { token } = await mintToken(api(), integration, userId);
      const refused = await batch({ ids, action: 'delete' }, token);
      expect([refused.status, refused.body.error.details.missing_scope]).toEqual([403, 'files:delete']);
      expect((await batch({ ids, action: 'update', set: { tags: [] } }, token)).status).toBe(200);
    });

    test('one held file keeps all of them', async () => {
      const { key, path, sendTo, batch, files } = await userWithFiles();
      const ids = await sendTo('a', 'b');
      const retain_until = new Date(Date.now() + 60_000).toISOString();
      await api().put(`${path}/files/${ids[1]}`, key, { retain_until });
      expect((await batch({ ids, action: 'delete' })).status).toBe(423);
      expect((await api().delete(`${path}/folders?prefix=b`, key)).status).toBe(423);
      expect(await files()).toHaveLength(2);
    });
  });

  describe('folders', () => {
    const move = (key: string, path: string, from: string, to: string, more: object = {}) =>
      api().post(`${path}/folders/move`, key, { from, to, ...more });

    test('move: everything below follows, and names that only begin alike stay', async () => {
      const { key, path, sendTo, foldersOf } = await userWithFiles();
      await sendTo('a', 'a/b', 'a/b/c', 'ab', 'a b', 'x');
      const feed = await readFeed(api(), key);
      expect((await move(key, path, '/a/', 'x/y')).body).toEqual({ files: 3 });
      expect(await foldersOf()).toEqual(['a b', 'ab', 'x', 'x/y', 'x/y/b', 'x/y/b/c']);
      expect((await feed.next(3)).map(({ type, data }) => `${type} ${data.folder}`).sort()).toEqual([
        'file.updated x/y',
        'file.updated x/y/b',
        'file.updated x/y/b/c',
      ]);
      expect((await move(key, path, 'x/y', '')).body).toEqual({ files: 3 });
      expect(await foldersOf()).toEqual(['', 'a b', 'ab', 'b', 'b/c', 'x']);
      expect((await move(key, path, 'nothing', 'b')).body).toEqual({ files: 0 });
    });

    test('move: of each file nothing else changes, whatever else looks like a folder or a time', async () => {
      const { key, path, send, files } = await userWithFiles();
      const lookalike = '","folder":"a\\"","updated_at":"2000-01-01T00:00:00.000Z';
      const folders = ['a"/,"folder":"a', 'a"/\\ü😀/b', 'a"'];
      for (const folder of folders) {
        const metadata = { folder: 'a"', updated_at: 'x', [lookalike]: [lookalike, { folder: lookalike }] };
        const fields = { folder, classifier: lookalike, tags: JSON.stringify(['","folder":"a']) };
        await send({
          fields: { ...fields, metadata: JSON.stringify(metadata) },
        });
      }
      const before = await files();
      expect((await move(key, path, 'a"', 'to/"b')).body).toEqual({ files: 3 });
      const after = await files();
      const moved = (file: Shown) => ({
        ...file,
        folder: file.folder.replace('a"', 'to/"b'),
        updated_at: expect.not.stringMatching(`^${(file as Shown & { updated_at: string }).updated_at}$`),
      });
      expect(after).toEqual(before.map(moved));
      for (const file of after) {
        const { body } = await api().put(`${path}/files/${file.id}`, key, { visibility: 'private' });
        expect(body.file).toMatchObject({ ...file, updated_at: expect.any(String) });
      }
    });

    test('move into itself, of the root, or to a name that is too long: refused, nothing moves', async () => {
      const { key, path, sendTo, foldersOf } = await userWithFiles();
      const long = 'l'.repeat(300);
      await sendTo('a', `a/${long}`);
      for (const [from, to] of [
        ['a', 'a'],
        ['a', 'a/b'],
        ['', 'a'],
        ['a', 'm'.repeat(300)],
        ['a', '../x'],
      ] as const)
        expect((await move(key, path, from, to)).status, `${from} to ${to}`).toBe(422);
      expect(await foldersOf()).toEqual(['a', `a/${long}`]);
      expect((await move(key, path, 'a', 'aa')).status).toBe(200);
    });

    test('a space token moves and deletes only in its space', async () => {
      const { key, path, send, foldersOf } = await userWithFiles();
      const space = await newSpace(key, path);
      await send({ fields: { folder: 'a' } });
      await send({ fields: { folder: 'a', space_id: space } });
      expect((await move(key, path, 'a', 'b', { space_id: space })).body).toEqual({ files: 1 });
      expect(await foldersOf()).toEqual(['a', 'b']);
      const removed = await api().delete(`${path}/folders?prefix=a&space_id=none`, key);
      expect(removed.body).toEqual({ files: 1 });
      expect(await foldersOf()).toEqual(['b']);
    });

    test('delete: everything below goes, to the trash if there is one, and one audit row tells of it', async () => {
      const { key, path, sendTo, foldersOf, used, id: projectId } = await userWithFiles();
      await sendTo('a', 'a/b', 'a/b/c', 'ab');
      expect((await api().delete(`${path}/folders`, key)).status).toBe(400);
      expect((await api().delete(`${path}/folders?prefix=`, key)).status).toBe(400);
      expect((await api().delete(`${path}/folders?prefix=a/b`, key)).body).toEqual({ files: 2 });
      expect(await foldersOf()).toEqual(['a', 'ab']);
      expect(await used()).toBe(10);
      await api().put('/project/settings', key, { trash_days: 7 });
      expect((await api().delete(`${path}/folders?prefix=a`, key)).body).toEqual({ files: 1 });
      expect(await used()).toBe(10);
      expect((await api().get(`${path}/files?trashed=true`, key)).body.files).toHaveLength(1);
      const { logs } = (await api().get('/project/audit?action=folder.delete', key)).body;
      expect(logs.map((log: { metadata: object }) => log.metadata)).toEqual([{ files: 1 }, { files: 2 }]);
      await reapUntilDone(service);
      await expectBalanced(service, projectId);
    });
  });
});
