// Uploads by clients that lie, guess and alter: nobody gets more than was announced, and whatever is refused is given back.
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expiryPurge } from '../../src/features/tokens/tokens.jobs.ts';
import type { Api, Reply } from '../support/api.ts';
import { bytesOf, sha256 } from '../support/bytes.ts';
import { rowsOf } from '../support/database.ts';
import { expireUploads, never, objectsOf, placesOf, reapUntilDone } from '../support/ledger.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { until } from '../support/processes.ts';
import { openRawPost, type RawClient } from '../support/raw-client.ts';
import { nobodyWrites } from '../support/s3-server.ts';
import { type PakhusOnStore, startOn, storesFor } from '../support/stores.ts';
import {
  adminSession,
  createIntegration,
  createPlan,
  createTenant,
  createUser,
  mintToken,
  type Tenant,
  unique,
} from '../support/tenants.ts';
import { createTus, headTus, metadataOf, offsetOf, patchTus, startTus } from '../support/tus.ts';

const chunkType = 'Content-Type: application/offset+octet-stream';

interface UploadFacts {
  readonly status: string;
  readonly size: number | null;
  readonly received: number;
  readonly reserved: number;
}

/** Calls that both parts of this file make. */
function callsOn(service: TestPakhus) {
  const { api, databaseUrl } = service;
  const first = async <Row>(statement: string): Promise<Row> =>
    (await rowsOf<Row>(databaseUrl, statement))[0] as Row;
  return {
    usageOf: (userId: string) =>
      first<{ used: number; reserved: number }>(
        `select used_bytes as used, reserved_bytes as reserved from users where id = '${userId}'`,
      ),
    latestOf: (userId: string) =>
      first<UploadFacts>(
        `select status, size, received, reserved from uploads where user_id = '${userId}' order by created_at desc limit 1`,
      ),
    create: async (key: string, userId: string, fields: object = {}): Promise<Reply> =>
      api.post(`/project/users/${userId}/uploads`, key, {
        name: 'a.bin',
        size: 10,
        mimeType: 'application/octet-stream',
        ...fields,
      }),
    /** A PATCH in which the test controls every byte. */
    openPatch: (path: string, at: number, framing: string): Promise<RawClient> =>
      openRawPost(service.baseUrl, {
        method: 'PATCH',
        path,
        headers: ['Tus-Resumable: 1.0.0', chunkType, `Upload-Offset: ${at}`, framing],
      }),
    contentOf: async (key: string, userId: string, fileId: string): Promise<Buffer> => {
      const { body } = await api.get(`/project/users/${userId}/files/${fileId}`, key);
      return Buffer.from(await (await fetch(body.file.url)).arrayBuffer());
    },
  };
}

for (const store of storesFor('hostile uploads')) {
  describe(`uploads, on ${store.name}`, () => {
    let service: PakhusOnStore;
    let api: Api;
    let admin: string;
    let tenant: Tenant;
    let calls: ReturnType<typeof callsOn>;

    beforeAll(async () => {
      service = await startOn(store);
      ({ api } = service);
      calls = callsOn(service);
      admin = await adminSession(api);
      tenant = await createTenant(api, admin);
    });
    afterAll(() => service.stop());

    test('an offset that jumps ahead or back is told the right one, and changes nothing', async () => {
      const user = await createUser(api, tenant.key);
      const file = bytesOf(1_000);
      const path = await startTus(api, tenant.key, user.id, { size: file.length });
      expect((await patchTus(api, path, 0, file.subarray(0, 400))).status).toBe(204);
      for (const at of [0, 1, 399, 401, 999, 1_000, 1_001, 999_999_999_999_999]) {
        const reply = await patchTus(api, path, at, file.subarray(0, 10));
        expect([reply.status, offsetOf(reply)], `at ${at}: ${reply.text}`).toEqual([409, 400]);
      }
      const last = await patchTus(api, path, 400, file.subarray(400));
      expect(await calls.contentOf(tenant.key, user.id, String(last.headers['pakhus-file-id']))).toEqual(
        file,
      );
      for (const at of [0, 400, 999, 1_001])
        expect((await patchTus(api, path, at, Buffer.alloc(1))).status).toBe(409);
      // The answer may have been lost: the same end once more is right.
      const again = await patchTus(api, path, 1_000, Buffer.alloc(0));
      expect([again.status, again.headers['pakhus-file-id']]).toEqual([204, last.headers['pakhus-file-id']]);
    });

    test('more bytes than announced are refused, and none of them is kept', async () => {
      const user = await createUser(api, tenant.key);
      const file = bytesOf(300_000);
      const path = await startTus(api, tenant.key, user.id, { size: file.length });
      expect((await patchTus(api, path, 0, file.subarray(0, 100))).status).toBe(204);
      const said = await patchTus(api, path, 100, bytesOf(300_000, 9));
      expect(said.status, said.text).toBe(413);
      const chunked = await calls.openPatch(path, 100, 'Transfer-Encoding: chunked');
      const piece = bytesOf(100_000, 9);
      for (let nth = 0; nth < 4; nth += 1) {
        await chunked.write(`${piece.length.toString(16)}\r\n`);
        await chunked.write(piece);
        await chunked.write('\r\n');
      }
      await chunked.write('0\r\n\r\n');
      expect((await chunked.reply()).status).toBe(413);
      chunked.end();
      expect(offsetOf(await headTus(api, path))).toBe(100);
      const checked = await patchTus(api, path, 100, bytesOf(299_900, 9), {
        'upload-checksum': `sha1 ${createHash('sha1').update(file).digest('base64')}`,
      });
      expect(checked.status).toBe(460);
      expect(offsetOf(await headTus(api, path))).toBe(100);
      const last = await patchTus(api, path, 100, file.subarray(100));
      expect(await calls.contentOf(tenant.key, user.id, String(last.headers['pakhus-file-id']))).toEqual(
        file,
      );
    });

    test('a Content-Length that is too long keeps what arrived, one that is too short ends the body', async () => {
      const user = await createUser(api, tenant.key);
      const file = bytesOf(200_000);
      const path = await startTus(api, tenant.key, user.id, { size: file.length });
      const long = await calls.openPatch(path, 0, 'Content-Length: 150000');
      await long.write(file.subarray(0, 50_000));
      long.end();
      // The service may learn of the cut after HEAD has asked.
      const at = await until('the rest is accepted', async () => {
        const offset = offsetOf(await headTus(api, path));
        expect(offset).toBeLessThanOrEqual(50_000);
        const reply = await patchTus(api, path, offset, file.subarray(offset, offset + 60_000));
        return reply.status === 204 && offsetOf(reply);
      });
      const short = await calls.openPatch(path, at, 'Content-Length: 7');
      await short.write(file.subarray(at, at + 30));
      // What follows the body is no request: the server may refuse that before it answers the first one.
      expect([204, 400]).toContain((await short.reply()).status);
      short.end();
      const last = await until('the rest is accepted', async () => {
        const offset = offsetOf(await headTus(api, path));
        expect([at, at + 7]).toContain(offset);
        const reply = await patchTus(api, path, offset, file.subarray(offset));
        return reply.status === 204 && reply;
      });
      expect(await calls.contentOf(tenant.key, user.id, String(last.headers['pakhus-file-id']))).toEqual(
        file,
      );
    });

    test('a length that is too small, too large or changed is refused, and not remembered', async () => {
      const user = await createUser(api, tenant.key);
      const path = await startTus(api, tenant.key, user.id, { size: null });
      expect((await patchTus(api, path, 0, bytesOf(1_000))).status).toBe(204);
      const wrong: [string, Buffer, number][] = [
        ['999', Buffer.alloc(0), 413],
        ['1005', bytesOf(10), 413],
        ['999999999999999', bytesOf(10), 413],
      ];
      for (const [length, body, status] of wrong) {
        const reply = await patchTus(api, path, 1_000, body, { 'upload-length': length });
        expect(reply.status, `${length}: ${reply.text}`).toBe(status);
        const now = await calls.latestOf(user.id);
        expect(now, length).toEqual({ status: 'uploading', size: null, received: 1_000, reserved: 1_000 });
        expect(await calls.usageOf(user.id)).toEqual({ used: 0, reserved: 1_000 });
      }
      const said = await patchTus(api, path, 1_000, bytesOf(10), { 'upload-length': '2000' });
      expect(said.status, said.text).toBe(204);
      for (const length of ['1010', '1999', '2001', '1000000']) {
        const reply = await patchTus(api, path, 1_010, bytesOf(1), { 'upload-length': length });
        expect(reply.status, `${length}: ${reply.text}`).toBe(400);
        expect(await calls.usageOf(user.id)).toEqual({ used: 0, reserved: 2_000 });
      }
      const same = await patchTus(api, path, 1_010, bytesOf(990), { 'upload-length': '2000' });
      expect(same.status, same.text).toBe(204);
      expect(await calls.usageOf(user.id)).toEqual({ used: 2_000, reserved: 0 });
    });

    test('a sha256 that does not match fails the upload, and gives everything back', async () => {
      const user = await createUser(api, tenant.key);
      const file = bytesOf(5_000);
      const made = await calls.create(tenant.key, user.id, {
        size: file.length,
        sha256: sha256(bytesOf(5_000, 2)),
      });
      const path = `/uploads/${made.body.upload.url.split('/').at(-1)}`;
      expect((await patchTus(api, path, 0, file.subarray(0, 4_000))).status).toBe(204);
      const last = await patchTus(api, path, 4_000, file.subarray(4_000));
      expect(last.status, last.text).toBe(422);
      const { body } = await api.get(`/project/users/${user.id}/uploads/${made.body.upload.id}`, tenant.key);
      expect(body.upload).toMatchObject({ status: 'failed', error: { code: 'VALIDATION_ERROR' } });
      expect(await calls.usageOf(user.id)).toEqual({ used: 0, reserved: 0 });
      expect((await headTus(api, path)).status).toBe(404);
      expect((await patchTus(api, path, 4_000, file.subarray(4_000))).status).toBe(404);
    });

    test('what the plan no longer allows at the end is refused then, and given back', async () => {
      const pdf = { metadata: { filename: 'a.pdf', filetype: 'application/pdf' } };
      const file = Buffer.concat([Buffer.from('%PDF-1.7\n'), bytesOf(991)]);
      const changes = [
        [{ maxFileSize: 999 }, 413, 'FILE_TOO_LARGE'],
        [{ allowedMimes: ['image/png'] }, 415, 'MIME_NOT_ALLOWED'],
        [{ storageLimit: 999, maxFileSize: 999 }, 413, 'FILE_TOO_LARGE'],
        [{ storageLimit: 1_100 }, null, 'STORAGE_LIMIT_EXCEEDED'],
        [{ maxFiles: 1 }, null, 'OVER_QUOTA'],
      ] as const;
      for (const [change, status, code] of changes) {
        const { key } = await createTenant(api, admin);
        const plan = await createPlan(api, key, { maxFileSize: 1_000_000, storageLimit: 1_000_000 });
        const user = await createUser(api, key);
        const path = await startTus(api, key, user.id, { size: file.length, ...pdf });
        expect((await patchTus(api, path, 0, file.subarray(0, 500))).status).toBe(204);
        const other = await startTus(api, key, user.id, { size: 200 });
        expect((await patchTus(api, other, 0, bytesOf(200))).status).toBe(204);
        const changed = await api.put(`/project/plans/${plan.id}`, key, change);
        expect(changed.status, changed.text).toBe(200);
        const last = await patchTus(api, path, 500, file.subarray(500));
        expect(last.body?.error?.code, last.text).toBe(code);
        if (status !== null && code === 'FILE_TOO_LARGE') expect(last.status).toBe(status);
        expect(await calls.usageOf(user.id), code).toEqual({ used: 200, reserved: 0 });
        expect((await headTus(api, path)).status).toBe(404);
        const { body } = await api.get(`/project/users/${user.id}/uploads`, key);
        expect(body.uploads).toContainEqual(
          expect.objectContaining({ status: 'failed', error: expect.objectContaining({ code }) }),
        );
      }
    });

    test('bytes whose room somebody else has taken meanwhile are refused, and none is stored', async () => {
      const { id, key } = await createTenant(api, admin);
      await createPlan(api, key, { storageLimit: 10_000, maxFileSize: 10_000 });
      const user = await createUser(api, key);
      const path = await startTus(api, key, user.id, { size: null });
      expect((await patchTus(api, path, 0, bytesOf(1_000))).status).toBe(204);
      const open = await calls.openPatch(path, 1_000, 'Content-Length: 5000');
      await open.write(bytesOf(1_000));
      await until(
        'it has begun',
        async () =>
          (
            await rowsOf(
              service.databaseUrl,
              `select from uploads where receiving and user_id = '${user.id}'`,
            )
          ).length === 1,
      );
      expect((await calls.create(key, user.id, { size: 8_000 })).status).toBe(201);
      await open.write(bytesOf(4_000));
      const { status, text } = await open.reply();
      open.end();
      expect([status, JSON.parse(text).error.code]).toEqual([422, 'STORAGE_LIMIT_EXCEEDED']);
      expect(offsetOf(await headTus(api, path))).toBe(1_000);
      expect(await calls.usageOf(user.id)).toEqual({ used: 0, reserved: 9_000 });
      const strays = await rowsOf(
        service.databaseUrl,
        `select from objects o where o.project_id = '${id}' and o.state = 'writing'
           and not exists (select from uploads u where o.file_id in (u.object_id, u.tail_id))`,
      );
      expect(strays).toEqual([]);
    });

    test('deleting the user in the middle of a PATCH ends it', async () => {
      for (const sent of [1, 100_000]) {
        const user = await createUser(api, tenant.key);
        const path = await startTus(api, tenant.key, user.id, { size: 200_000 });
        const open = await calls.openPatch(path, 0, 'Content-Length: 200000');
        await open.write(bytesOf(sent));
        await until(
          'it has begun',
          async () =>
            (
              await rowsOf(
                service.databaseUrl,
                `select from uploads where receiving and user_id = '${user.id}'`,
              )
            ).length === 1,
        );
        expect((await api.delete(`/project/users/${user.id}`, tenant.key)).status).toBe(204);
        await open.write(bytesOf(200_000 - sent));
        const { status } = await open.reply();
        expect([0, 404, 409]).toContain(status);
        open.end();
        expect((await headTus(api, path)).status).toBe(404);
      }
    });

    describe('sent directly', () => {
      const openDirect = async (size: number, fields: object = {}, key = tenant.key) => {
        const user = await createUser(api, key);
        const made = await calls.create(key, user.id, { size, mode: 'direct', ...fields });
        expect(made.status, made.text).toBe(201);
        const { id, part_size } = made.body.upload as { id: string; part_size: number };
        const base = `/project/users/${user.id}/uploads/${id}`;
        const count = Math.ceil(size / part_size);
        const opened = await api.post(`${base}/parts`, key, {
          numbers: Array.from({ length: count }, (_, nth) => nth + 1),
        });
        expect(opened.status, opened.text).toBe(200);
        const urls = opened.body.parts as { number: number; url: string; size: number }[];
        return { user, id, base, urls, partSize: part_size };
      };
      const putPart = async (url: string, body: Buffer) => {
        const reply = await fetch(url, { method: 'PUT', body: new Uint8Array(body) });
        return { status: reply.status, etag: reply.headers.get('etag') ?? '', text: await reply.text() };
      };
      const sendAll = async (
        urls: readonly { number: number; url: string; size: number }[],
        file: Buffer,
      ) => {
        const parts: { number: number; etag: string }[] = [];
        let at = 0;
        for (const { number, url, size } of urls) {
          const { status, etag, text } = await putPart(url, file.subarray(at, at + size));
          expect(status, text).toBe(200);
          parts.push({ number, etag });
          at += size;
        }
        return parts;
      };

      test('only the parts that were sent, each once and in order, complete an upload', async () => {
        const size = (await openDirect(1)).partSize + 1_000;
        const file = bytesOf(size);
        const { user, base, urls } = await openDirect(size);
        expect(urls.length).toBe(2);
        const early = await api.post(`${base}/complete`, tenant.key, {
          parts: [
            { number: 1, etag: '"a"' },
            { number: 2, etag: '"b"' },
          ],
        });
        expect(early.status, early.text).toBe(422);
        const [one, two] = (await sendAll(urls, file)) as [
          { number: number; etag: string },
          { number: number; etag: string },
        ];
        const wrong = [
          [],
          [one],
          [two],
          [two, one],
          [one, one],
          [one, two, two],
          [one, { ...two, number: 3 }],
          [one, { ...two, etag: one.etag }],
          [{ ...one, etag: '"00000000000000000000000000000000"' }, two],
          [{ ...one, etag: 'a"b<c>&\u0000' }, two],
        ];
        for (const parts of wrong) {
          const reply = await api.post(`${base}/complete`, tenant.key, { parts });
          expect([400, 422], `${JSON.stringify(parts)}: ${reply.text}`).toContain(reply.status);
        }
        expect(await calls.usageOf(user.id)).toEqual({ used: 0, reserved: size });
        const done = await api.post(`${base}/complete`, tenant.key, { parts: [one, two] });
        expect(done.status, done.text).toBe(201);
        const again = await api.post(`${base}/complete`, tenant.key, { parts: [one, two] });
        expect([again.status, again.body.file.id]).toEqual([200, done.body.file.id]);
        const late = await putPart(urls[0]?.url ?? '', bytesOf(urls[0]?.size ?? 0, 7));
        expect(late.status, 'a part after the end').toBeGreaterThanOrEqual(400);
        expect(late.status).toBeLessThan(500);
        expect((await calls.contentOf(tenant.key, user.id, done.body.file.id)).equals(file)).toBe(true);
        expect(await calls.usageOf(user.id)).toEqual({ used: size, reserved: 0 });
      });

      test('a URL takes no other length, and none that is altered', async () => {
        const { urls } = await openDirect(1_000);
        const { url } = urls[0] as { url: string };
        for (const length of [0, 1, 999, 1_001, 5_000]) {
          const { status, text } = await putPart(url, bytesOf(length));
          expect(status, `${length}: ${text}`).toBeGreaterThanOrEqual(400);
          expect(status, `${length}: ${text}`).toBeLessThan(500);
        }
        const from = url.indexOf('/', 'https://'.length);
        for (let at = from + 1; at < url.length; at += 1) {
          const old = url[at] as string;
          if (/[/?&=%]/.test(old)) continue;
          const altered = `${url.slice(0, at)}${old === '1' ? '2' : '1'}${url.slice(at + 1)}`;
          const { status, text } = await putPart(altered, bytesOf(1_000));
          // Base64 and hex have characters that mean the same: the signature is what counts.
          expect(status, `${altered}: ${text}`).toBeGreaterThanOrEqual(400);
          expect(status, `${altered}: ${text}`).toBeLessThan(500);
        }
        expect((await putPart(url, bytesOf(1_000))).status).toBe(200);
      });

      test('the etags of another upload complete nothing', async () => {
        const one = await openDirect(1_000);
        const two = await openDirect(1_000);
        const parts = await sendAll(one.urls, bytesOf(1_000));
        const reply = await api.post(`${two.base}/complete`, tenant.key, { parts });
        expect(reply.status, reply.text).toBe(422);
        // By a user that the upload does not belong to.
        const foreign = `/project/users/${two.user.id}/uploads/${one.id}`;
        for (const call of [
          api.get(foreign, tenant.key),
          api.delete(foreign, tenant.key),
          api.post(`${foreign}/parts`, tenant.key, { numbers: [1] }),
          api.post(`${foreign}/complete`, tenant.key, { parts }),
        ])
          expect((await call).status).toBe(404);
        const beyond = await api.post(`${one.base}/parts`, tenant.key, { numbers: [1, 2] });
        expect(beyond.status).toBe(422);
      });

      test('a sha256 that does not match fails the upload, and gives everything back', async () => {
        const { user, base, urls } = await openDirect(1_000, { sha256: sha256(bytesOf(1_000, 3)) });
        const parts = await sendAll(urls, bytesOf(1_000));
        const reply = await api.post(`${base}/complete`, tenant.key, { parts });
        expect(reply.status, reply.text).toBe(422);
        expect((await api.get(base, tenant.key)).body.upload).toMatchObject({ status: 'failed' });
        expect(await calls.usageOf(user.id)).toEqual({ used: 0, reserved: 0 });
        expect((await putPart(urls[0]?.url ?? '', bytesOf(1_000))).status).toBeGreaterThanOrEqual(400);
        expect((await api.post(`${base}/complete`, tenant.key, { parts })).status).toBe(409);
      });
    });

    test('nothing is left over', async () => {
      await service.pakhus.deps.objects.sweepUnfinished(new Date(Date.now() + 3_600_000), nobodyWrites);
      await expireUploads(service);
      await reapUntilDone(service);
      expect(await objectsOf(service)).toEqual(await placesOf(service));
      expect(await rowsOf(service.databaseUrl, 'select from upload_parts')).toEqual([]);
      expect(await rowsOf(service.databaseUrl, 'select from users where reserved_bytes <> 0')).toEqual([]);
      if (service.buckets) expect(await service.buckets.unfinishedUploads()).toBe(0);
      else expect(await readdir(join(service.dataDir, 'objects', 'tmp'))).toEqual([]);
    });
  });
}

describe('the URL of an upload', () => {
  let service: TestPakhus;
  let api: Api;
  let admin: string;
  let calls: ReturnType<typeof callsOn>;
  let log = '';

  beforeAll(async () => {
    service = await startTestPakhus({ LOG_LEVEL: 'trace' }, (lines) => {
      log += lines;
    });
    ({ api } = service);
    calls = callsOn(service);
    admin = await adminSession(api);
  });
  afterAll(() => service.stop());

  const createSpace = async (key: string, userId: string) => {
    const credentials = { external_id: unique('space'), password: unique('password') };
    const made = await api.post(`/project/users/${userId}/spaces`, key, {
      ...credentials,
      name: 'a space',
      scopes: ['files:read', 'files:write'],
    });
    expect(made.status, made.text).toBe(201);
    const id = made.body.space.id as string;
    const logIn = async (as = key) => {
      const reply = await api.post('/project/spaces/login', as, credentials);
      expect(reply.status, reply.text).toBe(201);
      return reply.body as { token: string; jti: string };
    };
    return { id, path: `/project/users/${userId}/spaces/${id}`, logIn };
  };

  interface Place {
    readonly tenant: Tenant;
    readonly user: { id: string };
    readonly space: Awaited<ReturnType<typeof createSpace>>;
  }

  /** What the URL dies with: the credential that creates the upload, and how it or its owner ends. */
  const deaths: [
    string,
    (place: Place) => Promise<{ as: string; fields?: object; end: () => Promise<Reply> }>,
  ][] = [
    [
      'its user is deactivated',
      async ({ tenant: { key }, user }) => ({
        as: key,
        end: () => api.put(`/project/users/${user.id}`, key, { active: false }),
      }),
    ],
    [
      'its user is deleted',
      async ({ tenant: { key }, user }) => ({
        as: key,
        end: () => api.delete(`/project/users/${user.id}`, key),
      }),
    ],
    [
      'its space is deactivated',
      async ({ tenant: { key }, space }) => ({
        as: key,
        fields: { space_id: space.id },
        end: () => api.put(space.path, key, { active: false }),
      }),
    ],
    [
      'its space is deleted',
      async ({ tenant: { key }, space }) => ({
        as: key,
        fields: { space_id: space.id },
        end: () => api.delete(space.path, key),
      }),
    ],
    [
      'its project is deactivated',
      async ({ tenant }) => ({
        as: tenant.key,
        end: () => api.patch(`/admin/projects/${tenant.id}/status`, admin, { active: false }),
      }),
    ],
    [
      'its project is deleted',
      async ({ tenant }) => ({
        as: tenant.key,
        end: () => api.delete(`/admin/projects/${tenant.id}`, admin),
      }),
    ],
    [
      'its integration is deactivated',
      async ({ tenant: { key } }) => {
        const integration = await createIntegration(api, key, { scopes: ['files:write'] });
        return {
          as: integration.key,
          end: () => api.put(`/project/integrations/${integration.id}`, key, { active: false }),
        };
      },
    ],
    [
      'its integration is deleted',
      async ({ tenant: { key } }) => {
        const integration = await createIntegration(api, key, { scopes: ['files:write'] });
        return { as: integration.key, end: () => api.delete(`/project/integrations/${integration.id}`, key) };
      },
    ],
    [
      'the key of its integration is rotated',
      async ({ tenant: { key } }) => {
        const integration = await createIntegration(api, key, { scopes: ['files:write'] });
        return {
          as: integration.key,
          end: () => api.post(`/project/integrations/${integration.id}/rotate-key`, key),
        };
      },
    ],
    [
      'its key is revoked',
      async ({ tenant: { key } }) => {
        const made = await api.post('/project/keys', key, { name: 'a key' });
        expect(made.status, made.text).toBe(201);
        return { as: made.body.api_key, end: () => api.delete(`/project/keys/${made.body.key.id}`, key) };
      },
    ],
    [
      'the key that minted its token is revoked',
      async ({ tenant: { key }, user }) => {
        const made = await api.post('/project/keys', key, { name: 'a key' });
        const { token } = await mintToken(api, made.body.api_key, user.id);
        return { as: token, end: () => api.delete(`/project/keys/${made.body.key.id}`, key) };
      },
    ],
    [
      'its token is revoked',
      async ({ tenant: { key }, user }) => {
        const { token, jti } = await mintToken(api, key, user.id);
        return { as: token, end: () => api.post(`/project/users/${user.id}/tokens/revoke`, key, { jti }) };
      },
    ],
    [
      'its space token is revoked',
      async ({ tenant: { key }, space }) => {
        const { token, jti } = await space.logIn();
        return { as: token, end: () => api.post('/project/spaces/token/revoke', key, { jti }) };
      },
    ],
    [
      'its space token is revoked after another login',
      async ({ tenant: { key }, space }) => {
        const { token, jti } = await space.logIn();
        return {
          as: token,
          end: async () => {
            await space.logIn();
            return api.post('/project/spaces/token/revoke', key, { jti });
          },
        };
      },
    ],
    [
      'its space gets another password',
      async ({ tenant: { key }, space }) => {
        const { token } = await space.logIn();
        return {
          as: token,
          end: () => api.put(`${space.path}/credentials`, key, { password: unique('another') }),
        };
      },
    ],
  ];

  test.each(deaths)('answers 404 once %s', async (_how, prepare) => {
    const tenant = await createTenant(api, admin);
    const user = await createUser(api, tenant.key);
    const space = await createSpace(tenant.key, user.id);
    const { as, fields, end } = await prepare({ tenant, user, space });
    const made = await calls.create(as, user.id, { size: 100, ...fields });
    expect(made.status, made.text).toBe(201);
    const path = `/uploads/${made.body.upload.url.split('/').at(-1)}`;
    expect((await patchTus(api, path, 0, bytesOf(50))).status).toBe(204);
    const ended = await end();
    expect(ended.status, ended.text).toBeLessThan(300);
    for (const purged of [false, true]) {
      if (purged) await expiryPurge.run(service.pakhus.deps, never);
      expect((await headTus(api, path)).status).toBe(404);
      expect((await patchTus(api, path, 50, bytesOf(50))).status).toBe(404);
      expect((await api.call('DELETE', path, { headers: { 'tus-resumable': '1.0.0' } })).status).toBe(404);
    }
    const usage = await rowsOf(
      service.databaseUrl,
      `select reserved_bytes from users where id = '${user.id}'`,
    );
    const ofSpace = await rowsOf(
      service.databaseUrl,
      `select reserved_bytes from spaces where id = '${space.id}'`,
    );
    const [upload] = await rowsOf<{ reserved: number }>(
      service.databaseUrl,
      `select reserved from uploads where id = '${made.body.upload.id}'`,
    );
    if (usage.length === 1) expect(usage).toEqual([{ reserved_bytes: upload?.reserved ?? 0 }]);
    if (/space is deleted/.test(_how)) expect(usage).toEqual([{ reserved_bytes: 0 }]);
    if (ofSpace.length === 1 && !fields && !/space/.test(_how))
      expect(ofSpace).toEqual([{ reserved_bytes: 0 }]);
  });

  test('belongs to one user: others find the upload neither by id nor in a list', async () => {
    const tenant = await createTenant(api, admin);
    const [one, two] = [await createUser(api, tenant.key), await createUser(api, tenant.key)];
    const [left, right] = [await createSpace(tenant.key, one.id), await createSpace(tenant.key, one.id)];
    const outside = (await calls.create(tenant.key, one.id)).body.upload;
    const inLeft = (await calls.create(tenant.key, one.id, { space_id: left.id })).body.upload;
    const base = `/project/users/${one.id}/uploads`;
    const { token: ofTwo } = await mintToken(api, tenant.key, two.id);
    const { key: foreign } = await createTenant(api, admin);
    for (const as of [ofTwo, foreign]) {
      for (const path of [base, `${base}/${outside.id}`])
        expect([403, 404]).toContain((await api.get(path, as)).status);
      expect([403, 404]).toContain((await api.delete(`${base}/${outside.id}`, as)).status);
    }
    expect((await api.get(`/project/users/${two.id}/uploads`, ofTwo)).body.uploads).toEqual([]);
    expect((await api.get(`/project/users/${two.id}/uploads/${outside.id}`, tenant.key)).status).toBe(404);
    const idsOf = async (as: string) => {
      const { body } = await api.get(base, as);
      return body.uploads.map(({ id }: { id: string }) => id).sort();
    };
    expect(await idsOf((await left.logIn()).token)).toEqual([inLeft.id]);
    const { token: inRight } = await right.logIn();
    expect(await idsOf(inRight)).toEqual([]);
    for (const { id } of [outside, inLeft]) {
      expect((await api.get(`${base}/${id}`, inRight)).status).toBe(404);
      expect((await api.delete(`${base}/${id}`, inRight)).status).toBe(404);
    }
    expect(await idsOf(tenant.key)).toEqual([outside.id, inLeft.id].sort());
    for (const upload of (await api.get(base, tenant.key)).body.uploads)
      expect(upload).not.toHaveProperty('url');
  });

  test('is in no log line, and only as a hash in the database', async () => {
    const tenant = await createTenant(api, admin);
    const user = await createUser(api, tenant.key);
    const { origin } = new URL(service.baseUrl);
    const made = await api.call('POST', `/project/users/${user.id}/uploads`, {
      as: tenant.key,
      body: { name: 'a.bin', size: 100, mimeType: 'text/plain' },
      headers: { 'idempotency-key': unique('key') },
    });
    const secret = made.body.upload.url.split('/').at(-1) as string;
    const path = `/uploads/${secret}`;
    expect(secret).toMatch(/^[\w-]{43}$/);
    const raw = await calls.openPatch(path, 0, 'Content-Length: 50');
    await raw.write('x');
    raw.hangUp();
    await headTus(api, path);
    await patchTus(api, path, 77, bytesOf(5));
    await patchTus(api, path, 0, bytesOf(5), { 'content-type': 'text/plain' });
    const encoded = [...secret].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');
    const paths = [
      path,
      `/uploads/${encoded}`,
      `/uploads/${encodeURIComponent(secret.slice(0, 20))}%${secret.charCodeAt(20).toString(16)}${secret.slice(21)}`,
      `/%75ploads/${secret}`,
      `/uploads/${secret}/`,
      `/uploads/${secret}/parts`,
      `/uploads//${secret}`,
      `/uploads/.${secret}`,
      `/uploads/(${secret})`,
      `/uploads/%22${secret}%22`,
      `/uploads/%zz${secret}`,
      `/uploads/${secret};a=b`,
      `/uploads/${secret}?${secret}`,
      `/uploads/x?token=${secret}`,
      `/UPLOADS/${secret}`,
      `/uploads/${secret.slice(0, -1)}`,
      `/uploads/${secret.slice(1)}`,
      `/uploads/${secret.slice(0, 30)}.${secret.slice(30)}`,
      `/v2/uploads/${secret}`,
      `/project/users/${user.id}/uploads/${secret}`,
    ];
    const id = unique('last');
    for (const tried of paths)
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
        await fetch(`${origin}/api/v1${tried}`, { method }).then((reply) => reply.arrayBuffer());
    for (const tried of [`/uploads/${secret}`, `//api/v1/uploads/${secret}`])
      await fetch(`${origin}${tried}`).then((reply) => reply.arrayBuffer());
    const bad = await openRawPost(service.baseUrl, { path, headers: ['Content-Length: x'] });
    await bad.reply();
    await fetch(`${origin}/api/v1/health`, { headers: { 'x-request-id': id } });
    await until('all is logged', async () => log.includes(id));
    const shown = log
      .split('\n')
      .filter((line) => line.includes(secret.slice(2, 29)) || line.includes(encoded.slice(6, 60)));
    expect(shown).toEqual([]);

    const tables = await rowsOf<{ name: string }>(
      service.databaseUrl,
      `select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
       where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
    );
    expect(tables.length).toBeGreaterThan(10);
    const hex = Buffer.from(secret).toString('hex');
    const bits = Buffer.from(secret, 'base64url').toString('hex');
    for (const { name } of tables) {
      const found = await rowsOf(
        service.databaseUrl,
        `select from ${name} t where position('${secret}' in t::text) + position('${hex}' in t::text) + position('${bits}' in t::text) > 0`,
      );
      expect(found.length, name).toBe(0);
    }
  });

  test('a user has at most 100 unfinished uploads, and is told what to do', async () => {
    const tenant = await createTenant(api, admin);
    const user = await createUser(api, tenant.key);
    const made = await Promise.all(Array.from({ length: 120 }, () => calls.create(tenant.key, user.id)));
    const refused = made.filter(({ status }) => status === 409);
    expect([made.filter(({ status }) => status === 201).length, refused.length]).toEqual([100, 20]);
    expect(refused[0]?.body.error.message).toMatch(/complete some, or cancel/);
    expect(await calls.usageOf(user.id)).toEqual({ used: 0, reserved: 1_000 });
    const id = made.find(({ status }) => status === 201)?.body.upload.id;
    expect((await api.delete(`/project/users/${user.id}/uploads/${id}`, tenant.key)).status).toBe(204);
    expect((await calls.create(tenant.key, user.id)).status).toBe(201);
    expect((await calls.create(tenant.key, user.id)).status).toBe(409);
    expect((await createTus(api, tenant.key, user.id, { size: 1 })).status).toBe(409);
    expect((await calls.create(tenant.key, (await createUser(api, tenant.key)).id)).status).toBe(201);
  });

  test('headers of 1 MB are refused', async () => {
    const tenant = await createTenant(api, admin);
    const user = await createUser(api, tenant.key);
    const client = await openRawPost(service.baseUrl, {
      path: `/project/users/${user.id}/uploads`,
      as: tenant.key,
      headers: [
        'Tus-Resumable: 1.0.0',
        'Upload-Length: 1',
        `Upload-Metadata: ${metadataOf({ filename: 'a'.repeat(750_000) })}`,
      ],
    });
    expect([0, 431]).toContain((await client.reply()).status);
    client.end();
    expect(await rowsOf(service.databaseUrl, `select from uploads where user_id = '${user.id}'`)).toEqual([]);
  });

  test('garbage in any header is refused or ignored, and never our fault', async () => {
    const tenant = await createTenant(api, admin);
    const user = await createUser(api, tenant.key);
    const base = `/project/users/${user.id}/uploads`;
    const pair = (name: string, value: string) =>
      `${name} ${Buffer.from(value, 'latin1').toString('base64')}`;
    const names = [
      'Tus-Resumable',
      'Upload-Length',
      'Upload-Offset',
      'Upload-Defer-Length',
      'Upload-Metadata',
      'Upload-Checksum',
      'Upload-Complete',
      'Upload-Incomplete',
      'Upload-Draft-Interop-Version',
      'Content-Type',
      'Content-Disposition',
      'X-HTTP-Method-Override',
      'Expect',
      'Content-Encoding',
      'Idempotency-Key',
      'Origin',
      'Content-Digest',
    ];
    const values = [
      '',
      '0',
      '-1',
      '+1',
      '1e3',
      '0x10',
      '1.5',
      '9'.repeat(15),
      '9'.repeat(16),
      '9'.repeat(400),
      'NaN',
      'null',
      '\xff\xfe',
      ',',
      ',,,',
      ';',
      '?1;a=b',
      '?2',
      '=',
      ' a b ',
      'a'.repeat(6_000),
      'filename',
      'filename !',
      'sha1 AAAA',
      'sha256 ',
      'sha512 AAAA',
      'md5 1B2M2Y8AsgTpgAmY7PhCfg==',
      'attachment; filename="',
      "attachment; filename*=UTF-8''%00%ff",
      'attachment; filename*=%%%',
      'text/\x7f',
      'DELETE',
      'PATCH',
      '100-continue',
      ...[
        pair('filename', '\0'),
        pair('filename', '\xed\xa0\x80'),
        pair('filename', '../../etc/passwd'),
        pair('filetype', '\0'),
        pair('filetype', 'a'.repeat(5_000)),
        pair('name', 'x'.repeat(300)),
        pair('meta', '{"__proto__":{"a":1}}'),
        pair('meta', '[]'),
        pair('metadata', '['.repeat(4_000)),
        pair('metadata', '{"a":"\\u0000"}'),
        pair('metadata', '{"a":"\\ud800"}'),
        pair('tags', '[1,{},null]'),
        pair('tags', '\0'),
        pair('folder', '../..'),
        pair('folder', '\0'),
        pair('visibility', 'everyone'),
        pair('space_id', "' or 1=1 --"),
        pair('space_id', '00000000-0000-0000-0000-000000000000'),
        pair('sha256', 'zz'),
        pair('classifier', '\0'),
        pair('constructor', 'x'),
        pair('__proto__', 'x'),
        'a YQ==,a YQ==',
      ],
    ];
    const open = async () => (await startTus(api, tenant.key, user.id, { size: 1_000_000 })) as string;
    const isThorough = process.env.TEST_UPLOADS !== undefined;
    let path = await open();
    const seen = new Map<number, number>();
    const attempt = async (
      method: string,
      at: string,
      usual: Record<string, string>,
      name: string,
      value: string,
    ) => {
      const headers = { ...usual, [name]: value };
      const client = await openRawPost(service.baseUrl, {
        method,
        path: at,
        as: tenant.key,
        headers: [
          ...Object.entries(headers).map(([key, text]) => `${key}: ${text}`),
          'Connection: close',
          'Content-Length: 4',
        ],
      });
      await client.write('abcd');
      const { status, text } = await client.reply();
      client.end();
      expect(status, `${method} with ${name}: ${value.slice(0, 80)} gets ${text}`).toBeLessThan(500);
      seen.set(status, (seen.get(status) ?? 0) + 1);
    };
    const tus = { 'Tus-Resumable': '1.0.0', 'Content-Type': 'application/offset+octet-stream' };
    const draft = { 'Upload-Complete': '?0', 'Content-Type': 'application/partial-upload' };
    for (const name of names) {
      await Promise.all(
        values.flatMap((value, nth) => {
          const attempts = [
            () => attempt('POST', base, { ...tus, 'Upload-Length': '5' }, name, value),
            () => attempt('PATCH', path, { ...tus, 'Upload-Offset': '0' }, name, value),
            () => attempt('POST', base, draft, name, value),
            () => attempt('PATCH', path, { ...draft, 'Upload-Offset': '4' }, name, value),
            () => attempt('HEAD', path, tus, name, value),
          ];
          // Metadata only matters to a creation.
          const one = name === 'Upload-Metadata' ? 0 : (nth + name.length) % attempts.length;
          return attempts.filter((_, at) => isThorough || at === one).map((run) => run());
        }),
      );
      // By now there may be many unfinished ones, and this one may be gone.
      await expireUploads(service, user.id);
      expect(await calls.usageOf(user.id)).toMatchObject({ reserved: 0 });
      path = await open();
    }
    expect([...seen.keys()].filter((status) => status >= 400).length).toBeGreaterThan(3);
  });
});
