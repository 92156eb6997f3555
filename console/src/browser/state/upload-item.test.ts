import { expect, test } from 'vitest';
import { noTotals, shift, type UploadState } from './upload-item.ts';

test('totals follow each item from its first state to its removal', () => {
  const waiting: UploadState = { status: 'waiting', loaded: 0, rate: 0 };
  const running: UploadState = { status: 'running', loaded: 30, rate: 5 };
  const done: UploadState = { status: 'done', loaded: 100, rate: 0 };
  let totals = shift(noTotals, 100, null, waiting);
  expect(totals).toEqual({ ...noTotals, count: 1, waiting: 1, bytes: 100 });
  totals = shift(totals, 100, waiting, running);
  expect(totals).toEqual({ ...noTotals, count: 1, running: 1, bytes: 100, loaded: 30 });
  totals = shift(totals, 100, running, done);
  expect(totals).toEqual({ ...noTotals, count: 1, done: 1, bytes: 100, loaded: 100 });
  expect(shift(totals, 100, done, null)).toEqual(noTotals);
  const failed: UploadState = { status: 'failed', loaded: 30, rate: 0 };
  expect(shift(totals, 100, done, failed)).toEqual({ ...noTotals, count: 1, failed: 1 });
});
