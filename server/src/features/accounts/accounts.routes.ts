// Login and logout over HTTP.

import { route } from '../../contract/route.ts';
import { Choice, Email, Named, Nullable, Timestamp, Uuid } from '../../contract/wire.ts';
import { Type } from '../../kernel/schema.ts';
import { describeSession, logIn, logOut, logOutEverywhere } from './accounts.service.ts';
import {
  authPolicy,
  ChallengeToken,
  ClearedCookie,
  DeviceCookie,
  exampleToken,
  giveSession,
  KnownPassword,
  LoginCookies,
  LoginEmail,
  ownSession,
  SessionToken,
} from './accounts.wire.ts';

const LoggedIn = Type.Object({ token: SessionToken });
const CodeWanted = Type.Object({
  two_factor_required: Type.Literal(true),
  challenge_token: ChallengeToken,
});

export const accountRoutes = [
  route(
    {
      id: 'auth.login',
      method: 'POST',
      path: '/auth/login',
      summary: 'Log in as admin or project',
      description:
        'With two-factor login enabled, the response is a challenge instead of a session. 429 after 10 calls in 15 minutes from one client address, or after 20 failures in 15 minutes for one account; a browser that has logged in to the account before has a separate limit of 10 failures. If the installation trusts no proxy, also after 1,000 calls in 15 minutes from the address of the connection.',
      access: { public: true, why: 'login needs no session' },
      rateLimit: 'login',
      ...authPolicy,
      audit: 'auth.login',
      reads: { cookies: DeviceCookie },
      body: Type.Object({ email: LoginEmail, password: KnownPassword }),
      returns: {
        status: 200,
        body: Type.Union([LoggedIn, CodeWanted], { examples: [{ token: exampleToken }] }),
        headers: LoginCookies('Not set with a challenge.'),
      },
      errors: ['UNAUTHORIZED', 'FORBIDDEN', 'RATE_LIMIT_EXCEEDED'],
    },
    async ({ deps, body, audit, call }) => {
      const outcome = await logIn(deps, body, call, audit);
      if (outcome.kind === 'challenge') {
        return { two_factor_required: true as const, challenge_token: outcome.challenge.token };
      }
      return giveSession(call, outcome);
    },
  ),
  route(
    {
      id: 'auth.logout',
      method: 'POST',
      path: '/auth/logout',
      summary: 'End this session',
      access: ownSession,
      rateLimit: null,
      ...authPolicy,
      audit: 'auth.logout',
      endsSession: true,
      returns: { status: 204, headers: ClearedCookie },
      errors: [],
    },
    async ({ deps, actor, audit, call }) => {
      await logOut(deps, actor.session, audit);
      call.setSessionCookie(null);
    },
  ),
  route(
    {
      id: 'auth.logoutEverywhere',
      method: 'POST',
      path: '/auth/logout-everywhere',
      summary: 'End all sessions of the account',
      description:
        'Ends this session, too, and logins that wait for their second factor. Browsers that have logged in before are no longer known. API keys and tokens of users and spaces stay valid.',
      access: ownSession,
      rateLimit: null,
      ...authPolicy,
      audit: 'auth.logout',
      endsSession: true,
      returns: { status: 204, headers: ClearedCookie },
      errors: [],
    },
    async ({ deps, actor, audit, call }) => {
      await logOutEverywhere(deps, actor.session, audit);
      call.setSessionCookie(null);
    },
  ),
  route(
    {
      id: 'auth.me',
      method: 'GET',
      path: '/auth/me',
      summary: 'Read the current session',
      access: ownSession,
      rateLimit: null,
      ...authPolicy,
      audit: null,
      returns: {
        status: 200,
        body: Type.Object({
          session: Named('Session', {
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
