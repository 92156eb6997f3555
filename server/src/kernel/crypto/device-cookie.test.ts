import { expect, test } from 'vitest';
import { newId } from '../id.ts';
import { createDeviceCookies, deviceSeconds } from './device-cookie.ts';

const key = Buffer.alloc(32, 1);
const other = Buffer.alloc(32, 2);

test('device cookies: a cookie is read back with account, generation and device, and a new one keeps the device', () => {
  const cookies = createDeviceCookies(Date.now, key);
  const accountId = newId();
  const first = cookies.read(cookies.issue(accountId, 3, null));
  expect(first).toMatchObject({ accountId, generation: 3 });
  expect(cookies.read(cookies.issue(accountId, 3, first))).toEqual(first);
  expect(cookies.read(cookies.issue(accountId, 3, null))?.deviceId).not.toBe(first?.deviceId);
});

test('device cookies: a changed cookie, one signed with another key, and other text are refused', () => {
  const cookies = createDeviceCookies(Date.now, key);
  const cookie = cookies.issue(newId(), 0, null);
  const [account, device, , issuedAt, signature] = cookie.split('.');
  const forged = [account, device, 1, issuedAt, signature].join('.');
  const foreign = createDeviceCookies(Date.now, other).issue(newId(), 0, null);
  for (const text of [forged, foreign, '', '.', '....', 'x', cookie.slice(0, -1), `${cookie}x`])
    expect(cookies.read(text), text).toBeNull();
  expect(createDeviceCookies(Date.now, other, key).read(cookie)).not.toBeNull();
});

test('device cookies: a cookie is valid for a year', () => {
  let now = Date.now();
  const cookies = createDeviceCookies(() => now, key);
  const cookie = cookies.issue(newId(), 0, null);
  now += deviceSeconds * 1000 - 2_000;
  expect(cookies.read(cookie)).not.toBeNull();
  now += 4_000;
  expect(cookies.read(cookie)).toBeNull();
});
