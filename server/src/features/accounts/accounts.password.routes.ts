// Password change and reset over HTTP.

import { route } from '../../contract/route.ts';
import { Ok, Password } from '../../contract/wire.ts';
import { Type } from '../../kernel/schema.ts';
import { changePassword, requestReset, resetPassword } from './accounts.password.ts';
import { accountPasswordMin, authPolicy, KnownPassword, LoginEmail, ownSession } from './accounts.wire.ts';

const done = { ok: true as const };

export const passwordRoutes = [
  route(
    {
      id: 'auth.changePassword',
      method: 'PUT',
      path: '/auth/change-password',
      summary: 'Change your password',
      description:
        "Ends the account's other sessions and keeps this one. A wrong `currentPassword` is a validation error.",
      access: ownSession,
      rateLimit: null,
      ...authPolicy,
      audit: 'auth.password_change',
      body: Type.Object({ currentPassword: KnownPassword, newPassword: Password(accountPasswordMin) }),
      returns: { status: 200, body: Ok },
      errors: ['RATE_LIMIT_EXCEEDED'],
    },
    async ({ deps, actor, body, audit }) => {
      await changePassword(deps, actor.session, body, audit);
      return done;
    },
  ),
  route(
    {
      id: 'auth.forgotPassword',
      method: 'POST',
      path: '/auth/forgot-password',
      summary: 'Request a password-reset link',
      description:
        'The response is the same for every address. If the account exists, it gets a link by mail that works once, within 15 minutes; at most 20 links in that time.',
      access: { public: true, why: 'a user without a password cannot log in' },
      rateLimit: 'login',
      ...authPolicy,
      audit: 'auth.password_forgot',
      body: Type.Object({ email: LoginEmail }),
      returns: { status: 200, body: Ok },
      errors: [],
    },
    async ({ deps, body, audit, call }) => {
      await requestReset(deps, body.email, call, audit);
      return done;
    },
  ),
  route(
    {
      id: 'auth.resetPassword',
      method: 'POST',
      path: '/auth/reset-password',
      summary: 'Set a new password with a reset token',
      description:
        'Ends all sessions of the account and opens none: log in afterwards, with the second factor if it is enabled. A wrong, expired or used token is a validation error.',
      access: { public: true, why: 'the token in the link is the credential' },
      rateLimit: null,
      ...authPolicy,
      audit: 'auth.password_reset',
      body: Type.Object({
        token: Type.String({
          minLength: 1,
          maxLength: 256,
          description: 'The `token` parameter of the link.',
          examples: ['Zm9yZ2V0LW1lLW5vdC0tLWZvcmdldC1tZS1ub3QtLS0'],
        }),
        newPassword: Password(accountPasswordMin),
      }),
      returns: { status: 200, body: Ok },
      errors: [],
    },
    async ({ deps, body, audit }) => {
      await resetPassword(deps, body, audit);
      return done;
    },
  ),
];
