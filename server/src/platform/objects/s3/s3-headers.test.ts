import { expect, test } from 'vitest';
import { headersOf, toObjectInfo } from './s3-headers.ts';

test('an inert type is stored as it is', () => {
  const meta = { contentType: 'image/png', contentDisposition: 'inline; filename="a.png"' };
  expect(headersOf(meta)).toEqual({
    'content-type': 'image/png',
    'content-disposition': 'inline; filename="a.png"',
  });
});

test.each(['text/html', 'TEXT/HTML; charset=utf-8', 'image/svg+xml', 'application/xhtml+xml'])(
  'a type that a browser could run is stored as plain bytes to download: %s',
  (contentType) => {
    expect(headersOf({ contentType, contentDisposition: 'Inline; filename="a"' })).toEqual({
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment; filename="a"',
    });
  },
);

test('a long name is stored in ASCII only, because S3 accepts 2 KB of headers', () => {
  const short = `attachment; filename="a"; filename*=UTF-8''${'%C3%A6'.repeat(10)}`;
  const long = `attachment; filename="a"; filename*=UTF-8''${'%C3%A6'.repeat(300)}`;
  const stored = (contentDisposition: string) =>
    headersOf({ contentType: 'text/plain', contentDisposition })['content-disposition'];
  expect(stored(short)).toBe(short);
  expect(stored(long)).toBe('attachment; filename="a"');
});

test.each(['a\r\nx-amz-acl: public-read', 'naïve', '\0'])('a header is never smuggled in: %j', (value) => {
  expect(() => headersOf({ contentType: 'text/plain', contentDisposition: value })).toThrow(
    /printable ASCII/,
  );
  expect(() => headersOf({ contentType: value, contentDisposition: 'inline' })).toThrow(/printable ASCII/);
});

test('an object whose headers are missing is a download of unknown type', () => {
  expect(toObjectInfo({})).toEqual({
    bytes: Number.NaN,
    etag: '""',
    contentType: 'application/octet-stream',
    contentDisposition: 'attachment',
    modifiedAt: new Date(0),
  });
});
