// Two-factor login over HTTP.

import { route } from '../../contract/route.ts';
import { Ok } from '../../contract/wire.ts';
import { Type } from '../../kernel/schema.ts';
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
      summary: 'Enroll in two-factor login',
      description: 'Does not affect logins until it is activated. Enrolling again replaces the secret.',
      access: ownSession,
      rateLimit: null,
      ...authPolicy,
      audit: 'auth.2fa_enroll',
      returns: {
        status: 200,
        body: Type.Object({
          otpauth_url: Type.String({
            description: 'Show it as a QR code for an authenticator app.',
            examples: ['otpauth://totp/Pakhus:owner%40example.com?issuer=Pakhus&secret=JBSWY3DPEHPK3PXP'],
          }),
          secret: Type.String({
            description: 'The same secret in base32, for typing. Shown only once.',
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
      summary: 'Activate two-factor login',
      description: 'The code proves that the authenticator works. A wrong code is a validation error.',
      access: ownSession,
      rateLimit: null,
      ...authPolicy,
      audit: 'auth.2fa_activate',
      body: Type.Object({ code: Code('The code that the authenticator shows.') }),
      returns: {
        status: 200,
        body: Type.Object({
          recovery_codes: Type.Array(Type.String({ examples: ['abcdef-ghijkl-mnopqr-stuvwx'] }), {
            description: 'Each one replaces a code once. Shown only once.',
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
      summary: 'Disable two-factor login',
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
      summary: 'Complete a login with a code',
      description:
        'A code works once. After five wrong codes the challenge ends. After 20 wrong codes in 15 minutes the account gets 429; a browser that has logged in to it before has a separate limit of 10.',
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
