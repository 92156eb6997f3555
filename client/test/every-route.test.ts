// Every route of the server has a method in the client, and each of them works against the real service.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { TOTP } from 'otpauth';
import { expect, it } from 'vitest';
import { openApiDocument } from '../../server/src/http/openapi.ts';
import { blankPng } from '../../server/test/support/image-files.ts';
import { adminEmail, adminPassword, startTestPakhus } from '../../server/test/support/pakhus.ts';
import { createClient, PakhusError, type ResumeStore } from '../src/index.ts';
import { verifyWebhook } from '../src/webhooks.ts';
import { serve } from './support/served.ts';

const served = serve(() => startTestPakhus({ WEBHOOK_ALLOW_PRIVATE: 'true' }));
const called = new Set<string>();
const mib = 1 << 20;

/** Notes which operation of the document each request is. */
const noting: typeof fetch = (input, init) => {
  const { pathname } = new URL(String(input));
  const method = init?.method ?? 'GET';
  const found = operations.find((one) => one.method === method && one.pattern.test(pathname));
  called.add(found?.name ?? `unknown: ${method} ${pathname}`);
  return fetch(input, init);
};

interface DocumentedOperation {
  readonly name: string;
  readonly method: string;
  readonly pattern: RegExp;
}

/** Without the pages. Both paths of a user's route count as one. */
const operations = listOperations();

function listOperations(): DocumentedOperation[] {
  const { paths } = openApiDocument('0') as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  const found = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { operationId }]) => !operationId.startsWith('reference.'))
      .map(([method, { operationId }]) => ({
        name: operationId.replace(/\.ext$/, ''),
        method: method.toUpperCase(),
        pattern: new RegExp(`^/api/v1${path.replace(/\{\w+\}/g, '[^/]+')}$`),
        parameters: path.split('{').length,
      })),
  );
  // A literal segment is more exact than a parameter.
  return found.sort((one, other) => one.parameters - other.parameters);
}

const connect = (credential: { key?: string; token?: string } = {}) =>
  createClient({ baseUrl: served.baseUrl, fetch: noting, ...credential });

async function all<Item>(list: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of list) items.push(item);
  return items;
}

it('the admin manages projects, settings, audit and statistics', async () => {
  const anonymous = connect();
  expect((await anonymous.health()).status).toBe('ok');
  const login = await anonymous.auth.login({ email: adminEmail, password: adminPassword });
  const { admin, auth } = connect({ token: 'token' in login ? login.token : '' });
  expect((await auth.me()).role).toBe('admin');
  const email = 'lighthouse@example.com';
  const { project, api_key } = await admin.projects.create({
    name: 'Lighthouse',
    email,
    password: 'a fine password',
  });
  expect(api_key).toBeTypeOf('string');
  expect((await admin.projects.get(project.id)).name).toBe('Lighthouse');
  expect((await admin.projects.update(project.id, { name: 'Beacon' })).name).toBe('Beacon');
  expect((await admin.projects.setActive(project.id, false)).active).toBe(false);
  await admin.projects.setActive(project.id, true);
  expect((await admin.projects.rotateKey(project.id)).api_key).not.toBe(api_key);
  expect((await all(admin.projects.list({ limit: 1 }))).map(({ id }) => id)).toContain(project.id);
  expect((await all(admin.stats.projects({ limit: 1 }))).length).toBe(2);
  await admin.projects.delete(project.id);
  await admin.settings.setAuditRetention({ retention_days: 90 });
  expect(await admin.settings.getAuditRetention()).toEqual({ retention_days: 90 });
  const limit = await admin.settings.getRateLimit();
  expect(await admin.settings.setRateLimit(limit)).toEqual(limit);
  expect((await admin.audit.list({ action: 'project.create', limit: 10 }).page()).logs.length).toBe(2);
  expect((await admin.stats.global()).projects).toBeDefined();
  await auth.logout();
  await expect(auth.me()).rejects.toMatchObject({ code: 'UNAUTHORIZED', status: 401 });
});

it('an owner changes the password, enrols a second factor and logs in with it', async () => {
  const email = 'owner@example.com';
  const password = 'the first password';
  await connect({ token: served.admin }).admin.projects.create({ name: 'Pier', email, password });
  const anonymous = connect();
  const login = await anonymous.auth.login({ email, password });
  const { auth } = connect({ token: 'token' in login ? login.token : '' });
  expect(await auth.twoFactor.status()).toEqual({ enabled: false });
  const { secret } = await auth.twoFactor.enroll();
  const totp = new TOTP({ secret });
  const { recovery_codes } = await auth.twoFactor.activate(totp.generate());
  const challenge = await anonymous.auth.login({ email, password });
  if (!('challenge_token' in challenge)) throw new Error('no challenge');
  const [code = ''] = recovery_codes;
  const { token } = await anonymous.auth.twoFactor.login({
    challenge_token: challenge.challenge_token,
    code,
  });
  const session = connect({ token });
  expect(await session.auth.twoFactor.disable(recovery_codes[1] ?? '')).toEqual({ ok: true });
  await session.auth.changePassword({ currentPassword: password, newPassword: 'the second password' });
  await anonymous.auth.forgotPassword(email);
  const wrong = anonymous.auth.resetPassword({ token: 'not a token', newPassword: 'the third password' });
  await expect(wrong).rejects.toBeInstanceOf(PakhusError);
});

it('a page of the same origin needs no credential: the cookie of its session is enough', async () => {
  const origin = new URL(served.baseUrl).origin;
  const [email, password] = ['page@example.com', 'a fine password'];
  await connect({ token: served.admin }).admin.projects.create({ name: 'Quay', email, password });
  let cookie = '';
  const authorizations: (string | null)[] = [];
  /** What a browser does for a page of that origin. */
  const asBrowser: typeof fetch = async (input, init) => {
    const headers = new Headers(init?.headers);
    authorizations.push(headers.get('authorization'));
    headers.set('origin', origin);
    headers.set('cookie', cookie);
    const response = await noting(input, { ...init, headers });
    for (const set of response.headers.getSetCookie())
      if (set.startsWith('token=')) cookie = set.split(';')[0] ?? '';
    return response;
  };
  const page = createClient({ baseUrl: origin, fetch: asBrowser });
  await page.auth.login({ email, password });
  expect((await page.auth.me()).email).toBe(email);
  const user = await page.users.create({ externalId: 'cleo' });
  expect(await all(page.users.list({ q: 'CL' }))).toEqual([user]);
  expect(await all(page.users.list({ q: 'cl', usage_min: 90 }))).toEqual([]);
  for (const mode of ['form', 'resumable', 'direct'] as const)
    expect((await page.user(user).files.upload(new Blob(['hi']), { mode, name: mode })).size).toBe(2);
  await page.auth.logoutEverywhere();
  expect(cookie).toBe('token=');
  await expect(page.auth.me()).rejects.toMatchObject({ status: 401 });
  expect(new Set(authorizations)).toEqual(new Set([null]));
});

it('a project manages plans, keys and integrations, and reads its audit and statistics', async () => {
  const { project } = connect({ key: served.key });
  const plan = await project.plans.create({ name: 'Gold', maxFileSize: 10 * mib });
  expect((await project.plans.get(plan.id)).name).toBe('Gold');
  expect((await project.plans.update(plan.id, { maxFiles: 5 })).maxFiles).toBe(5);
  const before = (await all(project.plans.list())).find(({ is_default }) => is_default);
  expect((await project.plans.makeDefault(plan.id)).is_default).toBe(true);
  await project.plans.makeDefault(before?.id ?? '');
  await project.plans.delete(plan.id);
  const { key, api_key } = await project.keys.create({ name: 'cron' });
  expect((await all(connect({ key: api_key }).project.keys.list())).map(({ id }) => id)).toContain(key.id);
  await project.keys.revoke(key.id);
  const { integration } = await project.integrations.create({ name: 'web', scopes: ['files:read'] });
  expect((await project.integrations.get(integration.id)).name).toBe('web');
  expect((await project.integrations.update(integration.id, { name: 'page' })).name).toBe('page');
  expect((await project.integrations.rotateKey(integration.id)).api_key).toBeTypeOf('string');
  expect((await all(project.integrations.list())).length).toBe(1);
  await project.integrations.delete(integration.id);
  expect((await all(project.audit.list({ action: 'plan.create', limit: 1 }))).length).toBe(2);
  expect((await project.stats.overview()).storage).toBeDefined();
  expect(await all(project.usage({ from: '2026-01-01', to: '2026-01-31' }))).toEqual([]);
  expect((await project.stats.files()).by_mime).toEqual(expect.any(Array));
  expect((await project.stats.storage()).users).toBe(1);
  expect((await project.stats.requests()).days).toEqual(expect.any(Array));
});

it('a project follows its events, page by page or as a stream', async () => {
  const { users, user, project } = connect({ key: served.key });
  const { next_cursor: cursor } = await project.events().page();
  await users.create({ externalId: 'followed' });
  for await (const { type } of project.events({ cursor })) {
    expect(type).toBe('user.created');
    break;
  }
  const reader = (await project.events({ cursor, types: ['user.*'] }).stream()).body
    ?.pipeThrough(new TextDecoderStream())
    .getReader();
  let text = '';
  while (!text.includes('"followed"'))
    text += (await reader?.read())?.value ?? expect.fail('the stream ended');
  expect(text).toContain('event: user.created\ndata: {');
  await reader?.cancel();
  await user('followed').delete();
});

it('a project manages webhooks, and sees what became of their events', async () => {
  const got: { body: string; headers: IncomingHttpHeaders }[] = [];
  const receiver = createServer(async (request, response) => {
    got.push({ body: await text(request), headers: request.headers });
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  const { users, user, project } = connect({ key: served.key });
  const webhooks = await project.webhooks();
  const { webhook, secret } = await webhooks.create({ url, types: ['space.*'] });
  expect((await webhooks.update(webhook.id, { types: ['user.created'] })).types).toEqual(['user.created']);
  expect(await webhooks.get(webhook.id)).toMatchObject({ url, active: true });
  expect((await all(webhooks.list())).map(({ id }) => id)).toEqual([webhook.id]);
  const { secret: next } = await webhooks.rotateSecret(webhook.id);
  await users.create({ externalId: 'hooked' });
  const [delivery] = await expect
    .poll(() => all(webhooks.deliveries(webhook.id, { status: 'succeeded' })))
    .toHaveLength(1)
    .then(() => all(webhooks.deliveries(webhook.id)));
  expect((await webhooks.replay(webhook.id, delivery?.id ?? '')).event_id).toBe(delivery?.event_id);
  expect((await webhooks.test(webhook.id)).type).toBe('test');
  // A worker that was sending while something changed sends again.
  await expect.poll(() => got.map(({ body }) => JSON.parse(body).type)).toContain('test');
  for (const { body, headers } of got)
    expect((await verifyWebhook(body, headers, [secret, next])).id).toBe(headers['webhook-id']);
  await webhooks.delete(webhook.id);
  await user('hooked').delete();
  receiver.close();
});

it('a user has a plan, tokens, spaces and statistics', async () => {
  const client = connect({ key: served.key });
  const created = await client.users.create({ externalId: 'ben & co/√' });
  const ben = client.user('ben & co/√');
  expect((await ben.get()).id).toBe(created.id);
  expect((await client.user(created).get()).external_id).toBe('ben & co/√');
  expect((await all(client.users.list({ limit: 1 }))).length).toBe(2);
  const [plan] = await all(client.project.plans.list());
  expect((await ben.assignPlan(plan?.id ?? '')).id).toBe(created.id);
  expect((await ben.storage()).storageUsed).toBe(0);
  expect((await ben.stats()).files).toBe(0);
  const { token, jti } = await ben.tokens.mint({ scopes: ['files:read'] });
  expect((await all(connect({ token }).user().files.list())).length).toBe(0);
  await ben.tokens.revoke(jti);
  const space = await ben.spaces.create({ external_id: 'phone', name: 'Phone', password: 'a long password' });
  expect((await ben.spaces.get(space.id)).name).toBe('Phone');
  expect((await ben.spaces.update(space.id, { name: 'Tablet', scopes: ['files:read'] })).name).toBe('Tablet');
  await ben.spaces.setPassword(space.id, 'another password');
  expect((await all(ben.spaces.list())).length).toBe(1);
  const inSpace = await client.spaces.login({ external_id: 'phone', password: 'another password' });
  expect((await all(connect({ token: inSpace.token }).user().files.list())).length).toBe(0);
  await client.spaces.revokeToken(inSpace.jti);
  await ben.spaces.delete(space.id);
  expect((await ben.update({ active: false })).active).toBe(false);
  await ben.delete();
  await expect(ben.get()).rejects.toMatchObject({ code: 'NOT_FOUND', requestId: expect.any(String) });
});

it('files are uploaded in every way, listed, changed, downloaded and deleted', async () => {
  const { files, uploads, images } = connect({ key: served.key }).user('anna');
  const small = await files.upload('hello', { name: 'hello.txt', mimeType: 'text/plain', folder: 'docs' });
  expect(small).toMatchObject({ name: 'hello.txt', size: 5, folder: 'docs', mimeType: 'text/plain' });
  const remembered = new Map<string, string>();
  const content = new File([new Uint8Array(5 * mib)], 'large.bin', { lastModified: 1 });
  const options = { chunkSize: 2 * mib, resumeStore: remembered as unknown as ResumeStore };
  await new Promise<void>((resolve) => {
    const left = files.upload(content, {
      ...options,
      onProgress: ({ loaded }) => {
        if (loaded < 2 * mib) return;
        left.pause();
        resolve();
      },
    });
  });
  const large = await files.upload(content, options);
  const direct = await files.upload(new Uint8Array(5 * mib), { name: 'direct.bin', mode: 'direct' });
  expect([large.size, direct.size]).toEqual([5 * mib, 5 * mib]);
  expect((await all(files.list({ limit: 2 }))).length).toBe(3);
  expect(await all(files.folders())).toMatchObject([{ folder: 'docs' }, { file: {} }, { file: {} }]);
  const etags: (string | null)[] = [];
  const detail = await files.get(small.id, { onHeaders: (headers) => etags.push(headers.get('etag')) });
  const ifMatch = etags[0] ?? undefined;
  const changed = await files.update(detail.id, { tags: ['greeting'] }, { ifMatch });
  expect(changed.tags).toEqual(['greeting']);
  await expect(files.delete(small.id, { ifMatch })).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' });
  expect(await (await files.download(small.id)).text()).toBe('hello');
  expect(await (await files.download(small.id, { range: [1, 2] })).text()).toBe('el');
  await files.delete(small.id);
  const upload = await uploads.create({ name: 'a.bin', size: 1, mimeType: 'text/plain', mode: 'direct' });
  expect((await uploads.get(upload.id)).status).toBe('uploading');
  const [part] = await uploads.parts(upload.id, [1]);
  const sent = await fetch(part?.url ?? '', { method: 'PUT', body: 'a' });
  const whole = [{ number: 1, etag: sent.headers.get('etag') ?? '' }];
  expect((await uploads.complete(upload.id, whole)).size).toBe(1);
  const left = await uploads.create({ name: 'b.bin', size: 1, mimeType: 'text/plain' });
  await uploads.cancel(left.id);
  expect((await all(uploads.list())).map(({ status }) => status)).toContain('cancelled');
  const { job_id } = await images.upload(new Uint8Array(blankPng(64, 48)), {
    name: 'a.png',
    mimeType: 'image/png',
    preset: 'thumbnail',
  });
  expect(await connect({ key: served.key }).jobs.wait(job_id, { intervalMs: 50 })).toMatchObject({
    status: 'done',
  });
});

it('files are read through the service, zipped, copied, moved, trashed and restored', async () => {
  const { project, user, users } = connect({ key: served.key });
  await users.create({ externalId: 'dora' });
  const { files, folders } = user('dora');
  const expires_at = '2099-01-01T00:00:00.000Z';
  const note = await files.upload('hello', { name: 'Ürlaub.txt', folder: 'a/b', expires_at });
  expect(note.expires_at).toBe(expires_at);
  const whole = await files.content(note.id, { disposition: 'inline' });
  expect(await whole.text()).toBe('hello');
  const ifRange = whole.headers.get('etag') ?? '';
  const rest = await files.content(note.id, { range: [3], ifRange });
  expect([rest.status, await rest.text()]).toEqual([206, 'lo']);
  const copy = await files.copy(note.id, { name: 'copy.txt', folder: 'a' });
  expect(copy).toMatchObject({ name: 'copy.txt', folder: 'a', size: 5 });
  const byId = await files.zip({ ids: [note.id, copy.id] });
  expect(byId.headers.get('content-type')).toBe('application/zip');
  const bytes = Number(byId.headers.get('content-length'));
  expect((await byId.arrayBuffer()).byteLength).toBe(bytes);
  expect((await (await files.zip({ folder: '' })).arrayBuffer()).byteLength).toBe(bytes);
  expect(await folders.move({ from: 'a', to: 'c' })).toEqual({ files: 2 });
  expect(
    (await all(files.list({ q: 'URL', sort: 'name', order: 'desc' }))).map(({ folder }) => folder),
  ).toEqual(['c/b']);
  expect(await project.settings.update({ trash_days: 7 })).toEqual(await project.settings.get());
  await files.delete(note.id);
  expect((await all(files.list({ trashed: true }))).map(({ id }) => id)).toEqual([note.id]);
  expect((await files.restore(note.id)).folder).toBe('c/b');
  const ids = [note.id, copy.id];
  expect((await files.batch({ ids, action: 'update', set: { tags: ['x'] } })).files?.length).toBe(2);
  expect(await folders.delete({ prefix: 'c' })).toEqual({ files: 2 });
  for (const id of ids) await files.delete(id, { permanent: true });
  expect(await all(files.list({ trashed: true }))).toEqual([]);
  await project.settings.update({ trash_days: 0 });
});

it('files are shared by links, and images read as variants', async () => {
  const { project, user, users } = connect({ key: served.key });
  await users.create({ externalId: 'emil' });
  const emil = user('emil');
  const image = await emil.files.upload(new Uint8Array(blankPng(64, 48)), {
    name: 'a.png',
    mimeType: 'image/png',
  });
  const shares = await emil.shares();
  const { share, url } = await shares.create(image.id, { name: 'for ann', max_downloads: 2 });
  expect((await fetch(`${url}/download`)).status).toBe(200);
  expect((await shares.get(image.id, share.id)).downloads).toBe(1);
  expect((await shares.update(image.id, share.id, { active: false })).active).toBe(false);
  expect((await fetch(`${url}/download`)).status).toBe(404);
  expect((await all(shares.list())).map(({ id }) => id)).toEqual([share.id]);
  expect((await all(shares.listOf(image.id, { limit: 1 }))).length).toBe(1);
  await shares.delete(image.id, share.id);
  expect((await shares.listOf(image.id).page()).shares).toEqual([]);
  const variants = await project.variants();
  const small = await variants.create({ name: 'small', format: 'webp', width: 16, fit: 'inside' });
  expect(await variants.get('small')).toEqual(small);
  expect(await emil.files.variant(image.id, 'small')).toMatchObject({ width: 16, height: 12 });
  const content = await emil.files.content(image.id, { variant: 'small' });
  expect(content.headers.get('content-type')).toBe('image/webp');
  await content.body?.cancel();
  expect((await variants.update('small', { width: 8 })).width).toBe(8);
  expect((await all(variants.list())).map(({ name }) => name)).toEqual(['small']);
  await variants.delete('small');
});

it('content is asked for again with a new token, and an image in the making waited for', async () => {
  const { project, user, users } = connect({ key: served.key });
  await users.create({ externalId: 'fred' });
  const { id } = await user('fred').files.upload(new Uint8Array(blankPng(64, 48)), {
    name: 'a.png',
    mimeType: 'image/png',
  });
  await (await project.variants()).create({ name: 'tiny', format: 'webp', width: 8, fit: 'inside' });
  const statuses: number[] = [];
  let pending = 2;
  const patient = createClient({
    baseUrl: served.baseUrl,
    token: async () => (statuses.length === 0 ? 'expired' : served.key),
    fetch: async (input, init) => {
      const real = await fetch(input, init);
      const isPending = real.ok && pending-- > 0;
      const headers = { 'retry-after': '0.01', 'content-type': 'application/json' };
      const answer = isPending ? new Response('{"status":"pending"}', { status: 202, headers }) : real;
      statuses.push(answer.status);
      return answer;
    },
  });
  const { files } = patient.user('fred');
  const response = await files.content(id, { variant: 'tiny' });
  expect([response.headers.get('content-type'), statuses]).toEqual(['image/webp', [401, 202, 202, 200]]);
  await response.body?.cancel();
  pending = 1;
  expect(await files.variant(id, 'tiny')).toMatchObject({ width: 8, height: 6 });
  pending = 1_000_000;
  const signal = AbortSignal.timeout(50);
  await expect(files.variant(id, 'tiny', { signal })).rejects.toMatchObject({ name: 'TimeoutError' });
});

it('an upload that is aborted gives back its room', async () => {
  const { files, storage } = connect({ key: served.key }).user('anna');
  const endless = async function* () {
    for (;;) {
      yield new Uint8Array(mib);
      await delay(1);
    }
  };
  const task = files.upload(endless(), { name: 'endless.bin', chunkSize: mib });
  await expect.poll(async () => (await storage()).storageReserved).toBeGreaterThan(0);
  task.abort();
  await expect(task).rejects.toMatchObject({ name: 'AbortError' });
  await expect.poll(async () => (await storage()).storageReserved).toBe(0);
});

it('no route was left out', () => {
  expect([...called].sort()).toEqual([...new Set(operations.map(({ name }) => name))].sort());
});
