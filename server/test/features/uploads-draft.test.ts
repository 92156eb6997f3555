// Resumable uploads by the IETF draft, with curl, in all versions that the service speaks.
import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { bytesOf, sha256 } from '../support/bytes.ts';
import { type CurlResult, curl, hasCurl } from '../support/curl.ts';
import { rowsOf } from '../support/database.ts';
import { expectDocumented } from '../support/documented.ts';
import { objectsOf, placesOf, reapUntilDone } from '../support/ledger.ts';
import type { TestPakhus } from '../support/pakhus.ts';
import { type PakhusOnStore, startOn, storesFor } from '../support/stores.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { adminSession, createPlan, createTenant, createUser, type Tenant } from '../support/tenants.ts';

if (!hasCurl) console.log('SKIPPED uploads by the IETF draft: curl is not installed');

const file = bytesOf(1_500_000);
const fileMax = 2_000_000;
const marker = 'the connection is cut here';
const partial = { 'content-type': 'application/partial-upload' };

/** Whether the file ends here, as each version says it. */
const ending = (version: number, isEnd: boolean): Record<string, string> => ({
  'upload-draft-interop-version': String(version),
  ...(version === 3
    ? { 'upload-incomplete': isEnd ? '?0' : '?1' }
    : { 'upload-complete': isEnd ? '?1' : '?0' }),
});

/** Before version 8, an append creates. */
const appended = (version: number): number => (version < 8 ? 201 : 204);

for (const store of hasCurl ? storesFor('uploads by the IETF draft') : [])
  describe(`the IETF draft, on ${store.name}`, () => {
    let service: PakhusOnStore;
    let announcing: TestPakhus;
    let proxy: TcpProxy;
    let api: Api;
    let tenant: Tenant;
    let user: { id: string };

    beforeAll(async () => {
      service = await startOn(store);
      announcing = await service.another({ UPLOAD_104: 'true' });
      proxy = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(announcing.baseUrl).port) });
      ({ api } = service);
      tenant = await createTenant(api, await adminSession(api));
      await createPlan(api, tenant.key, { maxFileSize: fileMax, isDefault: true });
    });
    afterAll(async () => {
      await proxy.close();
      await announcing.stop();
      await service.stop();
    });

    const call = async (
      method: string,
      url: string,
      headers: Record<string, string>,
      body?: Buffer,
      onOutput?: (soFar: string) => unknown,
    ): Promise<CurlResult> => {
      const result = await curl(method, url, headers, body, onOutput);
      const { status, headers: answered } = result.last;
      const path = new URL(url).pathname.replace('/api/v1', '');
      const content = { body: result.text === '' ? null : JSON.parse(result.text), text: result.text };
      if (result.exitCode === 0) expectDocumented(method, path, { status, headers: answered, ...content });
      return result;
    };
    const create = async (
      headers: Record<string, string>,
      body?: Buffer,
      {
        baseUrl = service.baseUrl,
        onOutput,
      }: { baseUrl?: string; onOutput?: (soFar: string) => unknown } = {},
    ) => {
      user = await createUser(api, tenant.key);
      const authorization = `Bearer ${tenant.key}`;
      const url = `${baseUrl}/project/users/${user.id}/uploads`;
      return call('POST', url, { authorization, ...headers }, body, onOutput);
    };
    const locationOf = ({ last }: CurlResult): string => last.headers.location ?? '';
    const probe = async (version: number, url: string) => {
      const { last } = await call('HEAD', url, { 'upload-draft-interop-version': String(version) });
      expect(last.status).toBe(204);
      expect(last.headers['cache-control']).toBe('no-store');
      return last.headers;
    };

    async function expectStored(
      { last }: CurlResult,
      bytes: Buffer = file,
    ): Promise<Record<string, unknown>> {
      const { files } = (await api.get(`/project/users/${user.id}/files`, tenant.key)).body;
      expect(files.map(({ id }: { id: string }) => id)).toEqual([last.headers['pakhus-file-id']]);
      const { body } = await api.get(`/project/users/${user.id}/files/${files[0].id}`, tenant.key);
      expect(body.file).toMatchObject({ size: bytes.length, sha256: sha256(bytes) });
      const content = Buffer.from(await (await fetch(body.file.url)).arrayBuffer());
      expect(sha256(content)).toBe(sha256(bytes));
      expect(
        await rowsOf(
          service.databaseUrl,
          `select used_bytes, reserved_bytes from users where id = '${user.id}'`,
        ),
      ).toEqual([{ used_bytes: bytes.length, reserved_bytes: 0 }]);
      return body.file;
    }

    for (const version of [3, 5, 6, 8]) {
      describe(`version ${version}`, () => {
        const type = version >= 6 ? partial : undefined;
        const append = (url: string, at: number, body: Buffer, isEnd: boolean) =>
          call('PATCH', url, { ...ending(version, isEnd), 'upload-offset': String(at), ...type }, body);
        const state = (at: number, isComplete: boolean) => ({
          ...ending(version, isComplete),
          'upload-offset': String(at),
        });

        test('a file comes with its creation', async () => {
          const created = await create(
            {
              ...ending(version, true),
              'content-type': 'application/x-dream',
              'content-disposition': `inline; filename="a.bin"; filename*=UTF-8''tr%C3%A4umen.bin`,
            },
            file,
          );
          expect(created.last.status, created.text).toBe(201);
          expect(created.last.headers).toMatchObject(state(file.length, true));
          const stored = await expectStored(created);
          expect(stored).toMatchObject({ name: 'träumen.bin', mimeType: 'application/x-dream' });
          expect(await probe(version, locationOf(created))).toMatchObject(state(file.length, true));
        });

        test('a file comes in pieces, and its offset can be asked for', async () => {
          const length = version >= 6 ? { 'upload-length': String(file.length) } : undefined;
          const created = await create({ ...ending(version, false), ...length });
          expect(created.last.status, created.text).toBe(201);
          expect(created.last.headers).toMatchObject(state(0, false));
          const url = locationOf(created);

          const middle = await append(url, 0, file.subarray(0, 1_000_000), false);
          expect(middle.last.status, middle.text).toBe(appended(version));
          expect(middle.last.headers).toMatchObject(state(1_000_000, false));
          const asked = await probe(version, url);
          expect(asked).toMatchObject({ ...state(1_000_000, false), ...length });
          expect(asked['upload-limit']).toMatch(/^min-size=0, max-size=\d+$/);
          expect(asked['upload-length']).toBe(length?.['upload-length']);

          const ended = await append(url, 1_000_000, file.subarray(1_000_000), true);
          expect(ended.last.status, ended.text).toBe(appended(version));
          expect(ended.last.headers).toMatchObject(state(file.length, true));
          await expectStored(ended);
          const repeated = await append(url, file.length, Buffer.alloc(0), true);
          expect(repeated.last.headers['pakhus-file-id'], 'the answer may have been lost').toBe(
            ended.last.headers['pakhus-file-id'],
          );
        });

        test('a wrong offset is answered with the right one', async () => {
          const url = locationOf(await create(ending(version, false), file.subarray(0, 1_000)));
          const wrong = await append(url, 999, file.subarray(999), true);
          expect(wrong.last.status).toBe(409);
          expect(wrong.last.headers).toMatchObject(state(1_000, false));
          await expectStored(await append(url, 1_000, file.subarray(1_000), true));
        });

        test('an interim response names the URL, and an upload that was cut goes on there', async () => {
          const at = randomInt(100_000, 1_400_000);
          const marked = Buffer.from(file);
          // Several times, because it may be spread over two chunks.
          marked.write(marker.repeat(3), at);
          const held = proxy.hold(marker);
          const created = await create(ending(version, true), marked, {
            baseUrl: `http://127.0.0.1:${proxy.port}/api/v1`,
            onOutput: (soFar) => soFar.includes(' 104 ') && proxy.cut(),
          });
          held.letGo();
          expect(created.exitCode, `cut before byte ${at}`).not.toBe(0);
          const interim = created.responses.find(({ status }) => status === 104);
          expect(interim?.headers).toMatchObject({
            'upload-draft-interop-version': String(version),
            'upload-limit': `min-size=0, max-size=${fileMax}`,
          });
          const url = interim?.headers.location ?? '';
          const kept = Number((await probe(version, url))['upload-offset']);
          expect(kept).toBeLessThan(at + marker.length);
          await expectStored(await append(url, kept, marked.subarray(kept), true), marked);
        });
      });
    }

    test('no interim response without UPLOAD_104, nor to a client that names no version', async () => {
      const interim = ({ responses }: CurlResult) => responses.filter(({ status }) => status === 104);
      expect(interim(await create(ending(8, true), file))).toEqual([]);
      const unnamed = await create({ 'upload-complete': '?1' }, file, announcing);
      expect(unnamed.last.status).toBe(201);
      expect(interim(unnamed)).toEqual([]);
      expect(interim(await create(ending(8, true), file, announcing))).toHaveLength(1);
    });

    test('a body of unknown length is the whole file', async () => {
      const created = await create({ ...ending(8, true), 'transfer-encoding': 'chunked' }, file);
      expect(created.last.status, created.text).toBe(201);
      await expectStored(created);
    });

    test('an empty file completes at its creation', async () => {
      await expectStored(await create(ending(8, true), Buffer.alloc(0)), Buffer.alloc(0));
    });

    test('OPTIONS and refusals tell the limit', async () => {
      user = await createUser(api, tenant.key);
      const options = await curl('OPTIONS', `${service.baseUrl}/project/users/${user.id}/uploads`);
      expect(options.last.headers['upload-limit']).toMatch(/^min-size=0, max-size=\d+$/);
      const refused = await create({ ...ending(8, false), 'upload-length': String(fileMax + 1) });
      expect(refused.last.status).toBe(413);
      expect(refused.last.headers).toMatchObject({
        'upload-limit': `min-size=0, max-size=${fileMax}`,
      });
      expect(JSON.parse(refused.text).error.code).toBe('FILE_TOO_LARGE');
    });

    test('lengths that contradict each other are refused', async () => {
      const created = await create({ ...ending(8, true), 'upload-length': '1000' }, file.subarray(0, 999));
      expect(created.last.status).toBe(400);
      const url = locationOf(await create({ ...ending(8, false), 'upload-length': '1000' }));
      const append = (isEnd: boolean, length: number, more: Record<string, string> = {}) =>
        call(
          'PATCH',
          url,
          { ...ending(8, isEnd), ...partial, 'upload-offset': '0', ...more },
          file.subarray(0, length),
        );
      expect((await append(true, 999)).last.status).toBe(400);
      expect((await append(false, 10, { 'upload-length': '1001' })).last.status).toBe(400);
      expect((await append(false, 1_001)).last.status).toBe(413);
      expect((await probe(8, url))['upload-offset']).toBe('0');
      await expectStored(await append(true, 1_000), file.subarray(0, 1_000));
    });

    test('a length that is refused is neither kept nor reserved', async () => {
      const url = locationOf(await create(ending(8, false)));
      const headers = {
        ...ending(8, false),
        ...partial,
        'upload-offset': '0',
        'upload-length': String(fileMax + 1),
      };
      expect((await call('PATCH', url, headers, file)).last.status).toBe(413);
      expect(await probe(8, url)).not.toHaveProperty('upload-length');
      expect(
        await rowsOf(service.databaseUrl, `select reserved_bytes from users where id = '${user.id}'`),
      ).toEqual([{ reserved_bytes: 0 }]);
    });

    test('a refusal of the whole file is final, and says so', async () => {
      const wrong = Buffer.from(sha256(Buffer.from('other'))).toString('base64');
      const url = locationOf(await create({ ...ending(8, false), 'upload-metadata': `sha256 ${wrong}` }));
      const headers = { ...ending(8, true), ...partial, 'upload-offset': '0' };
      const { last } = await call('PATCH', url, headers, file.subarray(0, 1_000));
      expect([last.status, last.headers['upload-complete']]).toEqual([422, '?1']);
      const gone = await call('HEAD', url, { 'upload-draft-interop-version': '8' });
      expect(gone.last.status).toBe(404);
    });

    test('an append needs its media type from version 6 on', async () => {
      const url = locationOf(await create(ending(6, false)));
      const headers = {
        ...ending(6, true),
        'upload-offset': '0',
        'content-type': 'application/octet-stream',
      };
      expect((await call('PATCH', url, headers, file)).last.status).toBe(415);
    });

    test('an unknown version is refused, and the known ones are named', async () => {
      const refused = await create(ending(4, true), file);
      expect(refused.last.status).toBe(400);
      expect(refused.text).toContain('3, 5, 6, 8');
    });

    test('an upload can be cancelled', async () => {
      const url = locationOf(await create(ending(8, false), file.subarray(0, 1_000)));
      const version = { 'upload-draft-interop-version': '8' };
      expect((await call('DELETE', url, version)).last.status).toBe(204);
      expect((await call('HEAD', url, version)).last.status).toBe(404);
    });

    test('nothing is left over', async () => {
      await reapUntilDone(service);
      expect(await objectsOf(service)).toEqual(await placesOf(service));
    });
  });
