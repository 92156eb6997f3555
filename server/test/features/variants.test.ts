import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { evictOver } from '../../src/features/variants/variants.evict.ts';
import { variantUpkeep } from '../../src/features/variants/variants.jobs.ts';
import type { Api, Reply } from '../support/api.ts';
import { onServer, rowsOf } from '../support/database.ts';
import { animation, blankPng, picture } from '../support/image-files.ts';
import { expectBalanced, never, objectsOf, reapAll, reapUntilDone } from '../support/ledger.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { until } from '../support/processes.ts';
import { type SentFile, sendFile } from '../support/send-file.ts';
import { type PakhusOnStore, startOn, storesFor } from '../support/stores.ts';
import { adminSession, createIntegration, createTenant, createUser, mintToken } from '../support/tenants.ts';

const thumbnail = { name: 'thumbnail', format: 'webp', width: 64, height: 64 };
/** Asks again while the image is in the making: on a busy machine that takes longer than a request waits. */
const readImage = (api: Api, path: string, as: string): Promise<Reply> =>
  until('it is made or refused', async () => {
    const reply = await api.get(path, as);
    return reply.status === 202 ? undefined : reply;
  });

const photo = (width = 120, height = 90) => picture(width, height).jpeg().toBuffer();

describe.each(storesFor('variants'))('on $name', (store) => {
  let service: PakhusOnStore;
  let admin: string;

  beforeAll(async () => {
    service = await startOn(store);
    admin = await adminSession(service.api);
  });
  afterAll(() => service.stop());

  /** A project with one user and the variant `thumbnail`. */
  async function createProject() {
    const { api } = service;
    const { key, id } = await createTenant(api, admin);
    const user = await createUser(api, key);
    const define = (fields: object) => api.post('/project/variants', key, fields);
    expect((await define(thumbnail)).status).toBe(201);
    const send = (bytes: Buffer, sent: SentFile = {}) =>
      sendFile(api, key, user.id, { bytes, type: 'image/jpeg', ...sent });
    const imageAt = (fileId: string, name = 'thumbnail') =>
      `/project/users/${user.id}/files/${fileId}/variants/${name}`;
    const ask = (fileId: string, name?: string, as = key) => readImage(api, imageAt(fileId, name), as);
    const rows = () =>
      rowsOf<{ state: string; claim: number; bytes: number | null; object_id: string | null }>(
        service.databaseUrl,
        `select state, claim, bytes, object_id from variant_images where project_id = '${id}'`,
      );
    const change = (set: string) =>
      rowsOf(service.databaseUrl, `update variant_images set ${set} where project_id = '${id}'`);
    return { id, key, user, define, send, ask, rows, change, imageAt };
  }

  async function fetched(reply: Reply): Promise<{ bytes: Buffer; type: string | null; response: Response }> {
    expect(reply.status, reply.text).toBe(200);
    const response = await fetch(reply.body.url);
    expect(response.status).toBe(200);
    return {
      response,
      bytes: Buffer.from(await response.arrayBuffer()),
      type: response.headers.get('content-type'),
    };
  }

  test('the first request makes the image, by the recipe, and later ones get the same object', async () => {
    const { id, send, ask } = await createProject();
    const fileId = await send(await photo());
    const first = await ask(fileId);
    expect(first.body).toMatchObject({ width: 64, height: 48 });
    const { bytes, type } = await fetched(first);
    expect([bytes.length, type]).toEqual([first.body.size, 'image/webp']);
    expect(await sharp(bytes).metadata()).toMatchObject({ format: 'webp', width: 64, height: 48 });
    const again = await ask(fileId);
    expect(new URL(again.body.url).pathname).toBe(new URL(first.body.url).pathname);
    expect(await objectsOf(service, id)).toHaveLength(2);
    await expectBalanced(service, id);
  });

  test('50 requests at once, on two instances, make one object in one attempt', async () => {
    const { id, key, send, imageAt, rows } = await createProject();
    const fileId = await send(await photo(400, 300));
    const other = await service.another();
    try {
      const apis = [service.api, other.api];
      const replies = await Promise.all(
        Array.from({ length: 50 }, (_, n) => readImage(apis[n % 2] ?? service.api, imageAt(fileId), key)),
      );
      expect(replies.map(({ status }) => status)).toEqual(Array(50).fill(200));
      expect(new Set(replies.map(({ body }) => new URL(body.url).pathname)).size).toBe(1);
    } finally {
      await other.stop();
    }
    expect(await rows()).toMatchObject([{ state: 'ready', claim: 1 }]);
    expect(await objectsOf(service, id)).toHaveLength(2);
  });

  test('cover fills its box, also from a smaller image; inside never enlarges', async () => {
    const { define, send, ask } = await createProject();
    await define({ name: 'square', format: 'png', width: 200, height: 200, fit: 'cover' });
    await define({ name: 'large', format: 'jpeg', width: 2000, quality: 60 });
    const fileId = await send(await photo(120, 90));
    expect((await ask(fileId, 'square')).body).toMatchObject({ width: 200, height: 200 });
    expect((await ask(fileId, 'large')).body).toMatchObject({ width: 120, height: 90 });
  });

  test('what is no image is refused with 422, and the refusal is remembered', async () => {
    const { send, ask, rows } = await createProject();
    const files = [
      await send(Buffer.from('only text, whatever its type says')),
      await send(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), { type: 'text/plain' }),
      await send((await photo()).subarray(0, 500)),
    ];
    for (const fileId of files) {
      const replies = [await ask(fileId), await ask(fileId), await ask(fileId)];
      expect(replies.map(({ status, body }) => [status, body.error.code])).toEqual(
        Array(3).fill([422, 'VALIDATION_ERROR']),
      );
    }
    expect(await rows()).toMatchObject(files.map(() => ({ state: 'failed', claim: 1 })));
  });

  test('content delivers the image with ranges and an ETag that changes with the variant', async () => {
    const { api } = service;
    const { key, user, send, ask } = await createProject();
    const fileId = await send(await photo());
    const { size, url } = (await ask(fileId)).body;
    const at = `/project/users/${user.id}/files/${fileId}/content?variant=thumbnail`;
    const content = (more: Record<string, string> = {}) =>
      fetch(`${api.baseUrl}${at}`, {
        headers: { authorization: `Bearer ${key}`, ...more },
        redirect: 'manual',
      });
    const whole = await content();
    const bytes = Buffer.from(await whole.arrayBuffer());
    expect([whole.status, bytes.length, whole.headers.get('content-type')]).toEqual([
      200,
      size,
      'image/webp',
    ]);
    expect(whole.headers.get('cache-control')).toBe('private, max-age=300');
    expect(whole.headers.get('content-disposition')).toContain('inline');
    expect(bytes).toEqual(Buffer.from(await (await fetch(url)).arrayBuffer()));
    const etag = whole.headers.get('etag') ?? '';
    expect((await content({ 'if-none-match': etag })).status).toBe(304);
    const part = await content({ range: 'bytes=4-9', 'if-range': etag });
    expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([206, bytes.subarray(4, 10)]);
    const redirect = await api.get(`${at}&redirect=true`, key);
    expect(new URL(String(redirect.headers.location)).pathname).toBe(new URL(url).pathname);
    await api.put('/project/variants/thumbnail', key, { width: 30 });
    expect((await ask(fileId)).status).toBe(200);
    expect((await content({ 'if-none-match': etag })).status).toBe(200);
    const { rows: [row] = [] } = await onServer(
      service.databaseUrl,
      `select project_id || '/' || object_id as key from variant_images where file_id = '${fileId}' and width = 30`,
    );
    await service.pakhus.deps.objects.delete('private', row.key);
    expect((await content()).status, 'an image that the store has lost is made again').toBe(200);
    const text = await send(Buffer.from('no image'));
    expect((await api.get(at.replace(fileId, text), key)).status).toBe(422);
    expect((await api.get(at.replace('thumbnail', 'unknown'), key)).status).toBe(404);
  });

  test('a change of the variant has its images made anew, and the old ones go', async () => {
    const { api } = service;
    const { id, key, send, ask, rows } = await createProject();
    const fileId = await send(await photo());
    const before = await ask(fileId);
    const changed = await api.put('/project/variants/thumbnail', key, { width: 32, height: null });
    expect(changed.body.variant).toMatchObject({ version: 2, width: 32, height: null });
    const after = await ask(fileId);
    expect(after.body).toMatchObject({ width: 32, height: 24 });
    await variantUpkeep.run(service.pakhus.deps, never);
    expect(await rows()).toHaveLength(1);
    await reapAll(service);
    expect((await fetch(before.body.url)).status).toBe(404);
    await fetched(after);
    expect((await api.delete('/project/variants/thumbnail', key)).status).toBe(204);
    expect((await ask(fileId)).status).toBe(404);
    await variantUpkeep.run(service.pakhus.deps, never);
    expect(await rows()).toEqual([]);
    await reapAll(service);
    await expectBalanced(service, id);
  });

  test('a change that changes nothing keeps the version and the images', async () => {
    const { key, send, ask } = await createProject();
    const fileId = await send(await photo());
    const { pathname } = new URL((await ask(fileId)).body.url);
    const same = await service.api.put('/project/variants/thumbnail', key, { width: 64, fit: 'inside' });
    expect(same.body.variant.version).toBe(1);
    expect(new URL((await ask(fileId)).body.url).pathname).toBe(pathname);
  });

  test('an image goes with its file', async () => {
    const { id, key, user, send, ask, rows } = await createProject();
    const fileId = await send(await photo());
    const { url } = (await ask(fileId)).body;
    expect((await service.api.delete(`/project/users/${user.id}/files/${fileId}`, key)).status).toBe(204);
    expect((await ask(fileId)).status).toBe(404);
    expect(await rows()).toEqual([]);
    if (store.name === 'disk') expect((await fetch(url)).status).toBe(404);
    await reapAll(service);
    expect((await fetch(url)).status).toBe(404);
    expect(await objectsOf(service, id)).toEqual([]);
    await expectBalanced(service, id);
  });

  test('a file in the trash has no images; restored, it gets new ones', async () => {
    const { api } = service;
    const { id, key, user, send, ask, rows } = await createProject();
    expect((await api.put('/project/settings', key, { trash_days: 1 })).status).toBe(200);
    const fileId = await send(await photo());
    const { url } = (await ask(fileId)).body;
    const file = `/project/users/${user.id}/files/${fileId}`;
    await api.delete(file, key);
    expect((await ask(fileId)).status).toBe(404);
    expect(await rows()).toEqual([]);
    await reapAll(service);
    expect((await fetch(url)).status).toBe(404);
    await expectBalanced(service, id);
    expect((await api.post(`${file}/restore`, key)).status).toBe(200);
    expect((await ask(fileId)).status).toBe(200);
  });

  test('the images of a deleted user and of a deleted project go', async () => {
    const { api } = service;
    const { id, key, user, send, ask, rows } = await createProject();
    const other = await createUser(api, key);
    const kept = await sendFile(api, key, other.id, { bytes: await photo(), type: 'image/jpeg' });
    const ofOther = `/project/users/${other.id}/files/${kept}/variants/thumbnail`;
    expect((await ask(await send(await photo()))).status).toBe(200);
    expect((await api.get(ofOther, key)).status).toBe(200);
    expect((await api.delete(`/project/users/${user.id}`, key)).status).toBe(204);
    expect(await rows()).toHaveLength(1);
    await reapAll(service);
    expect(await objectsOf(service, id)).toHaveLength(2);
    expect((await api.delete(`/admin/projects/${id}`, admin)).status).toBe(204);
    await reapAll(service);
    expect(await objectsOf(service, id)).toEqual([]);
  });

  test('the image follows the file when its compression changes the bytes', async () => {
    const { send, ask, rows, key, user } = await createProject();
    const fileId = await send(await photo(300, 200), { as: 'image', fields: { width: '40' } });
    await ask(fileId);
    await until('the compression ended', async () => {
      const { body } = await service.api.get(`/project/users/${user.id}/files/${fileId}`, key);
      return body.file.compression?.status === 'done';
    });
    expect((await ask(fileId)).body).toMatchObject({ width: 40, height: 27 });
    expect(await rows()).toHaveLength(1);
  });

  test('above the cap, the images that were not used for longest go, and are made again when wanted', async () => {
    const { id, send, ask, rows, change } = await createProject();
    const files = await Promise.all([1, 2, 3, 4].map(async (n) => send(await photo(100 + n, 80))));
    for (const fileId of files) expect((await ask(fileId)).status).toBe(200);
    const [{ bytes: size = 0 } = {}] = await rows();
    const { deps } = service.pakhus;
    await change(`last_used_at = now() - interval '1 hour'`);
    await ask(files[2] ?? '');
    await until('the use was written', async () => {
      const used = await rowsOf(
        service.databaseUrl,
        `select from variant_images where project_id = '${id}' and last_used_at > now() - interval '1 minute'`,
      );
      return used.length === 1;
    });
    const evictedBefore = deps.variantDesk.counts.evicted;
    const settings = { ...deps.settings, VARIANT_CACHE_BYTES: Math.ceil((size ?? 0) * 1.05) };
    await evictOver({ ...deps, settings }, id);
    expect(deps.variantDesk.counts.evicted - evictedBefore).toBe(3);
    const left = await rowsOf<{ file_id: string }>(
      service.databaseUrl,
      `select file_id from variant_images where project_id = '${id}'`,
    );
    expect(left).toEqual([{ file_id: files[2] }]);
    await reapAll(service);
    await expectBalanced(service, id);
    expect((await ask(files[0] ?? '')).status).toBe(200);
    expect(await rows()).toHaveLength(2);
  });

  test('requests, changes, evictions and deletions that race leave no object and no row behind', async () => {
    const { api } = service;
    const { id, key, user, send, ask, rows } = await createProject();
    const { deps } = service.pakhus;
    const bytes = await photo(40, 30);
    const files = await Promise.all(Array.from({ length: 12 }, () => send(bytes)));
    const settings = { ...deps.settings, VARIANT_CACHE_BYTES: 2_000 };
    const asking = files.flatMap((fileId) => [ask(fileId), ask(fileId)]);
    const changing = [10, 20, 30].map((width) => api.put('/project/variants/thumbnail', key, { width }));
    const upkeep = Array.from({ length: 6 }, () => variantUpkeep.run({ ...deps, settings }, never));
    const deleting = files
      .slice(0, 6)
      .map((fileId) => api.delete(`/project/users/${user.id}/files/${fileId}`, key));
    const replies = await Promise.all([...asking, ...changing, ...deleting]);
    await Promise.all(upkeep);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 204, 404]));
    await until('nothing is in the making', async () =>
      (await rows()).every(({ state }) => state === 'ready'),
    );
    await variantUpkeep.run(deps, never);
    await reapUntilDone(service);
    await expectBalanced(service, id);
    const [cached] = await rowsOf<{ bytes: number; total: number }>(
      service.databaseUrl,
      `select (select coalesce(sum(bytes), 0) from variant_images where project_id = '${id}')::int as bytes,
         (select coalesce(sum(bytes), 0) from (select * from stat_totals union all select * from stat_deltas) known
           where project_id = '${id}' and dimension = 'variants')::int as total`,
    );
    expect(cached?.total, 'the total of cached bytes').toBe(cached?.bytes);
  });

  test('everyone who may read files may use and read variants, and nobody but the owner may change them', async () => {
    const { api } = service;
    const { key, user, send, ask, imageAt } = await createProject();
    const fileId = await send(await photo());
    const stranger = await createTenant(api, admin);
    const { key: integration } = await createIntegration(api, key, { scopes: ['files:read', 'users:write'] });
    const { token } = await mintToken(api, key, user.id, ['files:read']);
    const other = await createUser(api, key);
    const { token: otherToken } = await mintToken(api, key, other.id, ['files:read']);
    for (const as of [integration, token]) {
      expect((await ask(fileId, 'thumbnail', as)).status).toBe(200);
      expect((await api.get('/project/variants', as)).body.variants).toHaveLength(1);
      expect((await api.post('/project/variants', as, { ...thumbnail, name: 'mine' })).status).toBe(403);
      expect((await api.delete('/project/variants/thumbnail', as)).status).toBe(403);
    }
    expect((await api.get(imageAt(fileId), otherToken)).status).toBe(404);
    expect((await api.get(imageAt(fileId), stranger.key)).status).toBe(404);
    expect((await api.get('/project/variants/thumbnail', stranger.key)).status).toBe(404);
  });
});

describe('hostile images', () => {
  let service: TestPakhus;
  let key: string;
  let userId: string;

  beforeAll(async () => {
    service = await startTestPakhus({ IMAGE_TIMEOUT_SECONDS: '8' });
    ({ key } = await createTenant(service.api, await adminSession(service.api)));
    userId = (await createUser(service.api, key)).id;
    const box = { width: 1024, height: 1024, fit: 'cover' };
    for (const format of ['webp', 'jpeg'])
      expect(
        (await service.api.post('/project/variants', key, { name: format, format, ...box })).status,
      ).toBe(201);
  });
  afterAll(() => service.stop());

  const ask = async (bytes: Buffer, name: string): Promise<Reply> => {
    const fileId = await sendFile(service.api, key, userId, { bytes, type: 'image/png' });
    return readImage(service.api, `/project/users/${userId}/files/${fileId}/variants/${name}`, key);
  };

  test('an animation of tiny frames is not blown up frame by frame: only its first frame is kept', async () => {
    const reply = await ask(await animation(200, 1, 1).toBuffer(), 'webp');
    expect(reply.status, reply.text).toBe(200);
    const metadata = await sharp(Buffer.from(await (await fetch(reply.body.url)).arrayBuffer())).metadata();
    expect([metadata.width, metadata.height, metadata.pages ?? 1]).toEqual([1024, 1024, 1]);
  });

  test('an image one pixel wide and very high is cut to the box, or refused, within the limits of the engine', async () => {
    const reply = await ask(blankPng(1, 60_000), 'jpeg');
    expect([200, 422], reply.text).toContain(reply.status);
  });

  test('an image above the pixel cap is refused', async () => {
    const reply = await ask(blankPng(30_000, 30_000), 'jpeg');
    expect(reply.status).toBe(422);
    expect(reply.body.error.message).toContain('more than the 50000000 allowed');
  });
});

describe('without workers', () => {
  let service: TestPakhus;
  let admin: string;
  let key: string;
  let userId: string;

  beforeAll(async () => {
    service = await startTestPakhus({ ROLE: 'api' }, undefined, { variantWaitMsMax: 200 });
    admin = await adminSession(service.api);
    ({ key } = await createTenant(service.api, admin));
    userId = (await createUser(service.api, key)).id;
    expect((await service.api.post('/project/variants', key, thumbnail)).status).toBe(201);
  });
  afterAll(() => service.stop());

  const ask = (fileId: string, name = 'thumbnail') =>
    service.api.get(`/project/users/${userId}/files/${fileId}/variants/${name}`, key);

  test('a request that waited for long gets 202 and when to ask again; the job is there, once, and a worker does it', async () => {
    const fileId = await sendFile(service.api, key, userId, { bytes: await photo(), type: 'image/jpeg' });
    const replies = await Promise.all([ask(fileId), ask(fileId), ask(fileId)]);
    for (const { status, headers, body } of replies) {
      expect([status, headers['retry-after']]).toEqual([202, '2']);
      expect(body).toEqual({ status: 'pending', file_id: fileId, variant: 'thumbnail' });
    }
    const content = `/project/users/${userId}/files/${fileId}/content?variant=thumbnail`;
    for (const query of ['', '&redirect=true']) {
      const { status, body } = await service.api.get(`${content}${query}`, key);
      expect([status, body]).toEqual([202, replies[0]?.body]);
    }
    const jobs = await rowsOf(service.databaseUrl, `select from pgboss.job where name = 'variants.make'`);
    expect(jobs).toHaveLength(1);
    const worker = await service.another({ ROLE: 'worker' });
    try {
      await until('it is made', async () => (await ask(fileId)).status === 200);
    } finally {
      await worker.stop();
    }
  });

  test('a project has at most 64 images in the making, also in a race; others wait for their turn with 503', async () => {
    const bytes = Buffer.from('no image, but nobody has looked yet');
    const ids = await Promise.all(
      Array.from({ length: 70 }, () => sendFile(service.api, key, userId, { bytes })),
    );
    const replies = await Promise.all(ids.map((fileId) => ask(fileId)));
    const statuses = replies.map(({ status }) => status);
    expect([202, 503].map((wanted) => statuses.filter((status) => status === wanted).length)).toEqual([
      64, 6,
    ]);
    const refused = replies.find(({ status }) => status === 503);
    expect(refused?.headers['retry-after']).toBeTruthy();
    const unfinished = await rowsOf(
      service.databaseUrl,
      `select from variant_images where state = 'pending'`,
    );
    expect(unfinished).toHaveLength(64);
  });

  test('definitions outside the bounds are refused, each with the field to look at', async () => {
    const refused: [object, string][] = [
      [{ ...thumbnail, name: 'Upper' }, 'name'],
      [{ ...thumbnail, name: 'x'.repeat(41) }, 'name'],
      [{ ...thumbnail, format: 'svg' }, 'format'],
      [{ ...thumbnail, width: 4097 }, 'width'],
      [{ ...thumbnail, width: 0 }, 'width'],
      [{ ...thumbnail, quality: 101 }, 'quality'],
      [{ name: 'a', format: 'webp' }, 'width'],
      [{ name: 'a', format: 'webp', width: 10, fit: 'cover' }, 'height'],
      [{ name: 'a', format: 'webp', height: 10, fit: 'cover' }, 'width'],
      [{ ...thumbnail, fit: 'fill' }, 'fit'],
    ];
    for (const [fields, path] of refused) {
      const reply = await service.api.post('/project/variants', key, fields);
      expect([reply.status, reply.body.error.details.issues[0].path], reply.text).toEqual([422, path]);
    }
  });

  test('a name is taken once, a project has at most 50 variants, and all changes are in the audit log', async () => {
    const { api } = service;
    const { key } = await createTenant(api, admin);
    const define = (name: string) => api.post('/project/variants', key, { ...thumbnail, name });
    const replies = await Promise.all(Array.from({ length: 52 }, (_, n) => define(`variant-${n}`)));
    const statuses = replies.map(({ status }) => status);
    expect([201, 409].map((wanted) => statuses.filter((status) => status === wanted).length)).toEqual([
      50, 2,
    ]);
    const { variants, next_cursor } = (await api.get('/project/variants', key)).body;
    expect([variants.length, next_cursor]).toEqual([50, null]);
    const { name } = variants[0];
    expect((await api.delete(`/project/variants/${name}`, key)).status).toBe(204);
    expect((await define(variants[1].name)).status).toBe(409);
    expect((await define(name)).status).toBe(201);
    expect((await api.put(`/project/variants/${name}`, key, { quality: 50 })).status).toBe(200);
    const { logs } = (await api.get('/project/audit?limit=3', key)).body;
    expect(logs.map(({ action }: { action: string }) => action)).toEqual([
      'variant.update',
      'variant.create',
      'variant.delete',
    ]);
    expect(logs[0].metadata).toMatchObject({ old: { quality: 80 }, new: { quality: 50, version: 2 } });
  });

  test('a repeated POST with an Idempotency-Key defines one variant', async () => {
    const { key } = await createTenant(service.api, admin);
    const post = () =>
      service.api.call('POST', '/project/variants', {
        as: key,
        body: thumbnail,
        headers: { 'idempotency-key': 'define-it-once' },
      });
    const replies = [await post(), await post()];
    expect(replies.map(({ status, text }) => [status, text])).toEqual(Array(2).fill([201, replies[0]?.text]));
  });
});
