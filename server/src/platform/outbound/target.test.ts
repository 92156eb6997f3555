import { expect, test } from 'vitest';
import { OutboundRefusal } from './faults.ts';
import { parseTarget } from './target.ts';

test('path and query are kept, and the fragment is not', () => {
  expect(parseTarget('https://Hooks.Example.COM.:8443/in?a=1#b', false)).toEqual({
    origin: 'https://hooks.example.com:8443',
    path: '/in?a=1',
    host: 'hooks.example.com',
    isAddress: false,
  });
  expect(parseTarget('http://[2606:4700::1111]/', false)).toMatchObject({
    host: '2606:4700::1111',
    isAddress: true,
  });
});

test('local addresses are targets if the operator allows them, and nothing else changes', () => {
  expect(parseTarget('http://127.0.0.1:3001/hook', true).origin).toBe('http://127.0.0.1:3001');
  expect(parseTarget('http://localhost:3001/hook', true).host).toBe('localhost');
  for (const url of ['ftp://127.0.0.1/', 'http://a:b@127.0.0.1/', 'localhost:3001', ''])
    expect(() => parseTarget(url, true), url).toThrow(OutboundRefusal);
});
