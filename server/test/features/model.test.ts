// Random operations by all five kinds of caller, compared step by step with a model small enough to be right. Many
// short stories run concurrently, each with its own tenants, while the service is restarted under them.
// A mismatch prints the seed of its story: MODEL_SEED=… replays that story alone and shrinks it.
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeExpired } from '../../src/features/files/files.upkeep.ts';
import { uploadUpkeep } from '../../src/features/uploads/uploads.jobs.ts';
import type { Api, CallOptions, Reply } from '../support/api.ts';
import { repetitions } from '../support/bounds.ts';
import { readAll, sha256 } from '../support/bytes.ts';
import { rowsOf } from '../support/database.ts';
import { auditedEvents, eventsOfAudit } from '../support/feed.ts';
import { blankPng } from '../support/image-files.ts';
import {
  never,
  objectsOf,
  placesOf,
  reapUntilDone,
  wrongCounters,
  wrongOwners,
  wrongReservations,
} from '../support/ledger.ts';
import {
  allScopes,
  type Caller,
  type CallerKind,
  type Chunk,
  type Credential,
  callerOf,
  defaultPlanOf,
  filesOf,
  hasAllSpaces,
  type Integration,
  isAlive,
  isLive,
  isOpen,
  isReachable,
  isShared,
  isUsedUp,
  newProject,
  outcomeOfChunk,
  outcomeOfCompletion,
  outcomeOfCreation,
  outcomeOfDirect,
  outcomeOfRestore,
  outcomeOfUpload,
  type Plan,
  type Project,
  planInForce,
  reservedBy,
  type Scope,
  type Share,
  type Space,
  type StoredFile,
  storeFile,
  type Upload,
  type User,
  usedBy,
} from '../support/model.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { until } from '../support/processes.ts';
import { adminSession, logIn, unique } from '../support/tenants.ts';
import { drawnTransitions, keepTransitions, seenTransitions } from '../support/transitions.ts';
import { createTus, headTus, offsetOf, patchTus, pathOf, tusVersion } from '../support/tus.ts';
import { contentTypeOf, formOf, partsOf } from '../support/uploads.ts';
import { readZip } from '../support/zip-reader.ts';

const operationsMin = repetitions(12_000, 4_000);
const restartsMin = repetitions(4, 1);
const storiesAtOnce = 12;
const stepsMax = 400;

/** All random choices of a step; the operation and the current state decide which of them count. */
interface Draw {
  readonly who: number;
  readonly where: number;
  readonly what: number;
  readonly number: number;
  readonly scopes: readonly Scope[];
  readonly yes: boolean;
  readonly also: boolean;
  /** Sometimes: something deleted, revoked or of another tenant. */
  readonly stray: number;
}

/** One story: its tenants, and the operations on them. */
class World {
  readonly projects: Project[] = [];
  readonly real: Service;
  #created = 0;
  constructor(real: Service) {
    this.real = real;
  }
  /** Some requests that create something are repeated: the model knows of the first one only. */
  get api(): Api {
    const { api } = this.real.current;
    const call: Api['call'] = (method, path, options) => {
      const isRepeated = method === 'POST' && creating.test(path) && this.#created++ % 5 === 0;
      return isRepeated ? sendTwice(api, path, options) : api.call(method, path, options);
    };
    return { ...api, call, post: (path, as, body) => call('POST', path, { as, body }) };
  }
}

const creating =
  /^\/(admin\/projects|project\/(users|plans|keys|integrations|webhooks)|.*\/(spaces|tokens|files|images|uploads|copy|shares|rotate-key))$/;
const notKept = [401, 403, 404, 429];

async function sendTwice(api: Api, path: string, options: CallOptions = {}): Promise<Reply> {
  const headers = { ...options.headers, 'idempotency-key': randomUUID() };
  const first = await api.call('POST', path, { ...options, headers });
  const again = await api.call('POST', path, { ...options, headers });
  const isReplay = again.headers['idempotency-replayed'] === 'true' && again.text === first.text;
  if (again.status !== first.status || !(isReplay || notKept.includes(first.status)))
    throw new Error(`POST ${path} got ${first.status} ${first.text}, repeated ${again.status} ${again.text}`);
  return first;
}

/** The service shared by all stories. A restart waits until no operation is in flight. */
class Service {
  base: TestPakhus;
  current: TestPakhus;
  readonly admin: string;
  operations = 0;
  restarts = 0;
  readonly #busy = new Set<Promise<unknown>>();
  #closed: Promise<unknown> | null = null;

  constructor(base: TestPakhus, admin: string) {
    this.base = base;
    this.current = base;
    this.admin = admin;
  }

  async use<T>(work: () => Promise<T>): Promise<T> {
    while (this.#closed) await this.#closed;
    const running = work();
    this.#busy.add(running);
    try {
      return await running;
    } finally {
      this.#busy.delete(running);
    }
  }

  async restart(): Promise<void> {
    while (this.#closed) await this.#closed;
    const work = async () => {
      await Promise.allSettled(this.#busy);
      await this.current.pakhus.stop();
      this.current = await this.base.another();
      this.restarts += 1;
    };
    const closed = work().finally(() => {
      this.#closed = null;
    });
    this.#closed = closed;
    await closed;
  }
}

type Operation = (world: World, draw: Draw) => Promise<void>;

const pick = <T>(list: readonly T[], n: number): T | undefined => list[n % Math.max(1, list.length)];

/** Mostly an existing one, sometimes any that ever existed. */
function pickLive<T>(list: readonly T[], isAlive: (one: T) => boolean, draw: Draw, n: number): T | undefined {
  const alive = list.filter(isAlive);
  return pick(draw.stray % 8 === 0 || alive.length === 0 ? list : alive, n);
}

const projectOf = (world: World, draw: Draw): Project =>
  pickLive(world.projects, (one) => !one.gone && one.active, draw, draw.where) as Project;

const kinds = ['key', 'key', 'session', 'integration', 'integration', 'user', 'user', 'space', 'space'];

function someone(world: World, draw: Draw, preferred?: readonly string[]): Caller {
  const turn = draw.who % 24;
  const stranger = { project: null, credential: null, pinned: null, space: null };
  if (turn === 22)
    return { ...stranger, kind: 'admin', text: world.real.admin, grant: allScopes, refusal: null };
  if (turn === 23) {
    const text = draw.yes ? undefined : `pak_${'0'.repeat(64)}`;
    return { ...stranger, kind: 'nobody', text, grant: [], refusal: 401 };
  }
  const project = projectOf(world, draw);
  const kind = pick(draw.also ? (preferred ?? kinds) : kinds, turn);
  const ofKind = project.credentials.filter((one) => one.kind === kind);
  const from = ofKind.length > 0 ? ofKind : project.credentials;
  return callerOf(project, pickLive(from, isLive, draw, draw.who >> 5) as Project['credentials'][number]);
}

interface Guard {
  readonly actors: readonly CallerKind[];
  readonly scope?: Scope;
}

const files: readonly CallerKind[] = ['project', 'integration', 'user', 'space'];
/** As a filter by space sees it. */
const isWanted = (space: { readonly id: string } | null, wanted: string | undefined): boolean =>
  wanted === undefined || (wanted === 'none' ? space === null : space?.id === wanted);

const managers: Guard = { actors: ['project', 'user'] };
const ownerOnly: Guard = { actors: ['project'] };
const provisioner = (scope: Scope): Guard => ({ actors: ['project', 'integration'], scope });

/** The status with which a guard refuses, or null if the caller passes. */
function refusal(caller: Caller, { actors, scope }: Guard, path: UserPath | null): number | null {
  if (caller.refusal !== null) return caller.refusal;
  if (!actors.includes(caller.kind)) return 403;
  if (path && caller.pinned && path.user !== caller.pinned) return 404;
  if (scope && !caller.grant.includes(scope)) return 403;
  return path && !path.user ? 404 : null;
}

interface UserPath {
  readonly path: string;
  /** The end-user that it addresses for this caller, if any. */
  readonly user: User | null;
}

/** Mostly a user of the caller, sometimes one that is deleted or of another tenant. */
function someUser(world: World, caller: Caller, draw: Draw): UserPath {
  const project =
    (draw.stray % 9 === 1 ? null : caller.project) ?? projectOf(world, { ...draw, where: draw.what });
  const own =
    draw.stray % 5 !== 2 && caller.pinned && project === caller.project ? [caller.pinned] : project.users;
  const aimed = pickLive(own, (one) => !one.gone, draw, draw.what);
  const known = caller.project?.users ?? [];
  if (!aimed) return { path: `/project/users/${randomUUID()}`, user: null };
  if (draw.number % 3 === 0) {
    const user = known.find((one) => !one.gone && one.externalId === aimed.externalId) ?? null;
    return { path: `/project/users/ext/${aimed.externalId}`, user };
  }
  const user = known.find((one) => one === aimed && !one.gone) ?? null;
  return { path: `/project/users/${aimed.id}`, user };
}

function expectStatus(reply: Reply, expected: number, what: string): boolean {
  if (reply.status !== expected)
    throw new Error(`${what}: the model says ${expected}, the service ${reply.status} ${reply.text}`);
  return reply.status < 300;
}

const asked = (caller: Caller, what: string) => `${what} as ${caller.kind}`;

const sorted = (ids: readonly string[]): string[] => [...ids].sort();

/** The same items, newest first. */
function expectListed(
  rows: readonly { id: string; created_at: string }[],
  expected: readonly string[],
): void {
  expect(sorted(rows.map((row) => row.id))).toEqual(sorted(expected));
  const moments = rows.map((row) => row.created_at);
  expect(moments).toEqual([...moments].sort().reverse());
}

/** The project of the caller; only after a guard has let the caller pass. */
const tenantOf = (caller: Caller): Project => caller.project as Project;

async function makeProject(world: World): Promise<Project> {
  const { api, real } = world;
  const email = `${unique('owner')}@example.com`;
  const password = 'a password of a tenant';
  const reply = await api.post('/admin/projects', real.admin, { name: 'p', email, password });
  expectStatus(reply, 201, 'projects.create');
  const project = newProject(reply.body.project.id, email, password);
  world.projects.push(project);
  await noteKey(world, project, reply.body.api_key);
  await readEvents(world, project, reply.body.api_key);
  return project;
}

/** Goes on with the feed of the project. Without a cursor it begins now. */
async function readEvents(world: World, project: Project, text: string | undefined): Promise<Reply> {
  const { cursor, events } = project.feed;
  const after = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
  const reply = await world.api.get(`/project/events?limit=1000${after}`, text);
  if (reply.status === 200)
    project.feed = { cursor: reply.body.next_cursor, events: [...events, ...reply.body.events] };
  return reply;
}

/** What the audit log has, the feed has: nothing is missing, nothing is told twice. */
async function expectAllTold(world: World, project: Project): Promise<void> {
  const [key] = liveKeysOf(project);
  if (!key || project.gone || !project.active) return;
  const audited = await eventsOfAudit(world.real.base.databaseUrl, project.id);
  const demanded = [...audited, ...project.toldOfFolders].sort();
  // Transactions of other stories hold the feed back for a moment.
  await until('all events are told', async () => {
    await readEvents(world, project, key.text);
    return auditedEvents(project.feed.events).length >= demanded.length;
  });
  expect(auditedEvents(project.feed.events)).toEqual(demanded);
}

async function noteKey(world: World, project: Project, text: string, id?: string): Promise<void> {
  const found = id ?? (await world.api.get('/project/keys', text)).body.keys[0].id;
  project.credentials.push({ kind: 'key', text, id: found, live: true });
}

const liveKeysOf = ({ credentials }: Project) =>
  credentials.filter((one) => one.kind === 'key' && one.live) as {
    id: string;
    text: string;
    live: boolean;
  }[];

function snapshotOf(project: Project, user: User) {
  const storageUsed = usedBy(filesOf(project, user));
  const storageReserved = reservedBy(project, user);
  const storageLimit = planInForce(project, user)?.storageLimit ?? null;
  return {
    storageUsed,
    storageReserved,
    storageLimit,
    storageAvailable:
      storageLimit === null ? null : Math.max(0, storageLimit - storageUsed - storageReserved),
    overQuota: storageLimit !== null && storageUsed > storageLimit,
  };
}

const viewOf = (project: Project, user: User) => ({
  id: user.id,
  external_id: user.externalId,
  active: user.active,
  ...snapshotOf(project, user),
});

const viewOfFile = (file: StoredFile) => ({
  id: file.id,
  name: file.name,
  user_id: file.owner.id,
  space_id: file.space?.id ?? null,
  size: file.size,
  mimeType: file.mimeType,
  folder: file.folder,
  tags: file.tags,
  visibility: file.visibility,
});

function expectFile(shown: { sha256: string | null }, file: StoredFile): void {
  expect(shown).toMatchObject(viewOfFile(file));
  expect(shown.sha256).toBe(file.isHashed || shown.sha256 !== null ? file.sha256 : null);
  file.isHashed = shown.sha256 !== null;
}

const viewOfUpload = (upload: Upload) => ({
  id: upload.id,
  user_id: upload.owner.id,
  space_id: upload.space?.id ?? null,
  status: upload.status,
  mode: upload.mode,
  size: upload.size,
  offset: upload.offset,
  mimeType: upload.mimeType,
  ...(upload.fileId === null ? {} : { file_id: upload.fileId }),
  ...(upload.error === null ? {} : { error: { code: upload.error } }),
});

const viewOfSpace = (project: Project, space: Space) => ({
  id: space.id,
  user_id: space.owner.id,
  external_id: space.externalId,
  active: space.active,
  limit_bytes: space.limit,
  has_password: space.password !== null,
  used_bytes: usedBy(project.files.filter((file) => file.space === space)),
  reserved_bytes: reservedBy(project, space),
});

const sizes = [0, 1, 17, 100, 300, 700, 1200, 2048];
const types = ['text/plain', 'application/octet-stream', 'image/png'];
const folders = ['', 'a', 'a/b', 'c'];
const fileNames = ['file.bin', 'Résumé.pdf', 'resume 2.PDF', 'a_b', 'File1'];
const limits = [null, 0, 500, 2000, 6000];
const fileCallers = ['user', 'space', 'integration', 'key'];

/** Mostly a file that exists for this caller, with its path. */
function someFile(world: World, caller: Caller, draw: Draw) {
  const place = someUser(world, caller, draw);
  const own = place.user && caller.project ? filesOf(caller.project, place.user) : [];
  const everywhere = world.projects.flatMap((project) => project.files);
  const aimed = pick(draw.stray % 7 === 3 || own.length === 0 ? everywhere : own, draw.number);
  const visible = own.includes(aimed as StoredFile) && (!caller.space || aimed?.space === caller.space);
  return {
    ...place,
    at: `${place.path}/files/${aimed?.id ?? randomUUID()}`,
    file: visible && !aimed?.trashed ? aimed : undefined,
    trashed: visible && aimed?.trashed ? aimed : undefined,
  };
}

function someSpace(world: World, caller: Caller, draw: Draw) {
  const place = someUser(world, caller, draw);
  const own = caller.project?.spaces.filter((one) => one.owner === place.user) ?? [];
  const everywhere = world.projects.flatMap((project) => project.spaces);
  const from = draw.stray % 7 === 4 || own.length === 0 ? everywhere : own;
  const aimed = pickLive(from, (one) => !one.gone, draw, draw.number);
  const found = aimed && own.includes(aimed) && !aimed.gone ? aimed : undefined;
  return { ...place, at: `${place.path}/spaces/${aimed?.id ?? randomUUID()}`, aimed, space: found };
}

const within = (scopes: readonly Scope[], grant: readonly Scope[]): boolean =>
  scopes.every((scope) => grant.includes(scope));

function forgetUser(project: Project, user: User): void {
  user.gone = true;
  for (const space of project.spaces) if (space.owner === user) space.gone = true;
  for (const list of [project.files, project.uploads] as { owner: User }[][])
    list.splice(0, list.length, ...list.filter(({ owner }) => owner !== user));
}

interface UsageDay {
  readonly user_id: string;
  readonly bytes_max: number;
  readonly bytes_end: number;
  readonly uploads: number;
  readonly bytes_in: number;
}

/** By user: a story may go on after midnight. */
function sumUsage(days: readonly UsageDay[]): object {
  const sums: Record<string, Omit<UsageDay, 'user_id'>> = {};
  for (const { user_id, bytes_max, bytes_end, uploads, bytes_in } of days) {
    const before = sums[user_id] ?? { bytes_max: 0, uploads: 0, bytes_in: 0 };
    sums[user_id] = {
      bytes_max: Math.max(before.bytes_max, bytes_max),
      bytes_end,
      uploads: before.uploads + uploads,
      bytes_in: before.bytes_in + bytes_in,
    };
  }
  return sums;
}

const operations: Record<string, readonly [weight: number, run: Operation]> = {
  'projects.create': [
    1,
    async (world, draw) => {
      if (draw.number % 3 > 0 || world.projects.length >= 3) {
        const caller = someone(world, { ...draw, who: draw.who % 22 });
        const fields = { name: 'p', email: 'x@example.com', password: 'a password' };
        const reply = await world.api.post('/admin/projects', caller.text, fields);
        expectStatus(reply, caller.refusal ?? 403, asked(caller, 'projects.create'));
      } else await makeProject(world);
    },
  ],
  'projects.read': [
    4,
    async (world, draw) => {
      const caller = someone(world, { ...draw, who: draw.yes ? 22 : draw.who });
      const project = projectOf(world, { ...draw, where: draw.what });
      const reply = await world.api.get(`/admin/projects/${project.id}`, caller.text);
      const expected = caller.refusal ?? (caller.kind !== 'admin' ? 403 : project.gone ? 404 : 200);
      if (expectStatus(reply, expected, asked(caller, 'projects.read')))
        expect(reply.body.project).toMatchObject({ email: project.email, active: project.active });
    },
  ],
  'projects.setStatus': [
    3,
    async (world, draw) => {
      // More often active than not: an inactive project refuses everything.
      const project = pick(world.projects, draw.where) as Project;
      const active = !project.active || draw.number % 3 > 0;
      const reply = await world.api.patch(`/admin/projects/${project.id}/status`, world.real.admin, {
        active,
      });
      if (expectStatus(reply, project.gone ? 404 : 200, 'projects.setStatus')) project.active = active;
    },
  ],
  'projects.rotateKey': [
    1,
    async (world, draw) => {
      const project = pick(world.projects, draw.where) as Project;
      // The new key has to look up its id, which an inactive project would refuse.
      if (!project.active) return;
      const reply = await world.api.post(`/admin/projects/${project.id}/rotate-key`, world.real.admin);
      if (!expectStatus(reply, project.gone ? 404 : 200, 'projects.rotateKey')) return;
      for (const key of liveKeysOf(project)) key.live = false;
      await noteKey(world, project, reply.body.api_key);
    },
  ],
  'projects.delete': [
    1,
    async (world, draw) => {
      const alive = world.projects.filter((project) => !project.gone);
      const project = pick(
        draw.yes && alive.length > 1 ? alive : world.projects.filter((one) => one.gone),
        draw.where,
      );
      if (!project) return;
      const reply = await world.api.delete(`/admin/projects/${project.id}`, world.real.admin);
      const held = project.files.some(({ isHeld }) => isHeld) ? 423 : 204;
      if (!expectStatus(reply, project.gone ? 404 : held, 'projects.delete')) return;
      for (const user of project.users) forgetUser(project, user);
      project.gone = true;
    },
  ],
  'auth.login': [
    1,
    async (world, draw) => {
      const project = projectOf(world, draw);
      const reply = await logIn(world.api, project.email, project.password);
      const expected = project.gone ? 401 : project.active ? 200 : 403;
      if (expectStatus(reply, expected, 'auth.login'))
        project.credentials.push({ kind: 'session', text: reply.body.token, live: true });
    },
  ],
  'auth.logout': [
    1,
    async (world, draw) => {
      const caller = someone(world, draw, ['session']);
      if (caller.kind === 'admin' || (caller.credential && caller.credential.kind !== 'session')) return;
      const reply = await world.api.post('/auth/logout', caller.text);
      if (expectStatus(reply, caller.refusal ?? 204, 'auth.logout') && caller.credential?.kind === 'session')
        caller.credential.live = false;
    },
  ],
  'auth.logoutEverywhere': [
    1,
    async (world, draw) => {
      const caller = someone(world, draw, ['session']);
      if (caller.kind === 'admin' || (caller.credential && caller.credential.kind !== 'session')) return;
      const reply = await world.api.post('/auth/logout-everywhere', caller.text);
      if (!expectStatus(reply, caller.refusal ?? 204, 'auth.logoutEverywhere')) return;
      for (const credential of caller.project?.credentials ?? [])
        if (credential.kind === 'session') credential.live = false;
    },
  ],
  'keys.create': [
    2,
    async (world, draw) => {
      const caller = someone(world, draw, ['key', 'session']);
      const reply = await world.api.post('/project/keys', caller.text, {});
      const full = caller.project && liveKeysOf(caller.project).length >= 10 ? 409 : 201;
      const expected = refusal(caller, ownerOnly, null) ?? full;
      if (expectStatus(reply, expected, asked(caller, 'keys.create')))
        await noteKey(world, tenantOf(caller), reply.body.api_key, reply.body.key.id);
    },
  ],
  'keys.revoke': [
    2,
    async (world, draw) => {
      const caller = someone(world, draw, ['key', 'session']);
      const project = (draw.stray % 5 === 0 ? null : caller.project) ?? projectOf(world, draw);
      const keys = liveKeysOf(project);
      // One key is kept, so that the story can continue.
      const key = keys.length > 1 ? pick(keys, draw.number) : undefined;
      const reply = await world.api.delete(`/project/keys/${key?.id ?? randomUUID()}`, caller.text);
      const known = key && caller.project === project;
      const expected = refusal(caller, ownerOnly, null) ?? (known ? 204 : 404);
      if (expectStatus(reply, expected, asked(caller, 'keys.revoke')) && key) key.live = false;
    },
  ],
  'integrations.create': [
    3,
    async (world, draw) => {
      const caller = someone(world, draw, ['key', 'session']);
      const reply = await world.api.post('/project/integrations', caller.text, { scopes: draw.scopes });
      if (!expectStatus(reply, refusal(caller, ownerOnly, null) ?? 201, asked(caller, 'integrations.create')))
        return;
      const { id } = reply.body.integration;
      const made: Integration = {
        id,
        key: reply.body.api_key,
        scopes: draw.scopes,
        active: true,
        gone: false,
      };
      tenantOf(caller).integrations.push(made);
      tenantOf(caller).credentials.push({ kind: 'integration', text: made.key, of: made });
    },
  ],
  'integrations.change': [
    3,
    async (world, draw) => {
      const caller = someone(world, draw, ['key', 'session']);
      const { one, known } = someIntegration(world, caller, draw);
      const fields = draw.yes ? { scopes: draw.scopes } : { active: !one?.active };
      const reply = await world.api.put(
        `/project/integrations/${one?.id ?? randomUUID()}`,
        caller.text,
        fields,
      );
      const expected = refusal(caller, ownerOnly, null) ?? (known ? 200 : 404);
      if (expectStatus(reply, expected, asked(caller, 'integrations.change')))
        Object.assign(one ?? {}, fields);
    },
  ],
  'integrations.rotateKey': [
    1,
    async (world, draw) => {
      const caller = someone(world, draw, ['key', 'session']);
      const { one, known } = someIntegration(world, caller, draw);
      const at = `/project/integrations/${one?.id ?? randomUUID()}/rotate-key`;
      const reply = await world.api.post(at, caller.text);
      const expected = refusal(caller, ownerOnly, null) ?? (known ? 200 : 404);
      if (!expectStatus(reply, expected, asked(caller, 'integrations.rotateKey')) || !one) return;
      one.key = reply.body.api_key;
      tenantOf(caller).credentials.push({ kind: 'integration', text: one.key, of: one });
    },
  ],
  'integrations.delete': [
    1,
    async (world, draw) => {
      const caller = someone(world, draw, ['key', 'session']);
      const { one, known } = someIntegration(world, caller, draw);
      const reply = await world.api.delete(`/project/integrations/${one?.id ?? randomUUID()}`, caller.text);
      const expected = refusal(caller, ownerOnly, null) ?? (known ? 204 : 404);
      if (expectStatus(reply, expected, asked(caller, 'integrations.delete')) && one) one.gone = true;
    },
  ],
  'webhooks.create': [
    2,
    async (world, draw) => {
      const caller = someone(world, draw, ['key', 'session']);
      // Not active, because nobody listens there.
      const fields = {
        url: `https://192.0.3.${draw.number % 256}/hook`,
        types: pick(typeSets, draw.what),
        active: false,
      };
      const reply = await world.api.post('/project/webhooks', caller.text, fields);
      const there = caller.project?.webhooks.filter(({ gone }) => !gone) ?? [];
      const expected = refusal(caller, ownerOnly, null) ?? (there.length < webhooksMax ? 201 : 409);
      if (!expectStatus(reply, expected, asked(caller, 'webhooks.create'))) return;
      const { id, url, types } = reply.body.webhook;
      expect({ url, types }).toEqual({ url: fields.url, types: fields.types });
      tenantOf(caller).webhooks.push({ id, url, types, gone: false });
    },
  ],
  'webhooks.list': [
    2,
    async (world, draw) => {
      const caller = someone(world, draw, ['key', 'session']);
      const reply = await world.api.get('/project/webhooks', caller.text);
      if (!expectStatus(reply, refusal(caller, ownerOnly, null) ?? 200, asked(caller, 'webhooks.list')))
        return;
      const there = tenantOf(caller).webhooks.filter(({ gone }) => !gone);
      expectListed(
        reply.body.webhooks,
        there.map(({ id }) => id),
      );
    },
  ],
  'webhooks.change': [
    1,
    async (world, draw) => {
      const caller = someone(world, draw, ['key', 'session']);
      const { one, known } = someWebhook(world, caller, draw);
      const types = pick(typeSets, draw.what) ?? null;
      const path = `/project/webhooks/${one?.id ?? randomUUID()}`;
      const reply = await world.api.put(path, caller.text, { types });
      const expected = refusal(caller, ownerOnly, null) ?? (known ? 200 : 404);
      if (!expectStatus(reply, expected, asked(caller, 'webhooks.change')) || !one) return;
      one.types = types;
      const shown = (await world.api.get(path, caller.text)).body.webhook;
      expect(shown).toMatchObject({ url: one.url, types, active: false });
    },
  ],
  'webhooks.delete': [
    1,
    async (world, draw) => {
      const caller = someone(world, draw, ['key', 'session']);
      const { one, known } = someWebhook(world, caller, draw);
      const reply = await world.api.delete(`/project/webhooks/${one?.id ?? randomUUID()}`, caller.text);
      const expected = refusal(caller, ownerOnly, null) ?? (known ? 204 : 404);
      if (expectStatus(reply, expected, asked(caller, 'webhooks.delete')) && one) one.gone = true;
    },
  ],
  'plans.create': [
    2,
    async (world, draw) => {
      const caller = someone(world, draw, ['key', 'session']);
      const values = planValues(draw);
      const reply = await world.api.post('/project/plans', caller.text, { name: 'plan', ...values });
      if (!expectStatus(reply, refusal(caller, ownerOnly, null) ?? 201, asked(caller, 'plans.create')))
        return;
      const { id, created_at } = reply.body.plan;
      const { plans } = tenantOf(caller);
      plans.push({ id, createdAt: created_at, ...values, isDefault: plans.length === 0 });
      expect(reply.body.plan.is_default).toBe(plans.length === 1);
    },
  ],
  'plans.change': [
    2,
    async (world, draw) => {
      const caller = someone(world, draw, ['key', 'session']);
      const { plan, known } = somePlan(world, caller, draw);
      const values = planValues(draw);
      const reply = await world.api.put(`/project/plans/${plan?.id ?? randomUUID()}`, caller.text, values);
      const expected = refusal(caller, ownerOnly, null) ?? (known ? 200 : 404);
      if (expectStatus(reply, expected, asked(caller, 'plans.change'))) Object.assign(plan ?? {}, values);
    },
  ],
  'plans.makeDefault': [
    1,
    async (world, draw) => {
      const caller = someone(world, draw, ['key', 'session']);
      const { plan, known } = somePlan(world, caller, draw);
      const reply = await world.api.put(`/project/plans/${plan?.id ?? randomUUID()}/default`, caller.text);
      const expected = refusal(caller, ownerOnly, null) ?? (known ? 200 : 404);
      if (expectStatus(reply, expected, asked(caller, 'plans.makeDefault')))
        for (const one of tenantOf(caller).plans) one.isDefault = one === plan;
    },
  ],
  'plans.delete': [
    1,
    async (world, draw) => {
      const caller = someone(world, draw, ['key', 'session']);
      const { plan, known } = somePlan(world, caller, draw);
      const reply = await world.api.delete(`/project/plans/${plan?.id ?? randomUUID()}`, caller.text);
      // A user without a plan follows the default plan.
      const used = caller.project?.users.some(
        (user) => !user.gone && (user.plan === plan || (user.plan === null && plan?.isDefault)),
      );
      const expected = refusal(caller, ownerOnly, null) ?? (known ? (used ? 409 : 204) : 404);
      if (!expectStatus(reply, expected, asked(caller, 'plans.delete')) || !plan) return;
      const { plans } = tenantOf(caller);
      plans.splice(plans.indexOf(plan), 1);
      const oldest = [...plans].sort((a, b) => (a.createdAt + a.id < b.createdAt + b.id ? -1 : 1))[0];
      if (oldest && plan.isDefault) oldest.isDefault = true;
    },
  ],
  'plans.list': [
    2,
    async (world, draw) => {
      const caller = someone(world, draw);
      const reply = await world.api.get('/project/plans?limit=100', caller.text);
      const expected = refusal(caller, provisioner('plans:read'), null) ?? 200;
      if (!expectStatus(reply, expected, asked(caller, 'plans.list'))) return;
      const { plans } = tenantOf(caller);
      expectListed(
        reply.body.plans,
        plans.map((plan) => plan.id),
      );
      const standard = reply.body.plans.find((plan: { is_default: boolean }) => plan.is_default);
      expect(standard?.id).toBe(defaultPlanOf(tenantOf(caller))?.id);
    },
  ],
  'users.create': [
    8,
    async (world, draw) => {
      const caller = someone(world, draw, ['key', 'integration']);
      const externalId = `u${draw.number % 12}`;
      const reply = await world.api.post('/project/users', caller.text, { externalId });
      const taken = caller.project?.users.some((user) => !user.gone && user.externalId === externalId);
      const expected = refusal(caller, provisioner('users:write'), null) ?? (taken ? 409 : 201);
      if (!expectStatus(reply, expected, asked(caller, 'users.create'))) return;
      const project = tenantOf(caller);
      const user = {
        id: reply.body.user.id,
        externalId,
        gone: false,
        active: true,
        plan: defaultPlanOf(project),
      };
      project.users.push(user);
      expect(reply.body.user).toMatchObject(viewOf(project, user));
    },
  ],
  'users.read': [
    6,
    async (world, draw) => {
      const caller = someone(world, draw);
      const place = someUser(world, caller, draw);
      const reply = await world.api.get(place.path, caller.text);
      const expected = refusal(caller, { actors: files, scope: 'users:read' }, place) ?? 200;
      if (expectStatus(reply, expected, asked(caller, 'users.read')) && place.user) {
        expect(reply.body.user).toMatchObject(viewOf(tenantOf(caller), place.user));
        expect(reply.body.user.plan?.id).toBe(planInForce(tenantOf(caller), place.user)?.id);
      }
    },
  ],
  'users.storage': [
    6,
    async (world, draw) => {
      const caller = someone(world, draw);
      const place = someUser(world, caller, draw);
      const reply = await world.api.get(`${place.path}/storage`, caller.text);
      const expected = refusal(caller, { actors: files, scope: 'users:read' }, place) ?? 200;
      if (expectStatus(reply, expected, asked(caller, 'users.storage')) && place.user)
        expect(reply.body).toMatchObject(snapshotOf(tenantOf(caller), place.user));
    },
  ],
  'users.list': [
    4,
    async (world, draw) => {
      const caller = someone(world, draw);
      const reply = await world.api.get('/project/users?limit=100', caller.text);
      const expected = refusal(caller, provisioner('users:read'), null) ?? 200;
      if (!expectStatus(reply, expected, asked(caller, 'users.list'))) return;
      const alive = tenantOf(caller).users.filter((user) => !user.gone);
      expectListed(
        reply.body.users,
        alive.map((user) => user.id),
      );
      for (const user of alive) {
        const shown = reply.body.users.find((one: { id: string }) => one.id === user.id);
        expect(shown).toMatchObject(viewOf(tenantOf(caller), user));
      }
    },
  ],
  'events.list': [
    4,
    async (world, draw) => {
      const caller = someone(world, draw);
      const project = caller.project;
      const expected = refusal(caller, provisioner('events:read'), null) ?? 200;
      const reply = project
        ? await readEvents(world, project, caller.text)
        : await world.api.get('/project/events', caller.text);
      expectStatus(reply, expected, asked(caller, 'events.list'));
    },
  ],
  'usage.days': [
    3,
    async (world, draw) => {
      const caller = someone(world, draw);
      const reply = await world.api.get('/project/usage', caller.text);
      const expected = refusal(caller, provisioner('stats:read'), null) ?? 200;
      if (!expectStatus(reply, expected, asked(caller, 'usage.days'))) return;
      const project = tenantOf(caller);
      const billed = project.users.flatMap((user) =>
        user.usage ? [{ user_id: user.id, bytes_end: usedBy(filesOf(project, user)), ...user.usage }] : [],
      );
      expect(sumUsage(reply.body.days)).toEqual(sumUsage(billed));
    },
  ],
  'users.setActive': [
    3,
    async (world, draw) => {
      const caller = someone(world, draw, ['key', 'integration']);
      const place = someUser(world, caller, draw);
      const active = !place.user?.active || draw.number % 2 > 0;
      const reply = await world.api.put(place.path, caller.text, { active });
      const expected = refusal(caller, provisioner('users:write'), place) ?? 200;
      if (expectStatus(reply, expected, asked(caller, 'users.setActive')) && place.user)
        place.user.active = active;
    },
  ],
  'users.assignPlan': [
    3,
    async (world, draw) => {
      const caller = someone(world, draw, ['key', 'integration']);
      const place = someUser(world, caller, draw);
      const { plan, known } = somePlan(world, caller, draw);
      const reply = await world.api.put(`${place.path}/plan`, caller.text, {
        planId: plan?.id ?? randomUUID(),
      });
      const expected = refusal(caller, provisioner('plans:assign'), place) ?? (known ? 200 : 404);
      if (expectStatus(reply, expected, asked(caller, 'users.assignPlan')) && place.user)
        place.user.plan = plan ?? null;
    },
  ],
  'users.delete': [
    1,
    async (world, draw) => {
      const caller = someone(world, draw, ['key', 'integration']);
      const place = someUser(world, caller, draw);
      const reply = await world.api.delete(place.path, caller.text);
      const isHeld = caller.project?.files.some((file) => file.owner === place.user && file.isHeld);
      const expected = refusal(caller, provisioner('users:write'), place) ?? (isHeld ? 423 : 204);
      if (expectStatus(reply, expected, asked(caller, 'users.delete')) && place.user)
        forgetUser(tenantOf(caller), place.user);
    },
  ],
  'tokens.mint': [
    5,
    async (world, draw) => {
      const caller = someone(world, draw, ['key', 'integration']);
      const place = someUser(world, caller, draw);
      const body = draw.yes ? {} : { scopes: draw.scopes };
      const reply = await world.api.post(`${place.path}/tokens`, caller.text, body);
      const scopes = draw.yes ? caller.grant : draw.scopes;
      const expected =
        refusal(caller, provisioner('users:read'), place) ??
        (place.user?.active && within(scopes, caller.grant) ? 201 : 403);
      if (!expectStatus(reply, expected, asked(caller, 'tokens.mint')) || !place.user) return;
      const { token, jti } = reply.body;
      expect(sorted(reply.body.scopes)).toEqual(sorted(scopes));
      tenantOf(caller).credentials.push({
        kind: 'user',
        text: token,
        jti,
        user: place.user,
        scopes,
        madeWith: caller.credential as Credential,
        revoked: false,
      });
    },
  ],
  'tokens.revoke': [
    2,
    async (world, draw) => {
      const caller = someone(world, draw, ['key', 'integration']);
      const place = someUser(world, caller, draw);
      const tokens = world.projects.flatMap((one) => one.credentials).filter((one) => one.kind === 'user');
      const token = pickLive(tokens, (one) => one.user === place.user, draw, draw.number);
      const reply = await world.api.post(`${place.path}/tokens/revoke`, caller.text, {
        jti: token?.jti ?? randomUUID(),
      });
      const expected = refusal(caller, provisioner('users:read'), place) ?? 204;
      // The jti of another user's token stays valid.
      if (expectStatus(reply, expected, asked(caller, 'tokens.revoke')) && token && token.user === place.user)
        token.revoked = true;
    },
  ],
  'spaces.create': [
    4,
    async (world, draw) => {
      const caller = someone(world, draw, ['key', 'user']);
      const place = someUser(world, caller, draw);
      const externalId = `s${draw.number % 9}`;
      const password = draw.what % 3 === 0 ? `pass-${draw.number % 3}` : null;
      const limit = pick(limits, draw.what) ?? null;
      const reply = await world.api.post(`${place.path}/spaces`, caller.text, {
        external_id: externalId,
        name: 's',
        scopes: draw.scopes,
        limit_bytes: limit,
        ...(password ? { password } : {}),
      });
      const taken = caller.project?.spaces.some((one) => !one.gone && one.externalId === externalId);
      const isFull = caller.project && place.user && hasAllSpaces(caller.project, place.user);
      const made = isFull ? 422 : taken ? 409 : 201;
      const expected = refusal(caller, managers, place) ?? (within(draw.scopes, caller.grant) ? made : 403);
      if (!expectStatus(reply, expected, asked(caller, 'spaces.create')) || !place.user) return;
      tenantOf(caller).spaces.push({
        id: reply.body.space.id,
        externalId,
        owner: place.user,
        gone: false,
        active: true,
        scopes: draw.scopes,
        limit,
        password,
        setterGrant: caller.grant,
        session: null,
      });
    },
  ],
  'spaces.read': [
    4,
    async (world, draw) => {
      const caller = someone(world, draw, ['key', 'user']);
      const { space, at, ...place } = someSpace(world, caller, draw);
      const reply = await world.api.get(at, caller.text);
      const expected = refusal(caller, managers, place) ?? (space ? 200 : 404);
      if (expectStatus(reply, expected, asked(caller, 'spaces.read')) && space) {
        expect(reply.body.space).toMatchObject(viewOfSpace(tenantOf(caller), space));
        expect(sorted(reply.body.space.scopes)).toEqual(sorted(space.scopes));
      }
    },
  ],
  'spaces.list': [
    3,
    async (world, draw) => {
      const caller = someone(world, draw, ['key', 'user']);
      const place = someUser(world, caller, draw);
      const reply = await world.api.get(`${place.path}/spaces?limit=100`, caller.text);
      if (!expectStatus(reply, refusal(caller, managers, place) ?? 200, asked(caller, 'spaces.list'))) return;
      const own = tenantOf(caller).spaces.filter((one) => !one.gone && one.owner === place.user);
      expectListed(
        reply.body.spaces,
        own.map((one) => one.id),
      );
    },
  ],
  'spaces.change': [
    4,
    async (world, draw) => {
      const caller = someone(world, draw, ['key', 'user']);
      const { space, at, ...place } = someSpace(world, caller, draw);
      const scopes = draw.yes ? draw.scopes : undefined;
      const active = !space?.active || draw.what % 3 > 0;
      const limit = pick(limits, draw.what) ?? null;
      const reply = await world.api.put(at, caller.text, { scopes, active, limit_bytes: limit });
      const mayTake = scopes === undefined || within(space?.scopes ?? [], caller.grant);
      const known = space ? (mayTake ? 200 : 403) : 404;
      const expected = refusal(caller, managers, place) ?? (within(scopes ?? [], caller.grant) ? known : 403);
      if (!expectStatus(reply, expected, asked(caller, 'spaces.change')) || !space) return;
      const added = (scopes ?? []).filter((scope) => !space.scopes.includes(scope));
      if (!within(added, space.setterGrant)) Object.assign(space, { password: null, session: null });
      if (scopes) space.scopes = scopes;
      space.active = active;
      space.limit = limit;
      if (!active) space.session = null;
    },
  ],
  'spaces.setCredentials': [
    1,
    async (world, draw) => {
      const caller = someone(world, draw, ['key', 'user']);
      const { space, at, ...place } = someSpace(world, caller, draw);
      const password = `pass-${draw.number % 3}`;
      const reply = await world.api.put(`${at}/credentials`, caller.text, { password });
      const known = space ? (within(space.scopes, caller.grant) ? 204 : 403) : 404;
      const expected = refusal(caller, managers, place) ?? known;
      if (!expectStatus(reply, expected, asked(caller, 'spaces.setCredentials')) || !space) return;
      space.password = password;
      space.setterGrant = caller.grant;
      space.session = null;
    },
  ],
  'spaces.delete': [
    1,
    async (world, draw) => {
      const caller = someone(world, draw, ['key', 'user']);
      const { space, at, ...place } = someSpace(world, caller, draw);
      const reply = await world.api.delete(at, caller.text);
      const expected = refusal(caller, managers, place) ?? (space ? 204 : 404);
      if (!expectStatus(reply, expected, asked(caller, 'spaces.delete')) || !space) return;
      space.gone = true;
      const { files: stored, uploads } = tenantOf(caller);
      for (const file of stored) if (file.space === space) file.space = null;
      for (const upload of uploads) if (upload.space === space) end(upload, 'cancelled');
    },
  ],
  'spaces.login': [
    3,
    async (world, draw) => {
      const caller = someone(world, draw, ['integration', 'key']);
      const project = (draw.stray % 9 === 5 ? null : caller.project) ?? projectOf(world, draw);
      const aimed = pickLive(project.spaces, (one) => !one.gone && one.password !== null, draw, draw.number);
      const externalId = aimed?.externalId ?? 'nowhere';
      const space = caller.project?.spaces.find((one) => !one.gone && one.externalId === externalId);
      const password = draw.number % 6 === 0 ? 'not the password' : (aimed?.password ?? 'none');
      const right = space !== undefined && space.password === password;
      const failures = caller.project?.failures ?? new Map<string, number>();
      // Ten failures lock a space until the window ends or the service restarts, so no story goes that far.
      if (!right && (failures.get(externalId) ?? 0) >= 8) return;
      const reply = await world.api.post('/project/spaces/login', caller.text, {
        external_id: externalId,
        password,
      });
      const refused = refusal(caller, provisioner('spaces:login'), null);
      const works = space?.active && space.owner.active;
      if (refused === null) failures.set(externalId, right ? 0 : (failures.get(externalId) ?? 0) + 1);
      const expected = refused ?? (right ? (works ? 201 : 403) : 401);
      if (!expectStatus(reply, expected, asked(caller, 'spaces.login')) || !space) return;
      const { token, jti } = reply.body;
      space.session = jti;
      tenantOf(caller).credentials.push({
        kind: 'space',
        text: token,
        jti,
        space,
        madeWith: caller.credential as Credential,
      });
    },
  ],
  'spaces.revokeToken': [
    1,
    async (world, draw) => {
      const caller = someone(world, draw, ['integration', 'key', 'user']);
      const all = world.projects.flatMap((project) => project.credentials);
      const tokens = all.filter((one) => one.kind === 'space');
      const token = pick(tokens, draw.number);
      const reply = await world.api.post('/project/spaces/token/revoke', caller.text, {
        jti: token?.jti ?? randomUUID(),
      });
      const guard = caller.kind === 'user' ? managers : provisioner('spaces:login');
      const expected = refusal(caller, guard, null) ?? 204;
      if (!expectStatus(reply, expected, asked(caller, 'spaces.revokeToken')) || !token) return;
      const isPinnedElsewhere = caller.pinned !== null && caller.pinned !== token.space.owner;
      const own = tenantOf(caller).spaces.includes(token.space) && !isPinnedElsewhere;
      if (own && token.space.session === token.jti) token.space.session = null;
    },
  ],
  'files.upload': [14, async (world, draw) => void (await uploadAs('file', world, draw))],
  'images.upload': [
    2,
    async (world, draw) => {
      const sent = await uploadAs('image', world, draw);
      // At once, so that the worker may be anywhere in its job.
      if (sent && draw.stray % 3 === 0) await deleteOne(world, sent);
      if (sent && draw.stray % 3 === 1) await changeOne(world, sent, draw);
    },
  ],
  'images.job': [
    2,
    async (world, draw) => {
      const caller = someone(world, draw, fileCallers);
      const own = caller.project && draw.stray % 7 > 0 ? [caller.project] : world.projects;
      const image = pick(
        own.flatMap((project) => project.files).filter((file) => file.job),
        draw.number,
      );
      const isVisible =
        image &&
        caller.project?.files.includes(image) &&
        !image.trashed &&
        (!caller.pinned || caller.pinned === image.owner) &&
        (!caller.space || caller.space === image.space);
      const ask = () => world.api.get(`/project/jobs/${image?.job?.id ?? randomUUID()}`, caller.text);
      let reply = await ask();
      const expected =
        refusal(caller, { actors: files, scope: 'files:read' }, null) ?? (isVisible ? 200 : 404);
      if (!expectStatus(reply, expected, asked(caller, 'images.job')) || !image?.job) return;
      if (draw.number % 3 === 0)
        await until('the job is done', async () => {
          reply = await ask();
          return !['pending', 'processing'].includes(reply.body.status);
        });
      if (image.job.isDone) expect(reply.body.status).toBe('done');
      expect(['pending', 'processing', 'done'], reply.text).toContain(reply.body.status);
      image.job.isDone = reply.body.status === 'done';
    },
  ],
  'files.list': [
    9,
    async (world, draw) => {
      const caller = someone(world, draw, fileCallers);
      const { path, user, aimed } = someSpace(world, caller, draw);
      const narrowing = draw.number % 4;
      const wanted = narrowing === 0 ? 'none' : narrowing === 1 ? aimed?.id : undefined;
      const folder = draw.yes ? pick(folders, draw.what) : undefined;
      const limit = draw.also ? 3 : 100;
      const query = new URLSearchParams({ limit: String(limit) });
      if (wanted) query.set('space_id', wanted);
      if (folder !== undefined) query.set('folder', folder);
      const found: { id: string; created_at: string }[] = [];
      let reply = await world.api.get(`${path}/files?${query}`, caller.text);
      const expected = refusal(caller, { actors: files, scope: 'files:read' }, { path, user }) ?? 200;
      if (!expectStatus(reply, expected, asked(caller, 'files.list')) || !user) return;
      for (; ; reply = await world.api.get(`${path}/files?${query}`, caller.text)) {
        found.push(...reply.body.files);
        if (reply.body.next_cursor === null) break;
        query.set('cursor', reply.body.next_cursor);
      }
      const seen = filesOf(tenantOf(caller), user).filter(
        (file) =>
          !file.trashed &&
          (caller.space ? file.space === caller.space : isWanted(file.space, wanted)) &&
          (folder === undefined || file.folder === folder),
      );
      expectListed(
        found,
        seen.map((file) => file.id),
      );
    },
  ],
  'files.read': [
    10,
    async (world, draw) => {
      const caller = someone(world, draw, fileCallers);
      const { at, file, trashed: _, ...place } = someFile(world, caller, draw);
      const reply = await world.api.get(at, caller.text);
      const expected = refusal(caller, { actors: files, scope: 'files:read' }, place) ?? (file ? 200 : 404);
      if (!expectStatus(reply, expected, asked(caller, 'files.read')) || !file) return;
      expectFile(reply.body.file, file);
      if (draw.also) return;
      if (file.job) return readImage(world, caller, at, file);
      const download = await request(reply.body.file.url);
      const bytes = Buffer.from(await download.body.arrayBuffer());
      expect(sha256(bytes)).toBe(file.sha256);
    },
  ],
  'files.change': [
    4,
    async (world, draw) => {
      const caller = someone(world, draw, fileCallers);
      await changeOne(world, { caller, ...someFile(world, caller, draw) }, draw);
    },
  ],
  'files.delete': [
    5,
    async (world, draw) => {
      const caller = someone(world, draw, fileCallers);
      await deleteOne(world, { caller, ...someFile(world, caller, draw) }, draw.also);
    },
  ],
  'files.copy': [3, copyOne],
  'files.batch': [3, runBatch],
  'folders.move': [2, moveFolder],
  'folders.delete': [1, deleteFolder],
  'trash.settings': [
    1,
    async (world, draw) => {
      const caller = someone(world, draw, ['key', 'integration', 'user']);
      // Never back to none: that would empty the trash at some moment.
      const trash_days = 1 + (draw.number % 300);
      const reply = await world.api.put('/project/settings', caller.text, { trash_days });
      const expected = refusal(caller, { actors: ['project'] }, null) ?? 200;
      if (expectStatus(reply, expected, asked(caller, 'trash.settings')) && expected === 200)
        tenantOf(caller).trashDays = trash_days;
    },
  ],
  'files.content': [5, readContent],
  'files.search': [4, searchFiles],
  'files.zip': [3, readZipOf],
  'files.hold': [2, hold],
  'files.letGo': [1, endHold],
  'files.expire': [2, expire],
  'shares.create': [4, createShare],
  'shares.list': [2, listShares],
  'shares.read': [2, async (world, draw) => void (await withShare(world, draw, 'read'))],
  'shares.change': [2, async (world, draw) => void (await withShare(world, draw, 'change'))],
  'shares.delete': [1, async (world, draw) => void (await withShare(world, draw, 'delete'))],
  'shares.page': [2, openPage],
  'shares.download': [5, downloadShared],
  'trash.list': [2, listTrash],
  'trash.restore': [3, restoreOne],
  'uploads.create': [12, createUploadAs],
  'uploads.append': [
    14,
    async (world, draw) => {
      const { project, upload } = someUploadUrl(world, draw);
      if (!upload) return;
      const { size, offset, content } = upload;
      const at = draw.stray % 6 === 5 ? draw.number % 3 : offset;
      const isTooLong = draw.stray % 11 === 5;
      const wanted = draw.yes ? content.length : (pick([0, 1, 90, 400], draw.number) ?? 0);
      const body = isTooLong
        ? Buffer.concat([content.subarray(offset), Buffer.from('x')])
        : content.subarray(offset, offset + wanted);
      // One that is too small is refused like a body that is too long; a second one must be like the first.
      const wrong = size === null ? offset - 1 : content.length + 50;
      const lengths = [content.length, content.length, wrong < 0 ? content.length : wrong];
      const isDeclared = size === null ? draw.also : draw.stray % 5 === 1;
      const declared = isDeclared ? (pick(isTooLong ? [content.length] : lengths, draw.what) ?? null) : null;
      const headers: Record<string, string> = declared === null ? {} : { 'upload-length': String(declared) };
      const reply = await patchTus(world.api, upload.path ?? '', at, body, headers);
      await appended(project, upload, reply, { at, bytes: body.length, declared });
    },
  ],
  'uploads.probe': [
    4,
    async (world, draw) => {
      const { project, upload } = someUploadUrl(world, draw);
      if (!upload) return;
      const reply = await headTus(world.api, upload.path ?? '');
      if (!expectStatus(reply, isReachable(project, upload) ? 200 : 404, 'uploads.probe')) return;
      expect(offsetOf(reply)).toBe(upload.offset);
      expect(reply.headers['upload-length']).toBe(upload.size === null ? undefined : String(upload.size));
    },
  ],
  'uploads.terminate': [
    2,
    async (world, draw) => {
      const { project, upload } = someUploadUrl(world, draw);
      if (!upload) return;
      const reply = await world.api.call('DELETE', upload.path ?? '', { headers: tusVersion });
      const isThere = isReachable(project, upload) && upload.status === 'uploading';
      if (expectStatus(reply, isThere ? 204 : 404, 'uploads.terminate')) end(upload, 'cancelled');
    },
  ],
  'uploads.read': [
    4,
    async (world, draw) => {
      const caller = someone(world, draw, fileCallers);
      const { at, upload, ...place } = someUpload(world, caller, draw);
      const reply = await world.api.get(at, caller.text);
      const expected = refusal(caller, { actors: files, scope: 'files:read' }, place) ?? (upload ? 200 : 404);
      if (expectStatus(reply, expected, asked(caller, 'uploads.read')) && upload)
        expect(reply.body.upload).toMatchObject(viewOfUpload(upload));
    },
  ],
  'uploads.list': [
    3,
    async (world, draw) => {
      const caller = someone(world, draw, fileCallers);
      const place = someUser(world, caller, draw);
      const reply = await world.api.get(`${place.path}/uploads?limit=100`, caller.text);
      const expected = refusal(caller, { actors: files, scope: 'files:read' }, place) ?? 200;
      if (!expectStatus(reply, expected, asked(caller, 'uploads.list')) || !place.user) return;
      const seen = uploadsSeenBy(caller, place.user);
      expectListed(
        reply.body.uploads,
        seen.map(({ id }) => id),
      );
      for (const shown of reply.body.uploads)
        expect(shown).toMatchObject(viewOfUpload(seen.find(({ id }) => id === shown.id) as Upload));
    },
  ],
  'uploads.cancel': [
    3,
    async (world, draw) => {
      const caller = someone(world, draw, fileCallers);
      const { at, upload, ...place } = someUpload(world, caller, draw);
      const reply = await world.api.delete(at, caller.text);
      const known = upload?.status === 'completed' ? 409 : upload ? 204 : 404;
      const expected = refusal(caller, { actors: files, scope: 'files:write' }, place) ?? known;
      if (expectStatus(reply, expected, asked(caller, 'uploads.cancel')) && upload) end(upload, 'cancelled');
    },
  ],
  'uploads.sendPart': [
    5,
    async (world, draw) => {
      const caller = someone(world, draw, fileCallers);
      const { at, upload, ...place } = someUpload(world, caller, draw, 'direct');
      // All files of these stories fit into one part; an empty one has none.
      const number = draw.stray % 6 === 4 ? 2 : 1;
      const reply = await world.api.post(`${at}/parts`, caller.text, { numbers: [number] });
      const isDirect = upload?.mode === 'direct' && upload.status === 'uploading';
      const isPart = number === 1 && upload?.size !== 0;
      const known = upload ? (isDirect ? (isPart ? 200 : 422) : 409) : 404;
      const expected = refusal(caller, { actors: files, scope: 'files:write' }, place) ?? known;
      if (!expectStatus(reply, expected, asked(caller, 'uploads.sendPart')) || !upload) return;
      upload.isOpen = true;
      const [part] = reply.body.parts;
      expect(part).toMatchObject({ number: 1, size: upload.size });
      const isWrong = draw.stray % 5 === 3;
      const body = isWrong ? Buffer.concat([upload.content, Buffer.from('x')]) : upload.content;
      const sent = await fetch(part.url, { method: 'PUT', body });
      expect(sent.status, await sent.text()).toBe(
        isAlive(tenantOf(caller), upload) ? (isWrong ? 422 : 200) : 404,
      );
      if (sent.ok) upload.etag = sent.headers.get('etag');
    },
  ],
  'uploads.complete': [
    6,
    async (world, draw) => {
      const caller = someone(world, draw, fileCallers);
      const { at, upload, ...place } = someUpload(world, caller, draw, 'direct');
      const etag = draw.stray % 5 === 3 ? '"another"' : (upload?.etag ?? '"unsent"');
      const parts = upload?.content.length === 0 ? [] : [{ number: 1, etag }];
      const reply = await world.api.post(`${at}/complete`, caller.text, { parts });
      const refused = refusal(caller, { actors: files, scope: 'files:write' }, place);
      if (refused === null && upload) return completedDirect(tenantOf(caller), upload, etag, reply);
      expectStatus(reply, refused ?? 404, asked(caller, 'uploads.complete'));
    },
  ],
  'uploads.expire': [
    2,
    async (world, draw) => {
      const all = world.projects.flatMap(({ uploads }) => uploads);
      const upload = pickLive(all, ({ status }) => status === 'uploading', draw, draw.number);
      if (!upload) return;
      const { databaseUrl, pakhus } = world.real.current;
      const past = "now() - interval '1 second'";
      await rowsOf(databaseUrl, `update uploads set expires_at = ${past} where id = '${upload.id}'`);
      await uploadUpkeep.run(pakhus.deps, never);
      end(upload, 'expired');
    },
  ],
};

/** Only if it is under way. */
function end(upload: Upload, status: Upload['status']): void {
  if (upload.status === 'uploading') upload.status = status;
}

const uploadsSeenBy = (caller: Caller, user: User): Upload[] =>
  tenantOf(caller).uploads.filter(
    ({ owner, space }) => owner === user && (!caller.space || caller.space === space),
  );

/** Mostly an unfinished upload that exists for this caller, with its path. */
function someUpload(world: World, caller: Caller, draw: Draw, mode?: Upload['mode']) {
  const place = someUser(world, caller, draw);
  const seen = place.user && caller.project ? uploadsSeenBy(caller, place.user) : [];
  const everywhere = world.projects.flatMap(({ uploads }) => uploads);
  const from = draw.stray % 7 === 3 || seen.length === 0 ? everywhere : seen;
  const aimed = pickLive(
    from,
    (one) => one.status === 'uploading' && one.mode === (mode ?? one.mode),
    draw,
    draw.number,
  );
  return {
    ...place,
    at: `${place.path}/uploads/${aimed?.id ?? randomUUID()}`,
    upload: seen.find((one) => one === aimed),
  };
}

/** Mostly an unfinished upload with a URL. */
function someUploadUrl(world: World, draw: Draw): { project: Project; upload: Upload | undefined } {
  const project = projectOf(world, draw);
  const resumable = project.uploads.filter(({ path }) => path !== null);
  return { project, upload: pickLive(resumable, ({ status }) => status === 'uploading', draw, draw.what) };
}

async function createUploadAs(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const { path, user, aimed } = someSpace(world, caller, draw);
  const wanted = caller.kind !== 'space' && draw.yes ? aimed : undefined;
  const way = pick(['json', 'tus', 'deferred', 'direct'] as const, draw.stray >> 4) ?? 'json';
  const content = Buffer.alloc(pick(sizes, draw.number) ?? 0, `${draw.what} and ${draw.number} `);
  const size = way === 'deferred' ? null : content.length;
  const type = pick(types, draw.what % 7 > 4 ? draw.what : 0) ?? '';
  const folder = pick(folders, draw.what) ?? '';
  const visibility = draw.number % 5 === 0 ? 'public' : 'private';
  const digest = draw.also
    ? sha256(draw.stray % 5 === 2 && size !== 0 ? Buffer.from('other') : content)
    : null;
  const meta = {
    folder,
    visibility,
    ...(digest === null ? {} : { sha256: digest }),
    ...(wanted ? { space_id: wanted.id } : {}),
  };
  const reply = await (way === 'json' || way === 'direct'
    ? world.api.post(`${path}/uploads`, caller.text, {
        name: 'a.txt',
        size,
        mimeType: type,
        ...(way === 'direct' ? { mode: 'direct' } : {}),
        ...meta,
      })
    : // Not repeated: tus has no key for it.
      createTus(world.real.current.api, caller.text, path.replace('/project/users/', ''), {
        size,
        metadata: { filename: 'a.txt', filetype: type, ...meta },
      }));
  const what = asked(caller, `uploads.create by ${way}`);
  const refused = refusal(caller, { actors: files, scope: 'files:write' }, { path, user });
  if (refused !== null || !user) return void expectStatus(reply, refused ?? 404, what);
  const project = tenantOf(caller);
  const isOwn = wanted && !wanted.gone && wanted.owner === user;
  const space = caller.space ?? (isOwn ? wanted : null);
  const outcome = outcomeOfCreation(project, user, wanted && !isOwn ? 'unknown' : space, size ?? 0, type);
  if (!expectOutcome(reply, outcome, what, way === 'json' || way === 'direct' ? 422 : 413)) return;
  const url = way === 'json' ? new URL(reply.body.upload.url).pathname.replace('/api/v1', '') : null;
  const upload: Upload = {
    id: reply.body?.upload.id ?? (await idByUrl(world, pathOf(reply))),
    owner: user,
    space: space ?? null,
    mode: way === 'direct' ? 'direct' : 'resumable',
    status: 'uploading',
    size,
    offset: 0,
    content,
    sha256: digest,
    mimeType: type,
    folder,
    visibility,
    madeWith: caller.credential as Credential,
    path: way === 'direct' ? null : (url ?? pathOf(reply)),
    isOpen: false,
    etag: null,
    fileId: null,
    error: null,
  };
  project.uploads.push(upload);
  // Nothing is missing from an empty file.
  if (upload.mode === 'resumable' && size === 0)
    completed(project, upload, reply.body?.upload.file_id ?? reply.headers['pakhus-file-id']);
  if (reply.body) expect(reply.body.upload).toMatchObject(viewOfUpload(upload));
}

/** The answer to tus names no id. */
async function idByUrl(world: World, path: string): Promise<string> {
  const hash = sha256(Buffer.from(path.split('/').at(-1) ?? ''));
  const { databaseUrl } = world.real.current;
  const [row] = await rowsOf<{ id: string }>(
    databaseUrl,
    `select id from uploads where token_hash = '\\x${hash}'`,
  );
  return row?.id ?? '';
}

/** `tooLarge` is the status of FILE_TOO_LARGE: the protocols prescribe another one than the API. */
function expectOutcome(reply: Reply, outcome: number | string, what: string, tooLarge: 413 | 422): boolean {
  if (typeof outcome === 'number') return expectStatus(reply, outcome, what);
  expectStatus(reply, outcome === 'FILE_TOO_LARGE' ? tooLarge : 422, `${what} (${outcome})`);
  expect(reply.body.error.code).toBe(outcome);
  return false;
}

function appended(project: Project, upload: Upload, reply: Reply, chunk: Chunk): void {
  const outcome = outcomeOfChunk(project, upload, chunk);
  const isWhole = outcome === 204 && upload.offset + chunk.bytes === (upload.size ?? chunk.declared);
  if (outcome === 409) expect(offsetOf(reply)).toBe(upload.offset);
  if (!isWhole || upload.status === 'completed') {
    if (!expectOutcome(reply, outcome, 'uploads.append', 413)) return;
    if (upload.status === 'uploading') upload.size ??= chunk.declared;
    if (upload.status === 'uploading') upload.offset += chunk.bytes;
  } else {
    upload.size ??= chunk.declared;
    upload.offset += chunk.bytes;
    const ending = outcomeOfCompletion(project, upload);
    const isStored = expectOutcome(reply, ending === 201 ? 204 : ending, 'uploads.append', 413);
    if (isStored) completed(project, upload, reply.headers['pakhus-file-id']);
    else failed(upload, String(ending));
  }
  if (reply.status === 204) expect(offsetOf(reply)).toBe(upload.offset);
}

function completedDirect(project: Project, upload: Upload, etag: string, reply: Reply): void {
  const outcome = outcomeOfDirect(project, upload, etag);
  const file = project.files.find(({ id }) => id === upload.fileId);
  // It stays completed when its file is deleted.
  const expected = outcome === 200 && (!file || file.trashed) ? 404 : outcome;
  if (expectOutcome(reply, expected, 'uploads.complete', 422))
    expectFile(reply.body.file, file ?? completed(project, upload, reply.body.file.id));
  else if (typeof outcome === 'string') failed(upload, outcome);
}

function failed(upload: Upload, code: string): void {
  upload.status = 'failed';
  upload.error = code;
}

function completed(project: Project, upload: Upload, fileId: unknown): StoredFile {
  expect(fileId).toEqual(expect.any(String));
  upload.status = 'completed';
  upload.fileId = String(fileId);
  upload.offset = upload.content.length;
  const file: StoredFile = {
    id: upload.fileId,
    name: 'a.txt',
    content: upload.content,
    owner: upload.owner,
    space: upload.space,
    size: upload.content.length,
    sha256: sha256(upload.content),
    isHashed: upload.mode === 'resumable' || upload.sha256 !== null,
    mimeType: upload.mimeType,
    folder: upload.folder,
    tags: [],
    visibility: upload.visibility,
    job: null,
  };
  storeFile(project, file);
  return file;
}

/** A file as one caller sees it. */
interface Seen extends UserPath {
  readonly caller: Caller;
  readonly at: string;
  readonly file: StoredFile | undefined;
  readonly trashed?: StoredFile | undefined;
}

const tinyImage = blankPng(64, 48);

/** Null if the upload was refused, as the model said. */
async function uploadAs(kind: 'file' | 'image', world: World, draw: Draw): Promise<Seen | null> {
  const caller = someone(world, draw, fileCallers);
  const { path, user, aimed } = someSpace(world, caller, draw);
  const wanted = caller.kind !== 'space' && draw.yes ? aimed : undefined;
  const filler = Buffer.alloc(pick(sizes, draw.number) ?? 0, `${draw.number} and ${draw.what} `);
  const bytes = kind === 'image' ? tinyImage : filler;
  const size = bytes.length;
  const type = kind === 'image' ? 'image/png' : (pick(types, draw.what % 7 > 4 ? draw.what : 0) ?? '');
  const name = pick(fileNames, draw.stray) ?? '';
  const folder = pick(folders, draw.what) ?? '';
  const tags = draw.also ? ['red'] : [];
  const visibility = draw.number % 5 === 0 ? 'public' : 'private';
  const meta = { folder, tags, visibility, ...(wanted ? { space_id: wanted.id } : {}) } as const;
  const reply = await world.api.call('POST', `${path}/${kind}s`, {
    ...(caller.text === undefined ? {} : { as: caller.text }),
    raw: formOf(partsOf(bytes, { type, meta, fileField: kind, name })),
    headers: { 'content-type': contentTypeOf() },
  });
  const what = asked(caller, `${kind}s.upload`);
  const refused = refusal(caller, { actors: files, scope: 'files:write' }, { path, user });
  if (refused !== null || !user) {
    expectStatus(reply, refused ?? 404, what);
    return null;
  }
  const project = tenantOf(caller);
  const isOwn = wanted && !wanted.gone && wanted.owner === user;
  const space = caller.space ?? (isOwn ? wanted : null);
  const outcome = outcomeOfUpload(project, user, wanted && !isOwn ? 'unknown' : space, size, type);
  if (typeof outcome === 'string') {
    expectStatus(reply, 422, `${what} (${outcome})`);
    expect(reply.body.error.code).toBe(outcome);
    return null;
  }
  if (!expectStatus(reply, outcome === 201 && kind === 'image' ? 202 : outcome, what)) return null;
  const file: StoredFile = {
    id: kind === 'image' ? reply.body.file_id : reply.body.file.id,
    name,
    content: bytes,
    owner: user,
    space: space ?? null,
    size,
    sha256: sha256(bytes),
    isHashed: true,
    mimeType: type,
    folder,
    tags,
    visibility,
    job: kind === 'image' ? { id: reply.body.job_id, isDone: false } : null,
  };
  storeFile(project, file);
  if (kind === 'file') expectFile(reply.body.file, file);
  return { caller, path, user, at: `${path}/files/${file.id}`, file };
}

/** The original, or its webp; only the webp once the job was seen done. A move may change the URL at any time. */
async function readImage(
  world: World,
  caller: Caller,
  at: string,
  { sha256: original, job }: StoredFile,
): Promise<void> {
  const bytes = await until('the image can be read', async () => {
    const { body } = await world.api.get(at, caller.text);
    const reply = await request(body.file.url);
    const read = Buffer.from(await reply.body.arrayBuffer());
    return reply.statusCode === 200 && read;
  });
  const isOriginal = sha256(bytes) === original;
  if (job?.isDone || !isOriginal) expect(bytes.toString('latin1', 8, 12)).toBe('WEBP');
}

async function changeOne(
  world: World,
  { caller, at, file, trashed: _, ...place }: Seen,
  draw: Draw,
): Promise<void> {
  const change = {
    folder: pick(folders, draw.what) ?? '',
    tags: draw.also ? ['blue'] : [],
    visibility: draw.yes ? 'public' : 'private',
  } as const;
  const reply = await world.api.put(at, caller.text, change);
  const expected = refusal(caller, { actors: files, scope: 'files:write' }, place) ?? (file ? 200 : 404);
  if (!expectStatus(reply, expected, asked(caller, 'files.change')) || !file) return;
  Object.assign(file, change);
  expectFile(reply.body.file, file);
}

async function deleteOne(
  world: World,
  { caller, at, file, trashed, ...place }: Seen,
  permanent = false,
): Promise<void> {
  const reply = await world.api.delete(permanent ? `${at}?permanent=true` : at, caller.text);
  const gone = file ?? (permanent ? trashed : undefined);
  const known = gone?.isHeld ? 423 : gone ? 204 : 404;
  const expected = refusal(caller, { actors: files, scope: 'files:delete' }, place) ?? known;
  if (expectStatus(reply, expected, asked(caller, 'files.delete')) && gone)
    forgetFile(tenantOf(caller), gone, permanent);
}

/** It is gone, or in the trash. */
function forgetFile(project: Project, file: StoredFile, permanent: boolean): void {
  if (project.trashDays > 0 && !permanent) file.trashed = true;
  else project.files.splice(project.files.indexOf(file), 1);
}

/** The files in a folder and below it that the caller sees. */
const filesBelow = (caller: Caller, user: User, folder: string): StoredFile[] =>
  filesOf(tenantOf(caller), user).filter(
    (file) =>
      !file.trashed &&
      (!caller.space || file.space === caller.space) &&
      (file.folder === folder || file.folder.startsWith(`${folder}/`)),
  );

async function moveFolder(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const place = someUser(world, caller, draw);
  const [from, to] = [pick(folders, draw.what) ?? '', pick(folders, draw.number) ?? ''];
  const reply = await world.api.post(`${place.path}/folders/move`, caller.text, { from, to });
  const isInside = from === '' || from === to || to.startsWith(`${from}/`);
  const refused = refusal(caller, { actors: files, scope: 'files:write' }, place);
  const expected = refused ?? (isInside ? 422 : 200);
  if (!expectStatus(reply, expected, asked(caller, 'folders.move')) || expected !== 200 || !place.user)
    return;
  const moved = filesBelow(caller, place.user, from);
  expect(reply.body).toEqual({ files: moved.length });
  for (const file of moved) {
    file.folder = `${to}${file.folder.slice(from.length)}`.replace(/^\//, '');
    tenantOf(caller).toldOfFolders.push(`file.updated ${file.id}`);
  }
}

async function deleteFolder(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const place = someUser(world, caller, draw);
  const prefix = pick(folders, draw.what) ?? '';
  const reply = await world.api.delete(
    `${place.path}/folders?prefix=${encodeURIComponent(prefix)}`,
    caller.text,
  );
  const refused = refusal(caller, { actors: files, scope: 'files:delete' }, place);
  const gone = refused === null && place.user ? filesBelow(caller, place.user, prefix) : [];
  const known = gone.some(({ isHeld }) => isHeld) ? 423 : 200;
  const expected = refused ?? (prefix === '' ? 400 : known);
  if (!expectStatus(reply, expected, asked(caller, 'folders.delete')) || !place.user) return;
  expect(reply.body).toEqual({ files: gone.length });
  const project = tenantOf(caller);
  const type = project.trashDays > 0 ? 'file.trashed' : 'file.deleted';
  for (const file of gone) {
    forgetFile(project, file, false);
    project.toldOfFolders.push(`${type} ${file.id}`);
  }
}

/** Of a file with a job, nobody can tell which bytes it has at this moment. */
async function copyOne(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const { at, file, trashed: _, ...place } = someFile(world, caller, draw);
  if (file?.job) return;
  const folder = draw.yes ? (pick(folders, draw.what) ?? '') : undefined;
  const visibility = draw.also ? 'public' : undefined;
  const reply = await world.api.post(`${at}/copy`, caller.text, { folder, visibility });
  const what = asked(caller, 'files.copy');
  const refused = refusal(caller, { actors: files, scope: 'files:write' }, place);
  // Whether the user is active is asked first, as of an upload.
  if (refused !== null || !file) {
    expectStatus(reply, refused ?? (place.user?.active ? 404 : 403), what);
    return;
  }
  const project = tenantOf(caller);
  const outcome = outcomeOfUpload(project, file.owner, file.space, file.size, file.mimeType);
  if (!expectOutcome(reply, outcome, what, 422)) return;
  const copy: StoredFile = {
    ...file,
    id: reply.body.file.id,
    folder: folder ?? file.folder,
    visibility: visibility ?? file.visibility,
    isHeld: false,
    isDue: false,
  };
  storeFile(project, copy);
  expectFile(reply.body.file, copy);
}

async function restoreOne(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const { at, file: _live, trashed, ...place } = someFile(world, caller, draw);
  const reply = await world.api.post(`${at}/restore`, caller.text);
  const what = asked(caller, 'trash.restore');
  const refused = refusal(caller, { actors: files, scope: 'files:write' }, place);
  const outcome = refused ?? (trashed ? outcomeOfRestore(tenantOf(caller), trashed) : 404);
  if (!expectOutcome(reply, outcome, what, 422) || outcome !== 200 || !trashed) return;
  trashed.trashed = false;
  expectFile(reply.body.file, trashed);
}

async function listTrash(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const place = someUser(world, caller, draw);
  const reply = await world.api.get(`${place.path}/files?trashed=true&limit=100`, caller.text);
  const expected = refusal(caller, { actors: files, scope: 'files:read' }, place) ?? 200;
  if (!expectStatus(reply, expected, asked(caller, 'trash.list')) || !place.user) return;
  const trashed = filesOf(tenantOf(caller), place.user).filter(
    (file) => file.trashed && (!caller.space || file.space === caller.space),
  );
  const shown = reply.body.files.map(({ id }: { id: string }) => id);
  expect(shown.sort()).toEqual(trashed.map(({ id }) => id).sort());
}

/** An update or a deletion of up to three files of one user, one of them sometimes strange. */
async function runBatch(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const place = someUser(world, caller, draw);
  const own =
    place.user && caller.project
      ? filesOf(caller.project, place.user).filter(
          (file) => !file.trashed && (!caller.space || file.space === caller.space),
        )
      : [];
  const chosen = own.slice(0, 1 + (draw.number % 3));
  const strange = draw.stray % 5 === 0 ? [randomUUID()] : [];
  const ids = [...chosen.map(({ id }) => id), ...strange];
  if (ids.length === 0) return;
  const action = draw.yes ? 'update' : 'delete';
  const change = { folder: pick(folders, draw.what) ?? '', tags: draw.also ? ['batch'] : [] };
  const body = { ids, action, ...(draw.yes ? { set: change } : {}) };
  const reply = await world.api.post(`${place.path}/files/batch`, caller.text, body);
  const scope = draw.yes ? 'files:write' : 'files:delete';
  // Of an id that is held and one that is unknown, the first in the list is named.
  const isHeld = !draw.yes && chosen.some((file) => file.isHeld);
  const known = isHeld ? 423 : strange.length > 0 ? 404 : 200;
  const expected = refusal(caller, { actors: files, scope }, place) ?? known;
  if (!expectStatus(reply, expected, asked(caller, 'files.batch')) || expected !== 200) return;
  for (const file of chosen) {
    if (draw.yes) Object.assign(file, change);
    else forgetFile(tenantOf(caller), file, false);
  }
}

interface Bytes {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
  readonly body: Buffer;
}

async function fetchBytes(
  url: string,
  as: string | undefined,
  headers: Record<string, string> = {},
  method: 'GET' | 'HEAD' | 'POST' = 'GET',
  sent: string | null = null,
): Promise<Bytes> {
  const reply = await request(url, {
    method,
    // From any address, so that the stories do not share a limit.
    headers: {
      'x-forwarded-for': [...randomBytes(4)].join('.'),
      ...(as ? { authorization: `Bearer ${as}` } : {}),
      ...headers,
    },
    body: sent,
  });
  const body = await readAll(reply.body);
  return { status: reply.statusCode, headers: reply.headers, body, text: body.toString('latin1') };
}

const expectBytesStatus = (reply: Bytes, expected: number, what: string): boolean =>
  expectStatus({ ...reply, body: null }, expected, what);

/** A request about bytes, and which of them it must get. */
interface Asked {
  readonly headers: Record<string, string>;
  readonly status: number;
  readonly bytes: Buffer;
}

/** The ways to ask for parts of a content, or on conditions. */
function someRequest(content: Buffer, etag: string, draw: Draw): Asked {
  const size = content.length;
  const none = Buffer.alloc(0);
  const at = draw.number % Math.max(1, size);
  const end = Math.max(at, Math.min(size - 1, at + (draw.what % 300)));
  const range = (text: string) => ({ range: `bytes=${text}` });
  const satisfied = (text: string, bytes: Buffer): Asked =>
    size === 0
      ? { headers: range(text), status: 416, bytes: none }
      : { headers: range(text), status: 206, bytes };
  const ways: Asked[] = [
    { headers: {}, status: 200, bytes: content },
    satisfied(`${at}-${end}`, content.subarray(at, end + 1)),
    satisfied(`${at}-${'9'.repeat(16 + (draw.what % 9))}`, content.subarray(at)),
    satisfied(`-${end + 1}`, content.subarray(Math.max(0, size - end - 1))),
    { headers: range(`${size}-`), status: 416, bytes: none },
    { headers: range(`${at}-x`), status: 200, bytes: content },
    { headers: { 'if-none-match': etag }, status: 304, bytes: none },
    { headers: { 'if-match': '"another"' }, status: 412, bytes: none },
    { headers: { ...range(`${at}-`), 'if-range': '"another"' }, status: 200, bytes: content },
  ];
  return pick(ways, draw.stray >> 3) as Asked;
}

/** Bytes of images in the making may be those of the original or the result. */
async function readContent(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const { at, file, trashed: _, ...place } = someFile(world, caller, draw);
  const url = `${world.api.baseUrl}${at}/content`;
  const head = await fetchBytes(url, caller.text, {}, 'HEAD');
  const expected = refusal(caller, { actors: files, scope: 'files:read' }, place) ?? (file ? 200 : 404);
  const what = asked(caller, 'files.content');
  if (!expectBytesStatus(head, expected, `${what} (HEAD)`) || !file || file.job) return;
  expect(head.headers['content-length']).toBe(String(file.size));
  const { headers, status, bytes } = someRequest(file.content, String(head.headers.etag), draw);
  const reply = await fetchBytes(url, caller.text, headers);
  expectBytesStatus(reply, status, `${what} with ${JSON.stringify(headers)}`);
  if (status < 300) expect(reply.body.equals(bytes), `${what} with ${JSON.stringify(headers)}`).toBe(true);
}

const nameKey = (name: string): string => name.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

interface Listed {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly created_at: string;
}

const sortKeys: Record<string, (file: Listed) => string | number> = {
  name: ({ name }) => nameKey(name),
  size: ({ size }) => size,
  created_at: ({ created_at }) => created_at,
};

/** A query, and which files it leaves. */
function someSearch(draw: Draw): { query: URLSearchParams; keep: (file: StoredFile) => boolean } {
  const q = draw.yes ? pick(['resume', 'ÉS', 'file', 'A_', '2.p', 'nothing'], draw.what) : undefined;
  const least = draw.also ? pick(sizes, draw.number) : undefined;
  const largest = draw.stray % 3 === 0 ? pick(sizes, draw.what) : undefined;
  const query = new URLSearchParams({ limit: draw.stray % 2 ? '2' : '100' });
  const given = { q, size_min: least, size_max: largest, sort: pick(Object.keys(sortKeys), draw.what) };
  for (const [name, value] of Object.entries(given)) if (value !== undefined) query.set(name, String(value));
  if (draw.number % 3 > 0) query.set('order', draw.number % 3 === 1 ? 'asc' : 'desc');
  const keep = ({ name, size }: StoredFile) =>
    (q === undefined || nameKey(name).includes(nameKey(q))) &&
    size >= (least ?? 0) &&
    size <= (largest ?? Number.POSITIVE_INFINITY);
  return { query, keep };
}

async function searchFiles(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const place = someUser(world, caller, draw);
  const { query, keep } = someSearch(draw);
  const found: Listed[] = [];
  const expected = refusal(caller, { actors: files, scope: 'files:read' }, place) ?? 200;
  for (let more = true; more; ) {
    const reply = await world.api.get(`${place.path}/files?${query}`, caller.text);
    if (!expectStatus(reply, expected, asked(caller, `files.search ${query}`)) || !place.user) return;
    found.push(...reply.body.files);
    more = reply.body.next_cursor !== null;
    query.set('cursor', reply.body.next_cursor ?? '');
  }
  const seen = filesOf(tenantOf(caller), place.user as User).filter(
    (file) => !file.trashed && (!caller.space || file.space === caller.space) && keep(file),
  );
  expect(sorted(found.map(({ id }) => id))).toEqual(sorted(seen.map(({ id }) => id)));
  const sort = query.get('sort') ?? '';
  const isDown = (query.get('order') ?? (sort === 'name' ? 'asc' : 'desc')) === 'desc';
  const keys = found.map((file) => [sortKeys[sort]?.(file) ?? '', file.id] as const);
  const inOrder = [...keys].sort(([a, one], [b, other]) => (a < b || (a === b && one < other) ? -1 : 1));
  expect(keys).toEqual(isDown ? inOrder.reverse() : inOrder);
}

/** Copies in one folder have equal names, and numbers in the zip. */
const withoutNumber = (name: string): string => name.replace(/ \(\d+\)(?=(\.[^./]*)?$)/, '');

async function readZipOf(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const place = someUser(world, caller, draw);
  const folder = draw.yes ? (pick(folders, draw.what) ?? '') : undefined;
  const seen =
    place.user && caller.project
      ? filesOf(caller.project, place.user).filter(
          (file) => !file.trashed && (!caller.space || file.space === caller.space),
        )
      : [];
  const chosen =
    folder === undefined
      ? seen.slice(0, 1 + (draw.number % 4))
      : seen.filter((file) => folder === '' || `${file.folder}/`.startsWith(`${folder}/`));
  const strange = folder === undefined && (draw.stray % 6 === 0 || chosen.length === 0) ? [randomUUID()] : [];
  // Nobody can tell which bytes an image has at this moment.
  if (chosen.some(({ job }) => job)) return;
  const ids = [...chosen.map(({ id }) => id), ...strange].join();
  const query = folder === undefined ? `ids=${ids}` : `folder=${encodeURIComponent(folder)}`;
  const url = `${world.api.baseUrl}${place.path}/files/zip?${query}`;
  const reply = await fetchBytes(url, caller.text);
  const known = chosen.length === 0 || strange.length > 0 ? 404 : 200;
  const expected = refusal(caller, { actors: files, scope: 'files:read' }, place) ?? known;
  if (!expectBytesStatus(reply, expected, asked(caller, `files.zip?${query}`))) return;
  expect(reply.headers['content-length']).toBe(String(reply.body.length));
  const contents = [...readZip(reply.body)].map(([name, bytes]) => `${withoutNumber(name)} ${sha256(bytes)}`);
  const nameIn = (file: StoredFile) =>
    `${file.folder}/${file.name}`.slice(folder ? folder.length : 0).replace(/^\//, '');
  expect(sorted(contents)).toEqual(sorted(chosen.map((file) => `${nameIn(file)} ${file.sha256}`)));
  const at = draw.number % reply.body.length;
  const rest = await fetchBytes(url, caller.text, {
    range: `bytes=${at}-`,
    'if-range': String(reply.headers.etag),
  });
  expect([rest.status, rest.body.equals(reply.body.subarray(at))]).toEqual([206, true]);
}

const farAway = '2099-01-01T00:00:00.000Z';

/** A hold, or an expiry in the far future: both are values of a file. */
async function hold(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const { at, file, trashed: _, ...place } = someFile(world, caller, draw);
  const isPast = draw.stray % 5 === 1;
  const time = isPast ? '2001-01-01T00:00:00.000Z' : farAway;
  const name = draw.yes ? 'retain_until' : 'expires_at';
  const reply = await world.api.put(at, caller.text, { [name]: time });
  const allowed = name === 'retain_until' && caller.kind !== 'project' ? 403 : isPast ? 422 : 200;
  // What stays as it is may be said by anybody.
  const isSame = name === 'retain_until' && file?.isHeld && !isPast;
  const known = file ? (isSame ? 200 : allowed) : 404;
  const expected = refusal(caller, { actors: files, scope: 'files:write' }, place) ?? known;
  if (!expectStatus(reply, expected, asked(caller, `files.hold by ${name}`)) || !file) return;
  if (name === 'retain_until') file.isHeld = true;
  else file.isDue = false;
  expectFile(reply.body.file, file);
}

/** As if its time had passed. */
async function endHold(world: World, draw: Draw): Promise<void> {
  const held = world.projects.flatMap((project) =>
    project.files.filter(({ isHeld }) => isHeld).map((file) => ({ project, file })),
  );
  const { project, file } = pick(held, draw.what) ?? {};
  if (!project || !file) return;
  const past = "now() - interval '1 second'";
  await rowsOf(
    world.real.base.databaseUrl,
    `update files set retain_until = ${past} where id = '${file.id}'`,
  );
  file.isHeld = false;
  if (file.isDue) await remove(world, project, file);
}

/** As if the time at which a file expires had come. A hold keeps it, for everybody to see. */
async function expire(world: World, draw: Draw): Promise<void> {
  const project = projectOf(world, draw);
  const file = pick(
    project.files.filter(({ trashed }) => !trashed),
    draw.what,
  );
  if (!file) return;
  const past = "now() - interval '1 second'";
  await rowsOf(world.real.base.databaseUrl, `update files set expires_at = ${past} where id = '${file.id}'`);
  file.isDue = true;
  if (!file.isHeld) await remove(world, project, file);
}

async function remove(world: World, project: Project, file: StoredFile): Promise<void> {
  await removeExpired(world.real.current.pakhus.deps, never);
  file.isDue = false;
  forgetFile(project, file, false);
}

const sharing: Guard = { actors: files, scope: 'files:share' };
const sharePasswords = ['a password', 'another'];

const viewOfShare = (share: Share) => ({
  id: share.id,
  file_id: share.file.id,
  max_downloads: share.max,
  downloads: share.downloads,
  has_password: share.password !== null,
  active: share.active,
});

async function createShare(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const { at, file, trashed: _, ...place } = someFile(world, caller, draw);
  const max = draw.yes ? 1 + (draw.what % 3) : null;
  // Rarely, because hashing one costs more than everything else.
  const password = draw.stray % 8 === 1 ? (pick(sharePasswords, draw.what) ?? null) : null;
  const isPast = draw.stray % 16 === 2;
  const expires_at = isPast ? '2001-01-01' : null;
  const reply = await world.api.post(`${at}/shares`, caller.text, {
    max_downloads: max,
    password,
    expires_at,
  });
  const known = isPast ? 422 : file ? 201 : 404;
  const expected = refusal(caller, sharing, place) ?? known;
  if (!expectStatus(reply, expected, asked(caller, 'shares.create')) || !file) return;
  const { id } = reply.body.share;
  const url = new URL(reply.body.url).pathname;
  const made = { id, file, url, max, password, active: true, isExpired: false, downloads: 0, gone: false };
  tenantOf(caller).shares.push(made);
  expect(reply.body.share).toMatchObject(viewOfShare(made));
}

const sharesOf = (project: Project | null, keep: (share: Share) => boolean): Share[] =>
  project?.shares.filter((share) => isShared(project, share) && keep(share)) ?? [];

/** Of one file, or of all of a user's. */
async function listShares(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const { at, file, trashed: _, ...place } = someFile(world, caller, draw);
  const path = draw.yes ? `${at}/shares` : `${place.path}/shares`;
  const reply = await world.api.get(`${path}?limit=100`, caller.text);
  const expected = refusal(caller, sharing, place) ?? (draw.yes && !file ? 404 : 200);
  if (!expectStatus(reply, expected, asked(caller, 'shares.list'))) return;
  const seen = sharesOf(caller.project, (share) =>
    draw.yes
      ? share.file === file
      : share.file.owner === place.user && (!caller.space || share.file.space === caller.space),
  );
  expectListed(
    reply.body.shares,
    seen.map(({ id }) => id),
  );
  for (const shown of reply.body.shares)
    expect(shown).toMatchObject(viewOfShare(seen.find(({ id }) => id === shown.id) as Share));
}

/** Mostly a share that exists for this caller. */
async function withShare(world: World, draw: Draw, verb: 'read' | 'change' | 'delete'): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const shares = world.projects.flatMap((project) => project.shares);
  const isSeen = (one: Share) =>
    sharesOf(caller.project, (each) => each === one).length > 0 &&
    (!caller.pinned || caller.pinned === one.file.owner) &&
    (!caller.space || caller.space === one.file.space);
  const aimed = pickLive(shares, isSeen, draw, draw.number);
  const place =
    aimed && draw.stray % 5 > 0 ? pathOfUser(caller, aimed.file.owner) : someUser(world, caller, draw);
  const at = `${place.path}/files/${aimed?.file.id ?? randomUUID()}/shares/${aimed?.id ?? randomUUID()}`;
  const share = sharesOf(caller.project, (one) => one === aimed && one.file.owner === place.user).find(
    ({ file }) => !caller.space || file.space === caller.space,
  );
  const refused = refusal(caller, sharing, place);
  const what = asked(caller, `shares.${verb}`);
  if (verb === 'read') {
    const reply = await world.api.get(at, caller.text);
    if (expectStatus(reply, refused ?? (share ? 200 : 404), what) && share)
      expect(reply.body.share).toMatchObject(viewOfShare(share));
  } else if (verb === 'delete') {
    const reply = await world.api.delete(at, caller.text);
    if (expectStatus(reply, refused ?? (share ? 204 : 404), what) && share) share.gone = true;
  } else {
    const change = { active: draw.yes, max_downloads: draw.also ? 1 + (draw.what % 5) : null };
    const reply = await world.api.put(at, caller.text, change);
    if (!expectStatus(reply, refused ?? (share ? 200 : 404), what) || !share) return;
    if (share.active && !change.active) tenantOf(caller).toldOfFolders.push(`share.revoked ${share.id}`);
    Object.assign(share, { active: change.active, max: change.max_downloads });
    expect(reply.body.share).toMatchObject(viewOfShare(share));
  }
}

function pathOfUser(caller: Caller, owner: User): UserPath {
  const user = caller.project?.users.find((one) => one === owner && !one.gone) ?? null;
  return { path: `/project/users/${owner.id}`, user };
}

/** Any share that ever was. */
function someLink(world: World, draw: Draw): { project: Project; share: Share; url: string } | null {
  const project = projectOf(world, draw);
  const share = pickLive(project.shares, (one) => isOpen(project, one), draw, draw.what);
  if (!share) return null;
  return { project, share, url: `${new URL(world.api.baseUrl).origin}${share.url}` };
}

async function openPage(world: World, draw: Draw): Promise<void> {
  const { project, share, url } = someLink(world, draw) ?? {};
  if (!project || !share || !url) return;
  const open = isOpen(project, share) && !isUsedUp(share);
  const page = await fetchBytes(draw.stray % 9 === 1 ? `${url}x` : url, undefined);
  expectBytesStatus(page, open && draw.stray % 9 !== 1 ? 200 : 404, 'shares.page');
  if (draw.also || !open) return;
  const past = "now() - interval '1 second'";
  await rowsOf(
    world.real.base.databaseUrl,
    `update shares set expires_at = ${past} where id = '${share.id}'`,
  );
  share.isExpired = true;
  expectBytesStatus(await fetchBytes(url, undefined), 404, 'shares.page of an expired share');
}

/** The pass that opens a download, if it has a password and this is it. */
async function unlock(url: string, password: string): Promise<string> {
  const sent = new URLSearchParams({ password }).toString();
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  const reply = await fetchBytes(`${url}/download`, undefined, type, 'POST', sent);
  expectBytesStatus(reply, 303, 'shares.unlock');
  return String(reply.headers['set-cookie']).split(';', 1)[0] ?? '';
}

async function downloadShared(world: World, draw: Draw): Promise<void> {
  const { project, share, url } = someLink(world, draw) ?? {};
  if (!project || !share || !url) return;
  const isThere = isOpen(project, share) && !isUsedUp(share);
  const isUnlocked = share.password !== null && isThere && draw.yes;
  const pass = isUnlocked && share.password !== null ? { cookie: await unlock(url, share.password) } : {};
  const isRange = draw.stray % 4 === 1 && share.file.size > 0 && !share.file.job;
  const headers = { ...pass, ...(isRange ? { range: 'bytes=0-' } : {}) };
  const reply = await fetchBytes(`${url}/download`, undefined, headers);
  const known = share.password !== null && !isUnlocked ? 403 : isRange ? 206 : 200;
  if (!expectBytesStatus(reply, isThere ? known : 404, 'shares.download')) return;
  share.downloads += 1;
  if (share.file.job) return;
  expect(sha256(reply.body)).toBe(share.file.sha256);
  if (share.file.size === 0) return;
  // Resumed, it is the same download, even if there is no other left.
  const at = draw.number % share.file.size;
  const resumed = { ...pass, range: `bytes=${at}-`, 'if-range': String(reply.headers.etag) };
  const rest = await fetchBytes(`${url}/download`, undefined, resumed);
  expectBytesStatus(rest, 206, 'shares.download, resumed');
  expect(rest.body.equals(share.file.content.subarray(at))).toBe(true);
}

function someIntegration(world: World, caller: Caller, draw: Draw) {
  const project = (draw.stray % 9 === 6 ? null : caller.project) ?? projectOf(world, draw);
  const one = pickLive(project.integrations, (each) => !each.gone, draw, draw.number);
  return { one, known: one !== undefined && !one.gone && project === caller.project };
}

const webhooksMax = 10;
const typeSets: readonly (readonly string[] | null)[] = [
  null,
  ['file.*'],
  ['user.created', 'quota.threshold'],
];

function someWebhook(world: World, caller: Caller, draw: Draw) {
  const project = (draw.stray % 9 === 5 ? null : caller.project) ?? projectOf(world, draw);
  const one = pickLive(project.webhooks, (each) => !each.gone, draw, draw.number);
  return { one, known: one !== undefined && !one.gone && project === caller.project };
}

function somePlan(world: World, caller: Caller, draw: Draw): { plan: Plan | undefined; known: boolean } {
  const project = (draw.stray % 9 === 7 ? null : caller.project) ?? projectOf(world, draw);
  const plan = pick(project.plans, draw.number);
  return { plan, known: plan !== undefined && project === caller.project };
}

const planValues = (draw: Draw) => ({
  storageLimit: pick([null, 800, 4000, 20_000], draw.number) ?? null,
  maxFileSize: pick([150, 1500, 100_000, 100_000], draw.what) ?? 0,
  allowedMimes: pick([[], [], ['text/*'], ['text/plain', 'image/*']], draw.number >> 3) ?? [],
  maxFiles: pick([null, null, 2, 8], draw.what >> 3) ?? null,
  maxSpaces: pick([null, null, 1, 3], draw.what >> 5) ?? null,
});

class Step implements fc.AsyncCommand<World, Service> {
  readonly name: string;
  readonly draw: Draw;
  constructor(name: string, draw: Draw) {
    this.name = name;
    this.draw = draw;
  }
  check(): boolean {
    return true;
  }
  async run(world: World, real: Service): Promise<void> {
    if (this.name === 'restart') await real.restart();
    else await real.use(() => (operations[this.name] as (typeof operations)[string])[1](world, this.draw));
    real.operations += 1;
  }
  toString(): string {
    return `${this.name}(${JSON.stringify(this.draw)})`;
  }
}

const any = fc.nat({ max: 0xffff });
const scopeSets: fc.Arbitrary<readonly Scope[]> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<readonly Scope[]>(['files:read', 'files:write', 'files:delete']) },
  { weight: 3, arbitrary: fc.constant<readonly Scope[]>([...allScopes]) },
  { weight: 4, arbitrary: fc.subarray<Scope>([...allScopes]) },
);
const draws: fc.Arbitrary<Draw> = fc.record({
  who: any,
  where: any,
  what: any,
  number: any,
  scopes: scopeSets,
  yes: fc.boolean(),
  also: fc.boolean(),
  stray: any,
});
const steps = fc.oneof(
  ...Object.entries(operations).map(([name, [weight]]) => ({
    // In hundreds, so that a restart can be rarer than anything else.
    weight: weight * 100,
    arbitrary: draws.map((draw) => new Step(name, draw)),
  })),
  { weight: 20, arbitrary: draws.map((draw) => new Step('restart', draw)) },
);

let service: Service;

beforeAll(async () => {
  const base = await startTestPakhus({
    RATE_LIMIT_MAX: '1000000000',
    REAPER_INTERVAL_SECONDS: '1',
    USER_TOKEN_TTL_SECONDS: '86400',
  });
  await keepTransitions(base.databaseUrl);
  service = new Service(base, await adminSession(base.api));
});
afterAll(async () => {
  await service.current.pakhus.stop();
  await service.base.stop();
});

/** Runs one story from its first tenant; rows, objects and counters must agree at the end. */
async function tell(commands: Iterable<fc.AsyncCommand<World, Service>>): Promise<void> {
  const world = new World(service);
  await service.use(async () => {
    const project = await makeProject(world);
    const { text } = project.credentials[0] as { text: string };
    for (const externalId of ['u0', 'u1']) {
      const made = await world.api.post('/project/users', text, { externalId });
      project.users.push({
        id: made.body.user.id,
        externalId,
        gone: false,
        active: true,
        plan: null,
      });
    }
  });
  await fc.asyncModelRun(() => ({ model: world, real: service }), commands);
  for (const project of world.projects) await service.use(() => expectAllTold(world, project));
}

test(`pakhus: ${operationsMin} random operations by all callers, with restarts, match the model`, async () => {
  const replayed = process.env.MODEL_SEED;
  const first = replayed === undefined ? randomInt(0x3fff_ffff) : Number(replayed);
  console.log(`model: the first story has MODEL_SEED=${first}`);
  let next = first;
  const property = fc.asyncProperty(fc.commands([steps], { maxCommands: stepsMax, size: 'max' }), tell);
  // Shrinking is slow because every attempt is a whole story, so only a replay shrinks, within a limit.
  const shrinking = replayed === undefined ? { endOnFailure: true } : { interruptAfterTimeLimit: 100_000 };
  const isTold = () => service.operations >= operationsMin && service.restarts > restartsMin;
  let failedAlready = false;
  const storyteller = async () => {
    while (!isTold() && !failedAlready) {
      const seed = next++;
      await fc.assert(property, { seed, numRuns: 1, unbiased: true, ...shrinking }).catch((error: Error) => {
        // Stop the other stories, or the report would wait for them.
        failedAlready = true;
        throw new Error(`MODEL_SEED=${seed} replays this: ${error.message}`, { cause: error });
      });
      if (replayed !== undefined) return;
    }
  };
  const telling = Array.from({ length: replayed === undefined ? storiesAtOnce : 1 }, storyteller);
  const failed = (await Promise.allSettled(telling)).find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
  console.log(
    `model: ${service.operations} operations in ${next - first} stories, ${service.restarts} restarts`,
  );
  expect(await wrongCounters(service.current)).toEqual([]);
  expect(await wrongReservations(service.current)).toEqual([]);
  if (replayed !== undefined) return;
  expect(isTold()).toBe(true);
  const { databaseUrl } = service.base;
  await until('every image job is done', async () => {
    // Those of trashed images wait until the images are restored.
    const left = await rowsOf(
      databaseUrl,
      `select from compression_jobs j where status <> 'done' and exists (select from files f
         where f.project_id = j.project_id and f.id = j.file_id) limit 1`,
    );
    return left.length === 0;
  });
  await reapUntilDone(service.current);
  expect(await wrongOwners(service.current), 'files and their objects').toEqual([]);
  expect(await objectsOf(service.current), 'objects in the store against rows').toEqual(
    await placesOf(service.current),
  );
  expect(await drawnTransitions(), 'transitions of objects').toEqual(
    expect.arrayContaining(await seenTransitions(databaseUrl)),
  );
});
