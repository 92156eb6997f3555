// Sends the request examples of the document unchanged: they must work when copied.
import { randomUUID } from 'node:crypto';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isPublic } from '../../src/contract/route.ts';
import { openApiDocument } from '../../src/http/openapi.ts';
import { type Endpoint, endpoints } from '../../src/http/route-table.ts';
import { codeOf, guard } from '../support/accounts.ts';
import { linkOf, outboxTo } from '../support/mail.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import {
  adminSession,
  createIntegration,
  createPlan,
  createTenant,
  createUser,
  logIn,
  mintToken,
  sessionOf,
  type Tenant,
  unique,
} from '../support/tenants.ts';
import { contentTypeOf, formOf, upload } from '../support/uploads.ts';
import { createWebhook } from '../support/webhooks.ts';

type Json = Record<string, unknown>;

let service: TestPakhus;
let admin: string;
beforeAll(async () => {
  // The host of the example does not exist.
  service = await startTestPakhus({ WEBHOOK_ALLOW_PRIVATE: 'true' });
  admin = await adminSession(service.api);
});
afterAll(() => service.stop());

interface Operation {
  readonly requestBody?: { readonly content: Record<string, { readonly example: Json }> };
}

const { paths } = openApiDocument('test') as { paths: Record<string, Record<string, Operation>> };

function exampleOf({ path, route }: Endpoint): Json {
  const operation = paths[path.replace(/:(\w+)/g, '{$1}')]?.[route.method.toLowerCase()];
  return Object.values(operation?.requestBody?.content ?? {})[0]?.example ?? {};
}

/** A tenant with one of every resource that a path can name. */
interface World {
  readonly tenant: Tenant;
  readonly session: string;
  readonly user: { id: string; externalId: string };
  readonly ids: Record<string, string>;
}

async function createWorld(): Promise<World> {
  const tenant = await createTenant(service.api, admin);
  const user = await createUser(service.api, tenant.key);
  const plan = await createPlan(service.api, tenant.key, { maxFileSize: 10_000_000 });
  const integration = await createIntegration(service.api, tenant.key);
  const path = `/project/users/${user.id}`;
  const space = await service.api.post(`${path}/spaces`, tenant.key, {
    external_id: unique('space'),
    name: 'A space',
  });
  const { body } = await upload(service.api, tenant.key, path, 'a file');
  const direct = { name: 'a', mimeType: 'text/plain', size: 5, mode: 'direct' };
  const begun = await service.api.post(`${path}/uploads`, tenant.key, direct);
  const shared = await service.api.post(`${path}/files/${body.file.id}/shares`, tenant.key, {});
  const webhook = await createWebhook(service.api, tenant.key, 'https://hooks.example.com/in', {
    active: false,
  });
  const variant = { name: unique('preview'), format: 'webp', width: 8 };
  expect((await service.api.post('/project/variants', tenant.key, variant)).status).toBe(201);
  return {
    tenant,
    user,
    session: await sessionOf(service.api, tenant.email, tenant.password),
    ids: {
      userId: user.id,
      externalId: user.externalId,
      projectId: tenant.id,
      planId: plan.id,
      id: integration.id,
      spaceId: space.body.space.id,
      fileId: body.file.id,
      shareId: shared.body.share.id,
      uploadId: begun.body.upload.id,
      webhookId: webhook.id,
      name: variant.name,
    },
  };
}

/** Values an example cannot know: secrets and required ids. Everything else is sent as shown. */
const secrets: Record<string, (world: World) => Promise<Json>> = {
  'auth.login': async ({ tenant }) => ({ email: tenant.email, password: tenant.password }),
  'auth.changePassword': async ({ tenant }) => ({ currentPassword: tenant.password }),
  'auth.resetPassword': async ({ tenant }) => {
    await service.api.post('/auth/forgot-password', undefined, { email: tenant.email });
    const [mail] = await outboxTo(service.dataDir, tenant.email);
    if (!mail) throw new Error('no mail');
    return { token: new URL(linkOf(mail)).searchParams.get('token') };
  },
  'auth.activate2fa': async ({ session }) => {
    const { secret } = (await service.api.post('/auth/2fa/enroll', session)).body;
    return { code: codeOf(service, secret) };
  },
  'auth.disable2fa': async ({ tenant }) => ({ code: (await guard(service, tenant)).recoveryCodes[0] }),
  'auth.login2fa': async ({ tenant }) => {
    const { recoveryCodes } = await guard(service, tenant);
    const { challenge_token } = (await logIn(service.api, tenant.email, tenant.password)).body;
    return { challenge_token, code: recoveryCodes[0] };
  },
  'batch.run': async ({ ids }) => ({ ids: [ids.fileId] }),
  'users.assignPlan': async ({ ids }) => ({ planId: ids.planId }),
  'tokens.revoke': async ({ tenant, user }) => ({
    jti: (await mintToken(service.api, tenant.key, user.id)).jti,
  }),
  'spaces.login': async ({ tenant, ids }) => {
    const at = `/project/users/${ids.userId}/spaces/${ids.spaceId}`;
    await service.api.put(`${at}/credentials`, tenant.key, { password: '4711' });
    const { external_id } = (await service.api.get(at, tenant.key)).body.space;
    return { external_id, password: '4711' };
  },
  'uploads.complete': async ({ tenant, ids }) => {
    const at = `/project/users/${ids.userId}/uploads/${ids.uploadId}/parts`;
    const [part] = (await service.api.post(at, tenant.key, { numbers: [1] })).body.parts;
    const { headers } = await fetch(part.url, { method: 'PUT', body: 'bytes' });
    return { parts: [{ number: 1, etag: headers.get('etag') }] };
  },
  'spaces.revokeToken': async () => ({ jti: randomUUID() }),
};

function callerFor({ route: { access } }: Endpoint, { tenant, session }: World): string | undefined {
  if (isPublic(access)) return undefined;
  if (!access.actors.includes('project')) return admin;
  return access.session ? session : tenant.key;
}

/** Form fields as a page sends them: lists and objects as JSON. */
function formFrom(example: Json, bytes: Buffer): Buffer {
  return formOf(
    Object.entries(example).map(([name, value]) =>
      value === '(bytes)'
        ? { name, filename: 'example.png', contentType: 'image/png', value: bytes }
        : { name, value: typeof value === 'object' ? JSON.stringify(value) : String(value) },
    ),
  );
}

const withBody = endpoints.filter(({ route }) => route.body);

test.each(withBody.map((endpoint) => [endpoint.operationId, endpoint] as const))(
  'example of %s: sent as it is, it does what the route is for',
  async (_name, endpoint) => {
    const { route, path } = endpoint;
    const world = await createWorld();
    const filled = path.replace(/:(\w+)/g, (_, name: string) => world.ids[name] ?? name);
    const body = { ...exampleOf(endpoint), ...(await secrets[route.id]?.(world)) };
    const headers = { 'x-forwarded-for': randomUUID() };
    const as = callerFor(endpoint, world);
    const png = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    const reply = await service.api.call(route.method, filled, {
      as,
      ...(route.multipart
        ? { raw: formFrom(body, png), headers: { ...headers, 'content-type': contentTypeOf() } }
        : { body, headers }),
    });
    expect([reply.status, reply.text]).toEqual([route.returns.status, expect.anything()]);
  },
);

test('examples contain no optional id and no digest, which would not exist when copied', () => {
  const named = withBody.flatMap((endpoint) => {
    const required: readonly string[] = endpoint.route.body?.required ?? [];
    return Object.entries(exampleOf(endpoint))
      .filter(
        ([name, value]) => !required.includes(name) && /^[0-9a-f-]{36}$|^[0-9a-f]{64}$/.test(String(value)),
      )
      .map(([name]) => `${endpoint.operationId}: ${name}`);
  });
  expect(named).toEqual([]);
});
