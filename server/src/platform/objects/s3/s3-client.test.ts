// Where requests go; how they fare on the way is tested against a real server.
import { describe, expect, it } from 'vitest';
import { createS3Client, type S3ClientOptions } from './s3-client.ts';

const base = { region: 'eu-north-1', accessKeyId: 'id', secretAccessKey: 'secret', clock: () => 0 };

const cases: { options: Pick<S3ClientOptions, 'endpoint' | 'forcePathStyle'>; address: string }[] = [
  { options: { forcePathStyle: false }, address: 'https://box.s3.eu-north-1.amazonaws.com/p/f' },
  { options: { forcePathStyle: true }, address: 'https://s3.eu-north-1.amazonaws.com/box/p/f' },
  {
    options: { endpoint: 'http://127.0.0.1:9000', forcePathStyle: true },
    address: 'http://127.0.0.1:9000/box/p/f',
  },
  {
    options: { endpoint: 'http://127.0.0.1:9000/', forcePathStyle: true },
    address: 'http://127.0.0.1:9000/box/p/f',
  },
  {
    options: { endpoint: 'https://a.test/s3/v1/', forcePathStyle: true },
    address: 'https://a.test/s3/v1/box/p/f',
  },
  { options: { endpoint: 'https://a.test/s3', forcePathStyle: false }, address: 'https://box.a.test/s3/p/f' },
  { options: { endpoint: 'https://a.test:443', forcePathStyle: false }, address: 'https://box.a.test/p/f' },
];

describe('s3-client', () => {
  it.each(cases)('addresses $address for $options', ({ options, address }) => {
    const url = createS3Client({ ...base, ...options }).presignGet('box', 'p/f', '', 60);
    expect(url.split('?')[0]).toBe(address);
    expect(url).toContain('%2Feu-north-1%2Fs3%2Faws4_request');
  });
});
