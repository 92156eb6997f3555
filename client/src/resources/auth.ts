// Accounts of the admin and of project owners: sessions, passwords, two-factor login.
import type { CallOptions, Http } from '../http.ts';
import type { BodyOf } from '../types.ts';

export function authOf(http: Http) {
  return {
    /** `{ token }`, or a `challenge_token` for `twoFactor.login` if the account has a second factor. */
    login: (body: BodyOf<'POST /auth/login'>, options?: CallOptions) =>
      http.call('POST /auth/login', { body, ...options }),
    logout: (options?: CallOptions) => http.call('POST /auth/logout', options),
    /** Ends all sessions of the account, this one too. */
    logoutEverywhere: (options?: CallOptions) => http.call('POST /auth/logout-everywhere', options),
    me: async (options?: CallOptions) => (await http.call('GET /auth/me', options)).session,
    changePassword: (body: BodyOf<'PUT /auth/change-password'>, options?: CallOptions) =>
      http.call('PUT /auth/change-password', { body, ...options }),
    /** Sends a mail with a link, if there is such an account. */
    forgotPassword: (email: string, options?: CallOptions) =>
      http.call('POST /auth/forgot-password', { body: { email }, ...options }),
    resetPassword: (body: BodyOf<'POST /auth/reset-password'>, options?: CallOptions) =>
      http.call('POST /auth/reset-password', { body, ...options }),
    twoFactor: {
      login: (body: BodyOf<'POST /auth/2fa/login'>, options?: CallOptions) =>
        http.call('POST /auth/2fa/login', { body, ...options }),
      status: (options?: CallOptions) => http.call('GET /auth/2fa/status', options),
      enroll: (options?: CallOptions) => http.call('POST /auth/2fa/enroll', options),
      /** Recovery codes are shown this once. */
      activate: (code: string, options?: CallOptions) =>
        http.call('POST /auth/2fa/activate', { body: { code }, ...options }),
      disable: (code: string, options?: CallOptions) =>
        http.call('POST /auth/2fa/disable', { body: { code }, ...options }),
    },
  };
}
