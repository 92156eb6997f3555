import { expect, test } from 'vitest';
import { clientAddress, toIpAddress, toNetwork } from './client-address.ts';

test('with trusted proxies their entry counts, with 0 hops the socket', () => {
  const headers = { 'x-forwarded-for': '203.0.113.7, 10.0.0.3, 10.0.0.2', 'x-real-ip': '203.0.113.8' };
  const byHops = [null, 0, 1, 2, 4].map((hops) => clientAddress(headers, '10.0.0.1', hops));
  expect(byHops).toEqual(['203.0.113.7', '10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.1']);
});

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

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
  ['2001:db8::7', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['somewhere', 'somewhere'],
])('one client has one network: %s', (address, network) => {
  expect(toNetwork(address)).toBe(network);
});

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::FFFF:cb00:7107', '203.0.113.7'],
  ['2001:0DB8:0::7', '2001:db8::7'],
  ['fe80::1%eth0', 'fe80::1'],
  ['unknown', null],
  ['203.0.113.999', null],
  ["1.2.3.4'; drop table", null],
  ['', null],
])('the recorded address is in canonical form, or null: %s', (text, address) => {
  expect(toIpAddress(text)).toBe(address);
});
