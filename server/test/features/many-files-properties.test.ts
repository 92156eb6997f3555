// Properties of copies at the edge of the quota, of batches with a foreign id, and of folders that are moved, also into themselves.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Reply } from '../support/api.ts';
import { expectBalanced, reapUntilDone } from '../support/ledger.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { sendFile } from '../support/send-file.ts';
import { createLiveSpace } from '../support/spaces.ts';
import {
  adminSession,
  createPlan,
  createTenant,
  createUser,
  type Tenant,
  unique,
} from '../support/tenants.ts';

let service: TestPakhus;
let admin: string;

beforeAll(async () => {
  service = await startTestPakhus({ RATE_LIMIT_MAX: '1000000000' });
  admin = await adminSession(service.api);
});
afterAll(() => service.stop());

interface Shown {
  readonly id: string;
  readonly folder: string;
  readonly tags: readonly string[];
}

async function newUser(of: Tenant) {
  const { api } = service;
  const { id } = await createUser(api, of.key);
  const path = `/project/users/${id}`;
  const send = (bytes: Buffer, folder = '') => sendFile(api, of.key, id, { bytes, fields: { folder } });
  const list = async (query = '') =>
    (await api.get(`${path}/files?limit=100${query}`, of.key)).body.files as Shown[];
  const used = async () => (await api.get(path, of.key)).body.user.storageUsed as number;
  const batch = (body: object, as = of.key): Promise<Reply> => api.post(`${path}/files/batch`, as, body);
  return { id, path, send, list, used, batch };
}

test('copies at the edge of the quota: exactly as many are made as fit, alone, at once or in a batch', async () => {
  const tenant = await createTenant(service.api, admin);
  // The first is the default, under which every user begins.
  await createPlan(service.api, tenant.key);
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 0, max: 4 }),
      // How many bytes are left over: none fits exactly, and one less than the size is one byte short of another copy.
      fc.constantFrom('none', 'one', 'almost'),
      fc.constantFrom('alone', 'at once', 'batch'),
      async (size, fitting, left, way) => {
        const { api } = service;
        const { path, send, list, used, batch } = await newUser(tenant);
        const id = await send(Buffer.alloc(size, 'x'));
        const more = { none: 0, one: size > 1 ? 1 : 0, almost: size - 1 }[left];
        const storageLimit = size * (1 + fitting) + more;
        const plan = await createPlan(api, tenant.key, { name: unique('p'), storageLimit });
        expect((await api.put(`${path}/plan`, tenant.key, { planId: plan.id })).status).toBe(200);
        const copy = () => api.post(`${path}/files/${id}/copy`, tenant.key, {});
        if (way === 'batch') {
          // A batch of as many as there are, again and again, until it does not fit as a whole.
          for (;;) {
            const before = await list();
            const reply = await batch({ ids: before.map((file) => file.id), action: 'copy' });
            const fits = before.length * 2 <= 1 + fitting;
            expect(reply.status, reply.text).toBe(fits ? 200 : 422);
            expect(await list()).toHaveLength(before.length * (fits ? 2 : 1));
            if (!fits) break;
          }
        } else {
          const replies: Reply[] = [];
          if (way === 'at once')
            replies.push(...(await Promise.all(Array.from({ length: fitting + 2 }, copy))));
          else for (let nth = 0; nth < fitting + 2; nth += 1) replies.push(await copy());
          expect(replies.filter(({ status }) => status === 201)).toHaveLength(fitting);
          for (const { status, body } of replies)
            if (status !== 201) expect([status, body.error.code]).toEqual([422, 'STORAGE_LIMIT_EXCEEDED']);
          expect(await used()).toBe(size * (1 + fitting));
        }
        expect(await used()).toBe((await list()).length * size);
      },
    ),
    { numRuns: 12 },
  );
  await reapUntilDone(service);
  await expectBalanced(service, tenant.id);
});

test('batches with one foreign id, wherever it stands, do nothing, whoever asks and whatever for', async () => {
  const { api } = service;
  const tenant = await createTenant(api, admin);
  const { id: userId, send, list, used, batch } = await newUser(tenant);
  expect((await api.put('/project/settings', tenant.key, { trash_days: 30 })).status).toBe(200);
  const scopes = ['files:read', 'files:write', 'files:delete'];
  const space = await createLiveSpace(service, tenant.id, userId, scopes);
  const inSpace = () =>
    sendFile(api, tenant.key, userId, { bytes: Buffer.from('in'), fields: { space_id: space.id } });
  const own = [await inSpace(), await inSpace(), await inSpace()];
  const trashed = [await inSpace(), await inSpace()];
  expect((await batch({ ids: trashed, action: 'delete' })).status).toBe(200);
  const sibling = await newUser(tenant);
  const stranger = await newUser(await createTenant(api, admin));
  const foreign = {
    unknown: randomUUID(),
    'of another user': await sibling.send(Buffer.from('s')),
    'of another project': await stranger.send(Buffer.from('t')),
    'outside of the space': await send(Buffer.from('o')),
  };
  const stateOf = async () => [await list(), await list('&trashed=true'), await used()];
  const before = await stateOf();
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...(Object.keys(foreign) as (keyof typeof foreign)[])),
      fc.constantFrom('update', 'delete', 'restore', 'copy'),
      fc.nat({ max: 3 }),
      fc.boolean(),
      async (kind, action, at, isUpper) => {
        const chosen = action === 'restore' ? trashed : own;
        const strange = isUpper ? foreign[kind].toUpperCase() : foreign[kind];
        const ids = [...chosen.slice(0, at), strange, ...chosen.slice(at)];
        const set = action === 'update' || action === 'copy' ? { set: { folder: 'z' } } : {};
        // What is outside of its space is foreign to a space token only.
        const as = kind === 'outside of the space' ? space.token : tenant.key;
        const reply = await batch({ ids, action, ...set }, as);
        expect(reply.status, reply.text).toBe(404);
        expect(reply.body.error.message.toLowerCase()).toContain(foreign[kind]);
        expect(await stateOf()).toEqual(before);
      },
    ),
    { numRuns: 40 },
  );
  expect(await sibling.list()).toHaveLength(1);
  expect(await stranger.list()).toHaveLength(1);
  await reapUntilDone(service);
  await expectBalanced(service, tenant.id);
});

/** Names of which one may be the beginning of another, or the same to a careless comparison. */
const segment = fc.constantFrom('a', 'aa', 'b', 'A', 'a b', 'é', '%', '_', 'a.b');
const folder = fc.array(segment, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
const isIn = (inner: string, outer: string): boolean => inner === outer || inner.startsWith(`${outer}/`);

test('folders: a move takes exactly what is in the folder, and into itself nothing moves', async () => {
  const tenant = await createTenant(service.api, admin);
  const { path, send, list } = await newUser(tenant);
  const bytes = Buffer.from('f');
  const files = new Map<string, string>();
  const { api } = service;
  await fc.assert(
    fc.asyncProperty(folder, fc.oneof(folder, fc.constant('')), fc.boolean(), async (from, to, isInside) => {
      const target = isInside ? [from, to].filter((part) => part !== '').join('/') : to;
      if (files.size < 30) files.set(await send(bytes, from), from);
      const reply = await api.post(`${path}/folders/move`, tenant.key, { from, to: target });
      const moved = [...files].filter(([, each]) => isIn(each, from));
      if (isIn(target, from)) expect(reply.status, `${from} to ${target}`).toBe(422);
      else {
        expect([reply.status, reply.body], `${from} to ${target}`).toEqual([200, { files: moved.length }]);
        for (const [id, each] of moved)
          files.set(id, `${target}${each.slice(from.length)}`.replace(/^\//, ''));
      }
      expect(new Map((await list()).map(({ id, folder: each }) => [id, each]))).toEqual(files);
    }),
    { numRuns: 40 },
  );
});
