import { expect, test } from 'vitest';
import { readStart } from './read-start.ts';

test('the start of a text is read, without half a character', async () => {
  expect(await readStart(new Response('short'), 100)).toBe('short');
  expect(await readStart(new Response('abcdef'), 3)).toBe('abc');
  expect(await readStart(new Response('aä€'), 4)).toBe('aä');
  expect(await readStart(new Response(new Uint8Array([0x61, 0xff])), 10)).toBe('a\ufffd');
  expect(await readStart(new Response(null), 10)).toBe('');
});
