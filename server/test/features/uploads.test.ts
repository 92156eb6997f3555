import { createHash, randomUUID } from 'node:crypto';
import { ListMultipartUploadsCommand, ListPartsCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashUnread } from '../../src/features/files/files.hash.ts';
import type { PartTarget } from '../../src/features/uploads/uploads.direct.ts';
import { uploadUpkeep } from '../../src/features/uploads/uploads.jobs.ts';
import { inBackground } from '../../src/platform/db/postgres.ts';
import type { Api } from '../support/api.ts';
import { bytesOf, sha256 } from '../support/bytes.ts';
import { inTransaction, isSomebodyWaiting, rowsOf } from '../support/database.ts';
import { never, objectsOf, placesOf, reapAll } from '../support/ledger.ts';
import { until } from '../support/processes.ts';
import type { S3Buckets } from '../support/s3-server.ts';
import { type PakhusOnStore, startOn, storesFor } from '../support/stores.ts';
import { adminSession, createPlan, createTenant, createUser, type Tenant } from '../support/tenants.ts';
import { createTus, headTus, offsetOf, patchTus, pathOf, startTus } from '../support/tus.ts';

/** The parts of an unfinished upload, as the store tells them to the AWS SDK. */
async function listBySdk({ sdk, bucket }: S3Buckets, uploadId: string): Promise<object[]> {
  const { Uploads = [] } = await sdk.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
  const { Key, UploadId } = Uploads.find((upload) => upload.Key?.endsWith(uploadId)) ?? {};
  const { Parts = [] } = await sdk.send(new ListPartsCommand({ Bucket: bucket, Key, UploadId }));
  return Parts.map(({ PartNumber, ETag }) => ({ number: PartNumber, etag: ETag }));
}

for (const store of storesFor('uploads')) {
  describe(`uploads that survive, on ${store.name}`, () => {
    let service: PakhusOnStore;
    let api: Api;
    let admin: string;
    let tenant: Tenant;

    beforeAll(async () => {
      service = await startOn(store);
      ({ api } = service);
      admin = await adminSession(api);
      tenant = await createTenant(api, admin);
    });
    afterAll(() => service.stop());

    const expectContent = async (userId: string, fileId: string, file: Buffer): Promise<void> => {
      const { body } = await api.get(`/project/users/${userId}/files/${fileId}`, tenant.key);
      const content = Buffer.from(await (await fetch(body.file.url)).arrayBuffer());
      expect(sha256(content)).toBe(sha256(file));
      expect(body.file).toMatchObject({ size: file.length, sha256: sha256(file) });
    };

    describe('by tus', () => {
      test('a file arrives in chunks of any size, and is named when it is whole', async () => {
        const user = await createUser(api, tenant.key);
        const file = bytesOf(300_000);
        const path = await startTus(api, tenant.key, user.id, {
          size: file.length,
          metadata: {
            filename: 'träumen.txt',
            filetype: 'text/plain',
            folder: 'a/b',
            tags: 'x,y',
            metadata: '{"n":1}',
          },
        });
        let at = 0;
        for (const length of [1, 0, 99_999, 150_000]) {
          const reply = await patchTus(api, path, at, file.subarray(at, at + length));
          expect(reply.status, reply.text).toBe(204);
          at += length;
          expect(offsetOf(reply)).toBe(at);
          const head = await headTus(api, path);
          expect(head.status).toBe(200);
          expect(head.headers).toMatchObject({ 'upload-offset': String(at), 'upload-length': '300000' });
        }
        const last = await patchTus(api, path, at, file.subarray(at));
        expect(last.status, last.text).toBe(204);
        const fileId = String(last.headers['pakhus-file-id']);
        await expectContent(user.id, fileId, file);
        const { body } = await api.get(`/project/users/${user.id}/files/${fileId}`, tenant.key);
        expect(body.file).toMatchObject({
          name: 'träumen.txt',
          mimeType: 'text/plain',
          folder: 'a/b',
          tags: ['x', 'y'],
          metadata: { n: 1 },
        });
        const done = await headTus(api, path);
        expect([done.status, offsetOf(done), done.headers['pakhus-file-id']]).toEqual([
          200,
          file.length,
          fileId,
        ]);
      });

      test('room is reserved from the beginning, and used in the end', async () => {
        const { key } = await createTenant(api, admin);
        await createPlan(api, key, { storageLimit: 1_000, maxFileSize: 1_000 });
        const user = await createUser(api, key);
        const path = await startTus(api, key, user.id, { size: 600 });
        const refused = await createTus(api, key, user.id, { size: 401 });
        expect(refused.body.error.code).toBe('STORAGE_LIMIT_EXCEEDED');
        const rows = () =>
          rowsOf(service.databaseUrl, `select used_bytes, reserved_bytes from users where id = '${user.id}'`);
        expect(await rows()).toEqual([{ used_bytes: 0, reserved_bytes: 600 }]);
        await patchTus(api, path, 0, bytesOf(600));
        expect(await rows()).toEqual([{ used_bytes: 600, reserved_bytes: 0 }]);
      });

      test('a length of 0 completes at creation', async () => {
        const user = await createUser(api, tenant.key);
        const reply = await createTus(api, tenant.key, user.id, { size: 0 });
        expect(reply.status, reply.text).toBe(201);
        await expectContent(user.id, String(reply.headers['pakhus-file-id']), Buffer.alloc(0));
        expect(offsetOf(await headTus(api, pathOf(reply)))).toBe(0);
      });

      test('a checksum that does not match drops the chunk', async () => {
        const user = await createUser(api, tenant.key);
        const file = bytesOf(50_000);
        const path = await startTus(api, tenant.key, user.id, { size: file.length });
        const digest = (name: string, of: Buffer) =>
          `${name} ${createHash(name).update(of).digest('base64')}`;
        const wrong = await patchTus(api, path, 0, file.subarray(0, 20_000), {
          'upload-checksum': digest('sha1', file),
        });
        expect(wrong.status).toBe(460);
        expect(offsetOf(await headTus(api, path))).toBe(0);
        let at = 0;
        for (const name of ['sha1', 'md5', 'sha256']) {
          const chunk = file.subarray(at, at + 10_000);
          const right = await patchTus(api, path, at, chunk, { 'upload-checksum': digest(name, chunk) });
          expect(right.status, right.text).toBe(204);
          at += chunk.length;
        }
        const last = await patchTus(api, path, at, file.subarray(at));
        await expectContent(user.id, String(last.headers['pakhus-file-id']), file);
      });

      test('an upload that goes on after it was found overdue is kept', async () => {
        const user = await createUser(api, tenant.key);
        const path = await startTus(api, tenant.key, user.id, { size: 1_000 });
        const ofUser = `where user_id = '${user.id}'`;
        await rowsOf(service.databaseUrl, `update uploads set expires_at = now() ${ofUser}`);
        let upkeep = Promise.resolve();
        await inTransaction(service.databaseUrl, async (query) => {
          await query(`select from users where id = '${user.id}' for no key update`);
          const { deps } = service.pakhus;
          upkeep = uploadUpkeep.run({ ...deps, db: inBackground(deps.db) }, never);
          await until('the expiry waits', () => isSomebodyWaiting(service.databaseUrl));
          expect((await patchTus(api, path, 0, bytesOf(400))).status).toBe(204);
        });
        await upkeep;
        expect(offsetOf(await headTus(api, path))).toBe(400);
        expect((await patchTus(api, path, 400, bytesOf(600))).status).toBe(204);
      });
    });

    describe('straight to the store', () => {
      const ask = (userId: string, size: number, more: object = {}, headers: Record<string, string> = {}) => {
        const body = {
          name: 'film.bin',
          mimeType: 'application/octet-stream',
          mode: 'direct',
          size,
          ...more,
        };
        return api.call('POST', `/project/users/${userId}/uploads`, { as: tenant.key, body, headers });
      };
      const create = async (userId: string, size: number, more: object = {}) => {
        const reply = await ask(userId, size, more);
        expect(reply.status, reply.text).toBe(201);
        return reply.body.upload;
      };
      const send = async (userId: string, uploadId: string, file: Buffer, partSize: number) => {
        const numbers = Array.from({ length: Math.ceil(file.length / partSize) }, (_, at) => at + 1);
        const asked = await api.post(`/project/users/${userId}/uploads/${uploadId}/parts`, tenant.key, {
          numbers,
        });
        expect(asked.status, asked.text).toBe(200);
        return sendTo(asked.body.parts, file, partSize);
      };
      const sendTo = async (targets: PartTarget[], file: Buffer, partSize: number) => {
        const parts: { number: number; etag: string }[] = [];
        for (const { number, url, size } of targets.toReversed()) {
          const body = file.subarray((number - 1) * partSize, (number - 1) * partSize + size);
          const put = await fetch(url, { method: 'PUT', body });
          expect(put.status, await put.text()).toBe(200);
          parts.unshift({ number, etag: put.headers.get('etag') ?? '' });
        }
        return parts;
      };
      const complete = (userId: string, uploadId: string, parts: object) =>
        api.post(`/project/users/${userId}/uploads/${uploadId}/complete`, tenant.key, { parts });

      test('parts in any order become a file, which gets its sha256 from a worker', async () => {
        const user = await createUser(api, tenant.key);
        const file = bytesOf(9_000_000);
        const upload = await create(user.id, file.length);
        expect(upload).toMatchObject({ mode: 'direct', offset: 0, part_size: 8 << 20 });
        const parts = await send(user.id, upload.id, file, upload.part_size);
        if (service.buckets) expect(await listBySdk(service.buckets, upload.id)).toEqual(parts);
        const reply = await complete(user.id, upload.id, parts);
        expect(reply.status, reply.text).toBe(201);
        expect(reply.body.file).toMatchObject({ size: file.length, sha256: null });
        await hashUnread(service.pakhus.deps, never);
        await expectContent(user.id, reply.body.file.id, file);
        const again = await complete(user.id, upload.id, parts);
        expect([again.status, again.body.file.id]).toEqual([200, reply.body.file.id]);
      });

      test('the first parts are sent without asking for their URLs, and a repeated creation answers the same', async () => {
        const user = await createUser(api, tenant.key);
        const file = bytesOf(9_000_000);
        const key = { 'idempotency-key': randomUUID() };
        const created = await ask(user.id, file.length, {}, key);
        const again = await ask(user.id, file.length, {}, key);
        expect(again.headers['idempotency-replayed']).toBe('true');
        expect(again.body).toEqual(created.body);
        const { upload, parts } = created.body;
        expect(parts.map(({ number, size }: PartTarget) => [number, size])).toEqual([
          [1, 8 << 20],
          [2, file.length - (8 << 20)],
        ]);
        const sent = await sendTo(again.body.parts, file, upload.part_size);
        const reply = await complete(user.id, upload.id, sent);
        expect(reply.status, reply.text).toBe(201);
        await hashUnread(service.pakhus.deps, never);
        await expectContent(user.id, reply.body.file.id, file);
        expect((await ask(user.id, 0)).body.parts).toEqual([]);
        expect((await ask(user.id, 21 * (8 << 20))).body.parts).toHaveLength(20);
        expect((await ask(user.id, 1, { mode: 'resumable' })).body).not.toHaveProperty('parts');
      });

      test('a creation that is refused leaves nothing in the store', async () => {
        const user = await createUser(api, tenant.key);
        const others = Array.from({ length: 100 }, () => ask(user.id, 1, { mode: 'resumable' }));
        expect((await Promise.all(others)).map(({ status }) => status)).toEqual(Array(100).fill(201));
        const before = await service.buckets?.unfinishedUploads();
        const refused = await ask(user.id, 1_000);
        expect([refused.status, refused.body.error.details]).toEqual([409, { limit: 'user', max: 100 }]);
        expect(await service.buckets?.unfinishedUploads()).toBe(before);
        const direct = `select from objects where project_id = '${tenant.id}' and id in (
          select id from uploads where user_id = '${user.id}')`;
        expect(await rowsOf(service.databaseUrl, direct)).toEqual([]);
      });

      test('a sha256 is compared before the file is stored', async () => {
        const user = await createUser(api, tenant.key);
        const file = bytesOf(1_000);
        const wrong = await create(user.id, file.length, { sha256: sha256(Buffer.from('other')) });
        const refused = await complete(
          user.id,
          wrong.id,
          await send(user.id, wrong.id, file, wrong.part_size),
        );
        expect([refused.status, refused.body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
        const right = await create(user.id, file.length, { sha256: sha256(file) });
        const stored = await complete(
          user.id,
          right.id,
          await send(user.id, right.id, file, right.part_size),
        );
        expect(stored.body.file.sha256).toBe(sha256(file));
        const { body } = await api.get(`/project/users/${user.id}/uploads`, tenant.key);
        const statuses = body.uploads.map((upload: { status: string; error?: object }) => upload.status);
        expect(statuses).toEqual(['completed', 'failed']);
      });
    });

    test('nothing is left over', async () => {
      await reapAll(service);
      expect(await objectsOf(service)).toEqual(await placesOf(service));
    });
  });
}
