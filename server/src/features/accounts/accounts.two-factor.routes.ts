// Two-factor login, over HTTP.
import { Type } from 'typebox';
import { route } from '../../contract/route.ts';
import { Ok } from '../../contract/wire.ts';
import { activate, disable, enroll, isEnabled, logInWithCode } from './accounts.two-factor.ts';
import {
  authPolicy,
  ChallengeToken,
  Code,
  DeviceCookie,
  giveSession,
  LoginCookies,
  ownSession,
  SessionToken,
} from './accounts.wire.ts';

const AnyCode = Code('The code that the authenticator shows, or a recovery code.');

export const twoFactorRoutes = [
  route(
    {
      id: 'auth.enroll2fa',
      method: 'POST',
      path: '/auth/2fa/enroll',
      summary: 'Begin two-factor login',
      description: 'Has no effect on logins before it is activated. Enrolling again replaces the secret.',
      access: ownSession,
      rateLimit: null,
      ...authPolicy,
      audit: 'auth.2fa_enroll',
      returns: {
        status: 200,
        body: Type.Object({
          otpauth_url: Type.String({
            description: 'What an authenticator app scans, as a QR code.',
            examples: ['otpauth://totp/Pakhus:owner%40example.com?issuer=Pakhus&secret=JBSWY3DPEHPK3PXP'],
          }),
          secret: Type.String({
            description: 'The same secret to type in, in base32. Shown this once.',
            examples: ['JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'],
          }),
        }),
      },
      errors: ['CONFLICT'],
    },
    async ({ deps, actor, audit }) => enroll(deps, actor.session, audit),
  ),
  route(
    {
      id: 'auth.activate2fa',
      method: 'POST',
      path: '/auth/2fa/activate',
      summary: 'Switch two-factor login on',
      description: 'Proves that the authenticator works. A wrong code is a validation error.',
      access: ownSession,
      rateLimit: null,
      ...authPolicy,
      audit: 'auth.2fa_activate',
      body: Type.Object({ code: Code('The code that the authenticator shows.') }),
      returns: {
        status: 200,
        body: Type.Object({
          recovery_codes: Type.Array(Type.String({ examples: ['abcdef-ghijkl-mnopqr-stuvwx'] }), {
            description: 'Each logs in once in place of a code. Shown this once.',
          }),
        }),
      },
      errors: ['CONFLICT'],
    },
    async ({ deps, actor, body, audit }) => ({
      recovery_codes: await activate(deps, actor.session, body.code, audit),
    }),
  ),
  route(
    {
      id: 'auth.disable2fa',
      method: 'POST',
      path: '/auth/2fa/disable',
      summary: 'Switch two-factor login off',
      description: 'Deletes the secret and the recovery codes. A wrong code is a validation error.',
      access: ownSession,
      rateLimit: null,
      ...authPolicy,
      audit: 'auth.2fa_disable',
      body: Type.Object({ code: AnyCode }),
      returns: { status: 200, body: Ok },
      errors: ['CONFLICT', 'RATE_LIMIT_EXCEEDED'],
    },
    async ({ deps, actor, body, audit }) => {
      await disable(deps, actor.session, body.code, audit);
      return { ok: true as const };
    },
  ),
  route(
    {
      id: 'auth.status2fa',
      method: 'GET',
      path: '/auth/2fa/status',
      summary: 'Whether two-factor login is on',
      access: ownSession,
      rateLimit: null,
      ...authPolicy,
      audit: null,
      returns: { status: 200, body: Type.Object({ enabled: Type.Boolean({ examples: [true] }) }) },
      errors: [],
    },
    async ({ deps, actor }) => ({ enabled: await isEnabled(deps, actor.session) }),
  ),
  route(
    {
      id: 'auth.login2fa',
      method: 'POST',
      path: '/auth/2fa/login',
      summary: 'Answer the challenge of a login',
      description:
        'A code logs in once. After five wrong codes the challenge is over. After 20 wrong codes in 15 minutes the account gets 429; a browser that has logged in to it before has 10 of its own.',
      access: { public: true, why: 'the challenge token is the credential' },
      rateLimit: 'login',
      ...authPolicy,
      audit: 'auth.2fa_login',
      reads: { cookies: DeviceCookie },
      body: Type.Object({ challenge_token: ChallengeToken, code: AnyCode }),
      returns: {
        status: 200,
        body: Type.Object({ token: SessionToken }),
        headers: LoginCookies(''),
      },
      errors: ['UNAUTHORIZED', 'FORBIDDEN', 'RATE_LIMIT_EXCEEDED'],
    },
    async ({ deps, body, audit, call }) => {
      return giveSession(call, await logInWithCode(deps, body, call.device, audit));
    },
  ),
];
