// Time-based one-time passwords for authenticator apps. The only file that knows otpauth.
import { Secret, TOTP } from 'otpauth';

const stepSeconds = 30;
const secretBytes = 20;
const windowSteps = 1;

/** The settings that all apps support; some silently ignore others. */
const profile = { issuer: 'Pakhus', algorithm: 'SHA1', digits: 6, period: stepSeconds } as const;

export interface NewTotpSecret {
  /** In base32, as people type it into an app. */
  readonly secret: string;
  /** What an app scans. */
  readonly url: string;
}

export function newTotpSecret(account: string): NewTotpSecret {
  const secret = new Secret({ size: secretBytes });
  return { secret: secret.base32, url: new TOTP({ ...profile, label: account, secret }).toString() };
}

/** The time step of a code, at most one before or after the current one; null for a wrong code. */
export function findTotpStep(secret: string, code: string, nowMs: number): number | null {
  if (!/^\d{6}$/.test(code)) return null;
  const totp = new TOTP({ ...profile, secret: Secret.fromBase32(secret) });
  const delta = totp.validate({ token: code, timestamp: nowMs, window: windowSteps });
  return delta === null ? null : Math.floor(nowMs / 1000 / stepSeconds) + delta;
}

/** Codes of earlier steps are no longer valid. */
export const oldestStepAt = (nowMs: number): number => Math.floor(nowMs / 1000 / stepSeconds) - windowSteps;
