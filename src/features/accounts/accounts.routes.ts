// Logging in and out, over HTTP.
import { Type } from 'typebox';
import { route } from '../../contract/route.ts';
import { Choice, Email, Nullable, Timestamp, Uuid } from '../../contract/wire.ts';
import { describeSession, logIn, logOut } from './accounts.service.ts';

const Token = Type.String({
  description: 'Also set as the HttpOnly cookie `token`.',
  examples: ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIuLi4ifQ.c2ln'],
});

const session = { actors: ['admin', 'project'], session: true } as const;

export const accountRoutes = [
  route(
    {
      id: 'auth.login',
      method: 'POST',
      path: '/auth/login',
      summary: 'Log in as admin or project',
      access: { public: true, why: 'it is how a session begins' },
      loginLimited: true,
      audit: 'auth.login',
      body: Type.Object({
        email: Type.String({ minLength: 1, maxLength: 320, examples: ['owner@example.com'] }),
        password: Type.String({ minLength: 1, format: 'password', examples: ['correct horse battery'] }),
      }),
      returns: { status: 200, body: Type.Object({ token: Token }) },
      errors: ['UNAUTHORIZED', 'FORBIDDEN', 'RATE_LIMIT_EXCEEDED'],
    },
    async ({ deps, body, audit, call }) => {
      const { token, expiresAtMs } = await logIn(deps, body, audit);
      call.setSessionCookie(token, expiresAtMs);
      return { token };
    },
  ),
  route(
    {
      id: 'auth.logout',
      method: 'POST',
      path: '/auth/logout',
      summary: 'End this session',
      access: session,
      audit: 'auth.logout',
      returns: { status: 204 },
      errors: [],
    },
    async ({ deps, actor, audit, call }) => {
      await logOut(deps, actor.session, audit);
      call.setSessionCookie(null);
    },
  ),
  route(
    {
      id: 'auth.me',
      method: 'GET',
      path: '/auth/me',
      summary: 'Who is logged in',
      access: session,
      audit: null,
      returns: {
        status: 200,
        body: Type.Object({
          session: Type.Object({
            role: Choice(['project', 'admin']),
            id: Uuid,
            email: Email,
            name: Nullable(Type.String({ examples: ['Harbour office'] })),
            project_id: Nullable(Uuid),
            two_factor_enabled: Type.Boolean({ examples: [false] }),
            expires_at: Timestamp,
          }),
        }),
      },
      errors: [],
    },
    async ({ deps, actor }) => ({ session: await describeSession(deps, actor.session) }),
  ),
];
