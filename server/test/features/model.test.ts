// Random operations by all five kinds of caller, compared step by step with a model small enough to be right. Many
// short stories run concurrently, each with its own tenants, while the service is restarted under them.
// A mismatch prints the seed of its story: MODEL_SEED=… replays that story alone and shrinks it.
import { randomInt, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { uploadUpkeep } from '../../src/features/uploads/uploads.jobs.ts';
import { variantUpkeep } from '../../src/features/variants/variants.jobs.ts';
import type { Reply } from '../support/api.ts';
import { repetitions } from '../support/bounds.ts';
import { sha256 } from '../support/bytes.ts';
import { rowsOf } from '../support/database.ts';
import { auditedEvents, eventsOfAudit } from '../support/feed.ts';
import {
  never,
  objectsOf,
  placesOf,
  reapUntilDone,
  wrongCounters,
  wrongImages,
  wrongOwners,
  wrongReservations,
} from '../support/ledger.ts';
import { copyMany, restoreMany, runBatch } from '../support/model/batches.ts';
import {
  changeOne,
  copyOne,
  deleteFolder,
  deleteOne,
  endHold,
  expire,
  hold,
  listTrash,
  moveFolder,
  restoreOne,
  uploadAs,
} from '../support/model/files.ts';
import { readContent, readImage, readZipOf, searchFiles } from '../support/model/reading.ts';
import { createShare, downloadShared, listShares, openPage, withShare } from '../support/model/shares.ts';
import {
  asked,
  type Draw,
  expectFile,
  expectListed,
  expectOutcome,
  expectStatus,
  fileCallers,
  files,
  folders,
  isWanted,
  limits,
  managers,
  type Operation,
  ownerOnly,
  pick,
  pickLive,
  projectOf,
  provisioner,
  refusal,
  Service,
  sizes,
  someFile,
  someone,
  someSpace,
  someUser,
  sorted,
  tenantOf,
  types,
  World,
} from '../support/model/story.ts';
import {
  changeVariant,
  createVariant,
  defineFirst,
  deleteVariant,
  readDefinitions,
  readVariant,
} from '../support/model/variants.ts';
import {
  allScopes,
  type Caller,
  type Chunk,
  type Credential,
  defaultPlanOf,
  filesOf,
  hasAllSpaces,
  type Integration,
  isAlive,
  isReachable,
  newProject,
  outcomeOfChunk,
  outcomeOfCompletion,
  outcomeOfCreation,
  outcomeOfDirect,
  type Plan,
  type Project,
  planInForce,
  reservedBy,
  type Scope,
  type Space,
  type StoredFile,
  storeFile,
  type Upload,
  type User,
  usedBy,
} from '../support/model.ts';
import { startTestPakhus } from '../support/pakhus.ts';
import { until } from '../support/processes.ts';
import { adminSession, logIn, unique } from '../support/tenants.ts';
import { drawnTransitions, keepTransitions, seenTransitions } from '../support/transitions.ts';
import { createTus, headTus, offsetOf, patchTus, pathOf, tusVersion } from '../support/tus.ts';

const operationsMin = repetitions(12_000, 4_000);
const restartsMin = repetitions(4, 1);
const storiesAtOnce = 12;
const stepsMax = 400;

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
  'pictures.upload': [5, async (world, draw) => void (await uploadAs('picture', world, draw))],
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
  'files.batchCopy': [4, copyMany],
  'files.batchRestore': [4, restoreMany],
  'folders.move': [2, moveFolder],
  'folders.delete': [1, deleteFolder],
  'trash.settings': [
    3,
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
  'variants.create': [2, createVariant],
  'variants.read': [1, readDefinitions],
  'variants.change': [2, changeVariant],
  'variants.delete': [1, deleteVariant],
  'variants.image': [5, readVariant],
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
      const [part] = reply.body.parts;
      expect(part).toMatchObject({ number: 1, size: upload.size });
      const isWrong = draw.stray % 5 === 3;
      const body = isWrong ? Buffer.concat([upload.content, Buffer.from('x')]) : upload.content;
      // A restart may have changed the port.
      const first = new URL(upload.firstUrl ?? '');
      const url = draw.also ? new URL(`${first.pathname}${first.search}`, part.url) : part.url;
      const sent = await fetch(url, { method: 'PUT', body });
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
    firstUrl: reply.body?.parts?.[0]?.url ?? null,
    etag: null,
    fileId: null,
    error: null,
  };
  project.uploads.push(upload);
  // Nothing is missing from an empty file.
  if (upload.mode === 'resumable' && size === 0)
    completed(project, upload, reply.body?.upload.file_id ?? reply.headers['pakhus-file-id']);
  if (reply.body) expect(reply.body.upload).toMatchObject(viewOfUpload(upload));
  if (upload.mode === 'direct')
    expect(reply.body.parts).toMatchObject(size === 0 ? [] : [{ number: 1, size }]);
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
    // One or two images of these stories, so that others are evicted and made again.
    VARIANT_CACHE_BYTES: '150',
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
    await defineFirst(world, project, text);
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
  await variantUpkeep.run(service.current.pakhus.deps, never);
  expect(await wrongImages(service.current), 'cached images').toEqual([]);
  await reapUntilDone(service.current);
  expect(await wrongOwners(service.current), 'files and their objects').toEqual([]);
  expect(await objectsOf(service.current), 'objects in the store against rows').toEqual(
    await placesOf(service.current),
  );
  expect(await drawnTransitions(), 'transitions of objects').toEqual(
    expect.arrayContaining(await seenTransitions(databaseUrl)),
  );
});
