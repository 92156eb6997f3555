// End-users over HTTP.

import { route } from '../../contract/route.ts';
import { controls, ExternalId, Listing, Nullable, pageQuery, Uuid } from '../../contract/wire.ts';
import { Type } from '../../kernel/schema.ts';
import { assignPlan, createUser, listProjectUsers, removeUser, setUserActive } from './users.service.ts';
import { buildSnapshot, StorageSnapshot, UserView, viewUser } from './users.wire.ts';

const UserQuery = Type.Object({
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      pattern: `^[^${controls}]*$`,
      description: 'The beginning of the external id; case does not matter.',
      examples: ['customer-'],
    }),
  ),
  usage_min: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1000,
      description:
        'Only users whose `usagePercent` is at least this. Users without a storage limit never match.',
      examples: [90],
    }),
  ),
  ...pageQuery(50),
});

const oneUser = Type.Object({ user: UserView });

export const userRoutes = [
  route(
    {
      id: 'users.list',
      method: 'GET',
      path: '/project/users',
      summary: 'List users with plan and quota',
      description:
        'Newest first; with `q`, ordered by external id, ignoring case. A cursor continues the order that it is from: with `q` added or removed it is a validation error.',
      access: { actors: ['project', 'integration'], scope: 'users:read' },
      rateLimit: 'integration',
      audit: null,
      query: UserQuery,
      returns: { status: 200, body: Listing('users', UserView) },
      errors: [],
    },
    async ({ deps, actor, query }) => {
      const { users, next_cursor } = await listProjectUsers(deps, actor.projectId, query);
      return { users: users.map(viewUser), next_cursor };
    },
  ),
  route(
    {
      id: 'users.create',
      method: 'POST',
      path: '/project/users',
      summary: 'Create a user',
      description:
        'Without `planId`, the user gets the current default plan, and keeps it when the default changes. A user created while the project has no plan has none of its own: whichever plan is the default applies, until one is assigned.',
      access: { actors: ['project', 'integration'], scope: 'users:write' },
      rateLimit: 'integration',
      idempotent: true,
      audit: 'user.create',
      body: Type.Object({ externalId: ExternalId, planId: Type.Optional(Nullable(Uuid)) }),
      returns: { status: 201, body: oneUser },
      errors: ['CONFLICT', 'NOT_FOUND'],
    },
    async ({ deps, actor, body, audit }) => ({
      user: viewUser(await createUser(deps, actor.projectId, body, audit)),
    }),
  ),
  route(
    {
      id: 'users.read',
      method: 'GET',
      path: '/project/users/:user',
      summary: 'Read a user',
      access: { actors: ['project', 'integration', 'user', 'space'], scope: 'users:read' },
      rateLimit: 'integration',
      audit: null,
      returns: { status: 200, body: oneUser },
      errors: [],
    },
    async ({ user }) => ({ user: viewUser(user) }),
  ),
  route(
    {
      id: 'users.update',
      method: 'PUT',
      path: '/project/users/:user',
      summary: 'Activate or deactivate a user',
      description:
        'An inactive user cannot upload, and its tokens and those of its spaces are refused. The external id cannot change.',
      access: { actors: ['project', 'integration'], scope: 'users:write' },
      rateLimit: 'integration',
      audit: 'user.update',
      body: Type.Object({ active: Type.Optional(Type.Boolean({ examples: [false] })) }),
      returns: { status: 200, body: oneUser },
      errors: [],
    },
    async ({ deps, actor, user, body, audit }) => ({
      user: viewUser(await setUserActive(deps, actor.projectId, user.id, body.active, audit)),
    }),
  ),
  route(
    {
      id: 'users.delete',
      method: 'DELETE',
      path: '/project/users/:user',
      summary: 'Delete a user with its spaces, files and tokens',
      access: { actors: ['project', 'integration'], scope: 'users:write' },
      rateLimit: 'integration',
      audit: 'user.delete',
      returns: { status: 204 },
      errors: ['LOCKED'],
    },
    async ({ deps, actor, user, audit }) => removeUser(deps, actor.projectId, user.id, audit),
  ),
  route(
    {
      id: 'users.assignPlan',
      method: 'PUT',
      path: '/project/users/:user/plan',
      summary: 'Assign a plan to a user',
      access: { actors: ['project', 'integration'], scope: 'plans:assign' },
      rateLimit: 'integration',
      audit: 'user.plan_change',
      body: Type.Object({ planId: Uuid }),
      returns: { status: 200, body: oneUser },
      errors: [],
    },
    async ({ deps, actor, user, body, audit }) => ({
      user: viewUser(await assignPlan(deps, actor.projectId, user.id, body.planId, audit)),
    }),
  ),
  route(
    {
      id: 'users.storage',
      method: 'GET',
      path: '/project/users/:user/storage',
      summary: 'Read the storage of a user',
      description:
        'For the whole user, even with a space token: the figures of its space are in `GET …/stats`.',
      access: { actors: ['project', 'integration', 'user', 'space'], scope: 'users:read' },
      rateLimit: 'integration',
      audit: null,
      returns: { status: 200, body: StorageSnapshot },
      errors: [],
    },
    async ({ user }) => buildSnapshot(user),
  ),
];
