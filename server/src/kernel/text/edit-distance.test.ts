import { expect, test } from 'vitest';
import { editDistance } from './edit-distance.ts';

test.each([
  ['', '', 0],
  ['', 'abc', 3],
  ['S3_BUCKET', 'S3_BUCKET', 0],
  ['S3_BUKET', 'S3_BUCKET', 1],
  ['PROT', 'PORT', 1],
  ['REDIS_URI', 'REDIS_URL', 1],
  ['DATABSE_ULR', 'DATABASE_URL', 2],
  ['HOME', 'ROLE', 2],
  ['kitten', 'sitting', 3],
])('%s and %s are %i typos apart, either way round', (a, b, typos) => {
  expect([editDistance(a, b), editDistance(b, a)]).toEqual([typos, typos]);
});
