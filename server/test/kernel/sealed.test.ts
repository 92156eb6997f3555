import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSealer, type Sealed } from '../../src/kernel/crypto/sealed.ts';

const [present, previous, lost] = [randomBytes(32), randomBytes(32), randomBytes(32)] as const;
const sealer = createSealer(present, [previous]);
const plain = 'JBSWY3DPEHPK3PXP';

test('sealed: the current and the previous key open what they sealed, and a lost key opens nothing', () => {
  expect(sealer.open(sealer.seal(plain, 'account:1'), 'account:1')).toBe(plain);
  expect(sealer.open(createSealer(previous, []).seal(plain, 'account:1'), 'account:1')).toBe(plain);
  expect(sealer.open(createSealer(lost, []).seal(plain, 'account:1'), 'account:1')).toBeNull();
});

test('sealed: a secret sealed for one account does not open for another', () => {
  expect(sealer.open(sealer.seal(plain, 'account:1'), 'account:2')).toBeNull();
});

test('sealed: bytes that are changed, cut short or missing do not open, and do not throw', () => {
  const { keyId, bytes } = sealer.seal(plain, 'account:1');
  const open = (altered: Buffer) => sealer.open({ keyId, bytes: altered } satisfies Sealed, 'account:1');
  for (let at = 0; at < bytes.length; at++) {
    const altered = Buffer.from(bytes);
    altered.writeUInt8(altered.readUInt8(at) ^ 1, at);
    expect(open(altered), `byte ${at} changed`).toBeNull();
    expect(open(bytes.subarray(0, at)), `${at} bytes`).toBeNull();
  }
  expect(open(bytes)).toBe(plain);
});
