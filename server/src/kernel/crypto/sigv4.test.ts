import { describe, expect, it } from 'vitest';
import { createSigner, emptyPayloadHash, encodePath, encodeQuery, sha256Hex } from './sigv4.ts';

// The key, bucket and signatures that AWS publishes in the S3 reference for Signature Version 4.
const signer = createSigner({
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
});
const host = 'examplebucket.s3.amazonaws.com';
const nowMs = Date.UTC(2013, 4, 24);

function signatureIn(headers: Record<string, string>): string | undefined {
  return headers.authorization?.split('Signature=')[1];
}

const published = [
  {
    name: 'GET object with a range',
    request: {
      method: 'GET',
      path: '/test.txt',
      query: '',
      headers: { range: 'bytes=0-9' },
      payloadHash: emptyPayloadHash,
    },
    signature: 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  },
  {
    name: 'PUT object whose name needs encoding',
    request: {
      method: 'PUT',
      path: encodePath('/test$file.text'),
      query: '',
      headers: { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
      payloadHash: sha256Hex('Welcome to Amazon S3.'),
    },
    signature: '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  },
  {
    name: 'GET bucket lifecycle, a query name without value',
    request: {
      method: 'GET',
      path: '/',
      query: encodeQuery([['lifecycle', '']]),
      headers: {},
      payloadHash: emptyPayloadHash,
    },
    signature: 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  },
  {
    name: 'list objects, query sorted by name',
    request: {
      method: 'GET',
      path: '/',
      query: encodeQuery([
        ['prefix', 'J'],
        ['max-keys', '2'],
      ]),
      headers: {},
      payloadHash: emptyPayloadHash,
    },
    signature: '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  },
];

describe('sigv4: the signatures that AWS publishes', () => {
  it.each(published)('$name', ({ request, signature }) => {
    expect(signatureIn(signer.sign({ ...request, host, nowMs }))).toBe(signature);
  });

  it('presigned GET for a day', () => {
    const query = signer.presign({ host, path: '/test.txt', query: '', expiresInSeconds: 86_400, nowMs });
    expect(new URLSearchParams(query).get('X-Amz-Signature')).toBe(
      'aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
    );
  });
});

describe('sigv4: presigned PUT', () => {
  const put = { host, path: '/test.txt', query: 'partNumber=2&uploadId=abc', expiresInSeconds: 60, nowMs };
  const signatureFor = (query: string) => new URLSearchParams(query).get('X-Amz-Signature');

  it('names the signed headers and keeps the query', () => {
    const query = signer.presignPut({ ...put, bytes: 10 });
    expect(query).toContain('&X-Amz-SignedHeaders=content-length%3Bhost&partNumber=2&uploadId=abc&');
  });

  it('has another signature for another length, and as a GET', () => {
    const queries = [
      signer.presignPut({ ...put, bytes: 10 }),
      signer.presignPut({ ...put, bytes: 11 }),
      signer.presign(put),
    ];
    expect(new Set(queries.map(signatureFor)).size).toBe(3);
  });

  it('equals what the AWS SDK signs for this request', () => {
    expect(signatureFor(signer.presignPut({ ...put, bytes: 10 }))).toBe(
      '71390cb611920612e2f3885a61fa1ec0326cf38185d7a5f0db2bdb4cac866bc3',
    );
  });
});

describe('sigv4: encodings', () => {
  it.each([
    ['/a b/c+d', '/a%20b/c%2Bd'],
    ['/blåbær/日本', '/bl%C3%A5b%C3%A6r/%E6%97%A5%E6%9C%AC'],
    ["/it's(1)!*", '/it%27s%281%29%21%2A'],
    ['/plain/A-z_0.9~', '/plain/A-z_0.9~'],
    ['/100%/ü', '/100%25/%C3%BC'],
  ])('path %s becomes %s', (plain, encoded) => {
    expect(encodePath(plain)).toBe(encoded);
  });

  it('sorts a query by its encoded names, upper case first, and encodes slashes in values', () => {
    const query = encodeQuery([
      ['prefix', 'a/b c'],
      ['X-Amz-Date', '1'],
      ['a', '2'],
      ['a', '1'],
      ['å', ''],
    ]);
    expect(query).toBe('%C3%A5=&X-Amz-Date=1&a=1&a=2&prefix=a%2Fb%20c');
  });

  it('derives a new signing key when the day changes, in either direction', () => {
    const at = (ms: number) =>
      signer.presign({ host, path: '/test.txt', query: '', expiresInSeconds: 60, nowMs: ms });
    const first = at(nowMs);
    expect(at(nowMs + 86_400_000)).not.toBe(first);
    expect(at(nowMs)).toBe(first);
  });
});
