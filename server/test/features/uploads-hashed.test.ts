// The sha256 of large uploads, which threads compute: right under load, and never recorded if a thread fails.
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import type { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bytesOf, sha256 } from '../support/bytes.ts';
import { expectBalanced, reapUntilDone } from '../support/ledger.ts';
import { until } from '../support/processes.ts';
import { openRawPost } from '../support/raw-client.ts';
import { type PakhusOnStore, startOn, storesFor } from '../support/stores.ts';
import { adminSession, createPlan, createTenant, createUser, type Tenant } from '../support/tenants.ts';
import { contentTypeOf, formOf, partsOf, upload } from '../support/uploads.ts';

const mebibyte = 1 << 20;

interface SentFile {
  readonly sha256: string;
  readonly url: string;
}

for (const store of storesFor('hashed uploads')) {
  describe(`hashed uploads on ${store.name}`, () => {
    let service: PakhusOnStore;
    let tenant: Tenant;
    let path: string;
    const workers: Worker[] = [];
    const onWorker = (worker: Worker) => workers.push(worker);

    beforeAll(async () => {
      process.on('worker', onWorker);
      service = await startOn(store);
      tenant = await createTenant(service.api, await adminSession(service.api));
      await createPlan(service.api, tenant.key, { maxFileSize: 1 << 30 });
      path = `/project/users/${(await createUser(service.api, tenant.key)).id}`;
    });
    afterAll(async () => {
      process.off('worker', onWorker);
      await service.stop();
    });

    const load = () => service.pakhus.deps.hashing.load;
    const untilAtRest = () =>
      until('no hash is open', async () => load().openHashes === 0 && load().unanswered === 0);

    /** Sends a form in pieces of random length. */
    async function sendInPieces(bytes: Buffer): Promise<{ status: number; file: SentFile }> {
      const outgoing = request(`${service.baseUrl}${path}/files`, {
        method: 'POST',
        headers: { authorization: `Bearer ${tenant.key}`, 'content-type': contentTypeOf() },
      });
      const replied = once(outgoing, 'response');
      const form = formOf(partsOf(bytes));
      for (let at = 0; at < form.length; ) {
        const length = randomInt(1, 300_000);
        if (!outgoing.write(form.subarray(at, at + length))) await once(outgoing, 'drain');
        at += length;
      }
      outgoing.end();
      const [reply] = await replied;
      const chunks: Buffer[] = [];
      for await (const chunk of reply) chunks.push(chunk);
      return { status: reply.statusCode, file: JSON.parse(Buffer.concat(chunks).toString()).file };
    }

    const begin = (bytes: number) =>
      openRawPost(service.baseUrl, {
        path: `${path}/files`,
        as: tenant.key,
        headers: [`Content-Type: ${contentTypeOf()}`, `Content-Length: ${bytes}`],
      });

    test('files.upload: of 40 large uploads at once, each gets the sha256 of its own bytes', async () => {
      const files = Array.from({ length: 40 }, (_, nth) =>
        bytesOf(randomInt(300_000, 7 * mebibyte), nth + 1),
      );
      const replies = await Promise.all(files.map(sendInPieces));
      expect(replies.map(({ status }) => status)).toEqual(files.map(() => 201));
      expect(replies.map(({ file }) => file.sha256)).toEqual(files.map(sha256));
      await Promise.all(
        replies.map(async ({ file }, nth) => {
          const stored = Buffer.from(await (await fetch(file.url)).arrayBuffer());
          expect(stored.equals(files[nth] as Buffer)).toBe(true);
        }),
      );
      await untilAtRest();
    });

    test('files.upload: clients that hang up in the middle leave no hash behind', async () => {
      const form = formOf(partsOf(bytesOf(4 * mebibyte)));
      const clients = await Promise.all(Array.from({ length: 20 }, () => begin(form.length)));
      await Promise.all(clients.map((client, nth) => client.write(form.subarray(0, (nth + 1) * 200_000))));
      await until('they are hashed', async () => load().openHashes > 0);
      for (const client of clients) client.hangUp();
      await untilAtRest();
    });

    test('files.upload: a Content-Digest of a large file or of the whole form is verified', async () => {
      const bytes = bytesOf(5 * mebibyte);
      const send = (digest: string) =>
        upload(service.api, tenant.key, path, bytes, {
          headers: { 'content-digest': `sha-256=:${Buffer.from(digest, 'hex').toString('base64')}:` },
        });
      for (const [digest, status] of [
        [sha256(bytes), 201],
        [sha256(formOf(partsOf(bytes))), 201],
        [sha256(bytes.subarray(1)), 422],
      ] as const) {
        const reply = await send(digest);
        expect(reply.status, reply.text).toBe(status);
      }
      await untilAtRest();
    });

    test('files.upload: an upload whose thread dies gets 503 and is not stored; the next one is', async () => {
      const bytes = bytesOf(4 * mebibyte);
      const form = formOf(partsOf(bytes));
      const client = await begin(form.length);
      await client.write(form.subarray(0, 3 * mebibyte));
      await until('it is hashed', async () => load().openHashes > 0);
      await Promise.all(workers.map((worker) => worker.terminate()));
      await client.write(form.subarray(3 * mebibyte));
      const reply = await client.reply();
      client.end();
      expect(reply.status).toBe(503);
      expect(reply.text).toContain('"part":"capacity"');
      const next = await upload(service.api, tenant.key, path, bytes);
      expect(next.body.file.sha256).toBe(sha256(bytes));
      await untilAtRest();
      // Expires reserved objects as well, so no upload may follow in this service.
      await reapUntilDone(service);
      await expectBalanced(service, tenant.id);
    });
  });
}
