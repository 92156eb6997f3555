// Every endpoint as every kind of caller. The expected result is computed here from the declared access, by an oracle that
// shares no code with the guards.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type GuardedAccess, isPublic, type Route } from '../../src/contract/route.ts';
import { type Scope, scopes } from '../../src/contract/scope.ts';
import { exampleOf } from '../../src/http/openapi.ts';
import { apiPrefix, type Endpoint, endpoints } from '../../src/http/route-table.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { createLiveSpace } from '../support/spaces.ts';
import {
  adminSession,
  createIntegration,
  createPlan,
  createTenant,
  createUser,
  mintToken,
  sessionOf,
  type Tenant,
  unique,
} from '../support/tenants.ts';
import { createWebhook } from '../support/webhooks.ts';

interface World {
  readonly tenant: Tenant;
  /** Values of path parameters. */
  readonly ids: Readonly<Record<string, string>>;
  readonly stranger: { readonly id: string };
  readonly credentials: Map<string, Promise<string>>;
}

let service: TestPakhus;
let admin: string;
let ours: World;
let theirs: World;

beforeAll(async () => {
  service = await startTestPakhus({ JWT_EXPIRES_IN: '1h', WEBHOOK_ALLOW_PRIVATE: 'true' });
  admin = await adminSession(service.api);
  [ours, theirs] = await Promise.all([buildWorld(), buildWorld()]);
});
afterAll(() => service.stop());

async function buildWorld(): Promise<World> {
  const { api } = service;
  const tenant = await createTenant(api, admin);
  const [plan, user, stranger, integration, key] = await Promise.all([
    createPlan(api, tenant.key),
    createUser(api, tenant.key),
    createUser(api, tenant.key),
    createIntegration(api, tenant.key),
    api.post('/project/keys', tenant.key, {}),
  ]);
  const space = await createLiveSpace(service, tenant.id, user.id, scopes);
  const webhook = await createWebhook(api, tenant.key, 'https://hooks.example.com/in', { active: false });
  const variant = { name: unique('preview'), format: 'webp', width: 8 };
  expect((await api.post('/project/variants', tenant.key, variant)).status).toBe(201);
  const ids = {
    projectId: tenant.id,
    planId: plan.id,
    userId: user.id,
    externalId: user.externalId,
    id: integration.id,
    keyId: key.body.key.id,
    spaceId: space.id,
    webhookId: webhook.id,
    name: variant.name,
  };
  return { tenant, ids, stranger, credentials: new Map() };
}

type Kind = 'admin' | 'project' | 'integration' | 'user' | 'space';

interface CallerKind {
  readonly name: string;
  /** Null: no credential that any guard accepts. */
  readonly kind: Kind | null;
  readonly session?: true;
  readonly holds: 'every scope' | 'every other scope' | 'no scope';
  /** Whose credential it is, relative to the ids in the path. */
  readonly of: 'this user' | 'another user' | 'another tenant';
  make(world: World, lacking: Scope | undefined): Promise<string | undefined>;
}

const without = (lacking: Scope | undefined): Scope[] => scopes.filter((scope) => scope !== lacking);
const idOf = (world: World, name: string): string => world.ids[name] ?? '';
// devMode, because this suite tests authority; rate-limits.test.ts tests the limits.
const integrationKey = async (world: World, held: readonly Scope[]) =>
  (await createIntegration(service.api, world.tenant.key, { scopes: held, devMode: true })).key;
const userToken = async (world: World, userId: string, held: readonly Scope[]) =>
  (await mintToken(service.api, world.tenant.key, userId, held)).token;
const spaceToken = async (world: World, userId: string, held: readonly Scope[]) =>
  (await createLiveSpace(service, world.tenant.id, userId, held)).token;

const callers: readonly CallerKind[] = [
  { name: 'nobody', kind: null, holds: 'no scope', of: 'this user', make: async () => undefined },
  {
    name: 'two-factor challenge',
    kind: null,
    holds: 'no scope',
    of: 'this user',
    make: async ({ tenant }) =>
      service.pakhus.deps.tokens.sign({
        sub: tenant.id,
        role: '2fa_challenge',
        pid: tenant.id,
        ttlMs: 300_000,
      }).token,
  },
  {
    name: 'admin session',
    kind: 'admin',
    session: true,
    holds: 'every scope',
    of: 'this user',
    make: () => adminSession(service.api),
  },
  {
    name: 'project session',
    kind: 'project',
    session: true,
    holds: 'every scope',
    of: 'this user',
    make: ({ tenant }) => sessionOf(service.api, tenant.email, tenant.password),
  },
  {
    name: 'project key',
    kind: 'project',
    holds: 'every scope',
    of: 'this user',
    make: async ({ tenant }) => tenant.key,
  },
  {
    name: 'integration with every scope',
    kind: 'integration',
    holds: 'every scope',
    of: 'this user',
    make: (world) => integrationKey(world, scopes),
  },
  {
    name: "integration with every scope but the route's",
    kind: 'integration',
    holds: 'every other scope',
    of: 'this user',
    make: (world, lacking) => integrationKey(world, without(lacking)),
  },
  {
    name: 'integration without scopes',
    kind: 'integration',
    holds: 'no scope',
    of: 'this user',
    make: (world) => integrationKey(world, []),
  },
  {
    name: 'user token with every scope',
    kind: 'user',
    holds: 'every scope',
    of: 'this user',
    make: (world) => userToken(world, idOf(world, 'userId'), scopes),
  },
  {
    name: "user token with every scope but the route's",
    kind: 'user',
    holds: 'every other scope',
    of: 'this user',
    make: (world, lacking) => userToken(world, idOf(world, 'userId'), without(lacking)),
  },
  {
    name: 'user token of another user',
    kind: 'user',
    holds: 'every scope',
    of: 'another user',
    make: (world) => userToken(world, world.stranger.id, scopes),
  },
  {
    name: 'space token with every scope',
    kind: 'space',
    holds: 'every scope',
    of: 'this user',
    make: (world) => spaceToken(world, idOf(world, 'userId'), scopes),
  },
  {
    name: "space token with every scope but the route's",
    kind: 'space',
    holds: 'every other scope',
    of: 'this user',
    make: (world, lacking) => spaceToken(world, idOf(world, 'userId'), without(lacking)),
  },
  {
    name: "space token of another user's space",
    kind: 'space',
    holds: 'every scope',
    of: 'another user',
    make: (world) => spaceToken(world, world.stranger.id, scopes),
  },
  {
    name: "another tenant's project key",
    kind: 'project',
    holds: 'every scope',
    of: 'another tenant',
    make: async () => theirs.tenant.key,
  },
  {
    name: "another tenant's integration",
    kind: 'integration',
    holds: 'every scope',
    of: 'another tenant',
    make: () => integrationKey(theirs, scopes),
  },
  {
    name: "another tenant's user token",
    kind: 'user',
    holds: 'every scope',
    of: 'another tenant',
    make: () => userToken(theirs, idOf(theirs, 'userId'), scopes),
  },
  {
    name: "another tenant's space token",
    kind: 'space',
    holds: 'every scope',
    of: 'another tenant',
    make: () => spaceToken(theirs, idOf(theirs, 'userId'), scopes),
  },
];

type Expected = 401 | 403 | 404 | 'allowed' | 'open';

function expectedOf({ route, path, subjectBy }: Endpoint, caller: CallerKind): Expected {
  if (isPublic(route.access)) return 'open';
  const access: GuardedAccess = route.access;
  if (caller.kind === null) return 401;
  if (!access.actors.includes(caller.kind) || (access.session && !caller.session)) return 403;
  const delegated = caller.kind === 'user' || caller.kind === 'space';
  if (delegated && subjectBy && caller.of !== 'this user') return 404;
  const unlimited = caller.kind === 'admin' || caller.kind === 'project' || caller.holds === 'every scope';
  if (access.scopeByBody && caller.holds === 'no scope' && !unlimited) return 403;
  if (access.scope && !access.scopeless?.includes(caller.kind) && !unlimited) return 403;
  // Without an id in the path there is nothing for another tenant to reach.
  return caller.of === 'another tenant' && path.includes('/:') ? 404 : 'allowed';
}

/** A permitted call may delete what later cases need, so it gets its own world. */
const isHarmless = (expected: Expected, method: string): boolean =>
  expected !== 'allowed' || method === 'GET';

async function callAs(endpoint: Endpoint, caller: CallerKind, expected: Expected) {
  const { route, path } = endpoint;
  const fresh = !isHarmless(expected, route.method);
  const world = fresh ? await buildWorld() : ours;
  const lacking = isPublic(route.access) ? undefined : route.access.scope;
  const slot = `${caller.name} ${caller.holds === 'every other scope' ? lacking : ''}`;
  const credential = fresh
    ? await caller.make(world, lacking)
    : await (world.credentials.get(slot) ?? remember(world, slot, caller.make(world, lacking)));
  const filled = path.replace(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(world.ids[name] ?? randomUUID()),
  );
  return service.api.call(route.method, filled, {
    as: credential,
    headers: {
      // A different address for each call, so that the login limiter does not interfere.
      'x-forwarded-for': randomUUID(),
      ...(route.multipart ? { 'content-type': 'multipart/form-data; boundary=x' } : {}),
      ...(route.dialect ? dialects[route.dialect] : {}),
    },
    ...(route.multipart ? { raw: '--x--\r\n' } : route.body ? { body: exampleOf(route.body) } : {}),
  });
}

/** The headers that choose the dialect, of a valid creation. */
const dialects: Readonly<Record<NonNullable<Route['dialect']>, Record<string, string>>> = {
  tus: { 'tus-resumable': '1.0.0', 'upload-length': '1' },
  draft: { 'upload-complete': '?0', 'upload-length': '1' },
};

function remember(world: World, slot: string, made: Promise<string | undefined>) {
  world.credentials.set(slot, made as Promise<string>);
  return made;
}

const fits = (status: number, expected: Expected, { errors }: Route): boolean => {
  // A route that checks a password or a signature may refuse any caller.
  const judges =
    (status === 401 && errors.includes('UNAUTHORIZED')) || (status === 403 && errors.includes('FORBIDDEN'));
  if (expected === 'allowed' || expected === 'open')
    return judges || (status !== 401 && status !== 403 && status < 500);
  return status === expected;
};

describe('access: every caller gets what the route declares', () => {
  for (const endpoint of endpoints) {
    test(nameOf(endpoint), async () => {
      const tryAs = async (caller: CallerKind) => {
        const expected = expectedOf(endpoint, caller);
        const { status, text } = await callAs(endpoint, caller, expected);
        return fits(status, expected, endpoint.route)
          ? []
          : [`${caller.name}: ${status} instead of ${expected}: ${text}`];
      };
      // The admin last, because this ends the sessions that the other cases need.
      const endsAll = endpoint.route.id === 'auth.logoutEverywhere';
      const isLast = ({ kind }: CallerKind) => endsAll && kind === 'admin';
      const surprises = await Promise.all(callers.filter((caller) => !isLast(caller)).map(tryAs));
      for (const caller of callers.filter(isLast)) surprises.push(await tryAs(caller));
      if (endsAll) {
        admin = await adminSession(service.api);
        ours.credentials.clear();
      }
      expect(surprises.flat()).toEqual([]);
    });
  }
});

test('access: an invalid credential of any kind is 401 on every guarded endpoint', async () => {
  const { tokens } = service.pakhus.deps;
  const dead = [
    `pak_${'0'.repeat(64)}`,
    'pak_short',
    'not-a-token',
    ...(['admin', 'project', 'user', 'space'] as const).map(
      (role) =>
        tokens.sign({
          sub: randomUUID(),
          role,
          pid: ours.tenant.id,
          uid: randomUUID(),
          ttlMs: 60_000,
          scopes,
        }).token,
    ),
  ];
  const guarded = endpoints.filter(({ route }) => !isPublic(route.access));
  const surprises: string[] = [];
  for (const { route, path } of guarded) {
    const filled = path.replace(/:(\w+)/g, (_, name: string) => ours.ids[name] ?? randomUUID());
    const replies = await Promise.all(dead.map((as) => service.api.call(route.method, filled, { as })));
    replies.forEach(({ status }, at) => {
      if (status !== 401) surprises.push(`${route.method} ${path} with ${dead[at]}: ${status}`);
    });
  }
  expect(surprises).toEqual([]);
});

const nameOf = ({ route, path }: Endpoint): string =>
  `${route.method} ${path}${route.dialect ? ` by ${route.dialect}` : ''}`;

describe('pinned: opening a route must change this file', () => {
  test('public routes', () => {
    expect(endpoints.filter(({ route }) => isPublic(route.access)).map(nameOf)).toEqual([
      'GET /health',
      'POST /auth/login',
      'POST /auth/forgot-password',
      'POST /auth/reset-password',
      'POST /auth/2fa/login',
      'GET /objects/:projectId/:fileId',
      'PUT /objects/:projectId/:uploadId/parts/:number',
      'HEAD /uploads/:token',
      'PATCH /uploads/:token',
      'DELETE /uploads/:token',
    ]);
  });

  test('public pages beside the table', async () => {
    const origin = service.baseUrl.slice(0, -apiPrefix.length);
    const pages = [
      '/openapi.json',
      '/reference',
      '/docs',
      '/reference/assets/start.js',
      '/reference/assets/page.css',
      '/reference/assets/swagger-ui-bundle.js',
      '/reference/assets/swagger-ui.css',
    ];
    for (const page of pages) expect((await service.api.get(page)).status, page).toBe(200);
    for (const door of ['/', '/docs', apiPrefix, `${apiPrefix}/`])
      expect((await fetch(`${origin}${door}`)).status, door).toBe(200);
    for (const closed of ['/api', '/reference', `${apiPrefix}/reference/assets/..%2f..%2fpackage.json`]) {
      expect((await fetch(`${origin}${closed}`)).status, closed).toBe(404);
    }
  });

  test('admin routes', () => {
    const admins = endpoints.filter(
      ({ route }) => !isPublic(route.access) && route.access.actors.includes('admin'),
    );
    expect(admins.map(nameOf)).toEqual([
      'POST /auth/logout',
      'POST /auth/logout-everywhere',
      'GET /auth/me',
      'PUT /auth/change-password',
      'POST /auth/2fa/enroll',
      'POST /auth/2fa/activate',
      'POST /auth/2fa/disable',
      'GET /auth/2fa/status',
      'GET /admin/projects',
      'POST /admin/projects',
      'GET /admin/projects/:projectId',
      'PATCH /admin/projects/:projectId',
      'PATCH /admin/projects/:projectId/status',
      'POST /admin/projects/:projectId/rotate-key',
      'DELETE /admin/projects/:projectId',
      'GET /admin/settings/audit-retention',
      'PUT /admin/settings/audit-retention',
      'GET /admin/settings/rate-limit',
      'PUT /admin/settings/rate-limit',
      'GET /admin/audit',
      'GET /admin/stats/global',
      'GET /admin/stats/projects',
    ]);
  });

  test('only an admin can call routes below /admin, and no admin can call routes below /project', () => {
    for (const endpoint of endpoints) {
      const { access } = endpoint.route;
      if (isPublic(access)) continue;
      if (endpoint.path.startsWith('/admin/')) expect(access.actors, nameOf(endpoint)).toEqual(['admin']);
      if (endpoint.path.startsWith('/project/'))
        expect(access.actors, nameOf(endpoint)).not.toContain('admin');
    }
  });

  test('changes without an audit row', () => {
    const isRead = ({ route }: Endpoint) => route.method === 'GET' || route.method === 'HEAD';
    const silent = endpoints.filter((endpoint) => !isRead(endpoint) && endpoint.route.audit === null);
    // They carry the bytes of an upload: its creation and its end are recorded.
    expect(silent.map(nameOf)).toEqual([
      'POST /project/users/:userId/uploads/:uploadId/parts',
      'POST /project/users/ext/:externalId/uploads/:uploadId/parts',
      'PUT /objects/:projectId/:uploadId/parts/:number',
      'PATCH /uploads/:token',
    ]);
  });

  test('routes that user and space tokens may call', () => {
    const delegated = endpoints.filter(
      ({ route }) =>
        !isPublic(route.access) && route.access.actors.some((actor) => actor === 'user' || actor === 'space'),
    );
    expect(delegated.map(nameOf)).toEqual([
      'GET /project/plans/:planId',
      'GET /project/users/:userId',
      'GET /project/users/ext/:externalId',
      'GET /project/users/:userId/storage',
      'GET /project/users/ext/:externalId/storage',
      'GET /project/users/:userId/spaces',
      'GET /project/users/ext/:externalId/spaces',
      'POST /project/users/:userId/spaces',
      'POST /project/users/ext/:externalId/spaces',
      'GET /project/users/:userId/spaces/:spaceId',
      'GET /project/users/ext/:externalId/spaces/:spaceId',
      'PUT /project/users/:userId/spaces/:spaceId',
      'PUT /project/users/ext/:externalId/spaces/:spaceId',
      'DELETE /project/users/:userId/spaces/:spaceId',
      'DELETE /project/users/ext/:externalId/spaces/:spaceId',
      'PUT /project/users/:userId/spaces/:spaceId/credentials',
      'PUT /project/users/ext/:externalId/spaces/:spaceId/credentials',
      'POST /project/spaces/token/revoke',
      'POST /project/users/:userId/files',
      'POST /project/users/ext/:externalId/files',
      'GET /project/users/:userId/files',
      'GET /project/users/ext/:externalId/files',
      'GET /project/users/:userId/files/folders',
      'GET /project/users/ext/:externalId/files/folders',
      'GET /project/users/:userId/files/:fileId',
      'GET /project/users/ext/:externalId/files/:fileId',
      'PUT /project/users/:userId/files/:fileId',
      'PUT /project/users/ext/:externalId/files/:fileId',
      'DELETE /project/users/:userId/files/:fileId',
      'DELETE /project/users/ext/:externalId/files/:fileId',
      'POST /project/users/:userId/files/batch',
      'POST /project/users/ext/:externalId/files/batch',
      'POST /project/users/:userId/folders/move',
      'POST /project/users/ext/:externalId/folders/move',
      'DELETE /project/users/:userId/folders',
      'DELETE /project/users/ext/:externalId/folders',
      'POST /project/users/:userId/files/:fileId/copy',
      'POST /project/users/ext/:externalId/files/:fileId/copy',
      'POST /project/users/:userId/files/:fileId/restore',
      'POST /project/users/ext/:externalId/files/:fileId/restore',
      'GET /project/users/:userId/files/:fileId/content',
      'GET /project/users/ext/:externalId/files/:fileId/content',
      'GET /project/users/:userId/shares',
      'GET /project/users/ext/:externalId/shares',
      'GET /project/users/:userId/files/:fileId/shares',
      'GET /project/users/ext/:externalId/files/:fileId/shares',
      'POST /project/users/:userId/files/:fileId/shares',
      'POST /project/users/ext/:externalId/files/:fileId/shares',
      'GET /project/users/:userId/files/:fileId/shares/:shareId',
      'GET /project/users/ext/:externalId/files/:fileId/shares/:shareId',
      'PUT /project/users/:userId/files/:fileId/shares/:shareId',
      'PUT /project/users/ext/:externalId/files/:fileId/shares/:shareId',
      'DELETE /project/users/:userId/files/:fileId/shares/:shareId',
      'DELETE /project/users/ext/:externalId/files/:fileId/shares/:shareId',
      'GET /project/users/:userId/files/zip',
      'GET /project/users/ext/:externalId/files/zip',
      'POST /project/users/:userId/uploads',
      'POST /project/users/ext/:externalId/uploads',
      'POST /project/users/:userId/uploads by tus',
      'POST /project/users/ext/:externalId/uploads by tus',
      'POST /project/users/:userId/uploads by draft',
      'POST /project/users/ext/:externalId/uploads by draft',
      'GET /project/users/:userId/uploads',
      'GET /project/users/ext/:externalId/uploads',
      'GET /project/users/:userId/uploads/:uploadId',
      'GET /project/users/ext/:externalId/uploads/:uploadId',
      'DELETE /project/users/:userId/uploads/:uploadId',
      'DELETE /project/users/ext/:externalId/uploads/:uploadId',
      'POST /project/users/:userId/uploads/:uploadId/parts',
      'POST /project/users/ext/:externalId/uploads/:uploadId/parts',
      'POST /project/users/:userId/uploads/:uploadId/complete',
      'POST /project/users/ext/:externalId/uploads/:uploadId/complete',
      'POST /project/users/:userId/images',
      'POST /project/users/ext/:externalId/images',
      'GET /project/jobs/:jobId',
      'GET /project/variants',
      'GET /project/variants/:name',
      'GET /project/users/:userId/files/:fileId/variants/:name',
      'GET /project/users/ext/:externalId/files/:fileId/variants/:name',
      'GET /project/users/:userId/stats',
      'GET /project/users/ext/:externalId/stats',
    ]);
  });
});
