import { expect, test } from 'vitest';
import { describeError } from './errors.ts';
import { createTexts } from './texts.ts';

test('a hold is told by its time, in the language of the person', () => {
  const error = { code: 'LOCKED', message: 'held', details: { retain_until: '2099-01-02T12:00:00Z' } };
  const { text } = describeError(error, createTexts({}, 'en'));
  expect(text).toMatch(/^The file is held until Jan \d, 2099, .*: it cannot be deleted before\.$/);
  expect(describeError({ code: 'LOCKED', message: 'held' }, createTexts({}, 'en')).text).toBe('held');
});
