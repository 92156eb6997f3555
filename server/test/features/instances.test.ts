// Two API processes and two workers share one database, one store and one Redis. They act as one service, and each can be
// replaced while clients use it.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDiskStore } from '../../src/platform/objects/disk/disk-store.ts';
import type { ObjectStore } from '../../src/platform/objects/object-store.ts';
import { createS3Store } from '../../src/platform/objects/s3/s3-store.ts';
import { type Api, apiOf } from '../support/api.ts';
import { repetitions } from '../support/bounds.ts';
import { bytesOf, sha256 } from '../support/bytes.ts';
import { freshDatabase, rowsOf } from '../support/database.ts';
import { picture } from '../support/image-files.ts';
import { wrongCounters } from '../support/ledger.ts';
import { startTestPakhus, testSecrets } from '../support/pakhus.ts';
import { type PakhusProcess, startProcess } from '../support/process.ts';
import { until } from '../support/processes.ts';
import { storesFor } from '../support/stores.ts';
import {
  adminSession,
  createIntegration,
  createTenant,
  createUser,
  mintToken,
  unique,
} from '../support/tenants.ts';
import { contentTypeOf, formOf, upload } from '../support/uploads.ts';

const redisUrl = process.env.TEST_REDIS_URL;
if (!redisUrl) console.log('SKIPPED limits of several instances: TEST_REDIS_URL is not set');

/** A connection to a separate service, with everything received over it since `forget`. */
async function connected() {
  const service = await startTestPakhus();
  const { hostname, port } = new URL(service.baseUrl);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.on('data', (piece) => {
    received += piece.toString();
  });
  return {
    service,
    socket,
    host: hostname,
    ended: once(socket, 'close'),
    received: () => received,
    forget: () => {
      received = '';
    },
  };
}

test('stop: a request in flight on a keep-alive connection is answered, and the connection closes', async () => {
  const { service, socket, host, ended, received, forget } = await connected();
  const ask = () => socket.write(`GET /api/v1/health HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  ask();
  await until('the first answer', async () => received().includes('"version"'));
  expect(received().toLowerCase()).toContain('connection: keep-alive');
  forget();
  const stopped = service.stop();
  ask();
  await ended;
  await stopped;
  expect(received()).toMatch(/^HTTP\/1\.1 200 /);
  expect(received().toLowerCase()).toContain('connection: close');
});

test('stop: the reply to a running request says Connection: close', async () => {
  const { service, socket, host, ended, received, forget } = await connected();
  const body = '{"email":"a@b.example"}';
  socket.write(
    `POST /api/v1/auth/login HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
  );
  await until('its body is asked for', async () => received().includes('100 Continue'));
  forget();
  const stopped = service.stop();
  socket.write(body);
  await ended;
  await stopped;
  expect(received()).toMatch(/^HTTP\/1\.1 422 /);
  expect(received().toLowerCase()).toContain('connection: close');
});

for (const choice of storesFor('instances')) {
  describe(`on ${choice.name}`, () => {
    let environment: Record<string, string>;
    let databaseUrl: string;
    let store: ObjectStore;
    let apis: PakhusProcess[] = [];
    let workers: PakhusProcess[] = [];
    let admin: string;
    const cleanUps: (() => Promise<unknown>)[] = [];

    const api = (nth: number): Api => apiOf((apis[nth % 2] as PakhusProcess).baseUrl);
    const startApi = (more: Record<string, string> = {}) =>
      startProcess({ ...environment, ROLE: 'api', ...more });
    const startWorker = () => startProcess({ ...environment, ROLE: 'worker' });

    beforeAll(async () => {
      const database = await freshDatabase();
      const dataDir = await mkdtemp(join(tmpdir(), 'pakhus-instances-'));
      const opened = await choice.open();
      databaseUrl = database.url;
      environment = {
        ...testSecrets,
        ...opened.environment,
        DATABASE_URL: database.url,
        DATA_DIR: dataDir,
        REAPER_GRACE_SECONDS: '2',
        REAPER_INTERVAL_SECONDS: '1',
        ...(redisUrl ? { REDIS_URL: redisUrl } : {}),
      };
      store = opened.buckets
        ? createS3Store(opened.buckets.options)
        : createDiskStore({
            root: join(dataDir, 'objects'),
            signingSecret: 'not used',
            urlPath: '/unused',
            clock: Date.now,
          });
      cleanUps.push(
        () => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }),
        () => opened.close(),
        () => database.drop(),
        () => store.close(),
      );
      apis = await Promise.all([startApi(), startApi()]);
      workers = await Promise.all([startWorker(), startWorker()]);
      admin = await adminSession(api(0));
    });
    afterAll(async () => {
      await Promise.all([...apis, ...workers].map((one) => one.stop()));
      for (const cleanUp of cleanUps.reverse()) await cleanUp();
    });

    const tenant = async () => {
      const made = await createTenant(api(0), admin);
      const user = await createUser(api(1), made.key);
      return { ...made, user, path: `/project/users/${user.id}` };
    };

    async function digestThrough(through: Api, path: string, id: string, key: string): Promise<string> {
      const { file } = (await through.get(`${path}/files/${id}`, key)).body;
      const download = await fetch(file.url);
      return sha256(Buffer.from(await download.arrayBuffer()));
    }

    test('files: stored through one instance, read, changed and deleted through the other', async () => {
      const { key, path } = await tenant();
      for (const [nth, size] of [0, 3_000, 400_000, 2_000_000].entries()) {
        const bytes = bytesOf(size, nth + 1);
        const { file } = (await upload(api(nth), key, path, bytes)).body;
        expect(await digestThrough(api(nth + 1), path, file.id, key)).toBe(sha256(bytes));
        const changed = await api(nth + 1).put(`${path}/files/${file.id}`, key, { folder: 'a' });
        expect(changed.status).toBe(200);
        expect((await api(nth).get(`${path}/files/${file.id}`, key)).body.file.folder).toBe('a');
        expect((await api(nth + 1).delete(`${path}/files/${file.id}`, key)).status).toBe(204);
        expect((await api(nth).get(`${path}/files/${file.id}`, key)).status).toBe(404);
      }
    });

    test('tokens: a token revoked at one instance is refused by both with the next request', async () => {
      const { key, user, path } = await tenant();
      for (const nth of [0, 1, 0, 1]) {
        const { token, jti } = await mintToken(api(nth), key, user.id);
        const statuses = () =>
          Promise.all([0, 1].map(async (at) => (await api(at).get(`${path}/files`, token)).status));
        expect(await statuses()).toEqual([200, 200]);
        expect((await api(nth).post(`${path}/tokens/revoke`, key, { jti })).status).toBe(204);
        expect(await statuses()).toEqual([401, 401]);
      }
    });

    test('spaces: after logins at both instances, one session is live, and both agree which', async () => {
      const { key, path } = await tenant();
      const external_id = unique('space');
      const fields = { external_id, name: 's', scopes: ['files:read'], password: 'ruta 66' };
      expect((await api(0).post(`${path}/spaces`, key, fields)).status).toBe(201);
      const logins = await Promise.all(
        Array.from({ length: 6 }, (_, nth) =>
          api(nth).post('/project/spaces/login', key, { external_id, password: 'ruta 66' }),
        ),
      );
      const accepted = await Promise.all(
        [0, 1].map(async (at) => {
          const replies = await Promise.all(
            logins.map((login) => api(at).get(`${path}/files`, login.body.token)),
          );
          return replies.map((reply) => reply.status);
        }),
      );
      expect(accepted[0]).toEqual(accepted[1]);
      expect(accepted[0]?.toSorted()).toEqual([200, 401, 401, 401, 401, 401]);
    });

    test.skipIf(!redisUrl)('limits: both instances share the count of an integration', async () => {
      const { key } = await tenant();
      const policy = { scopes: ['users:read'], rateLimitMax: 7, rateLimitWindow: 600_000 };
      const integration = await createIntegration(api(0), key, policy);
      const replies = await Promise.all(
        Array.from({ length: 20 }, (_, nth) => api(nth).get('/project/users', integration.key)),
      );
      expect(replies.filter((reply) => reply.status === 200)).toHaveLength(7);
      expect(replies.filter((reply) => reply.status === 429)).toHaveLength(13);
    });

    test('images: jobs from either instance are done by both workers, or by the remaining one', async () => {
      const { key, path } = await tenant();
      const image = await picture().png().toBuffer();
      const send = (nth: number) =>
        api(nth).call('POST', `${path}/images`, {
          as: key,
          raw: formOf([{ name: 'image', filename: 'a.png', contentType: 'image/png', value: image }]),
          headers: { 'content-type': contentTypeOf() },
        });
      const allDone = async () => {
        const sent = await Promise.all([0, 1, 2, 3].map(send));
        for (const { status, text } of sent) expect(status, text).toBe(202);
        for (const [nth, { body }] of sent.entries())
          await until(`job ${nth} is done`, async () => {
            const job = (await api(nth + 1).get(`/project/jobs/${body.job_id}`, key)).body;
            expect(job.status).not.toBe('failed');
            return job.status === 'done';
          });
      };
      await allDone();
      for (const nth of [0, 1]) {
        expect(await (workers[nth] as PakhusProcess).stop()).toBe(0);
        await allDone();
        workers[nth] = await startWorker();
      }
    });

    test('rolling restart: under load no confirmed upload is lost, and the only 5xx is 503', async () => {
      const { id, key, path } = await tenant();
      const kept = new Map<string, string>();
      const odd: string[] = [];
      let over = false;
      let turnedAway = 0;
      let unanswered = 0;
      const client = async (seed: number) => {
        for (let nth = seed; !over; nth += 1) {
          const bytes = bytesOf(nth % 4 === 0 ? 300_000 : 4_000, (seed * 16 + nth) % 256);
          const reply = await upload(api(nth), key, path, bytes).catch((error: { code?: string }) => error);
          if (!('status' in reply)) {
            // Nobody listens there just now, or hung up before an answer, as HTTP lets a server do with a
            // connection that it takes for idle: then nothing was confirmed, and the next one serves.
            if (reply.code === 'ECONNREFUSED') turnedAway += 1;
            else if (/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(reply.code ?? '')) unanswered += 1;
            else throw reply;
          } else if (reply.status === 201) kept.set(reply.body.file.id, sha256(bytes));
          else if (reply.status === 503) turnedAway += 1;
          else odd.push(`${reply.status} ${reply.text}`);
        }
      };
      const working = Promise.all([1, 2, 3, 4].map(client));
      for (let restart = 0; restart < repetitions(4, 2); restart += 1) {
        const nth = restart % 2;
        const before = kept.size;
        await until('uploads arrive', async () => kept.size > before + 15);
        const old = apis[nth] as PakhusProcess;
        expect(await old.stop()).toBe(0);
        apis[nth] = await startApi({ PORT: new URL(old.baseUrl).port });
      }
      over = true;
      await working;
      expect(odd).toEqual([]);
      console.log(
        `instances on ${choice.name}: ${kept.size} uploads confirmed, ${turnedAway} turned away, ${unanswered} unanswered`,
      );
      const left = [...kept];
      const readBack = async (nth: number) => {
        for (let next = left.pop(); next; next = left.pop())
          expect(await digestThrough(api(nth), path, next[0], key)).toBe(next[1]);
      };
      await Promise.all([0, 1, 2, 3].map(readBack));
      const rows = await rowsOf(databaseUrl, `select 1 from files where project_id = '${id}'`);
      expect(rows.length).toBeGreaterThanOrEqual(kept.size);
      expect(rows.length).toBeLessThanOrEqual(kept.size + unanswered);
    });

    test('reaper: the workers delete every object left behind, once, and nothing else', async () => {
      const { id, key, path } = await tenant();
      const stays = await createUser(api(1), key);
      await Promise.all(
        Array.from({ length: 20 }, (_, nth) => upload(api(nth), key, path, bytesOf(2_000, nth + 1))),
      );
      const kept = (await upload(api(0), key, `/project/users/${stays.id}`, bytesOf(500))).body.file;
      expect((await api(1).delete(path, key)).status).toBe(204);
      const objects = async () => {
        const found: string[] = [];
        for await (const object of store.list('private', `${id}/`)) found.push(object);
        return found;
      };
      await until('the objects are gone', async () => (await objects()).length === 1);
      expect(await objects()).toEqual([kept.storageKey]);
      await until(
        'nothing is left to reap',
        async () => (await rowsOf(databaseUrl, "select 1 from objects where state <> 'stored'")).length === 0,
      );
      expect(await wrongCounters({ databaseUrl })).toEqual([]);
    });
  });
}
