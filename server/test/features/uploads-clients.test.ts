// tus-js-client in Node, as its users configure it, over connections that are cut.
import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import tus, { type UploadOptions, type UrlStorage } from 'tus-js-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Api, apiOf } from '../support/api.ts';
import { bytesOf, sha256, streamOf } from '../support/bytes.ts';
import { rowsOf } from '../support/database.ts';
import {
  expireUploads,
  objectsOf,
  placesOf,
  reapUntilDone,
  wrongCounters,
  wrongOwners,
} from '../support/ledger.ts';
import { type PakhusOnStore, startOn, storesFor } from '../support/stores.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { adminSession, createTenant, createUser, type Tenant } from '../support/tenants.ts';
import { createTus, headTus, patchTus, startTus, tusVersion } from '../support/tus.ts';

// Missing in the types of the package.
const { FileUrlStorage } = tus as unknown as { FileUrlStorage: new (path: string) => UrlStorage };

const size = 5 << 20;
const file = bytesOf(size);
const chunkSize = 1 << 20;

/** Where connections are cut: after the creation, and with enough left for the last request. */
const cutPoints = (): number[] => Array.from({ length: 4 }, () => randomInt(20_000, size / 5));

for (const store of storesFor('uploads by tus-js-client')) {
  describe(`tus-js-client, on ${store.name}`, () => {
    let service: PakhusOnStore;
    let api: Api;
    let tenant: Tenant;
    let proxy: TcpProxy;
    let user: { id: string };

    beforeAll(async () => {
      service = await startOn(store);
      ({ api } = service);
      tenant = await createTenant(api, await adminSession(api));
      proxy = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(service.baseUrl).port) });
    });
    afterAll(async () => {
      await proxy.close();
      await service.stop();
    });

    /** The requests that the client has sent, as `METHOD status`. */
    interface Sent {
      readonly upload: tus.Upload;
      readonly requests: string[];
      readonly done: Promise<string>;
    }

    /** `done` resolves to the id of the file. */
    function prepare(data: Buffer | Readable, options: UploadOptions & { protocol?: string } = {}): Sent {
      const requests: string[] = [];
      let upload = null as unknown as tus.Upload;
      const done = new Promise<string>((resolve, reject) => {
        const all = {
          endpoint: `http://127.0.0.1:${proxy.port}/api/v1/project/users/${user.id}/uploads`,
          headers: { authorization: `Bearer ${tenant.key}` },
          metadata: { filename: 'träumen.bin', filetype: 'application/x-dream', folder: 'a/b', tags: 'x,y' },
          chunkSize,
          retryDelays: [0, 10, 100, 1_000, 1_000],
          onAfterResponse: (request, response) =>
            void requests.push(`${request.getMethod()} ${response.getStatus()}`),
          onSuccess: ({ lastResponse }) => resolve(lastResponse.getHeader('Pakhus-File-Id') ?? 'no id'),
          onError: reject,
          ...options,
        } satisfies UploadOptions & { protocol?: string };
        upload = new tus.Upload(data, all);
      });
      return { upload, requests, done };
    }

    async function send(
      data: Buffer | Readable,
      options?: UploadOptions & { protocol?: string },
    ): Promise<Sent> {
      const sent = prepare(data, options);
      sent.upload.start();
      await sent.done;
      return sent;
    }

    /** Exactly this file, with these bytes, and nothing that is still reserved. */
    async function expectStored(fileId: string, bytes: Buffer = file): Promise<void> {
      const { files } = (await api.get(`/project/users/${user.id}/files`, tenant.key)).body;
      expect(files.map(({ id }: { id: string }) => id)).toEqual([fileId]);
      const { body } = await api.get(`/project/users/${user.id}/files/${fileId}`, tenant.key);
      expect(body.file).toMatchObject({ size: bytes.length, sha256: sha256(bytes) });
      expect(body.file).toMatchObject({
        name: 'träumen.bin',
        mimeType: 'application/x-dream',
        folder: 'a/b',
      });
      const content = Buffer.from(await (await fetch(body.file.url)).arrayBuffer());
      expect(sha256(content)).toBe(sha256(bytes));
      await expectNothingReserved(bytes.length);
    }

    const expectNothingReserved = async (used: number) =>
      expect(
        await rowsOf(
          service.databaseUrl,
          `select used_bytes, reserved_bytes from users where id = '${user.id}'`,
        ),
      ).toEqual([{ used_bytes: used, reserved_bytes: 0 }]);

    const withUser = (work: () => Promise<void>) => async () => {
      user = await createUser(api, tenant.key);
      await work();
    };

    test(
      'a buffer arrives in chunks',
      withUser(async () => {
        const { done, requests } = await send(file);
        await expectStored(await done);
        expect(requests).toEqual(['POST 201', ...Array(5).fill('PATCH 204')]);
      }),
    );

    for (const [what, open, options] of [
      ['a buffer', () => file, {}],
      ['a stream', () => streamOf(file), { uploadSize: size }],
      ['a stream of unknown length', () => streamOf(file), { uploadLengthDeferred: true }],
      ['a buffer by version 5 of the draft', () => file, { protocol: 'ietf-draft-03' }],
      ['a buffer by version 6 of the draft', () => file, { protocol: 'ietf-draft-05' }],
    ] as const)
      test(
        `${what} arrives although the connection is cut four times`,
        withUser(async () => {
          const cuts = cutPoints();
          const left = proxy.cutAfter(...cuts);
          const { done, requests } = await send(open(), options);
          expect(left(), `cut after ${cuts}: ${requests}`).toBe(0);
          await expectStored(await done);
          expect(requests.filter((request) => request.startsWith('POST'))).toEqual(['POST 201']);
        }),
      );

    test(
      'the answer to the last byte is lost: the client finds the file stored',
      withUser(async () => {
        const loss = proxy.loseAnswersTo('PATCH /api/v1/uploads/', 1);
        const { done, requests } = await send(file, { chunkSize: Number.POSITIVE_INFINITY });
        loss.stop();
        expect(loss.lost()).toBe(1);
        await expectStored(await done);
        expect(requests).toEqual(['POST 201', 'HEAD 200']);
      }),
    );

    test(
      'the first chunk may come with the creation',
      withUser(async () => {
        const { done, requests } = await send(file, { uploadDataDuringCreation: true });
        await expectStored(await done);
        expect(requests).toEqual(['POST 201', ...Array(4).fill('PATCH 204')]);
      }),
    );

    test(
      'a whole file may come with the creation',
      withUser(async () => {
        const small = bytesOf(1_000);
        const { done, requests } = await send(small, { uploadDataDuringCreation: true });
        await expectStored(await done, small);
        expect(requests).toEqual(['POST 201']);
      }),
    );

    test(
      'POST takes the place of PATCH',
      withUser(async () => {
        const { done, requests } = await send(file, { overridePatchMethod: true });
        await expectStored(await done);
        expect(requests).toEqual(['POST 201', ...Array(5).fill('POST 204')]);
      }),
    );

    /** Stops a client after its second chunk. */
    async function interrupt(options: UploadOptions, terminate = false): Promise<string> {
      const { upload } = await new Promise<Sent>((resolve, reject) => {
        const sent = prepare(file, {
          ...options,
          onChunkComplete: (_bytes, offset) => offset >= 2 * chunkSize && resolve(sent),
        });
        sent.done.then(() => reject(new Error('was not stopped')), reject);
        sent.upload.start();
      });
      await upload.abort(terminate);
      return upload.url ?? '';
    }

    test(
      'another process goes on from the stored URL',
      withUser(async () => {
        const folder = await mkdtemp(join(tmpdir(), 'pakhus-urls-'));
        try {
          const urlStorage = new FileUrlStorage(join(folder, 'urls.json'));
          const url = await interrupt({ urlStorage });
          const { upload, done, requests } = prepare(file, { urlStorage });
          const [previous] = await upload.findPreviousUploads();
          if (!previous) throw new Error('no URL was stored');
          upload.resumeFromPreviousUpload(previous);
          upload.start();
          await expectStored(await done);
          expect(upload.url).toBe(url);
          expect(requests[0]).toBe('HEAD 200');
          expect(requests).not.toContain('POST 201');
        } finally {
          await rm(folder, { recursive: true, force: true });
        }
      }),
    );

    test(
      'an upload can be terminated',
      withUser(async () => {
        const url = await interrupt({}, true);
        await expectNothingReserved(0);
        expect((await headTus(api, new URL(url).pathname.replace('/api/v1', ''))).status).toBe(404);
      }),
    );

    /** Ends the one upload of the user in that way. */
    const endings = {
      cancelled: async () => {
        const { uploads } = (await api.get(`/project/users/${user.id}/uploads`, tenant.key)).body;
        await api.delete(`/project/users/${user.id}/uploads/${uploads[0].id}`, tenant.key);
      },
      expired: () => expireUploads(service, user.id),
    };
    for (const [what, end] of Object.entries(endings))
      test(
        `a client whose upload was ${what} begins a new one`,
        withUser(async () => {
          const uploadUrl = await interrupt({});
          await end();
          const { done, requests } = await send(file, { uploadUrl });
          expect(requests.slice(0, 2)).toEqual(['HEAD 404', 'POST 201']);
          await expectStored(await done);
        }),
      );

    test(
      'a client with an unknown URL begins a new upload',
      withUser(async () => {
        const uploadUrl = `http://127.0.0.1:${proxy.port}/api/v1/uploads/${'x'.repeat(43)}`;
        const { done, requests } = await send(file, { uploadUrl });
        expect(requests.slice(0, 2)).toEqual(['HEAD 404', 'POST 201']);
        await expectStored(await done);
      }),
    );

    test('behind a proxy with a path, every URL begins with PUBLIC_URL', async () => {
      const PUBLIC_URL = 'https://files.example.com/storage';
      const behind = await service.another({ PUBLIC_URL });
      const local = apiOf(`${behind.pakhus.address}/api/v1`);
      try {
        user = await createUser(api, tenant.key);
        const path = `/project/users/${user.id}/uploads`;
        const byTus = await createTus(local, tenant.key, user.id, { size: 10 });
        const byDraft = await local.call('POST', path, {
          as: tenant.key,
          headers: { 'upload-complete': '?0', 'upload-length': '10' },
        });
        const fields = { name: 'a.bin', size: 10, mimeType: 'text/plain' };
        const byJson = await local.post(path, tenant.key, fields);
        const prefix = `${PUBLIC_URL}/api/v1/uploads/`;
        for (const url of [byTus.headers.location, byDraft.headers.location, byJson.body.upload.url]) {
          expect(url).toMatch(new RegExp(`^${prefix}[\\w-]{43}$`));
          const token = String(url).slice(prefix.length);
          expect((await patchTus(local, `/uploads/${token}`, 0, bytesOf(10))).status).toBe(204);
        }
        if (store.name !== 'disk') return;
        const direct = await local.post(path, tenant.key, { ...fields, mode: 'direct' });
        const { id } = direct.body.upload;
        const { body } = await local.post(`${path}/${id}/parts`, tenant.key, { numbers: [1] });
        expect(body.parts[0].url).toMatch(new RegExp(`^${PUBLIC_URL}/api/v1/`));
        expect((await api.delete(`${path}/${id}`, tenant.key)).status).toBe(204);
      } finally {
        await behind.stop();
      }
    });

    test(
      'POST takes the place of HEAD and DELETE too, on the URL of an upload alone',
      withUser(async () => {
        const path = await startTus(api, tenant.key, user.id, { size: 10 });
        const override = (method: string, target: string, as?: string) =>
          api.call('POST', target, { as, headers: { ...tusVersion, 'x-http-method-override': method } });
        const head = await override('HEAD', path);
        expect([head.status, head.headers['upload-offset']]).toEqual([200, '0']);
        const elsewhere = await override('DELETE', `/project/users/${user.id}`, tenant.key);
        expect(elsewhere.status).toBe(404);
        expect((await api.get(`/project/users/${user.id}`, tenant.key)).status).toBe(200);
        expect((await override('DELETE', path)).status).toBe(204);
        expect((await headTus(api, path)).status).toBe(404);
        await expectNothingReserved(0);
      }),
    );

    test('preflights allow the methods and headers of tus', async () => {
      const wanted =
        'tus-resumable,upload-offset,upload-length,upload-metadata,x-http-method-override,content-type';
      for (const method of ['PATCH', 'HEAD', 'DELETE', 'POST']) {
        const { status, headers } = await api.call('OPTIONS', `/uploads/${'x'.repeat(43)}`, {
          headers: {
            origin: 'https://app.example.com',
            'access-control-request-method': method,
            'access-control-request-headers': wanted,
          },
        });
        expect(status).toBe(204);
        expect(headers['access-control-allow-origin']).toBe('https://app.example.com');
        expect(String(headers['access-control-allow-methods']).split(', ')).toContain(method);
        expect(headers['access-control-allow-headers']).toBe(wanted);
        expect(headers).toMatchObject({ 'tus-resumable': '1.0.0', 'tus-version': '1.0.0' });
      }
    });

    test(
      'a page of any origin reads why its headers are refused, and nothing of the upload itself',
      withUser(async () => {
        const path = await startTus(api, tenant.key, user.id, { size: 10 });
        const origin = 'https://stranger.example.com';
        const ask = async (method: string, headers: Record<string, string>) => {
          const reply = await api.call(method, path, { headers: { origin, ...headers } });
          return [reply.status, reply.headers['access-control-allow-origin']];
        };
        const type = { 'content-type': 'application/offset+octet-stream' };
        expect(await ask('PATCH', { ...tusVersion, ...type })).toEqual([400, '*']);
        expect(await ask('PATCH', { ...tusVersion, 'content-type': 'text/plain' })).toEqual([415, '*']);
        expect(await ask('PATCH', { 'tus-resumable': '0.2.2', ...type })).toEqual([412, '*']);
        expect(await ask('HEAD', { 'tus-resumable': '0.2.2' })).toEqual([412, '*']);
        expect(await ask('DELETE', { 'upload-draft-interop-version': '1' })).toEqual([400, '*']);
        expect(await ask('PATCH', { ...tusVersion, ...type, 'upload-offset': '5' })).toEqual([
          409,
          undefined,
        ]);
        expect(await ask('HEAD', tusVersion)).toEqual([200, undefined]);
        expect(await ask('DELETE', tusVersion)).toEqual([204, undefined]);
      }),
    );

    test('nothing is left over', async () => {
      await reapUntilDone(service);
      expect(await objectsOf(service)).toEqual(await placesOf(service));
      expect(await wrongOwners(service)).toEqual([]);
      expect(await wrongCounters(service)).toEqual([]);
    });
  });
}
