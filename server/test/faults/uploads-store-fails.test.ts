// An upload whose store fails in the middle goes on from what was told, and never turns into a shorter file.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bytesOf, sha256 } from '../support/bytes.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { until } from '../support/processes.ts';
import { openRawPost } from '../support/raw-client.ts';
import { testS3Server } from '../support/s3-server.ts';
import { type PakhusOnStore, startOn, storesFor } from '../support/stores.ts';
import { adminSession, createTenant, createUser, type Tenant } from '../support/tenants.ts';
import { startTus } from '../support/tus.ts';

const server = testS3Server();

if (!server) console.log('SKIPPED failing stores of uploads: TEST_S3_ENDPOINT is not set');

describe.skipIf(!server)('a store that fails in the middle of an upload', () => {
  let proxy: FaultProxy;
  let service: PakhusOnStore;
  let tenant: Tenant;
  let user: { id: string };

  beforeAll(async () => {
    proxy = await startFaultProxy(server?.endpoint ?? '');
    const s3 = storesFor('failing stores of uploads').find(({ name }) => name === 's3');
    if (!s3) throw new Error('there is no S3');
    service = await startOn(s3, { S3_ENDPOINT: proxy.url });
    tenant = await createTenant(service.api, await adminSession(service.api));
    user = await createUser(service.api, tenant.key);
  });
  afterAll(async () => {
    await service.stop();
    await proxy.close();
  });

  /** By the IETF draft. */
  const append = async (
    path: string,
    at: number,
    body: Buffer,
    framing: 'length' | 'chunked',
    isEnd: boolean,
  ) => {
    const client = await openRawPost(service.baseUrl, {
      method: 'PATCH',
      path,
      headers: [
        `Upload-Complete: ${isEnd ? '?1' : '?0'}`,
        'Content-Type: application/partial-upload',
        `Upload-Offset: ${at}`,
        framing === 'length' ? `Content-Length: ${body.length}` : 'Transfer-Encoding: chunked',
      ],
    });
    if (framing === 'chunked') await client.write(`${body.length.toString(16)}\r\n`);
    await client.write(body);
    if (framing === 'chunked') await client.write('\r\n0\r\n\r\n');
    const { status } = await client.reply();
    client.end();
    return status;
  };
  const probe = (path: string) =>
    service.api.call('HEAD', path, { headers: { 'upload-draft-interop-version': '8' } });

  test.each(['length', 'chunked'] as const)(
    'a last body by %s that the store did not take is asked for again',
    async (framing) => {
      for (const first of [0, 5_000]) {
        const file = bytesOf(30_000, 2);
        const path = await startTus(service.api, tenant.key, user.id, { size: null });
        if (first > 0) expect(await append(path, 0, file.subarray(0, first), 'length', false)).toBe(204);
        proxy.set({ fault: { kind: 'status', status: 500 }, when: ({ method }) => method === 'PUT' });
        const failed = await append(path, first, file.subarray(first), framing, true);
        proxy.set();
        expect(failed).toBe(503);
        const head = await probe(path);
        expect([head.status, head.headers['upload-offset'], head.headers['upload-complete']]).toEqual([
          204,
          String(first),
          '?0',
        ]);
        await until(
          'the rest is taken',
          async () => (await append(path, first, file.subarray(first), framing, true)) === 204,
        );
        const done = await probe(path);
        expect(done.headers['upload-complete']).toBe('?1');
        const { body } = await service.api.get(
          `/project/users/${user.id}/files/${done.headers['pakhus-file-id']}`,
          tenant.key,
        );
        expect(body.file).toMatchObject({ size: file.length, sha256: sha256(file) });
      }
    },
  );
});
