// A store that Pakhus and its clients know by different addresses, as in compose.yaml.
import { describe, expect, test } from 'vitest';
import { bytesOf, sha256 } from '../support/bytes.ts';
import { testS3Server } from '../support/s3-server.ts';
import { startOn, storesFor } from '../support/stores.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { adminSession, createTenant, createUser } from '../support/tenants.ts';
import { upload } from '../support/uploads.ts';

const s3 = testS3Server();
const [, onS3] = storesFor('S3_PUBLIC_ENDPOINT');

describe.skipIf(!s3)('S3_PUBLIC_ENDPOINT', () => {
  test('is the signed host of download URLs, and nothing else goes there', async () => {
    if (!s3 || !onS3) throw new Error('no S3 server');
    const { hostname: host, port } = new URL(s3.endpoint);
    const proxy = await startTcpProxy({ host, port: Number(port) });
    const publicEndpoint = `http://localhost:${proxy.port}`;
    const service = await startOn(onS3, { S3_PUBLIC_ENDPOINT: `${publicEndpoint}/` });
    try {
      const { key } = await createTenant(service.api, await adminSession(service.api));
      const path = `/project/users/${(await createUser(service.api, key)).id}`;
      await proxy.goAway();
      const bytes = bytesOf(6 << 20);
      const reply = await upload(service.api, key, path, bytes, { name: 'a b.bin' });
      expect(reply.status, reply.text).toBe(201);
      const { id, url } = reply.body.file;
      expect(url).toMatch(new RegExp(`^${publicEndpoint}/${service.buckets?.bucket}/`));
      await expect(fetch(url), 'only the proxy is there').rejects.toThrow();
      await proxy.comeBack();
      const response = await fetch(url);
      expect(response.status).toBe(200);
      expect(sha256(Buffer.from(await response.arrayBuffer()))).toBe(sha256(bytes));
      const direct = await fetch(url.replace(publicEndpoint, s3.endpoint));
      expect(direct.status, 'the signature is of the public host').toBe(403);
      await direct.arrayBuffer();
      await proxy.goAway();
      expect((await service.api.delete(`${path}/files/${id}`, key)).status).toBe(204);
    } finally {
      await service.stop();
      await proxy.close();
    }
  });
});
