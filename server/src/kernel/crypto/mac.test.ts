import { describe, expect, it } from 'vitest';
import { createMac } from './mac.ts';

describe('createMac', () => {
  it.each([
    // RFC 4231, test cases 1, 2 and 6.
    [Buffer.alloc(20, 0x0b), 'Hi There', 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7'],
    [
      'Jefe',
      'what do ya want for nothing?',
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    ],
    [
      Buffer.alloc(131, 0xaa),
      'Test Using Larger Than Block-Size Key - Hash Key First',
      '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
    ],
  ])('gives the published codes', (key, text, code) => {
    expect(createMac(key)(text, 'hex')).toBe(code);
  });

  it('keeps the codes of two keys apart, however their uses alternate', () => {
    const [one, two] = [createMac('one'), createMac('two')];
    const before = [one('text', 'hex'), two('text', 'hex')];
    expect(before[0]).not.toBe(before[1]);
    expect([one('text', 'hex'), two('text', 'hex')]).toEqual(before);
  });
});
