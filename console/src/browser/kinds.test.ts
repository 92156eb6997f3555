import { expect, test } from 'vitest';
import { kindOf, previewOf } from './kinds.ts';

test.each([
  ['image/png', 'image', 'image'],
  ['IMAGE/JPEG; q=1', 'image', 'image'],
  ['image/svg+xml', 'image', 'text'],
  ['image/tiff', 'image', 'none'],
  ['text/html', 'text', 'text'],
  ['application/xhtml+xml', 'text', 'text'],
  ['application/json', 'text', 'text'],
  ['application/pdf', 'pdf', 'pdf'],
  ['video/mp4', 'video', 'video'],
  ['application/zip', 'archive', 'none'],
  ['application/octet-stream', 'other', 'none'],
  ['', 'other', 'none'],
])('%s is of kind %s and previewed as %s', (type, kind, preview) => {
  expect(kindOf(type)).toBe(kind);
  expect(previewOf(type)).toBe(preview);
});
