// Uploads and what becomes of them: reading back, changing, deleting, and the limits of plans; on every store.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Reply } from '../support/api.ts';
import { bytesOf, sha256 } from '../support/bytes.ts';
import { expectBalanced, objectsOf, reapAll, unsettledOf } from '../support/ledger.ts';
import { type PakhusOnStore, startOn, storesFor } from '../support/stores.ts';
import {
  adminSession,
  createPlan,
  createTenant,
  createUser,
  mintToken,
  type Tenant,
  unique,
} from '../support/tenants.ts';
import { contentTypeOf, formOf, partsOf, type UploadOptions, upload } from '../support/uploads.ts';

const png = Buffer.concat([
  Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex'),
  Buffer.alloc(64),
]);
const nobody = '00000000-0000-4000-8000-000000000000';

for (const store of storesFor('files')) describe(`on ${store.name}`, suite.bind(null, store));

function suite(store: Parameters<typeof startOn>[0]): void {
  let service: PakhusOnStore;
  let admin: string;
  let tenant: Tenant;

  beforeAll(async () => {
    service = await startOn(store, { MAX_UPLOAD_BYTES: String(16 << 20) });
    admin = await adminSession(service.api);
    tenant = await createTenant(service.api, admin);
  });
  afterAll(() => service.stop());

  const userOf = async (key = tenant.key) => `/project/users/${(await createUser(service.api, key)).id}`;
  const put = (path: string, bytes: Buffer | string, options: UploadOptions = {}, key = tenant.key) =>
    upload(service.api, key, path, bytes, options);
  const download = async (reply: Reply) => {
    const response = await fetch(reply.body.file.url);
    return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
  };
  const usageOf = async (path: string, key = tenant.key) =>
    (await service.api.get(`${path}/storage`, key)).body.storageUsed;
  /** A tenant of its own with one plan, and one user under it. */
  const underPlan = async (plan: object) => {
    const own = await createTenant(service.api, admin);
    await createPlan(service.api, own.key, { maxFileSize: 1 << 20, ...plan });
    const path = await userOf(own.key);
    const send = (bytes: Buffer | string, options: UploadOptions = {}) =>
      upload(service.api, own.key, path, bytes, options);
    return { ...own, path, send };
  };
  const codeOf = (reply: Reply) => `${reply.status} ${reply.body?.error?.code ?? ''}`.trim();

  describe('files.upload', () => {
    const sizes = [0, 1, (256 << 10) - 1, 256 << 10, (256 << 10) + 1, 9 << 20];
    test.each(sizes)('files.upload: %i bytes read back the same through url', async (size) => {
      const path = await userOf();
      const bytes = bytesOf(size);
      const reply = await put(path, bytes, { name: 'data.bin' });
      expect(reply.status, reply.text).toBe(201);
      expect(reply.body.file).toMatchObject({
        size,
        name: 'data.bin',
        sha256: sha256(bytes),
        space_id: null,
      });
      const fetched = await download(reply);
      expect(fetched.status).toBe(200);
      expect(sha256(fetched.bytes)).toBe(sha256(bytes));
      expect(await usageOf(path)).toBe(size);
    });

    const wanted = {
      folder: 'a/b',
      tags: ['x', 'y'],
      classifier: 'invoice',
      metadata: { order: 42, deep: { list: [1, null, 'æ'] } },
      visibility: 'public',
    };
    const single = {
      folder: '/a/b/',
      tags: 'x, y',
      classifier: 'invoice',
      metadata: JSON.stringify(wanted.metadata),
      visibility: 'public',
    };
    test.each<[string, UploadOptions]>([
      ['one meta part before the file', { meta: wanted }],
      ['one meta part after the file', { meta: wanted, metaAfterFile: true }],
      ['single fields before the file', { fields: single }],
      ['single fields after the file', { fields: single, metaAfterFile: true }],
      ['tags as JSON', { fields: { ...single, tags: '["x","y"]' } }],
      ['tags repeated', { fields: { ...single, tags: ['x', 'y'] } }],
      ['single fields over the same ones in meta', { meta: { ...wanted, folder: 'no' }, fields: single }],
    ])('files.upload: metadata as %s is kept', async (_how, options) => {
      const path = await userOf();
      for (const bytes of ['small', bytesOf(300 << 10)]) {
        const reply = await put(path, bytes, options);
        expect(reply.status, reply.text).toBe(201);
        expect(reply.body.file).toMatchObject(wanted);
        const read = await service.api.get(`${path}/files/${reply.body.file.id}`, tenant.key);
        expect(read.body.file).toMatchObject(wanted);
        expect((await download(read)).bytes).toEqual(Buffer.from(bytes));
      }
    });

    test.each(['space_id', 'spaceId'])(
      'files.upload: %s, in meta or by itself, places the file in a space',
      async (field) => {
        const path = await userOf();
        const made = await service.api.post(`${path}/spaces`, tenant.key, {
          external_id: unique('s'),
          name: 's',
        });
        const { id } = made.body.space;
        for (const options of [{ meta: { [field]: id } }, { fields: { [field]: id } }]) {
          const reply = await put(path, 'abc', options);
          expect(reply.status, reply.text).toBe(201);
          expect(reply.body.file.space_id).toBe(id);
        }
        const shouted = await put(path, 'abc', { fields: { [field]: id.toUpperCase() } });
        expect(shouted.body.file.space_id).toBe(id);
        const space = await service.api.get(`${path}/spaces/${id}`, tenant.key);
        expect(space.body.space.used_bytes).toBe(9);
      },
    );

    test('files.upload: an unknown space is 404, one of another user 404, an inactive one 403', async () => {
      const [path, other] = [await userOf(), await userOf()];
      const make = async (at: string) =>
        (await service.api.post(`${at}/spaces`, tenant.key, { external_id: unique('s'), name: 's' })).body
          .space.id;
      const [mine, theirs] = [await make(path), await make(other)];
      await service.api.put(`${path}/spaces/${mine}`, tenant.key, { active: false });
      expect((await put(path, 'x', { meta: { space_id: nobody } })).status).toBe(404);
      expect((await put(path, 'x', { meta: { space_id: theirs } })).status).toBe(404);
      expect((await put(path, 'x', { meta: { space_id: mine } })).status).toBe(403);
      expect((await put(path, 'x', { meta: { space_id: 'nonsense' } })).status).toBe(422);
      expect(await usageOf(path)).toBe(0);
    });

    test('files.upload: the ext twin stores for the same user', async () => {
      const { id, externalId } = await createUser(service.api, tenant.key, `${unique('ext')}/æ`);
      const reply = await put(`/project/users/ext/${encodeURIComponent(externalId)}`, 'abc');
      expect(reply.status, reply.text).toBe(201);
      expect(reply.body.file.user_id).toBe(id);
    });

    test('files.upload: an unknown user is 404, an inactive one 403, and a foreign one 404', async () => {
      const path = await userOf();
      await service.api.put(path, tenant.key, { active: false });
      const other = await createTenant(service.api, admin);
      expect(codeOf(await put(path, 'x'))).toBe('403 FORBIDDEN');
      expect(codeOf(await put(`/project/users/${nobody}`, 'x'))).toBe('404 NOT_FOUND');
      expect(codeOf(await put('/project/users/ext/nobody', 'x'))).toBe('404 NOT_FOUND');
      expect(codeOf(await put(path, 'x', {}, other.key))).toBe('404 NOT_FOUND');
    });

    test('files.upload: a user token stores for its own user, and needs files:write', async () => {
      const [path, other] = [await userOf(), await userOf()];
      const id = path.split('/').at(-1) ?? '';
      const { token } = await mintToken(service.api, tenant.key, id);
      const { token: reader } = await mintToken(service.api, tenant.key, id, ['files:read']);
      expect((await put(path, 'x', {}, token)).status).toBe(201);
      expect((await put(other, 'x', {}, token)).status).toBe(404);
      expect((await put(path, 'x', {}, reader)).status).toBe(403);
    });

    test('files.upload: a digest that fits is accepted, one that does not is refused and nothing stays', async () => {
      const own = await createTenant(service.api, admin);
      const path = await userOf(own.key);
      for (const bytes of [bytesOf(1000), bytesOf(400 << 10)]) {
        const right = sha256(bytes);
        const wrong = sha256(Buffer.from('other'));
        const digest = (hex: string) => ({
          'content-digest': `sha-256=:${Buffer.from(hex, 'hex').toString('base64')}:`,
        });
        const whole = sha256(formOf(partsOf(bytes)));
        for (const options of [
          { fields: { sha256: right } },
          { fields: { sha256: right.toUpperCase() }, metaAfterFile: true },
          { headers: digest(right) },
          { headers: digest(whole) },
        ]) {
          const reply = await put(path, bytes, options, own.key);
          expect(reply.status, reply.text).toBe(201);
        }
        for (const options of [
          { fields: { sha256: wrong } },
          { fields: { sha256: wrong }, metaAfterFile: true },
          { fields: { sha256: 'abc' } },
          { headers: digest(wrong) },
        ]) {
          const reply = await put(path, bytes, options, own.key);
          expect(codeOf(reply)).toBe('422 VALIDATION_ERROR');
        }
      }
      expect(await objectsOf(service, own.id)).toHaveLength(8);
      await reapAll(service);
      await expectBalanced(service, own.id);
    });

    test('files.upload: the storage snapshot is the sum of the sizes', async () => {
      const { key, path, send } = await underPlan({ storageLimit: 1000 });
      for (const size of [0, 10, 250]) expect((await send(bytesOf(size))).status).toBe(201);
      const { body } = await service.api.get(`${path}/storage`, key);
      expect(body).toMatchObject({
        storageUsed: 260,
        storageReserved: 0,
        storageLimit: 1000,
        storageAvailable: 740,
        usagePercent: 26,
        overQuota: false,
      });
    });
  });

  describe('files.read', () => {
    test('files.read: url and url_expires_at are in details, not in lists', async () => {
      const path = await userOf();
      const before = Date.now();
      const { body } = await put(path, 'abc');
      const read = await service.api.get(`${path}/files/${body.file.id}`, tenant.key);
      const expiry = Date.parse(read.body.file.url_expires_at) - before;
      expect(expiry).toBeGreaterThan(604_790_000);
      expect(expiry).toBeLessThan(604_860_000);
      const [listed] = (await service.api.get(`${path}/files`, tenant.key)).body.files;
      expect(listed.id).toBe(body.file.id);
      expect(listed).not.toHaveProperty('url');
      expect(listed).not.toHaveProperty('url_expires_at');
    });

    test('files: another tenant, another user and an unknown id are 404 everywhere', async () => {
      const [path, sibling] = [await userOf(), await userOf()];
      const other = await createTenant(service.api, admin);
      const { id } = (await put(path, 'abc')).body.file;
      const { token } = await mintToken(service.api, tenant.key, sibling.split('/').at(-1) ?? '');
      const cases = [
        [other.key, `${path}/files/${id}`],
        [tenant.key, `${sibling}/files/${id}`],
        [tenant.key, `${path}/files/${nobody}`],
        [token, `${path}/files/${id}`],
        [token, `${sibling}/files/${id}`],
      ] as const;
      for (const [as, at] of cases) {
        expect((await service.api.get(at, as)).status, at).toBe(404);
        expect((await service.api.put(at, as, { folder: 'x' })).status, at).toBe(404);
        expect((await service.api.delete(at, as)).status, at).toBe(404);
      }
      expect((await service.api.get(`${path}/files/${id}`, tenant.key)).body.file.folder).toBe('');
      expect((await service.api.get(`${path}/files/not-a-uuid`, tenant.key)).status).toBe(400);
    });
  });

  describe('files.update', () => {
    test('files.update: only the given fields change, and null clears', async () => {
      const path = await userOf();
      const meta = { folder: 'a', tags: ['t'], classifier: 'c', metadata: { a: 1 } };
      const { file } = (await put(path, 'abc', { meta })).body;
      const change = async (body: object) =>
        (await service.api.put(`${path}/files/${file.id}`, tenant.key, body)).body.file;
      const { updated_at: _touched, url: _url, url_expires_at: _expiry, ...same } = file;
      expect(await change({})).toMatchObject(same);
      expect(await change({ folder: '/b/c/' })).toMatchObject({ ...same, folder: 'b/c' });
      expect(await change({ tags: ['u', 'u', 'v'] })).toMatchObject({ folder: 'b/c', tags: ['u', 'v'] });
      expect(await change({ metadata: { b: [2] } })).toMatchObject({ metadata: { b: [2] }, classifier: 'c' });
      const cleared = await change({ folder: null, classifier: null, metadata: null, tags: [] });
      expect(cleared).toMatchObject({ folder: '', classifier: null, metadata: {}, tags: [] });
      const kept = await change({ name: 'other', size: 1, mimeType: 'a/b', storageKey: 'k', unknown: true });
      expect(kept).toMatchObject({
        name: file.name,
        size: 3,
        mimeType: file.mimeType,
        storageKey: file.storageKey,
      });
    });

    test.each<[string, object]>([
      ['a folder with ..', { folder: 'a/../b' }],
      ['a folder with .', { folder: './a' }],
      ['a folder with an empty segment', { folder: 'a//b' }],
      ['a folder with a control character', { folder: 'a\u0007b' }],
      ['a folder of 513 characters', { folder: 'a'.repeat(513) }],
      ['a folder that is a number', { folder: 7 }],
      ['33 tags', { tags: Array.from({ length: 33 }, (_, at) => `t${at}`) }],
      ['an empty tag', { tags: [''] }],
      ['a tag of 65 characters', { tags: ['x'.repeat(65)] }],
      ['tags as text', { tags: 'a,b' }],
      ['a tag with NUL', { tags: ['a\u0000'] }],
      ['metadata over 16 KiB', { metadata: { a: 'x'.repeat(16_400) } }],
      ['metadata as a list', { metadata: [1] }],
      ['metadata with a lone surrogate', { metadata: { a: '\ud800' } }],
      ['metadata 33 levels deep', { metadata: nested(33) }],
      ['an unknown visibility', { visibility: 'secret' }],
    ])('files.update and files.upload: %s is 422 and changes nothing', async (_what, meta) => {
      const path = await userOf();
      const { id } = (await put(path, 'abc')).body.file;
      const changed = await service.api.put(`${path}/files/${id}`, tenant.key, meta);
      expect(codeOf(changed)).toBe('422 VALIDATION_ERROR');
      expect(changed.body.error.details.issues.length).toBeGreaterThan(0);
      expect(codeOf(await put(path, 'abc', { meta }))).toBe('422 VALIDATION_ERROR');
      const { file } = (await service.api.get(`${path}/files/${id}`, tenant.key)).body;
      expect(file).toMatchObject({ folder: '', tags: [], metadata: {}, visibility: 'private' });
      expect(await usageOf(path)).toBe(3);
    });
  });

  describe('files.delete', () => {
    test('files.delete: 204, then 404; usage is given back, and the object is gone', async () => {
      const own = await createTenant(service.api, admin);
      const path = await userOf(own.key);
      const kept = (await put(path, bytesOf(10), {}, own.key)).body.file;
      for (const [size, visibility] of [
        [100, 'private'],
        [300 << 10, 'public'],
      ] as const) {
        const reply = await put(path, bytesOf(size), { meta: { visibility } }, own.key);
        const at = `${path}/files/${reply.body.file.id}`;
        expect(await usageOf(path, own.key)).toBe(size + 10);
        const gone = await service.api.delete(at, own.key);
        expect([gone.status, gone.text]).toEqual([204, '']);
        for (const again of [await service.api.delete(at, own.key), await service.api.get(at, own.key)])
          expect(again.status).toBe(404);
        expect(await usageOf(path, own.key)).toBe(10);
        expect((await download(reply)).status).toBe(404);
      }
      expect(await objectsOf(service, own.id)).toEqual([`private/${kept.storageKey}`]);
      expect(await unsettledOf(service, own.id)).toBe(0);
    });

    test('files.delete: files:write alone does not delete', async () => {
      const path = await userOf();
      const { id } = (await put(path, 'abc')).body.file;
      const user = path.split('/').at(-1) ?? '';
      const { token } = await mintToken(service.api, tenant.key, user, ['files:read', 'files:write']);
      const refused = await service.api.delete(`${path}/files/${id}`, token);
      expect(codeOf(refused)).toBe('403 FORBIDDEN');
      expect(refused.body.error.message).toContain('files:delete');
    });
  });

  describe('plan limits', () => {
    test('files.upload: the declared type must be allowed, exactly or by family', async () => {
      const { send, path, key } = await underPlan({ allowedMimes: ['text/plain', 'image/*'] });
      expect((await send('abc', { type: 'text/plain' })).status).toBe(201);
      expect((await send('abc', { type: 'TEXT/Plain; charset=utf-8' })).status).toBe(201);
      expect((await send(png, { type: 'image/png' })).status).toBe(201);
      const refused = await send('abc', { type: 'text/css' });
      expect(codeOf(refused)).toBe('422 MIME_NOT_ALLOWED');
      expect(refused.body.error.details).toMatchObject({ declared: 'text/css', detected: null });
      expect(codeOf(await send(bytesOf(400 << 10), { type: 'text/css' }))).toBe('422 MIME_NOT_ALLOWED');
      expect(codeOf(await send('abc', { type: 'nonsense' }))).toBe('422 MIME_NOT_ALLOWED');
      expect(await usageOf(path, key)).toBe(6 + png.length);
    });

    test('files.upload: the type that the bytes prove must be allowed as well', async () => {
      const { send, ...own } = await underPlan({ allowedMimes: ['text/plain', 'image/png'] });
      const html = '<!doctype html><script>alert(1)</script>';
      const svg = '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"></svg>';
      const pdf = '%PDF-1.7\n%\u00e2\u00e3\u00cf\u00d3\n';
      for (const [bytes, detected] of [
        [html, 'text/html'],
        [svg, 'image/svg+xml'],
        [pdf, 'application/pdf'],
        [Buffer.concat([Buffer.from(html), bytesOf(400 << 10)]), 'text/html'],
      ] as const) {
        const reply = await send(bytes, { type: 'text/plain' });
        expect(codeOf(reply)).toBe('422 MIME_NOT_ALLOWED');
        expect(reply.body.error.details).toMatchObject({ declared: 'text/plain', detected });
      }
      // Allowed by the list, though not what was declared.
      expect((await send(png, { type: 'text/plain' })).status).toBe(201);
      expect((await send('plain', { type: 'image/png' })).status).toBe(201);
      await reapAll(service);
      await expectBalanced(service, own.id);
    });

    const odt = 'application/vnd.oasis.opendocument.text';
    test.each<[string, Buffer | string]>([
      ['text/csv', Buffer.from('\ufeffnavn;beløb\r\n', 'utf16le')],
      ['text/plain', 'MZ is short for Milizia'],
      ['text/plain', 'BMW kører på æbler'],
      [odt, Buffer.concat([Buffer.from('504b0304140000000000', 'hex'), Buffer.alloc(5000)])],
      ['text/xml', '<?xml version="1.0"?>\n<p>x</p>'],
      ['text/markdown', '<p align="center">hi</p>\n# T'],
      ['image/x-png', png],
    ])('files.upload: %s stands where the bytes prove nothing against it', async (type, bytes) => {
      const { send } = await underPlan({ allowedMimes: [type] });
      const reply = await send(bytes, { type });
      expect(reply.status, reply.text).toBe(201);
      expect(reply.body.file.mimeType).toBe(type);
    });

    test.each([100, 300 << 10])(
      'files.upload: %i bytes fit a plan of as many, and one more is FILE_TOO_LARGE',
      async (maxFileSize) => {
        const { send, ...own } = await underPlan({ maxFileSize });
        expect((await send(bytesOf(maxFileSize))).status).toBe(201);
        const refused = await send(bytesOf(maxFileSize + 1));
        expect(codeOf(refused)).toBe('422 FILE_TOO_LARGE');
        expect(refused.body.error.details.bytes_max).toBe(maxFileSize);
        await reapAll(service);
        await expectBalanced(service, own.id);
      },
    );

    test.each([100, 300 << 10])(
      'files.upload: the last of %i bytes of quota can be used, and one more is STORAGE_LIMIT_EXCEEDED',
      async (storageLimit) => {
        const { send, path, key, id } = await underPlan({ storageLimit });
        expect((await send(bytesOf(storageLimit - 1))).status).toBe(201);
        expect(codeOf(await send(bytesOf(2)))).toBe('422 STORAGE_LIMIT_EXCEEDED');
        expect((await send(bytesOf(1))).status).toBe(201);
        expect((await send(bytesOf(0))).status).toBe(201);
        expect(codeOf(await send(bytesOf(1)))).toBe('422 STORAGE_LIMIT_EXCEEDED');
        expect(await usageOf(path, key)).toBe(storageLimit);
        await reapAll(service);
        await expectBalanced(service, id);
      },
    );

    test('files.upload: over quota after a smaller plan, everything is refused until room is made', async () => {
      const { send, path, key } = await underPlan({ storageLimit: 100 });
      const { file } = (await send(bytesOf(80))).body;
      const small = await createPlan(service.api, key, { storageLimit: 50 });
      await service.api.put(`${path}/plan`, key, { planId: small.id });
      expect((await service.api.get(`${path}/storage`, key)).body).toMatchObject({
        overQuota: true,
        storageAvailable: 0,
      });
      expect(codeOf(await send(bytesOf(1)))).toBe('422 STORAGE_LIMIT_EXCEEDED');
      await service.api.delete(`${path}/files/${file.id}`, key);
      expect((await send(bytesOf(50))).status).toBe(201);
    });

    test.each([10, 400 << 10])(
      'files.upload: of several reasons, %i bytes are refused for the first in order',
      async (size) => {
        const maxFileSize = 5;
        const { send, path, key } = await underPlan({
          maxFileSize,
          storageLimit: 3,
          allowedMimes: ['text/plain'],
        });
        const html = Buffer.concat([Buffer.from('<html>'), bytesOf(size)]);
        const bad = { meta: { folder: '..' } };
        expect(codeOf(await send(html, { type: 'text/css', ...bad }))).toBe('422 VALIDATION_ERROR');
        expect(codeOf(await send(html, { type: 'text/css', ...bad, metaAfterFile: true }))).toBe(
          '422 VALIDATION_ERROR',
        );
        expect(codeOf(await send(bytesOf(size), { type: 'text/css' }))).toBe('422 MIME_NOT_ALLOWED');
        expect(codeOf(await send(html, { type: 'text/plain' }))).toBe('422 MIME_NOT_ALLOWED');
        expect(codeOf(await send(bytesOf(size), { type: 'text/plain' }))).toBe('422 FILE_TOO_LARGE');
        expect(codeOf(await send(bytesOf(4), { type: 'text/plain' }))).toBe('422 STORAGE_LIMIT_EXCEEDED');
        await service.api.put(path, key, { active: false });
        expect(codeOf(await send(html, { type: 'text/css', ...bad }))).toBe('403 FORBIDDEN');
      },
    );

    test('files.upload: without a plan only MAX_UPLOAD_BYTES limits', async () => {
      const own = await createTenant(service.api, admin);
      const path = await userOf(own.key);
      expect((await put(path, bytesOf(16 << 20), { type: 'x/y' }, own.key)).status).toBe(201);
      const refused = await put(path, bytesOf((16 << 20) + 1), {}, own.key);
      expect(codeOf(refused)).toBe('422 FILE_TOO_LARGE');
      expect(refused.body.error.details.bytes_max).toBe(16 << 20);
      await reapAll(service);
      await expectBalanced(service, own.id);
    });
  });

  test('files.upload: the content type alone decides that a body is a form', async () => {
    const path = await userOf();
    const send = (type: string) =>
      service.api.call('POST', `${path}/files`, {
        as: tenant.key,
        raw: formOf(partsOf('abc')),
        headers: { 'content-type': type },
      });
    expect((await send(contentTypeOf().replace('multipart/form-data', 'Multipart/Form-Data'))).status).toBe(
      201,
    );
    for (const type of ['application/json', 'text/plain', 'multipart/mixed; boundary=x'])
      expect((await send(type)).status, type).toBe(422);
  });
}

function nested(levels: number): object {
  return levels === 0 ? {} : { a: nested(levels - 1) };
}
