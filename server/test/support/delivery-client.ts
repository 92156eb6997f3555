// A client of the delivery verbs that always knows what its user's files must be. It does one thing at a time; when the process that
// was to answer is killed, everything is as before, or all of it is done.
import { randomBytes, randomInt } from 'node:crypto';
import { request } from 'undici';
import { expect } from 'vitest';
import type { Api, Reply } from './api.ts';
import { bytesOf, sha256 } from './bytes.ts';
import { rowsOf } from './database.ts';
import { blankPng } from './image-files.ts';
import type { Instance, Instances } from './instances.ts';
import { unique } from './tenants.ts';
import { unlessGone } from './unless-gone.ts';
import { upload } from './uploads.ts';
import { readZip } from './zip-reader.ts';

export interface Home {
  readonly instances: Instances;
  readonly databaseUrl: string;
  readonly key: string;
  readonly userId: string;
  readonly keepsTrash: boolean;
  readonly bytesMax: number;
}

/** A file as lists show it. */
interface Entry {
  readonly id: string;
  readonly name: string;
  readonly folder: string;
  readonly sha256: string;
  readonly size: number;
  readonly mimeType: string;
  readonly visibility: string;
  readonly isTrashed: boolean;
  readonly isHeld: boolean;
  /** It may be gone at any time, so it is no longer compared. */
  readonly expires: boolean;
}

export interface Shared {
  readonly id: string;
  readonly fileId: string;
  readonly path: string;
  readonly max: number;
  /** Whole downloads that this client got. */
  completed: number;
  /** Downloads that it began: no more can have been counted. */
  begun: number;
}

/** A request, and what the files are once it is done. */
interface Deed {
  readonly what: string;
  readonly send: (api: Api) => Promise<Reply>;
  readonly after: readonly Entry[];
  /** Why it must be refused, if it must. */
  readonly refusal?: number | undefined;
  /** With which it may be refused, and nothing is done. */
  readonly mayRefuse?: number;
}

const folders = ['', 'a', 'a/b', 'a/b/c', 'd'];
const bodies = [0, 1, 900, 20_000, 120_000, 300_000].map((size, nth) => bytesOf(size, nth + 1));
const image = blankPng(96, 64);
const fewest = 6;
const most = 24;

const pick = <Item>(items: readonly Item[]): Item => items[randomInt(items.length)] as Item;

const pickIfAny = <Item>(items: readonly Item[]): Item | undefined =>
  items.length === 0 ? undefined : pick(items);

/** Some of them, in any order. */
function pickSome<Item>(items: readonly Item[], countMax: number): Item[] {
  const shuffled = items.map((item) => ({ item, at: Math.random() })).sort((one, other) => one.at - other.at);
  return shuffled.slice(0, 1 + randomInt(countMax)).map(({ item }) => item);
}

const linesOf = (entries: readonly Entry[]): string[] =>
  entries
    .filter(({ expires }) => !expires)
    .map(
      ({ name, folder, size, sha256: digest, visibility, isTrashed, isHeld }) =>
        `${isTrashed ? 'trash' : 'live'} ${isHeld ? 'held' : ''} ${visibility} ${folder}/${name} ${size} ${digest}`,
    )
    .sort();

const sizeOf = (entries: readonly { readonly size: number }[]): number =>
  entries.reduce((sum, { size }) => sum + size, 0);

export class DeliveryClient {
  readonly home: Home;
  entries: readonly Entry[] = [];
  readonly shares: Shared[] = [];
  /** Files that were told to expire, and trashed ones whose time was made to have come: by id. */
  readonly expiring = new Map<string, Entry>();
  readonly aged = new Map<string, Entry>();
  /** By verb: how often it was confirmed, and how often it was cut short by a kill. */
  readonly counts = new Map<string, { done: number; cut: number }>();

  constructor(home: Home) {
    this.home = home;
  }

  get #path(): string {
    return `/project/users/${this.home.userId}`;
  }

  get #live(): Entry[] {
    return this.entries.filter(({ isTrashed, expires }) => !isTrashed && !expires);
  }

  get #trashed(): Entry[] {
    return this.entries.filter(({ isTrashed, expires }) => isTrashed && !expires);
  }

  get changes(): number {
    return [...this.counts.values()].reduce((sum, { done, cut }) => sum + done + cut, 0);
  }

  /** One random verb. */
  async step(): Promise<void> {
    if (this.#live.length < fewest) return this.#perform(this.#uploading());
    if (this.entries.length > most) return this.#perform(this.#purging());
    const verbs: (() => Promise<void>)[] = [
      () => this.#perform(this.#uploading()),
      () => this.#perform(this.#copying()),
      () => this.#perform(this.#copying()),
      () => this.#perform(this.#copyingMany()),
      () => this.#perform(this.#changingMany()),
      () => this.#perform(this.#deletingMany()),
      () => this.#perform(this.#deleting()),
      () => this.#perform(this.#movingFolder()),
      () => this.#perform(this.#deletingFolder()),
      () => this.#perform(this.#holding()),
      () => this.#expire(),
      () => this.#share(),
      () => this.#download(),
      () => this.#download(),
      () => this.#zip(),
      () => this.#variant(),
    ];
    if (this.#trashed.length > 0)
      verbs.push(
        () => this.#perform(this.#restoring()),
        () => this.#perform(this.#purging()),
        () => this.#age(),
      );
    await pick(verbs)();
  }

  #count(what: string, outcome: 'done' | 'cut'): void {
    const counts = this.counts.get(what) ?? { done: 0, cut: 0 };
    counts[outcome] += 1;
    this.counts.set(what, counts);
  }

  /** Null if the process was killed meanwhile, or is too busy: then everything that it had begun has ended. */
  async #ask<Result extends { readonly status: number }>(
    send: (instance: Instance) => Promise<Result>,
  ): Promise<Result | null> {
    const instance = this.home.instances.pick();
    const result = await unlessGone(() => send(instance));
    if (result && result.status !== 503) return result;
    if (result) await instance.calm();
    else {
      expect(instance.isDoomed, 'only kills break connections').toBe(true);
      await instance.ended;
    }
    return null;
  }

  async #askUntilAnswered<Result extends { readonly status: number }>(
    send: (instance: Instance) => Promise<Result>,
  ): Promise<Result> {
    for (;;) {
      const result = await this.#ask(send);
      if (result !== null) return result;
    }
  }

  async #perform({ what, send, after, refusal, mayRefuse }: Deed): Promise<void> {
    const before = this.entries;
    const reply = await this.#ask(({ api }) => send(api));
    const now = await this.look();
    this.#count(what, reply ? 'done' : 'cut');
    if (!reply) {
      const possible = refusal === undefined ? [linesOf(before), linesOf(after)] : [linesOf(before)];
      expect(possible, `${what} is done, or nothing of it`).toContainEqual(linesOf(now));
    } else if (reply.status === 422 && reply.body.error.code === 'STORAGE_LIMIT_EXCEEDED') {
      const gone = [...this.expiring.values(), ...this.aged.values()];
      expect(sizeOf(after) + sizeOf(gone), `${what} was refused`).toBeGreaterThan(this.home.bytesMax);
      expect(linesOf(now), `${what} was refused`).toEqual(linesOf(before));
    } else if (refusal !== undefined || reply.status === mayRefuse) {
      expect(reply.status, `${what}: ${reply.text}`).toBe(refusal ?? mayRefuse);
      expect(linesOf(now), `${what} was refused`).toEqual(linesOf(before));
    } else {
      expect(reply.status, `${what}: ${reply.text}`).toBeLessThan(300);
      expect(linesOf(now), `${what} is done`).toEqual(linesOf(after));
    }
  }

  /** Reads what there is. */
  async look(): Promise<readonly Entry[]> {
    const read = async (query: string) =>
      (
        await this.#askUntilAnswered(({ api }) =>
          api.get(`${this.#path}/files?limit=100${query}`, this.home.key),
        )
      ).body.files;
    const toEntry =
      (isTrashed: boolean) => (file: Entry & { expires_at?: string; retain_until?: string }) => ({
        id: file.id,
        name: file.name,
        folder: file.folder,
        sha256: file.sha256,
        size: file.size,
        mimeType: file.mimeType,
        visibility: file.visibility,
        isTrashed,
        isHeld: file.retain_until !== undefined,
        expires: file.expires_at !== undefined || this.aged.has(file.id),
      });
    const [live, trashed] = [await read(''), await read('&trashed=true')];
    this.entries = [...live.map(toEntry(false)), ...trashed.map(toEntry(true))];
    return this.entries;
  }

  #with(changed: readonly Entry[], change: (entry: Entry) => Entry | null): Entry[] {
    return this.entries.flatMap((entry) => (changed.includes(entry) ? (change(entry) ?? []) : entry));
  }

  readonly #removed = (entry: Entry): Entry | null =>
    this.home.keepsTrash ? { ...entry, isTrashed: true } : null;

  #uploading(): Deed {
    const isImage = randomInt(4) === 0;
    const bytes = isImage ? image : pick(bodies);
    const made: Entry = {
      id: '',
      name: unique('f'),
      folder: pick(folders),
      sha256: sha256(bytes),
      size: bytes.length,
      mimeType: isImage ? 'image/png' : 'application/octet-stream',
      visibility: pick(['private', 'public']),
      isTrashed: false,
      isHeld: false,
      expires: false,
    };
    const { name, folder, visibility } = made;
    const options = { name, type: made.mimeType, fields: { folder, visibility } };
    return {
      what: 'upload',
      send: (api) => upload(api, this.home.key, this.#path, bytes, options),
      after: [...this.entries, made],
    };
  }

  #copying(): Deed {
    const source = pick(this.#live);
    const changed = { name: unique('c'), folder: pick(folders), visibility: pick(['private', 'public']) };
    return {
      what: 'copy',
      send: (api) => api.post(`${this.#path}/files/${source.id}/copy`, this.home.key, changed),
      after: [...this.entries, { ...source, ...changed, isHeld: false }],
    };
  }

  #batch(body: object): (api: Api) => Promise<Reply> {
    return (api) => api.post(`${this.#path}/files/batch`, this.home.key, body);
  }

  #copyingMany(): Deed {
    const sources = pickSome(this.#live, 5);
    const set = { folder: unique('copies') };
    return {
      what: 'batch copy',
      send: this.#batch({ ids: sources.map(({ id }) => id), action: 'copy', set }),
      after: [...this.entries, ...sources.map((source) => ({ ...source, ...set, isHeld: false }))],
    };
  }

  #changingMany(): Deed {
    const chosen = pickSome(this.#live, 6);
    const set = { folder: pick(folders), visibility: pick(['private', 'public']) };
    return {
      what: 'batch update',
      send: this.#batch({ ids: chosen.map(({ id }) => id), action: 'update', set }),
      after: this.#with(chosen, (entry) => ({ ...entry, ...set })),
    };
  }

  #deletingMany(): Deed {
    const chosen = pickSome(this.#live, 4);
    return {
      what: 'batch delete',
      send: this.#batch({ ids: chosen.map(({ id }) => id), action: 'delete' }),
      after: this.#with(chosen, this.#removed),
      refusal: heldAmong(chosen),
    };
  }

  #restoring(): Deed {
    const chosen = pickSome(this.#trashed, 4);
    return {
      what: 'batch restore',
      send: this.#batch({ ids: chosen.map(({ id }) => id), action: 'restore' }),
      after: this.#with(chosen, (entry) => ({ ...entry, isTrashed: false })),
    };
  }

  #deleting(): Deed {
    const chosen = pick(this.#live);
    return {
      what: 'delete',
      send: (api) => api.delete(`${this.#path}/files/${chosen.id}`, this.home.key),
      after: this.#with([chosen], this.#removed),
      refusal: heldAmong([chosen]),
    };
  }

  #purging(): Deed {
    const chosen = pick(this.#trashed.length > 0 ? this.#trashed : this.#live);
    return {
      what: 'purge',
      send: (api) => api.delete(`${this.#path}/files/${chosen.id}?permanent=true`, this.home.key),
      after: this.#with([chosen], () => null),
      refusal: heldAmong([chosen]),
    };
  }

  #below(folder: string): Entry[] {
    return this.#live.filter((entry) => entry.folder === folder || entry.folder.startsWith(`${folder}/`));
  }

  #someFolder(): string {
    return pickIfAny(this.#live.map(({ folder }) => folder).filter((folder) => folder !== '')) ?? 'a';
  }

  #movingFolder(): Deed {
    const from = this.#someFolder();
    const to = randomInt(3) ? unique('moved') : pick(['d/e', 'f']);
    const isInside = to === from || to.startsWith(`${from}/`);
    return {
      what: 'folder move',
      send: (api) => api.post(`${this.#path}/folders/move`, this.home.key, { from, to }),
      after: this.#with(this.#below(from), (entry) => ({
        ...entry,
        folder: `${to}${entry.folder.slice(from.length)}`,
      })),
      refusal: isInside ? 422 : undefined,
    };
  }

  #deletingFolder(): Deed {
    const prefix = this.#someFolder();
    const below = this.#below(prefix);
    return {
      what: 'folder delete',
      send: (api) => api.delete(`${this.#path}/folders?prefix=${prefix}`, this.home.key),
      after: this.#with(below, this.#removed),
      refusal: heldAmong(below),
    };
  }

  /** At most one: what is held can never be deleted. */
  #holding(): Deed {
    const chosen = this.entries.find(({ isHeld }) => isHeld) ?? pick(this.#live);
    if (chosen.isTrashed) return this.#uploading();
    const retain_until = '2099-01-01T00:00:00.000Z';
    return {
      what: 'hold',
      send: (api) => api.put(`${this.#path}/files/${chosen.id}`, this.home.key, { retain_until }),
      after: this.#with([chosen], (entry) => ({ ...entry, isHeld: true })),
    };
  }

  /** Soon. From then on the file is not compared until the end. */
  async #expire(): Promise<void> {
    const free = this.#live.filter(({ isHeld }) => !isHeld);
    const chosen = pickIfAny(free);
    if (!chosen) return;
    await this.#perform({
      what: 'expiry',
      send: (api) => {
        const expires_at = new Date(Date.now() + 2_000 + randomInt(1_000)).toISOString();
        return api.put(`${this.#path}/files/${chosen.id}`, this.home.key, { expires_at });
      },
      // On a busy machine its time may have come before it is asked for.
      mayRefuse: 422,
      after: this.#with([chosen], (entry) => ({ ...entry, expires: true })),
    });
    const isKept = this.entries.some(({ id, expires }) => id === chosen.id && !expires);
    if (!isKept) this.expiring.set(chosen.id, chosen);
  }

  /** As if it had been in the trash for longer than the project keeps it. */
  async #age(): Promise<void> {
    const chosen = pick(this.#trashed);
    this.aged.set(chosen.id, chosen);
    await rowsOf(
      this.home.databaseUrl,
      `update trashed_files set trashed_at = now() - interval '31 days' where id = '${chosen.id}'`,
    );
    await this.look();
    this.#count('ageing', 'done');
  }

  async #share(): Promise<void> {
    const file = pick(this.#live);
    const max = 1 + randomInt(4);
    const path = `${this.#path}/files/${file.id}/shares`;
    const reply = await this.#ask(({ api }) => api.post(path, this.home.key, { max_downloads: max }));
    this.#count('share', reply ? 'done' : 'cut');
    if (!reply) return;
    expect(reply.status, reply.text).toBe(201);
    const { id } = reply.body.share;
    this.shares.push({
      id,
      fileId: file.id,
      path: new URL(reply.body.url).pathname,
      max,
      completed: 0,
      begun: 0,
    });
  }

  /** Several at once, on both processes, of a share that may have fewer left. */
  async #download(): Promise<void> {
    const live = new Map(this.#live.map((entry) => [entry.id, entry]));
    const shared = pickIfAny(this.shares.filter(({ fileId }) => live.has(fileId)));
    if (!shared) return this.#share();
    const digest = live.get(shared.fileId)?.sha256;
    const once = async () => {
      shared.begun += 1;
      const bytes = await this.#fetchResumed(`${shared.path}/download`, {}, 'download');
      if (bytes === 'not found')
        expect(shared.begun, 'the last was given to others').toBeGreaterThan(shared.max);
      else if (bytes) {
        expect(sha256(bytes)).toBe(digest);
        shared.completed += 1;
      }
    };
    await Promise.all([once(), once(), once()]);
    expect(shared.completed, 'no more than allowed').toBeLessThanOrEqual(shared.max);
  }

  /** Begun on one process and, if that is killed, resumed on the other. Null if there was no answer to resume. */
  async #fetchResumed(
    path: string,
    headers: Record<string, string>,
    what: string,
  ): Promise<Buffer | 'not found' | null> {
    const chunks: Buffer[] = [];
    let etag = '';
    for (;;) {
      const at = sizeOfChunks(chunks);
      const resuming: Record<string, string> = etag ? { range: `bytes=${at}-`, 'if-range': etag } : {};
      const reply = await this.#ask(async ({ origin }) => {
        // From any address, so that no limit for one of them is reached.
        const from = { 'x-forwarded-for': [...randomBytes(4)].join('.') };
        const answer = await request(`${origin}${path}`, { headers: { ...headers, ...resuming, ...from } });
        const status = answer.statusCode;
        if (status < 300) etag = String(answer.headers.etag);
        for await (const chunk of answer.body) if (status < 300) chunks.push(chunk);
        return { status };
      });
      const status = reply?.status ?? null;
      this.#count(what, status === null ? 'cut' : 'done');
      if (status === null && etag === '') return null;
      // All of it had arrived.
      if (status === 416) return Buffer.concat(chunks);
      if (status === null) continue;
      if (status === 404 && Object.keys(resuming).length === 0) return 'not found';
      expect(status, `${what} at ${at}`).toBe(Object.keys(resuming).length > 0 ? 206 : 200);
      return Buffer.concat(chunks);
    }
  }

  async #zip(): Promise<void> {
    const chosen = pickSome(this.#live, 6);
    const ids = chosen.map(({ id }) => id).join();
    const authorization = `Bearer ${this.home.key}`;
    const zip = await this.#fetchResumed(
      `/api/v1${this.#path}/files/zip?ids=${ids}`,
      { authorization },
      'zip',
    );
    if (zip === null) return;
    expect(zip).not.toBe('not found');
    // Copies that came together in one folder are numbered.
    const contents = [...readZip(zip as Buffer)].map(
      ([name, bytes]) => `${name.replace(/ \(\d+\)$/, '')} ${sha256(bytes)}`,
    );
    const expected = chosen.map(
      ({ folder, name, sha256: digest }) => `${folder && `${folder}/`}${name} ${digest}`,
    );
    expect(contents.sort()).toEqual(expected.sort());
  }

  /** Whether it is made in time is not for this test to say. */
  async #variant(): Promise<void> {
    const file = pickIfAny(this.#live.filter(({ mimeType }) => mimeType === 'image/png'));
    if (!file) return this.#perform(this.#uploading());
    const path = `${this.#path}/files/${file.id}/variants/small`;
    const reply = await this.#ask(({ api }) => api.get(path, this.home.key));
    this.#count('variant', reply ? 'done' : 'cut');
    if (reply) expect([200, 202], reply.text).toContain(reply.status);
  }

  /** Every live file is what it was, byte for byte. */
  async readBack(instance: Api): Promise<void> {
    const headers = { authorization: `Bearer ${this.home.key}` };
    for (const { id, sha256: digest } of this.#live) {
      const reply = await request(`${instance.baseUrl}${this.#path}/files/${id}/content`, { headers });
      const bytes = Buffer.from(await reply.body.arrayBuffer());
      expect([reply.statusCode, sha256(bytes)], `file ${id}`).toEqual([200, digest]);
    }
  }
}

const heldAmong = (entries: readonly Entry[]): number | undefined =>
  entries.some(({ isHeld }) => isHeld) ? 423 : undefined;

const sizeOfChunks = (chunks: readonly Buffer[]): number =>
  chunks.reduce((sum, { length }) => sum + length, 0);
