// End-users over HTTP.
import { Type } from 'typebox';
import { route } from '../../contract/route.ts';
import { ExternalId, Listing, Nullable, Page, Uuid } from '../../contract/wire.ts';
import { assignPlan, createUser, listProjectUsers, removeUser, setUserActive } from './users.service.ts';
import { StorageSnapshot, snapshotOf, UserView, viewUser } from './users.wire.ts';

const oneUser = Type.Object({ user: UserView });

export const userRoutes = [
  route(
    {
      id: 'users.list',
      method: 'GET',
      path: '/project/users',
      summary: 'List users with plan and quota',
      access: { actors: ['project', 'integration'], scope: 'users:read' },
      rateLimit: 'integration',
      audit: null,
      query: Page(),
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
        'Without planId the user is put on the plan that is the default now, and stays on it when another becomes the default. A user that is made while the project has no plan is on none: it follows whichever plan is the default, until it is put on one.',
      access: { actors: ['project', 'integration'], scope: 'users:write' },
      rateLimit: 'integration',
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
        'An inactive user uploads nothing, and its tokens and those of its spaces are refused. The external id never changes.',
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
      errors: [],
    },
    async ({ deps, actor, user, audit }) => removeUser(deps, actor.projectId, user.id, audit),
  ),
  route(
    {
      id: 'users.assignPlan',
      method: 'PUT',
      path: '/project/users/:user/plan',
      summary: 'Put a user on a plan',
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
      summary: 'What a user stores and may still store',
      description:
        'Of the user as a whole, also with a space token: the figures of its space are in `GET …/stats`.',
      access: { actors: ['project', 'integration', 'user', 'space'], scope: 'users:read' },
      rateLimit: 'integration',
      audit: null,
      returns: { status: 200, body: StorageSnapshot },
      errors: [],
    },
    async ({ user }) => snapshotOf(user),
  ),
];
