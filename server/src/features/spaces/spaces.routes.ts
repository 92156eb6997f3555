// Spaces over HTTP.

import { route } from '../../contract/route.ts';
import { ScopeList } from '../../contract/scope.ts';
import { ExternalId, Listing, Named, Page, Password, Timestamp, Uuid } from '../../contract/wire.ts';
import { Type } from '../../kernel/schema.ts';
import {
  changeSpace,
  createSpace,
  listUserSpaces,
  logIntoSpace,
  readSpace,
  removeSpace,
  revokeSpaceToken,
  setSpacePassword,
} from './spaces.service.ts';
import { NewSpace, SpaceChange, SpacePassword, SpaceView, viewSpace } from './spaces.wire.ts';

const management = { actors: ['project', 'user'] } as const;
const login = { actors: ['project', 'integration'], scope: 'spaces:login' } as const;
const params = Type.Object({ spaceId: Uuid });
const oneSpace = Type.Object({ space: SpaceView });

export const spaceRoutes = [
  route(
    {
      id: 'spaces.list',
      method: 'GET',
      path: '/project/users/:user/spaces',
      summary: 'List the spaces of a user',
      access: management,
      rateLimit: 'integration',
      audit: null,
      query: Page(),
      returns: { status: 200, body: Listing('spaces', SpaceView) },
      errors: [],
    },
    async ({ deps, actor, user, query }) => {
      const { rows, next_cursor } = await listUserSpaces(deps, actor.projectId, user.id, query);
      return { spaces: rows.map(viewSpace), next_cursor };
    },
  ),
  route(
    {
      id: 'spaces.create',
      method: 'POST',
      path: '/project/users/:user/spaces',
      summary: 'Create a space',
      description:
        'The external id is unique within the project: spaces log in with it. A space without scopes may do nothing.',
      access: management,
      rateLimit: 'integration',
      idempotent: true,
      audit: 'space.create',
      body: NewSpace,
      returns: { status: 201, body: oneSpace },
      errors: ['CONFLICT', 'OVER_QUOTA'],
    },
    async ({ deps, actor, user, body, audit }) => ({
      space: viewSpace(await createSpace(deps, actor, user.id, body, audit)),
    }),
  ),
  route(
    {
      id: 'spaces.read',
      method: 'GET',
      path: '/project/users/:user/spaces/:spaceId',
      summary: 'Read a space',
      access: management,
      rateLimit: 'integration',
      audit: null,
      params,
      returns: { status: 200, body: oneSpace },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, actor, user, params: { spaceId } }) => ({
      space: viewSpace(await readSpace(deps, actor.projectId, user.id, spaceId)),
    }),
  ),
  route(
    {
      id: 'spaces.update',
      method: 'PUT',
      path: '/project/users/:user/spaces/:spaceId',
      summary: 'Change a space',
      description:
        'Changes only the given fields. Deactivating a space ends its live session at once. To change the scopes, the caller must hold the old and the new ones. Adding a scope that the one who set the password did not hold removes the password and ends the live session: `has_password` becomes false, and a new password must be set.',
      access: management,
      rateLimit: 'integration',
      audit: 'space.update',
      params,
      body: SpaceChange,
      returns: { status: 200, body: oneSpace },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, actor, user, params: { spaceId }, body, audit }) => ({
      space: viewSpace(await changeSpace(deps, actor, user.id, spaceId, body, audit)),
    }),
  ),
  route(
    {
      id: 'spaces.delete',
      method: 'DELETE',
      path: '/project/users/:user/spaces/:spaceId',
      summary: 'Delete a space',
      description: "Its files are kept and move to the owner's level; its live session ends at once.",
      access: management,
      rateLimit: 'integration',
      audit: 'space.delete',
      params,
      returns: { status: 204 },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, actor, user, params: { spaceId }, audit }) =>
      removeSpace(deps, actor.projectId, user.id, spaceId, audit),
  ),
  route(
    {
      id: 'spaces.setCredentials',
      method: 'PUT',
      path: '/project/users/:user/spaces/:spaceId/credentials',
      summary: 'Set or rotate the password of a space',
      description: 'Ends the live session. A user token must hold all scopes of the space.',
      access: management,
      rateLimit: 'integration',
      audit: 'space.credentials',
      params,
      body: Type.Object({ password: SpacePassword }),
      returns: { status: 204 },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, actor, user, params: { spaceId }, body, audit }) =>
      setSpacePassword(deps, actor, user.id, spaceId, body.password, audit),
  ),
  route(
    {
      id: 'spaces.login',
      method: 'POST',
      path: '/project/spaces/login',
      summary: 'Exchange the credentials of a space for a token',
      description:
        'A space has one live session: a login ends the previous one. The session also ends when the API key that opened it does. After 10 failures in 15 minutes, this `external_id` gets 429 even with the right password, until `Retry-After` has passed or the space gets a new password; other spaces are not affected.',
      access: login,
      rateLimit: 'integration',
      audit: 'space.login',
      body: Type.Object({
        external_id: ExternalId,
        password: Type.String({ ...Password(1), examples: ['4711'] }),
      }),
      returns: {
        status: 201,
        body: Named('SpaceToken', {
          token: Type.String({ examples: ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIuLi4ifQ.c2ln'] }),
          jti: Uuid,
          space_id: Uuid,
          user_id: Uuid,
          scopes: ScopeList,
          expires_at: Timestamp,
        }),
      },
      errors: ['UNAUTHORIZED'],
    },
    async ({ deps, actor, body, audit }) => logIntoSpace(deps, actor, body, audit),
  ),
  route(
    {
      id: 'spaces.revokeToken',
      method: 'POST',
      path: '/project/spaces/token/revoke',
      summary: 'End the session of a space',
      description:
        'A user token can end sessions of its own spaces. The response is 204 even if there is no such live session.',
      access: { actors: ['project', 'integration', 'user'], scope: 'spaces:login', scopeless: ['user'] },
      rateLimit: 'integration',
      audit: 'token.revoke',
      body: Type.Object({ jti: Uuid }),
      returns: { status: 204 },
      errors: [],
    },
    async ({ deps, actor, body, audit }) => revokeSpaceToken(deps, actor, body.jti, audit),
  ),
];
