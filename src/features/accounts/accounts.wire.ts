// HTTP shapes of accounts.
import { Type } from 'typebox';
import { Password } from '../../contract/wire.ts';

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

export const SessionCookie = (description: string, value = `token=${exampleToken}`, seconds = 604_800) =>
  Type.Object({
    'Set-Cookie': Type.String({
      description,
      examples: [`${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}`],
    }),
  });
