// Several requests for one upload, to one instance or to two: one of them moves the offset, and nobody waits behind a client
// that has fallen silent.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Api, apiOf, type Reply } from '../support/api.ts';
import { bytesOf, sha256 } from '../support/bytes.ts';
import { freshDatabase, rowsOf } from '../support/database.ts';
import { objectsOf, placesOf, reapUntilDone } from '../support/ledger.ts';
import { type TestPakhus, testSecrets } from '../support/pakhus.ts';
import { type PakhusProcess, startProcess } from '../support/process.ts';
import { until } from '../support/processes.ts';
import { openRawPost, type RawClient } from '../support/raw-client.ts';
import { type PakhusOnStore, startOn, storesFor } from '../support/stores.ts';
import { adminSession, createTenant, createUser, type Tenant } from '../support/tenants.ts';
import { headTus, offsetOf, patchTus, startTus } from '../support/tus.ts';

const mebibyte = 1 << 20;

for (const store of storesFor('takeovers of uploads')) {
  describe(`on ${store.name}`, () => {
    let here: PakhusOnStore;
    let there: TestPakhus;
    let tenant: Tenant;
    let user: { id: string };

    beforeAll(async () => {
      here = await startOn(store);
      there = await here.another();
      tenant = await createTenant(here.api, await adminSession(here.api));
      user = await createUser(here.api, tenant.key);
    });
    afterAll(async () => {
      await there.stop();
      await here.stop();
    });

    const start = (size: number) => startTus(here.api, tenant.key, user.id, { size });
    const openPatch = (of: TestPakhus, path: string, at: number, length: number): Promise<RawClient> =>
      openRawPost(of.baseUrl, {
        method: 'PATCH',
        path,
        headers: [
          'Tus-Resumable: 1.0.0',
          'Content-Type: application/offset+octet-stream',
          `Upload-Offset: ${at}`,
          `Content-Length: ${length}`,
        ],
      });
    const isReceiving = async (): Promise<boolean> =>
      (await rowsOf(here.databaseUrl, `select from uploads where receiving and user_id = '${user.id}'`))
        .length > 0;
    /** Sends the rest at the told offset, however often another request is in the way. */
    const finish = (api: Api, path: string, file: Buffer): Promise<Reply> =>
      until('the rest is accepted', async () => {
        const at = offsetOf(await headTus(api, path));
        const reply = await patchTus(api, path, at, file.subarray(at));
        if (reply.status !== 204) expect(reply.status, reply.text).toBe(409);
        return reply.status === 204 && reply;
      });
    const expectContent = async (reply: Reply, file: Buffer) => {
      const { body } = await here.api.get(
        `/project/users/${user.id}/files/${reply.headers['pakhus-file-id']}`,
        tenant.key,
      );
      const content = Buffer.from(await (await fetch(body.file.url)).arrayBuffer());
      expect(sha256(content)).toBe(sha256(file));
      expect(body.file).toMatchObject({ size: file.length, sha256: sha256(file) });
    };

    test('the same bytes sent to two instances at once count once', async () => {
      const file = bytesOf(200_000);
      const path = await start(file.length);
      let at = 0;
      for (const length of [1, 10_000, 70_000, 5, 60_000, 59_994]) {
        const chunk = file.subarray(at, at + length);
        const replies = await Promise.all([here, there].map(({ api }) => patchTus(api, path, at, chunk)));
        const statuses = replies.map(({ status }) => status).sort();
        expect(statuses, replies.map(({ text }) => text).join()).toEqual([204, 409]);
        at += length;
        expect(offsetOf(await headTus(there.api, path))).toBe(at);
      }
      await expectContent(await headTus(here.api, path), file);
    });

    test('many requests at once move the offset once', async () => {
      const file = bytesOf(50_000);
      const path = await start(file.length);
      const replies = await Promise.all(
        Array.from({ length: 12 }, (_, nth) => patchTus((nth % 2 ? here : there).api, path, 0, file)),
      );
      const stored = replies.filter(({ status }) => status === 204);
      expect(stored.length, replies.map(({ status }) => status).join()).toBe(1);
      for (const { status } of replies) expect([204, 409]).toContain(status);
      await expectContent(await finish(here.api, path, file), file);
    });

    for (const where of ['the same', 'the other'] as const) {
      for (const size of [300_000, 11 * mebibyte]) {
        test(`HEAD to ${where} instance does not wait for a silent client that has sent half of ${size} bytes`, async () => {
          const asked = where === 'the same' ? here : there;
          const file = bytesOf(size, 3);
          const path = await start(size);
          const silent = await openPatch(here, path, 0, size);
          await silent.write(file.subarray(0, size / 2));
          await until('it receives', isReceiving);
          const head = await headTus(asked.api, path);
          expect(head.status).toBe(200);
          const told = offsetOf(head);
          expect(told).toBeLessThanOrEqual(size / 2);
          await until('the silent client is told or cut off', async () => silent.answered || silent.gone);
          expect([0, 409]).toContain((await silent.reply()).status);
          silent.end();
          // At once, without another HEAD.
          const rest = await patchTus(asked.api, path, told, file.subarray(told));
          expect(rest.status, rest.text).toBe(204);
          await expectContent(rest, file);
        });
      }

      test(`PATCH to ${where} instance takes over from a silent client, whose bytes are never seen`, async () => {
        const other = where === 'the same' ? here : there;
        const size = 400_000;
        const [file, wrong] = [bytesOf(size, 4), bytesOf(size, 5)];
        const path = await start(size);
        expect((await patchTus(here.api, path, 0, file.subarray(0, 1_000))).status).toBe(204);
        const silent = await openPatch(here, path, 1_000, size - 1_000);
        await silent.write(wrong.subarray(1_000, 200_000));
        await until('it receives', isReceiving);
        const taken = await patchTus(other.api, path, 1_000, file.subarray(1_000, 300_000));
        expect(taken.status, taken.text).toBe(204);
        // Too late, and answered already perhaps.
        await silent.write(wrong.subarray(200_000));
        expect([0, 409]).toContain((await silent.reply()).status);
        silent.end();
        expect(offsetOf(await headTus(here.api, path))).toBe(300_000);
        const last = await patchTus(here.api, path, 300_000, file.subarray(300_000));
        expect(last.status, last.text).toBe(204);
        await expectContent(last, file);
      });

      test(`DELETE to ${where} instance ends an upload that is being sent`, async () => {
        const path = await start(100_000);
        const silent = await openPatch(here, path, 0, 100_000);
        await silent.write(bytesOf(50_000));
        await until('it receives', isReceiving);
        const other = where === 'the same' ? here : there;
        const gone = await other.api.call('DELETE', path, { headers: { 'tus-resumable': '1.0.0' } });
        expect(gone.status, gone.text).toBe(204);
        await silent.write(bytesOf(50_000));
        expect([0, 404, 409]).toContain((await silent.reply()).status);
        silent.end();
        expect((await headTus(here.api, path)).status).toBe(404);
        const [{ reserved }] = (await rowsOf(
          here.databaseUrl,
          `select reserved_bytes as reserved from users where id = '${user.id}'`,
        )) as [{ reserved: number }];
        expect(reserved).toBe(0);
      });
    }

    test('many HEAD at once agree, also while the upload is completed', async () => {
      const file = bytesOf(3 * mebibyte);
      const path = await start(file.length);
      const sending = patchTus(here.api, path, 0, file);
      for (let isOver = false; !isOver; ) {
        const heads = await Promise.all([here, there, here, there].map(({ api }) => headTus(api, path)));
        for (const { status } of heads) expect([200, 409]).toContain(status);
        const status = (await Promise.race([sending, Promise.resolve(null)]))?.status;
        if (status !== undefined) expect([204, 409]).toContain(status);
        isOver = status !== undefined;
      }
      await expectContent(await finish(there.api, path, file), file);
    });

    test('kill -9 right after an answer loses nothing of what it told', async () => {
      const database = await freshDatabase();
      const dataDir = await mkdtemp(join(tmpdir(), 'pakhus-'));
      const opened = await store.open();
      const environment = {
        ...testSecrets,
        ...opened.environment,
        DATABASE_URL: database.url,
        DATA_DIR: dataDir,
      };
      let child: PakhusProcess = await startProcess(environment);
      try {
        const api = apiOf(child.baseUrl);
        const { key } = await createTenant(api, await adminSession(api));
        const { id } = await createUser(api, key);
        const file = bytesOf(6 * mebibyte);
        const path = await startTus(api, key, id, { size: file.length });
        let at = 0;
        for (const length of [1, 5 * mebibyte + 7]) {
          const reply = await patchTus(apiOf(child.baseUrl), path, at, file.subarray(at, at + length));
          await child.kill();
          expect(reply.status, reply.text).toBe(204);
          at += length;
          child = await startProcess(environment);
          expect(offsetOf(await headTus(apiOf(child.baseUrl), path))).toBe(at);
        }
        const last = await patchTus(apiOf(child.baseUrl), path, at, file.subarray(at));
        await child.kill();
        child = await startProcess(environment);
        const { body } = await apiOf(child.baseUrl).get(
          `/project/users/${id}/files/${last.headers['pakhus-file-id']}`,
          key,
        );
        expect(body.file.sha256).toBe(sha256(file));
        expect(sha256(Buffer.from(await (await fetch(body.file.url)).arrayBuffer()))).toBe(sha256(file));
      } finally {
        await child.stop();
        await database.drop();
        await opened.close();
        await rm(dataDir, { recursive: true, force: true });
      }
    });

    test('nothing is left over', async () => {
      await reapUntilDone(here);
      expect(await objectsOf(here)).toEqual(await placesOf(here));
    });
  });
}
