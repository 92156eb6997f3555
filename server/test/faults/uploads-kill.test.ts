// Uploads in random chunks to two processes that are killed again and again without warning. Every offset that was told
// holds, and every upload ends byte for byte as it was sent, or is refused. TEST_UPLOADS sets how many there are, TEST_SEED
// repeats a run.
import { createHash, randomInt } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createS3Store } from '../../src/platform/objects/s3/s3-store.ts';
import { type Api, apiOf } from '../support/api.ts';
import { bytesOf, sha256 } from '../support/bytes.ts';
import { freshDatabase, rowsOf } from '../support/database.ts';
import { endHolds, wrongCounters, wrongOwners } from '../support/ledger.ts';
import { testSecrets } from '../support/pakhus.ts';
import { type PakhusProcess, startProcess } from '../support/process.ts';
import { until } from '../support/processes.ts';
import { diskStoreIn, keysIn, storesFor } from '../support/stores.ts';
import { adminSession, createTenant, createUser, unique } from '../support/tenants.ts';
import { headTus, offsetOf, tusVersion } from '../support/tus.ts';
import { unlessGone } from '../support/unless-gone.ts';

const count = Number(process.env.TEST_UPLOADS ?? 24);
const isLarge = process.env.TEST_UPLOADS !== undefined;
const kills = isLarge ? Math.ceil(count / 20) : 4;
const inFlight = 8;
const mebibyte = 1 << 20;

/** Repeatable as far as processes are: the seed decides what clients do, not when they are scheduled. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Two places for processes; a killed one is replaced. */
class Instances {
  readonly #environment: Record<string, string>;
  readonly #running: (PakhusProcess | null)[] = [null, null];

  constructor(environment: Record<string, string>) {
    this.#environment = environment;
  }

  async start(): Promise<void> {
    for (const at of this.#running.keys()) this.#running[at] ??= await startProcess(this.#environment);
  }

  /** One of those that run. At least one does. */
  pick(random: () => number): Api {
    const running = this.#running.filter((each) => each !== null);
    return apiOf((running[Math.floor(random() * running.length)] as PakhusProcess).baseUrl);
  }

  async killAndRestart(at: number): Promise<void> {
    const victim = this.#running[at];
    this.#running[at] = null;
    await victim?.kill();
    this.#running[at] = await startProcess(this.#environment);
  }

  async stop(): Promise<void> {
    for (const each of this.#running) await each?.stop();
  }
}

interface Client {
  readonly instances: Instances;
  readonly key: string;
  readonly userId: string;
  readonly spaceId: string;
  readonly random: () => number;
  /** Called for each answer that moved an upload. */
  readonly onProgress: (bytes: number) => void;
}

interface Sent {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
}

/** PATCH; cuts the connection after `cutAt` bytes. Null without an answer. */
function sendChunk(
  url: string,
  headers: Record<string, string>,
  body: Buffer,
  cutAt: number | null,
): Promise<Sent | null> {
  return new Promise((resolve) => {
    const request = http.request(url, { method: 'PATCH', headers, agent: false });
    request.on('error', () => resolve(null));
    request.on('close', () => resolve(null));
    request.on('response', (response) => {
      response.resume();
      resolve({ status: response.statusCode ?? 0, headers: response.headers });
    });
    if (cutAt === null) request.end(body);
    else request.write(body.subarray(0, cutAt), () => request.destroy());
    if (cutAt === 0) request.destroy();
  });
}

type Ending = { readonly fileId: string } | { readonly refused: number };

/** A creation whose answer is lost leaves an upload behind that nobody knows: it must expire. */
async function create(
  client: Client,
  fields: object,
): Promise<{ id: string; path: string; part_size?: number }> {
  const { instances, random, key, userId } = client;
  return until('it is created', async () => {
    const reply = await unlessGone(() =>
      instances.pick(random).post(`/project/users/${userId}/uploads`, key, fields),
    );
    if (!reply || reply.status === 503) return undefined;
    expect(reply.status, reply.text).toBe(201);
    const { id, url, part_size } = reply.body.upload;
    return { id, part_size, path: `/uploads/${String(url).split('/').at(-1)}` };
  });
}

async function sendResumable(client: Client, file: Buffer, fields: object): Promise<Ending> {
  const { instances, random, onProgress } = client;
  const { path } = await create(client, { ...fields, size: file.length });
  let told = 0;
  let at: number | null = 0;
  return until(`an upload of ${file.length} bytes ends`, async () => {
    if (at === null) {
      const head = await unlessGone(() => headTus(instances.pick(random), path));
      // Another HEAD or a request that the kill cut off may be completing it.
      if (!head || [409, 503].includes(head.status)) return undefined;
      if (head.status === 404) return { refused: 404 };
      expect(head.status).toBe(200);
      at = offsetOf(head);
      expect(at, `HEAD after ${told} was told`).toBeGreaterThanOrEqual(told);
      expect(at).toBeLessThanOrEqual(file.length);
      told = at;
      const fileId = head.headers['pakhus-file-id'];
      if (fileId) return { fileId: String(fileId) };
    }
    const left = file.length - at;
    const body = file.subarray(at, at + Math.ceil(left * (random() < 0.4 ? 1 : random() ** 2)));
    const cutAt = random() < 0.35 ? Math.floor(random() * body.length) : null;
    const dice = random();
    const headers = {
      ...tusVersion,
      'content-type': 'application/offset+octet-stream',
      'upload-offset': String(at),
      ...(dice < 0.15 ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(body.length) }),
      ...(dice > 0.85
        ? { 'upload-checksum': `sha1 ${createHash('sha1').update(body).digest('base64')}` }
        : {}),
    };
    const from: number = at;
    at = null;
    const reply = await sendChunk(`${instances.pick(random).baseUrl}${path}`, headers, body, cutAt);
    if (!reply) return undefined;
    if (reply.status === 422) return { refused: 422 };
    if (reply.status !== 204) {
      expect([409, 503], `PATCH of ${body.length} at ${from}`).toContain(reply.status);
      return undefined;
    }
    expect(Number(reply.headers['upload-offset'])).toBe(from + body.length);
    told = from + body.length;
    onProgress(body.length);
    const fileId = reply.headers['pakhus-file-id'];
    if (fileId) return { fileId: String(fileId) };
    at = random() < 0.7 ? told : null;
    return undefined;
  });
}

async function sendDirect(client: Client, file: Buffer, fields: object): Promise<Ending> {
  const { instances, random, key, userId, onProgress } = client;
  const { id, part_size = 0 } = await create(client, { ...fields, size: file.length, mode: 'direct' });
  const base = `/project/users/${userId}/uploads/${id}`;
  const numbers = Array.from({ length: Math.ceil(file.length / part_size) }, (_, nth) => nth + 1);
  const parts: { number: number; etag: string }[] = [];
  for (const number of numbers) {
    const body = file.subarray((number - 1) * part_size, number * part_size);
    const etag = await until(`part ${number} is sent`, async () => {
      const opened = await unlessGone(() =>
        instances.pick(random).post(`${base}/parts`, key, { numbers: [number] }),
      );
      if (!opened || opened.status === 503) return undefined;
      expect(opened.status, opened.text).toBe(200);
      const reply = await fetch(opened.body.parts[0].url, {
        method: 'PUT',
        body: new Uint8Array(body),
      }).catch(() => null);
      const tag = reply?.headers.get('etag');
      if (!reply || reply.status >= 500) return undefined;
      expect(reply.status, await reply.text()).toBe(200);
      return tag ?? undefined;
    });
    parts.push({ number, etag });
    onProgress(body.length);
  }
  return until('it is completed', async () => {
    const reply = await unlessGone(() => instances.pick(random).post(`${base}/complete`, key, { parts }));
    if (!reply || reply.status >= 500) return undefined;
    if (reply.status === 422) return { refused: 422 };
    if (reply.status === 409) {
      const { body } = await api(client).get(base, key);
      return body.upload.status === 'failed' ? { refused: 409 } : undefined;
    }
    expect([200, 201], reply.text).toContain(reply.status);
    return { fileId: reply.body.file.id as string };
  });
}

const api = ({ instances, random }: Client): Api => instances.pick(random);

function sizeOf(random: () => number, nth: number): number {
  if (nth === 0) return 1;
  // Several parts on S3.
  if (nth === 1) return 11 * mebibyte + 12_345;
  if (isLarge && nth % 100 === 2) return Math.ceil(random() * 200 * mebibyte);
  return 1 + Math.floor(random() ** 4 * 6 * mebibyte);
}

for (const choice of storesFor('kills of uploads')) {
  describe(`on ${choice.name}`, () => {
    test(`${count} uploads survive ${kills} kills: none loses a byte, and nothing else is left`, async () => {
      const seed = Number(process.env.TEST_SEED ?? randomInt(2 ** 31));
      console.log(`uploads-kill on ${choice.name}: TEST_SEED=${seed}`);
      const random = randomOf(seed);
      const database = await freshDatabase();
      const dataDir = await mkdtemp(join(tmpdir(), 'pakhus-kill-'));
      const opened = await choice.open();
      const instances = new Instances({
        ...testSecrets,
        ...opened.environment,
        DATABASE_URL: database.url,
        DATA_DIR: dataDir,
        // A direct upload begins in the store before it is on record, which may take a second on a busy machine.
        REAPER_GRACE_SECONDS: '5',
        REAPER_INTERVAL_SECONDS: '1',
      });
      const store = opened.buckets ? createS3Store(opened.buckets.options) : diskStoreIn(dataDir);
      try {
        await instances.start();
        const first = instances.pick(random);
        const { key } = await createTenant(first, await adminSession(first));
        const { id: userId } = await createUser(first, key);
        const path = `/project/users/${userId}`;
        const space = await first.post(`${path}/spaces`, key, { external_id: unique('s'), name: 's' });
        const spaceId = space.body.space.id as string;
        const sizes = Array.from({ length: count }, (_, nth) => sizeOf(random, nth));
        const total = sizes.reduce((sum, size) => sum + size, 0);
        let progress = 0;
        const endings: { file: Buffer; ending: Ending; isWrong: boolean }[] = [];
        const waiting = sizes.map((size, nth) => ({ size, nth, seed: Math.floor(random() * 2 ** 31) }));
        const work = async () => {
          for (let next = waiting.shift(); next; next = waiting.shift()) {
            const mine = randomOf(next.seed);
            const client = {
              instances,
              key,
              userId,
              spaceId,
              random: mine,
              onProgress: (bytes: number) => {
                progress += bytes;
              },
            };
            const file = bytesOf(next.size, 1 + (next.nth % 255));
            const isWrong = next.nth % 8 === 5;
            const fields = {
              name: `${next.nth}.bin`,
              mimeType: 'application/octet-stream',
              visibility: mine() < 0.3 ? 'public' : 'private',
              ...(mine() < 0.5 ? { space_id: spaceId } : {}),
              ...(isWrong ? { sha256: sha256(Buffer.from('something else')) } : {}),
            };
            const send = mine() < 0.2 ? sendDirect : sendResumable;
            endings.push({ file, isWrong, ending: await send(client, file, fields) });
          }
        };
        let isOver = false;
        const killing = async () => {
          for (let nth = 0; nth < kills && !isOver; nth += 1) {
            const enough = (total * (nth + random())) / (kills + 1);
            await until('there is progress', async () => isOver || progress >= enough);
            if (!isOver) await instances.killAndRestart(nth % 2);
          }
        };
        const killer = killing();
        await Promise.all(Array.from({ length: inFlight }, work)).finally(() => {
          isOver = true;
        });
        await killer;

        const now = instances.pick(random);
        for (const { file, ending, isWrong } of endings) {
          expect('refused' in ending, JSON.stringify(ending)).toBe(isWrong);
          if ('refused' in ending) continue;
          const { body } = await now.get(`${path}/files/${ending.fileId}`, key);
          expect(body.file.size).toBe(file.length);
          if (body.file.sha256 !== null) expect(body.file.sha256).toBe(sha256(file));
          const content = Buffer.from(await (await fetch(body.file.url)).arrayBuffer());
          expect(sha256(content), `a file of ${file.length} bytes`).toBe(sha256(file));
        }
        // Those whose creation nobody heard of.
        const none = async (what: string, statement: string) =>
          until(what, async () => (await rowsOf(database.url, statement)).length === 0);
        // Again and again: a request that was cut off may still note its last bytes, which puts the expiry off.
        const expired = `update uploads set expires_at = now() where status = 'uploading' returning id`;
        await none('every upload has ended', expired);
        await endHolds({ databaseUrl: database.url });
        await none('every object is settled', `select from objects where state <> 'stored'`);
        const rows = await rowsOf<{ storage_key: string }>(database.url, 'select storage_key from files');
        const owned = rows.map(({ storage_key }) => storage_key).sort();
        expect(owned.length).toBe(endings.filter(({ isWrong }) => !isWrong).length);
        await until(
          'nothing unfinished is left in the store',
          async () =>
            (opened.buckets
              ? await opened.buckets.unfinishedUploads()
              : (await readdir(join(dataDir, 'objects', 'tmp'))).length) === 0,
        );
        await until(
          'the store holds the files only',
          async () => (await keysIn(store)).length === owned.length,
        );
        expect(await keysIn(store)).toEqual(owned);
        const { url } = database;
        expect(await rowsOf(url, 'select reserved_bytes from users where reserved_bytes <> 0')).toEqual([]);
        expect(await rowsOf(url, 'select reserved_bytes from spaces where reserved_bytes <> 0')).toEqual([]);
        expect(await rowsOf(url, 'select from upload_parts')).toEqual([]);
        expect(await wrongCounters({ databaseUrl: url })).toEqual([]);
        expect(await wrongOwners({ databaseUrl: url })).toEqual([]);
      } finally {
        await instances.stop();
        await store.close();
        await database.drop();
        await opened.close();
        await rm(dataDir, { recursive: true, force: true });
      }
    });
  });
}
