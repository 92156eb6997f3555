import { expect, test } from 'vitest';
import { generatePassword } from './generate-password.ts';

test('a generated password is four groups of characters that are not confused, and never the same', () => {
  const passwords = Array.from({ length: 50 }, generatePassword);
  for (const password of passwords) expect(password).toMatch(/^([a-km-np-z2-9]{5}-){3}[a-km-np-z2-9]{5}$/);
  expect(new Set(passwords).size).toBe(50);
});
