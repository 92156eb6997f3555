import { expect, test } from 'vitest';
import { outage, reasonOf } from './error.ts';

test('a reason goes down to the first cause, also of a host with several addresses', () => {
  const refused = new AggregateError(
    [new Error('connect ECONNREFUSED ::1:5432'), new Error('the other')],
    '',
  );
  expect(reasonOf(outage('database', 'It is away', refused))).toBe(
    'It is away (connect ECONNREFUSED ::1:5432)',
  );
  expect(reasonOf(new Error('alone'))).toBe('alone');
  expect(reasonOf('thrown text')).toBe('thrown text');
});
