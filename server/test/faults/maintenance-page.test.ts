// A proxy in front of the store answers with 200 and an HTML page instead: Pakhus must not confirm or delete
// anything because of it.
import type http from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { mover } from '../../src/features/files/files.jobs.ts';
import { bytesOf, sha256 } from '../support/bytes.ts';
import { rowsOf } from '../support/database.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { picture } from '../support/image-files.ts';
import { endHolds, expectBalanced, never, objectsOf, reapAll, unsettledOf } from '../support/ledger.ts';
import { until } from '../support/processes.ts';
import { testS3Server } from '../support/s3-server.ts';
import { type PakhusOnStore, startOn, storesFor } from '../support/stores.ts';
import { adminSession, createTenant, createUser } from '../support/tenants.ts';
import { contentTypeOf, formOf, partsOf, type UploadOptions, upload } from '../support/uploads.ts';

const server = testS3Server();
if (!server) console.log('SKIPPED maintenance pages: TEST_S3_ENDPOINT is not set');

describe.skipIf(!server)('a maintenance page in place of the store', () => {
  let proxy: FaultProxy;
  let service: PakhusOnStore;
  let admin: string;

  beforeAll(async () => {
    proxy = await startFaultProxy(server?.endpoint ?? '');
    const s3 = storesFor('maintenance pages').find(({ name }) => name === 's3');
    if (!s3) throw new Error('there is no S3');
    service = await startOn(s3, { S3_ENDPOINT: proxy.url });
    admin = await adminSession(service.api);
  });
  afterEach(() => proxy.set());
  afterAll(async () => {
    await service.stop();
    await proxy.close();
  });

  async function newTenant() {
    const { id, key } = await createTenant(service.api, admin);
    return { id, key, path: `/project/users/${(await createUser(service.api, key)).id}` };
  }

  const pagesFor = (...methods: string[]) =>
    proxy.set({
      fault: { kind: 'page' },
      when: ({ method = '' }: http.IncomingMessage) => methods.includes(method),
    });

  const stored = async (key: string, path: string, bytes: Buffer, options: UploadOptions = {}) => {
    const reply = await upload(service.api, key, path, bytes, options);
    expect(reply.status, reply.text).toBe(201);
    return reply.body.file;
  };

  const readBack = async (key: string, at: string): Promise<string> => {
    const { file } = (await service.api.get(at, key)).body;
    return sha256(Buffer.from(await (await fetch(file.url)).arrayBuffer()));
  };

  const moveAll = (projectId: string) =>
    until('every file is on its zone', async () => {
      await mover.run(service.pakhus.deps, never);
      const misplaced = await rowsOf(
        service.databaseUrl,
        `select from files where project_id = '${projectId}' and visibility <> zone`,
      );
      return misplaced.length === 0 && (await unsettledOf(service, projectId)) === 0;
    });

  const uploads: { what: string; size: number; methods: string[]; options?: UploadOptions }[] = [
    { what: 'a small file', size: 5_000, methods: ['PUT'] },
    { what: 'a file in parts', size: 11 << 20, methods: ['PUT'] },
    { what: 'the beginning and end of a file in parts', size: 11 << 20, methods: ['POST'] },
    {
      what: 'the copy of a public file',
      size: 1 << 20,
      methods: ['HEAD'],
      options: { meta: { visibility: 'public' }, metaAfterFile: true },
    },
  ];
  test.each(uploads)(
    'an upload is refused with 503 and leaves nothing: $what',
    async ({ size, methods, options }) => {
      const { id, key, path } = await newTenant();
      pagesFor(...methods);
      const reply = await upload(service.api, key, path, bytesOf(size), options);
      expect(reply.status, reply.text).toBe(503);
      expect(reply.body.error).toMatchObject({ code: 'STORAGE_UNAVAILABLE', details: { part: 'storage' } });
      expect(reply.headers['retry-after']).toMatch(/^\d+$/);
      expect((await service.api.get(`${path}/files`, key)).body.files).toEqual([]);
      proxy.set();
      await reapAll(service);
      expect(await objectsOf(service, id)).toEqual([]);
      await expectBalanced(service, id);
    },
  );

  test.each([['PUT'], ['HEAD'], ['PUT', 'HEAD'], ['GET', 'HEAD', 'PUT', 'POST', 'DELETE']])(
    'a change of visibility deletes no object while %s is answered by a page, and is completed later',
    async (...methods) => {
      const { id, key, path } = await newTenant();
      const bytes = bytesOf(20_000, 7);
      for (const [from, to] of [
        ['private', 'public'],
        ['public', 'private'],
      ] as const) {
        const file = await stored(key, path, bytes, { meta: { visibility: from } });
        const at = `${path}/files/${file.id}`;
        pagesFor(...methods);
        expect((await service.api.put(at, key, { visibility: to })).status).toBe(200);
        await mover.run(service.pakhus.deps, never);
        await reapAll(service);
        proxy.set();
        expect(await objectsOf(service, id)).toContain(`${from}/${file.storageKey}`);
        expect(await readBack(key, at)).toBe(sha256(bytes));
        await endHolds(service);
        await moveAll(id);
        expect(await readBack(key, at)).toBe(sha256(bytes));
        expect(await objectsOf(service, id)).toContain(`${to}/${file.storageKey}`);
      }
      await expectBalanced(service, id);
    },
  );

  test('a deletion answered by a page is completed later', async () => {
    const { id, key, path } = await newTenant();
    const file = await stored(key, path, bytesOf(3_000));
    pagesFor('DELETE', 'POST');
    expect((await service.api.delete(`${path}/files/${file.id}`, key)).status).toBe(204);
    await reapAll(service);
    proxy.set();
    expect(await objectsOf(service, id)).toEqual([`private/${file.storageKey}`]);
    await reapAll(service);
    expect(await objectsOf(service, id)).toEqual([]);
  });

  test('an image read as a page is read again, and is done', async () => {
    const { key, path } = await newTenant();
    pagesFor('GET');
    const sent = await service.api.call('POST', `${path}/images`, {
      as: key,
      raw: formOf(partsOf(await picture(60, 40).png().toBuffer(), { type: 'image/png', fileField: 'image' })),
      headers: { 'content-type': contentTypeOf() },
    });
    expect(sent.status, sent.text).toBe(202);
    await until('a try has failed', async () => {
      const jobs = await rowsOf(
        service.databaseUrl,
        `select from compression_jobs where id = '${sent.body.job_id}' and error is not null`,
      );
      return jobs.length > 0;
    });
    proxy.set();
    const job = await until('the job ends', async () => {
      const { body } = await service.api.get(`/project/jobs/${sent.body.job_id}`, key);
      return ['done', 'failed'].includes(body.status) && body;
    });
    expect(job).toMatchObject({ status: 'done', width: 60, height: 40 });
  });

  test('health reports that the store is unavailable', async () => {
    pagesFor('HEAD');
    const { body } = await service.api.get('/health');
    expect(body.checks.storage).toBe('unavailable');
  });
});
