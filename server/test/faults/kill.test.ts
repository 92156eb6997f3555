// The built product under load, killed again and again without warning. Everything it acknowledged must be there
// afterwards, byte for byte, and nothing else.
import { createHash, randomInt } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import type { ObjectStore } from '../../src/platform/objects/object-store.ts';
import { createS3Store } from '../../src/platform/objects/s3/s3-store.ts';
import { type Api, apiOf } from '../support/api.ts';
import { repetitions } from '../support/bounds.ts';
import { bytesOf, sha256 } from '../support/bytes.ts';
import { freshDatabase, rowsOf } from '../support/database.ts';
import { blankPng } from '../support/image-files.ts';
import { endHolds, wrongCopies, wrongCounters, wrongOwners } from '../support/ledger.ts';
import { testSecrets } from '../support/pakhus.ts';
import { type PakhusProcess, startProcess } from '../support/process.ts';
import { isGone, until } from '../support/processes.ts';
import { trySendFile } from '../support/send-file.ts';
import { diskStoreIn, keysIn, storesFor } from '../support/stores.ts';
import { adminSession, createTenant, createUser, unique } from '../support/tenants.ts';
import { drawnTransitions, keepTransitions, seenTransitions } from '../support/transitions.ts';
import { upload } from '../support/uploads.ts';

const inFlight = 50;
const image = blankPng(64, 48);

/** What clients know: files that must exist, and files that must be gone. */
interface Ledger {
  readonly key: string;
  readonly path: string;
  readonly spaceId: string;
  /** Digests by file id. */
  readonly kept: Map<string, string>;
  readonly deleted: Set<string>;
  /** The number of confirmed uploads and deletes. */
  acknowledged: number;
}

async function openLedger(api: Api): Promise<Ledger> {
  const { key } = await createTenant(api, await adminSession(api));
  const path = `/project/users/${(await createUser(api, key)).id}`;
  const made = await api.post(`${path}/spaces`, key, { external_id: unique('s'), name: 's' });
  return { key, path, spaceId: made.body.space.id, kept: new Map(), deleted: new Set(), acknowledged: 0 };
}

/** Bodies with precomputed digests, so that hashing here does not slow down the load. */
function bodiesOf(sizes: readonly number[]): readonly { bytes: Buffer; digest: string }[] {
  return sizes.map((size, nth) => {
    const bytes = bytesOf(size, nth + 1);
    return { bytes, digest: sha256(bytes) };
  });
}

/** Keeps uploads and deletes in flight until the service is gone. */
async function load(
  api: Api,
  ledger: Ledger,
  bodies: ReturnType<typeof bodiesOf>,
  isOver: () => boolean,
): Promise<void> {
  const { key, path, kept, deleted } = ledger;
  const uploadOne = async () => {
    const { bytes, digest } = bodies[randomInt(bodies.length)] as { bytes: Buffer; digest: string };
    const meta = {
      ...(randomInt(2) ? { space_id: ledger.spaceId } : {}),
      visibility: randomInt(4) ? 'private' : 'public',
    };
    const reply = await upload(api, key, path, bytes, { meta });
    if (reply.status === 201) {
      kept.set(reply.body.file.id, digest);
      ledger.acknowledged += 1;
    } else expect(reply.status, reply.text).toBe(503);
  };
  const deleteOne = async (id: string) => {
    // Until the reply, the file may exist or not.
    kept.delete(id);
    const reply = await api.delete(`${path}/files/${id}`, key);
    if (reply.status === 204) {
      deleted.add(id);
      ledger.acknowledged += 1;
    } else expect(reply.status, reply.text).toBe(503);
  };
  const sendImage = async () => {
    const reply = await trySendFile(api, key, path.split('/').at(-1) ?? '', {
      bytes: image,
      type: 'image/png',
      as: 'image',
    });
    if (reply.status === 202) {
      kept.set(reply.body.file_id, sha256(image));
      ledger.acknowledged += 1;
    } else expect(reply.status, reply.text).toBe(503);
  };
  const showOrHide = async (id: string) => {
    const visibility = randomInt(2) ? 'public' : 'private';
    const reply = await api.put(`${path}/files/${id}`, key, { visibility });
    // Somebody else may be deleting it.
    expect([200, 404, 503], reply.text).toContain(reply.status);
  };
  const step = (): Promise<void> => {
    const ids = [...kept.keys()];
    const id = ids[randomInt(Math.max(1, ids.length))];
    const dice = randomInt(12);
    if (dice === 0) return sendImage();
    // Never the last one: something must be left to be read back.
    if (id && ids.length > 1 && dice < 4) return deleteOne(id);
    return id && dice < 6 ? showOrHide(id) : uploadOne();
  };
  const work = async () => {
    while (!isOver()) {
      try {
        await step();
      } catch (error) {
        // After a broken connection the outcome is unknown; any other error is a failure.
        if (!isOver()) throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: inFlight }, work));
}

async function cycle(
  environment: Record<string, string>,
  ledger: Ledger | null,
  bodies: ReturnType<typeof bodiesOf>,
  kill: (child: PakhusProcess) => Promise<void>,
): Promise<Ledger> {
  const child = await startProcess(environment);
  const api = apiOf(child.baseUrl);
  const open = ledger ?? (await openLedger(api));
  let over = false;
  const loading = load(api, open, bodies, () => over);
  // At a random point of the work.
  const enough = open.acknowledged + randomInt(1, 60);
  await until('it works', async () => open.acknowledged >= enough);
  over = true;
  await kill(child);
  await loading;
  return open;
}

/** The files and the usage that the service reports. */
async function stateOf(api: Api, { key, path, spaceId }: Ledger) {
  const files = new Map<
    string,
    { storageKey: string; size: number; space_id: string | null; sha256: string }
  >();
  let cursor = '';
  do {
    const { body } = await api.get(`${path}/files?limit=100${cursor && `&cursor=${cursor}`}`, key);
    for (const file of body.files) files.set(file.id, file);
    cursor = body.next_cursor ?? '';
  } while (cursor);
  const used = (await api.get(`${path}/storage`, key)).body.storageUsed as number;
  const spaceUsed = (await api.get(`${path}/spaces/${spaceId}`, key)).body.space.used_bytes as number;
  return { files, used, spaceUsed };
}

const sizeOf = (files: Iterable<{ size: number }>): number =>
  [...files].reduce((sum, { size }) => sum + size, 0);

/** Restarts the service, runs the reaper to its end, and compares clients, database and store. */
async function judge(
  environment: Record<string, string>,
  ledger: Ledger,
  store: ObjectStore,
  unfinished: () => Promise<number>,
): Promise<void> {
  const child = await startProcess(environment);
  const api = apiOf(child.baseUrl);
  try {
    const { files, used, spaceUsed } = await stateOf(api, ledger);
    expect(ledger.kept.size, 'something was acknowledged').toBeGreaterThan(0);
    for (const id of ledger.deleted) expect(files.has(id), `${id} was deleted`).toBe(false);
    for (const [id, digest] of ledger.kept)
      expect(files.get(id)?.sha256, `${id} was acknowledged`).toBe(digest);
    expect(used).toBe(sizeOf(files.values()));
    expect(spaceUsed).toBe(sizeOf([...files.values()].filter((file) => file.space_id !== null)));
    await readBack(api, ledger, files);
    const owned = [...files.values()].map((file) => file.storageKey).sort();
    await until('the store holds the objects of the rows only', async () => {
      const found = await keysIn(store);
      return found.length === owned.length && (await unfinished()) === 0;
    });
    expect(await keysIn(store)).toEqual(owned);
  } finally {
    await child.stop();
  }
}

/** Reads every file, acknowledged or not: no row may lack its object. */
async function readBack(
  api: Api,
  ledger: Ledger,
  files: ReadonlyMap<string, { sha256: string }>,
): Promise<void> {
  const left = [...files];
  const read = async () => {
    for (let next = left.pop(); next; next = left.pop()) {
      const [id, { sha256: digest }] = next;
      const { file, reply } = await download(api, ledger, id);
      const hash = createHash('sha256');
      for await (const chunk of reply.body) hash.update(chunk);
      expect(reply.statusCode, `file ${id} of ${file.size} bytes`).toBe(200);
      // A compressed image has other bytes than were uploaded, and so has one that is being replaced right now.
      if (file.compression === null) expect(hash.digest('hex'), `file ${id}`).toBe(digest);
    }
  };
  await Promise.all(Array.from({ length: 8 }, read));
}

/** A file whose visibility was changed may be moved after its URL was read: then the next URL has another address. */
async function download(api: Api, { path, key }: Ledger, id: string) {
  for (let earlier: string | null = null; ; ) {
    const { file } = (await api.get(`${path}/files/${id}`, key)).body;
    const reply = await request(file.url);
    const { origin, pathname } = new URL(file.url);
    if (reply.statusCode !== 404 || origin + pathname === earlier) return { file, reply };
    await reply.body.dump();
    earlier = origin + pathname;
  }
}

const kills = repetitions(12, 4);

for (const choice of storesFor('kills')) {
  describe(`on ${choice.name}`, () => {
    const onDisk = choice.name === 'disk';
    const sizes = onDisk
      ? [1 << 10, 2000, 3000, 5000, 20_000, 50_000, 100_000, 250_000, 300_000, 2 << 20]
      : [1 << 10, 2000, 3000, 5000, 20_000, 300_000];

    test(`pakhus: ${kills} kills under 50 uploads in flight lose nothing acknowledged and leave nothing else`, async () => {
      const database = await freshDatabase();
      const dataDir = await mkdtemp(join(tmpdir(), 'pakhus-kill-'));
      const opened = await choice.open();
      await keepTransitions(database.url);
      const environment = {
        ...testSecrets,
        ...opened.environment,
        DATABASE_URL: database.url,
        DATA_DIR: dataDir,
        REAPER_GRACE_SECONDS: '1',
        REAPER_INTERVAL_SECONDS: '1',
      };
      const store = opened.buckets ? createS3Store(opened.buckets.options) : diskStoreIn(dataDir);
      try {
        const bodies = bodiesOf(sizes);
        let ledger: Ledger | null = null;
        for (let round = 0; round < kills; round += 1)
          ledger = await cycle(environment, ledger, bodies, (child) => child.kill());
        // The hold of a killed reaper or mover lasts up to two minutes: too long to wait for in a test.
        await endHolds({ databaseUrl: database.url });
        await judge(environment, ledger as Ledger, store, () =>
          opened.buckets
            ? opened.buckets.unfinishedUploads()
            : readdir(join(dataDir, 'objects', 'tmp')).then((names) => names.length),
        );
        expect(await wrongCounters({ databaseUrl: database.url })).toEqual([]);
        expect(await wrongCopies({ databaseUrl: database.url })).toEqual([]);
        // An image job that the last stop has interrupted goes on with the next start.
        expect(
          await rowsOf(database.url, "select * from objects where state not in ('stored', 'rewriting')"),
        ).toEqual([]);
        expect(await wrongOwners({ databaseUrl: database.url })).toEqual([]);
        // ledger-edges.test.ts is sure to bring about all of them.
        expect(await drawnTransitions()).toEqual(expect.arrayContaining(await seenTransitions(database.url)));
      } finally {
        await store.close();
        await database.drop();
        await opened.close();
        await rm(dataDir, { recursive: true, force: true });
      }
    });
  });
}

test('pakhus: kills that also take down the embedded database lose nothing acknowledged', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'pakhus-kill-'));
  // No reaper during the kills: the hold of a dead one would outlast this test.
  const environment = {
    ...testSecrets,
    DATA_DIR: dataDir,
    REAPER_GRACE_SECONDS: '1',
    REAPER_INTERVAL_SECONDS: '1',
  };
  const store = diskStoreIn(dataDir);
  try {
    const bodies = bodiesOf([1 << 10, 20_000, 300_000, 1 << 20]);
    let ledger: Ledger | null = null;
    for (let round = 0; round < 3; round += 1) {
      ledger = await cycle({ ...environment, ROLE: 'api' }, ledger, bodies, async (child) => {
        const postmaster = await postmasterOf(dataDir);
        process.kill(postmaster, 'SIGKILL');
        await child.kill();
        await until('PostgreSQL is gone', () => isGone(postmaster));
      });
    }
    await judge(environment, ledger as Ledger, store, async () => 0);
  } finally {
    await store.close();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
});

async function postmasterOf(dataDir: string): Promise<number> {
  const text = await readFile(join(dataDir, 'postgres', 'cluster', 'data', 'postmaster.pid'), 'utf8');
  return Number(text.split('\n', 1)[0]);
}
