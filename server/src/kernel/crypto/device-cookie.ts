// Device cookies identify a browser that has logged in to an account before. A cookie grants no access; it only keeps
// strangers who guess at the account's password from blocking that browser.
import type { Clock } from '../clock.ts';
import { newId } from '../id.ts';
import { createMac } from './mac.ts';
import { sameText } from './secret.ts';

export interface Device {
  readonly accountId: string;
  readonly deviceId: string;
  /** A password reset or a logout everywhere starts a new generation of devices, which invalidates all earlier ones. */
  readonly generation: number;
}

export interface DeviceCookies {
  /** A fresh cookie for a known browser or for a new one. */
  issue(accountId: string, generation: number, known: Device | null): string;
  /** Null unless it is a genuine cookie that has not expired. The caller compares the generation with the account's. */
  read(cookie: string): Device | null;
}

export const deviceSeconds = 365 * 86_400;

/** Cookies signed with an earlier key are still accepted. */
export function createDeviceCookies(clock: Clock, key: Buffer, ...earlier: readonly Buffer[]): DeviceCookies {
  const mac = createMac(key);
  const macs = [mac, ...earlier.map(createMac)];
  return {
    issue(accountId, generation, known) {
      const issuedAt = Math.floor(clock() / 1000);
      const text = [accountId, known?.deviceId ?? newId(), generation, issuedAt].join('.');
      return `${text}.${mac(text, 'base64url')}`;
    },
    read(cookie) {
      const end = cookie.lastIndexOf('.');
      const text = cookie.slice(0, Math.max(0, end));
      if (!macs.some((one) => sameText(cookie.slice(end + 1), one(text, 'base64url')))) return null;
      const [accountId = '', deviceId = '', generation, issuedAt] = text.split('.');
      if (Number(issuedAt) + deviceSeconds < clock() / 1000) return null;
      return { accountId, deviceId, generation: Number(generation) };
    },
  };
}
