// HTTP shapes of accounts.

import type { Call } from '../../contract/call.ts';
import { Password } from '../../contract/wire.ts';
import { Type } from '../../kernel/schema.ts';
import type { LoggedIn } from './accounts.session.ts';

/**
 * For every route below /auth. Other sites must not log a browser in or out, with or without a cookie. Anybody may send a
 * body, so it is small: an e-mail and a password need no more.
 */
export const authPolicy = { csrf: 'always', bodyBytesMax: 16 * 1024 } as const;

/** For routes that act on the logged-in account: API keys are refused. */
export const ownSession = { actors: ['admin', 'project'], session: true } as const;

export const exampleToken = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIuLi4ifQ.c2ln';

export const SessionToken = Type.String({
  description: 'Also set as the HttpOnly cookie `token`.',
  examples: [exampleToken],
});

export const ChallengeToken = Type.String({
  minLength: 1,
  maxLength: 4096,
  description: 'Valid for five minutes and five attempts, only for `POST /auth/2fa/login`.',
  examples: ['eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoiMmZhX2NoYWxsZW5nZSJ9.c2ln'],
});

/** No format: login with an odd address must fail like any wrong login, not as malformed. */
export const LoginEmail = Type.String({ minLength: 1, maxLength: 320, examples: ['owner@example.com'] });

/** A password that is compared, not set. */
export const KnownPassword = Password(1);

export const accountPasswordMin = 8;

export const Code = (description: string) =>
  Type.String({ minLength: 1, maxLength: 64, description, examples: ['123456'] });

const exampleDevice = 'pakhus_device=8f2e0c1a-5b7d-4c39-9e64-2a1f0b3c4d5e.0b9d.0.1767225600.c2ln';

export const DeviceCookie = Type.Object({
  pakhus_device: Type.Optional(
    Type.String({
      description:
        'From an earlier login. Failures of others do not lock out a browser that sends it, and it does not queue behind them.',
      examples: [exampleDevice.split('=')[1]],
    }),
  ),
});

/** Both cookies in one description: OpenAPI allows only one header of a name. */
export const LoginCookies = (description: string) =>
  Type.Object({
    'Set-Cookie': Type.String({
      description:
        `Two cookies: \`token\` holds the same token, and \`pakhus_device\` identifies the browser at its next login to this account, for a year, or until a password reset or a logout everywhere. ${description}`.trim(),
      examples: [
        `token=${exampleToken}; Path=/; HttpOnly; SameSite=Lax; Max-Age=604800`,
        `${exampleDevice}; Path=/; HttpOnly; SameSite=Lax; Max-Age=31536000`,
      ],
    }),
  });

export function giveSession(call: Call, { session, deviceCookie }: LoggedIn): { token: string } {
  call.setSessionCookie(session.token, session.expiresAtMs);
  call.setDeviceCookie(deviceCookie);
  return { token: session.token };
}

export const ClearedCookie = Type.Object({
  'Set-Cookie': Type.String({
    description: 'Clears the session cookie.',
    examples: ['token=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0'],
  }),
});
