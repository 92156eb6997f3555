// New passwords, over HTTP.
import { Type } from 'typebox';
import { route } from '../../contract/route.ts';
import { Ok, Password } from '../../contract/wire.ts';
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
      summary: 'Ask for a link to a new password',
      description:
        'Answers the same for every address. Where there is an account, a link is mailed that works once, within 15 minutes; at most 20 of them in that time.',
      access: { public: true, why: 'whoever forgot the password cannot log in' },
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
      summary: 'Set a new password with the token of a mailed link',
      description:
        "Ends all of the account's sessions and opens none: log in afterwards, with the second factor where there is one. A token that is wrong, expired or used is a validation error.",
      access: { public: true, why: 'the token of the link is the credential' },
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
