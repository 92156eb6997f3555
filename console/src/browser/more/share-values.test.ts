import type { Share } from '@pakhus/client';
import { expect, test } from 'vitest';
import { readShareChange, toValues } from './share-values.ts';

const share: Share = {
  id: '1',
  file_id: '2',
  name: 'For the printer',
  expires_at: '2020-01-31T12:34:56.000Z',
  has_password: true,
  max_downloads: 3,
  downloads: 3,
  last_used_at: null,
  active: true,
  created_at: '2020-01-01T00:00:00.000Z',
  updated_at: '2020-01-01T00:00:00.000Z',
};
const shown = { ...toValues(share), password: '' };

test('a link that was not changed sends nothing, not even an expiry that has passed', () => {
  expect(readShareChange(shown, share)).toEqual({});
});

test('emptied fields are removed, and others are changed', () => {
  const values = { ...shown, name: '', max_downloads: '5', expires_at: '' };
  expect(readShareChange(values, share)).toEqual({ name: null, max_downloads: 5, expires_at: null });
});

test('a password stays, is replaced, or is removed', () => {
  expect(readShareChange({ ...shown, password: 'new' }, share)).toEqual({ password: 'new' });
  expect(readShareChange({ ...shown, no_password: 'on' }, share)).toEqual({ password: null });
});
