// What the steps of all stories share: the service, its random choices, who asks, and what they may be told.
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Api, CallOptions, Reply } from '../api.ts';
import {
  allScopes,
  type Caller,
  type CallerKind,
  callerOf,
  filesOf,
  isLive,
  type Project,
  type Scope,
  type StoredFile,
  type User,
} from '../model.ts';
import type { TestPakhus } from '../pakhus.ts';

/** All random choices of a step; the operation and the current state decide which of them count. */
export interface Draw {
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
export class World {
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
  /^\/(admin\/projects|project\/(users|plans|keys|integrations|webhooks|variants)|.*\/(spaces|tokens|files|images|uploads|copy|shares|rotate-key))$/;
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
export class Service {
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

export type Operation = (world: World, draw: Draw) => Promise<void>;

export const pick = <T>(list: readonly T[], n: number): T | undefined => list[n % Math.max(1, list.length)];

/** Mostly an existing one, sometimes any that ever existed. */
export function pickLive<T>(
  list: readonly T[],
  isAlive: (one: T) => boolean,
  draw: Draw,
  n: number,
): T | undefined {
  const alive = list.filter(isAlive);
  return pick(draw.stray % 8 === 0 || alive.length === 0 ? list : alive, n);
}

export const projectOf = (world: World, draw: Draw): Project =>
  pickLive(world.projects, (one) => !one.gone && one.active, draw, draw.where) as Project;

const kinds = ['key', 'key', 'session', 'integration', 'integration', 'user', 'user', 'space', 'space'];

export function someone(world: World, draw: Draw, preferred?: readonly string[]): Caller {
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

export interface Guard {
  readonly actors: readonly CallerKind[];
  readonly scope?: Scope;
}

export const files: readonly CallerKind[] = ['project', 'integration', 'user', 'space'];
/** As a filter by space sees it. */
export const isWanted = (space: { readonly id: string } | null, wanted: string | undefined): boolean =>
  wanted === undefined || (wanted === 'none' ? space === null : space?.id === wanted);

export const managers: Guard = { actors: ['project', 'user'] };
export const ownerOnly: Guard = { actors: ['project'] };
export const provisioner = (scope: Scope): Guard => ({ actors: ['project', 'integration'], scope });

/** The status with which a guard refuses, or null if the caller passes. */
export function refusal(caller: Caller, { actors, scope }: Guard, path: UserPath | null): number | null {
  if (caller.refusal !== null) return caller.refusal;
  if (!actors.includes(caller.kind)) return 403;
  if (path && caller.pinned && path.user !== caller.pinned) return 404;
  if (scope && !caller.grant.includes(scope)) return 403;
  return path && !path.user ? 404 : null;
}

export interface UserPath {
  readonly path: string;
  /** The end-user that it addresses for this caller, if any. */
  readonly user: User | null;
}

/** Mostly a user of the caller, sometimes one that is deleted or of another tenant. */
export function someUser(world: World, caller: Caller, draw: Draw): UserPath {
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

export function pathOfUser(caller: Caller, owner: User): UserPath {
  const user = caller.project?.users.find((one) => one === owner && !one.gone) ?? null;
  return { path: `/project/users/${owner.id}`, user };
}

/** Mostly a user of the caller who has such files. */
export function someOwner(
  world: World,
  caller: Caller,
  draw: Draw,
  isMeant: (file: StoredFile) => boolean,
): UserPath {
  const meant = caller.project?.files.filter(
    (file) =>
      isMeant(file) &&
      (!caller.pinned || caller.pinned === file.owner) &&
      (!caller.space || caller.space === file.space),
  );
  const { owner } = pick(meant ?? [], draw.number >> 2) ?? {};
  return owner && draw.stray % 4 > 0 ? pathOfUser(caller, owner) : someUser(world, caller, draw);
}

export function expectStatus(reply: Reply, expected: number, what: string): boolean {
  if (reply.status !== expected)
    throw new Error(`${what}: the model says ${expected}, the service ${reply.status} ${reply.text}`);
  return reply.status < 300;
}

export const asked = (caller: Caller, what: string) => `${what} as ${caller.kind}`;

export const sorted = (ids: readonly string[]): string[] => [...ids].sort();

/** The same items, newest first. */
export function expectListed(
  rows: readonly { id: string; created_at: string }[],
  expected: readonly string[],
): void {
  expect(sorted(rows.map((row) => row.id))).toEqual(sorted(expected));
  const moments = rows.map((row) => row.created_at);
  expect(moments).toEqual([...moments].sort().reverse());
}

/** The project of the caller; only after a guard has let the caller pass. */
export const tenantOf = (caller: Caller): Project => caller.project as Project;

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

export function expectFile(shown: { sha256: string | null }, file: StoredFile): void {
  expect(shown).toMatchObject(viewOfFile(file));
  expect(shown.sha256).toBe(file.isHashed || shown.sha256 !== null ? file.sha256 : null);
  file.isHashed = shown.sha256 !== null;
}

export const sizes = [0, 1, 17, 100, 300, 700, 1200, 2048];
export const types = ['text/plain', 'application/octet-stream', 'image/png'];
export const folders = ['', 'a', 'a/b', 'c'];
export const fileNames = ['file.bin', 'Résumé.pdf', 'resume 2.PDF', 'a_b', 'File1'];
export const limits = [null, 0, 500, 2000, 6000];
export const fileCallers = ['user', 'space', 'integration', 'key'];

/** Mostly a file that exists for this caller and is liked, if there is one, with its path. */
export function someFile(
  world: World,
  caller: Caller,
  draw: Draw,
  isLiked: (file: StoredFile) => boolean = () => true,
  place = someUser(world, caller, draw),
) {
  const own = place.user && caller.project ? filesOf(caller.project, place.user) : [];
  const everywhere = world.projects.flatMap((project) => project.files);
  const liked = own.filter(isLiked);
  const from = liked.length > 0 && draw.stray % 6 > 0 ? liked : own;
  const aimed = pick(draw.stray % 7 === 3 || own.length === 0 ? everywhere : from, draw.number);
  const visible = own.includes(aimed as StoredFile) && (!caller.space || aimed?.space === caller.space);
  return {
    ...place,
    at: `${place.path}/files/${aimed?.id ?? randomUUID()}`,
    file: visible && !aimed?.trashed ? aimed : undefined,
    trashed: visible && aimed?.trashed ? aimed : undefined,
  };
}

export function someSpace(world: World, caller: Caller, draw: Draw, place = someUser(world, caller, draw)) {
  const own = caller.project?.spaces.filter((one) => one.owner === place.user) ?? [];
  const everywhere = world.projects.flatMap((project) => project.spaces);
  const from = draw.stray % 7 === 4 || own.length === 0 ? everywhere : own;
  const aimed = pickLive(from, (one) => !one.gone, draw, draw.number);
  const found = aimed && own.includes(aimed) && !aimed.gone ? aimed : undefined;
  return { ...place, at: `${place.path}/spaces/${aimed?.id ?? randomUUID()}`, aimed, space: found };
}

/** `tooLarge` is the status of FILE_TOO_LARGE: the protocols prescribe another one than the API. */
export function expectOutcome(
  reply: Reply,
  outcome: number | string,
  what: string,
  tooLarge: 413 | 422,
): boolean {
  if (typeof outcome === 'number') return expectStatus(reply, outcome, what);
  expectStatus(reply, outcome === 'FILE_TOO_LARGE' ? tooLarge : 422, `${what} (${outcome})`);
  expect(reply.body.error.code).toBe(outcome);
  return false;
}
