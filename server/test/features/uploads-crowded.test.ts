// More uploads than the service accepts at once, some of them stalled on purpose: slow clients may delay their own
// uploads, never those of others. The bounds are small enough for a few clients to reach them.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { bytesOf } from '../support/bytes.ts';
import { expectBalanced, reapUntilDone } from '../support/ledger.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { until } from '../support/processes.ts';
import { openRawPost, type RawClient } from '../support/raw-client.ts';
import {
  adminSession,
  createPlan,
  createTenant,
  createUser,
  mintToken,
  type Tenant,
} from '../support/tenants.ts';
import { contentTypeOf, formOf, type Part, partsOf, postForm, upload } from '../support/uploads.ts';

const bounds = { places: 8, bufferBytes: 2 << 20, waitMaxMs: 60_000, yieldAfterMs: 2_000 };
/** One place is reserved from any single project, and another from any single subject. */
const placesOfSubject = 6;

let service: TestPakhus;
let admin: string;

beforeAll(async () => {
  service = await startTestPakhus({}, undefined, { uploadBounds: bounds });
  admin = await adminSession(service.api);
});
afterAll(() => service.stop());

const open: RawClient[] = [];
afterEach(async () => {
  for (const client of open.splice(0)) client.end();
  const { places, buffers } = service.pakhus.deps.uploads;
  await until('everything was given back', async () => places.used === 0 && buffers.used === 0);
});

interface Target {
  readonly id: string;
  readonly path: string;
  readonly token: string;
}

const newTenant = async (): Promise<Tenant> => {
  const tenant = await createTenant(service.api, admin);
  await createPlan(service.api, tenant.key, { maxFileSize: 1 << 30 });
  return tenant;
};
const newUser = async (tenant: Tenant): Promise<Target> => {
  const user = await createUser(service.api, tenant.key);
  const { token } = await mintToken(service.api, tenant.key, user.id);
  return { id: tenant.id, path: `/project/users/${user.id}`, token };
};

const large = formOf(partsOf(bytesOf(2 << 20)));
const small = formOf(partsOf(bytesOf(200_000)));

/** Sends the start of a form and then stalls. */
const stall = async ({ path, token }: Target, form: Buffer, bytes: number): Promise<RawClient> => {
  const client = await openRawPost(service.baseUrl, {
    path: `${path}/files`,
    as: token,
    headers: [`Content-Type: ${contentTypeOf()}`, `Content-Length: ${form.length}`],
  });
  open.push(client);
  void client.write(form.subarray(0, bytes));
  return client;
};
const stallMany = (at: Target, count: number, form = large, bytes = 600_000) =>
  Promise.all(Array.from({ length: count }, () => stall(at, form, bytes)));

const untilPlacesUsed = (count: number) =>
  until(`${count} places are taken`, async () => service.pakhus.deps.uploads.places.used === count);

const send = (at: Target, bytes: number) => upload(service.api, at.token, at.path, bytesOf(bytes));

test('files.upload: stalled uploads of one user and of another tenant block no other user', async () => {
  const [tenant, second, third] = [await newTenant(), await newTenant(), await newTenant()];
  const [greedy, neighbour] = [await newUser(tenant), await newUser(tenant)];
  const stalled = await stallMany(greedy, 20);
  await untilPlacesUsed(placesOfSubject);
  stalled.push(...(await stallMany(await newUser(second), 20)));
  await untilPlacesUsed(bounds.places);

  const strangers = await Promise.all(Array.from({ length: 3 }, () => newUser(third)));
  const replies = await Promise.all([neighbour, ...strangers, neighbour].map((at) => send(at, 1 << 20)));
  expect(replies.map(({ status, text }) => [status, text.slice(0, 40)])).toEqual(
    Array(5).fill([201, expect.any(String)]),
  );

  const ended = stalled.filter(({ answered }) => answered);
  expect(ended.length).toBeGreaterThan(0);
  for (const client of ended) {
    const { status, text } = await client.reply();
    expect(status, text).toBe(503);
    expect(JSON.parse(text).error).toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
      details: { part: 'capacity' },
    });
  }
  for (const client of stalled) client.end();
  await until(
    'nothing of them is left in the store',
    async () => (await readdir(join(service.dataDir, 'objects', 'tmp'))).length === 0,
  );
  await reapUntilDone(service);
  for (const { id } of [tenant, second, third]) await expectBalanced(service, id);
});

test('files.upload: a small file needs no place, even while its user has many large uploads stalled', async () => {
  const at = await newUser(await newTenant());
  const stalled = await stallMany(at, 20);
  await untilPlacesUsed(placesOfSubject);
  const replies = await Promise.all([0, 1000, 200_000, 256 << 10].map((bytes) => send(at, bytes)));
  expect(replies.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
  expect(
    stalled.filter(({ answered }) => answered),
    'nobody had to make room',
  ).toEqual([]);
});

test('files.upload: stalled small uploads of one user leave the others enough memory', async () => {
  const tenant = await newTenant();
  const [greedy, neighbour, stranger] = [
    await newUser(tenant),
    await newUser(tenant),
    await newUser(await newTenant()),
  ];
  await stallMany(greedy, 60, small, 10_000);
  const { buffers } = service.pakhus.deps.uploads;
  await until('the user waits for its own', async () => buffers.waiting > 0);
  expect(buffers.used).toBeLessThanOrEqual(bounds.bufferBytes);
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, nth) => send(nth % 2 ? neighbour : stranger, 200_000)),
  );
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]));
  expect(buffers.used).toBeLessThanOrEqual(bounds.bufferBytes);
});

test('files.upload: an upload that waits for others of its own user starts when one of them ends, and none is cut off for it', async () => {
  const at = await newUser(await newTenant());
  const first = await stallMany(at, placesOfSubject);
  await untilPlacesUsed(placesOfSubject);
  const waiting = Array.from({ length: 10 }, () => send(at, 1 << 20));
  await until('they wait', async () => service.pakhus.deps.uploads.places.waiting > 0);
  for (const client of first) {
    await client.write(large.subarray(600_000));
    expect((await client.reply()).status).toBe(201);
  }
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array(10).fill(201));
});

test('files.upload: a client that hangs up while it waits leaves the queue', async () => {
  const tenant = await newTenant();
  const at = await newUser(tenant);
  const holders = await stallMany(at, placesOfSubject);
  await untilPlacesUsed(placesOfSubject);
  const waiting = await stallMany(at, 30, large, large.length);
  const { places } = service.pakhus.deps.uploads;
  await until('some wait', async () => places.waiting > 0);
  for (const [nth, client] of waiting.entries()) nth % 2 === 0 ? client.end() : client.hangUp();
  for (const client of holders) client.hangUp();
  const replies = await Promise.all(Array.from({ length: 20 }, () => send(at, 1 << 20)));
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]));
  // The reaper would take the objects of uploads that are still being given up.
  await untilPlacesUsed(0);
  await reapUntilDone(service);
  await expectBalanced(service, tenant.id);
});

test('files.upload: a small file in a form larger than the buffer waits for a place and is then stored', async () => {
  const at = await newUser(await newTenant());
  const fields: Part[] = Array.from({ length: 4 }, (_, nth) => ({
    name: `x${nth}`,
    value: 'y'.repeat(60_000),
  }));
  for (const parts of [
    [...fields, ...partsOf(bytesOf(60_000))],
    [...partsOf(bytesOf(60_000)), ...fields],
    [...fields.slice(2), ...partsOf(bytesOf(1 << 20)), ...fields.slice(0, 2)],
  ]) {
    const reply = await postForm(service.api, at.token, at.path, parts);
    expect(reply.status, reply.text).toBe(201);
  }
  await stallMany(at, placesOfSubject);
  await untilPlacesUsed(placesOfSubject);
  let answered = false;
  const flood = postForm(service.api, at.token, at.path, [...fields, ...partsOf(bytesOf(60_000))]).finally(
    () => {
      answered = true;
    },
  );
  await until('it waits', async () => service.pakhus.deps.uploads.places.waiting === 1);
  expect(answered).toBe(false);
  open.pop()?.hangUp();
  expect((await flood).status).toBe(201);
});
