import { expect, test } from 'vitest';
import { parsePlainHead } from './plain-head.ts';

const head = (...lines: string[]): string => lines.join('\r\n');

test('a reply of known length', () => {
  const text = head('HTTP/1.1 206 Partial Content', 'ETag: "a"', 'Content-Length:10 ', 'x-amz-meta-a:');
  expect(parsePlainHead(text)).toEqual({
    status: 206,
    headers: { etag: '"a"', 'content-length': '10', 'x-amz-meta-a': '' },
    bytes: 10,
  });
  expect(parsePlainHead(head('HTTP/1.1 200', 'content-length: 1'))?.status).toBe(200);
});

test('a header that comes twice counts once', () => {
  const text = head('HTTP/1.1 200 OK', 'Set-Cookie: a', 'Set-Cookie: b', 'Content-Length: 10');
  expect(parsePlainHead(text)?.headers['set-cookie']).toBe('a');
});

test.each([
  ['an error', 'HTTP/1.1 404 Not Found', 'Content-Length: 10'],
  ['a status that only begins like one', 'HTTP/1.1 2000 OK', 'Content-Length: 10'],
  ['a redirect', 'HTTP/1.1 307 Temporary Redirect', 'Content-Length: 10'],
  ['an interim reply', 'HTTP/1.1 100 Continue', 'Content-Length: 10'],
  ['an old protocol', 'HTTP/1.0 200 OK', 'Content-Length: 10'],
  ['no protocol', 'hello', 'Content-Length: 10'],
  ['no length', 'HTTP/1.1 200 OK', 'ETag: "a"'],
  ['nothing', 'HTTP/1.1 200 OK', 'Content-Length: 0'],
  ['two lengths', 'HTTP/1.1 200 OK', 'Content-Length: 10', 'content-length: 10'],
  ['a length that is no number', 'HTTP/1.1 200 OK', 'Content-Length: 10, 10'],
  ['a negative length', 'HTTP/1.1 200 OK', 'Content-Length: -1'],
  ['a length beyond what can be counted', 'HTTP/1.1 200 OK', 'Content-Length: 99999999999999999999'],
  ['chunks', 'HTTP/1.1 200 OK', 'Content-Length: 10', 'Transfer-Encoding: chunked'],
  ['a folded header', 'HTTP/1.1 200 OK', 'Content-Length: 10', ' 11'],
  ['a space before the colon', 'HTTP/1.1 200 OK', 'Content-Length : 10'],
  ['a line without a name', 'HTTP/1.1 200 OK', 'Content-Length: 10', ': a'],
])('is left to others: %s', (_what, ...lines) => {
  expect(parsePlainHead(head(...lines))).toBeNull();
});
