// HTTP shapes of accounts.
import { Type } from 'typebox';
import type { Call } from '../../contract/call.ts';
import { Password } from '../../contract/wire.ts';
import type { LoggedIn } from './accounts.session.ts';

/**
 * Of every route below /auth. Login and logout change which session a browser has, so that other sites must not trigger
 * them, with or without a cookie; and anybody may send a body, which needs to hold little more than an e-mail and a
 * password.
 */
export const authPolicy = { csrf: 'always', bodyBytesMax: 16 * 1024 } as const;

/** An API key will not do: these act on the account that is logged in. */
export const ownSession = { actors: ['admin', 'project'], session: true } as const;

export const exampleToken = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIuLi4ifQ.c2ln';

export const SessionToken = Type.String({
  description: 'Also set as the HttpOnly cookie `token`.',
  examples: [exampleToken],
});

export const ChallengeToken = Type.String({
  minLength: 1,
  maxLength: 4096,
  description: 'Good for five minutes, five codes and `POST /auth/2fa/login`, and for nothing else.',
  examples: ['eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoiMmZhX2NoYWxsZW5nZSJ9.c2ln'],
});

/** Wide, because a login with a strange address is a wrong login and not a malformed one. */
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
        'From an earlier login. A browser that sends it is not locked out by failures of others, and does not queue behind them.',
      examples: [exampleDevice.split('=')[1]],
    }),
  ),
});

/** OpenAPI knows one header of a name: both cookies are told in one. */
export const LoginCookies = (description: string) =>
  Type.Object({
    'Set-Cookie': Type.String({
      description:
        `Two of them: \`token\`, the same token for browsers, and \`pakhus_device\`, by which the browser is known at its next login to this account, for a year or until the password is reset. ${description}`.trim(),
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
    description: 'Takes the session cookie from the browser.',
    examples: ['token=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0'],
  }),
});
