import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createMac } from './mac.ts';

const keys = [
  ['an empty key', ''],
  ['a short key', 'Jefe'],
  ['a key of every byte', Buffer.from(Array.from({ length: 64 }, (_, at) => at * 4 + 3))],
  ['a key of a block and a byte', Buffer.alloc(65, 0xaa)],
  ['a long key', Buffer.alloc(131, 0xaa)],
] as const;
const texts = ['', 'what do ya want for nothing?', 'æøå €😀', 'x'.repeat(100_000)];

describe('createMac', () => {
  // RFC 4231, test case 2.
  it('gives the published code', () => {
    expect(createMac('Jefe')('what do ya want for nothing?', 'hex')).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
  });

  it.each(keys)('agrees with OpenSSL under %s', (_name, key) => {
    const mac = createMac(key);
    for (const text of texts)
      for (const encoding of ['hex', 'base64url'] as const)
        expect(mac(text, encoding)).toBe(createHmac('sha256', key).update(text).digest(encoding));
  });

  it('keeps the codes of two keys apart, however their uses alternate', () => {
    const [one, two] = [createMac('one'), createMac('two')];
    const before = [one('text', 'hex'), two('text', 'hex')];
    expect(before[0]).not.toBe(before[1]);
    expect([one('text', 'hex'), two('text', 'hex')]).toEqual(before);
  });
});
