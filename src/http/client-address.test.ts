import { expect, test } from 'vitest';
import { clientAddress } from './client-address.ts';

const addressOf = (forwarded: string) => clientAddress({ 'x-forwarded-for': forwarded }, '10.0.0.1', null);

test.each([
  ['203.0.113.7:51234', '203.0.113.7'],
  ['[2001:db8::7]:443', '2001:db8::7'],
  ['[2001:db8::7]', '2001:db8::7'],
  ['203.0.113.7', '203.0.113.7'],
  ['2001:db8::7', '2001:db8::7'],
  ['2001:db8::7:8080', '2001:db8::7:8080'],
  ['somewhere:1', 'somewhere:1'],
])('a client is known by its address, not by its port: %s', (forwarded, address) => {
  expect(addressOf(forwarded)).toBe(address);
  expect(addressOf(`${forwarded}, 10.0.0.2`)).toBe(address);
});
