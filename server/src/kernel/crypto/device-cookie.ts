// Device cookies: a browser that has logged in shows which account it logged in to. It opens nothing by itself; strangers
// who guess at the account's password just do not stand in its way.
import type { Clock } from '../clock.ts';
import { newId } from '../id.ts';
import { createMac } from './mac.ts';
import { sameText } from './secret.ts';

export interface Device {
  readonly accountId: string;
  readonly deviceId: string;
  /** The account's generation of devices: a password reset begins a new one, and ends all earlier devices. */
  readonly generation: number;
}

export interface DeviceCookies {
  /** A fresh cookie: of a browser that is known already, or of a new one. */
  issue(accountId: string, generation: number, known: Device | null): string;
  /** Null for anything but a cookie of ours that has not expired. Whether its generation stands is the account's to say. */
  read(cookie: string): Device | null;
}

export const deviceSeconds = 365 * 86_400;

/** What an earlier key has signed is still read. */
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
