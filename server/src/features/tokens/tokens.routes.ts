// User tokens over HTTP.

import { route } from '../../contract/route.ts';
import { ScopeList } from '../../contract/scope.ts';
import { Named, Timestamp, Uuid } from '../../contract/wire.ts';
import { Type } from '../../kernel/schema.ts';
import { mintUserToken, revokeUserToken } from './tokens.service.ts';

const access = { actors: ['project', 'integration'], scope: 'users:read' } as const;

export const tokenRoutes = [
  route(
    {
      id: 'tokens.mint',
      method: 'POST',
      path: '/project/users/:user/tokens',
      summary: 'Mint a token for one user',
      description:
        'Without `scopes`, the token gets all scopes of the caller. Scopes that the caller lacks are refused. A token minted with an API key ends when that key is deleted or rotated.',
      access,
      rateLimit: 'integration',
      idempotent: true,
      audit: 'token.mint',
      body: Type.Object({ scopes: Type.Optional(ScopeList) }),
      returns: {
        status: 201,
        body: Named('UserToken', {
          token: Type.String({ examples: ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIuLi4ifQ.c2ln'] }),
          jti: Uuid,
          user_id: Uuid,
          scopes: ScopeList,
          expires_at: Timestamp,
        }),
      },
      errors: [],
    },
    async ({ deps, actor, user, body, audit }) => mintUserToken(deps, actor, user, body.scopes, audit),
  ),
  route(
    {
      id: 'tokens.revoke',
      method: 'POST',
      path: '/project/users/:user/tokens/revoke',
      summary: 'Revoke a token of one user',
      access,
      rateLimit: 'integration',
      audit: 'token.revoke',
      body: Type.Object({ jti: Uuid }),
      returns: { status: 204 },
      errors: [],
    },
    async ({ deps, actor, user, body, audit }) =>
      revokeUserToken(deps, actor.projectId, user, body.jti, audit),
  ),
];
