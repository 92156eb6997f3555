// How the console's files are served. What they show is tested in console/.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildPolicy, readConsole } from '../../src/http/console.ts';
import { createLogger } from '../../src/platform/log.ts';
import { createS3Store, type S3StoreOptions } from '../../src/platform/objects/s3/s3-store.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';

const index = '<!doctype html><title>console</title>'.repeat(20);
const script = 'console.log("a script of the console");'.repeat(50);
const built: Readonly<Record<string, string>> = {
  'index.html': index,
  'favicon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'assets/index-B4d8XkQ1.js': script,
  'assets/index-Cc0ffee1.css': 'body { color: red; }',
  'assets/odd-12345678.wasm': 'odd',
};
const asset = '/console/assets/index-B4d8XkQ1.js';

let folder: string;
let service: TestPakhus;
let origin: string;

beforeAll(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'pakhus-console-')), 'dist');
  await mkdir(join(folder, 'assets'), { recursive: true });
  await writeFile(join(folder, '../secret.txt'), 'nobody may read this');
  for (const [name, text] of Object.entries(built)) await writeFile(join(folder, name), text);
  for (const name of ['index.html', 'assets/index-B4d8XkQ1.js']) {
    await writeFile(join(folder, `${name}.br`), brotliCompressSync(built[name] ?? ''));
    await writeFile(join(folder, `${name}.gz`), gzipSync(built[name] ?? ''));
  }
  service = await startTestPakhus({ ROLE: 'api' }, undefined, { consoleFolder: folder });
  origin = new URL(service.baseUrl).origin;
});
afterAll(async () => {
  await service?.stop();
  await rm(join(folder, '..'), { recursive: true, force: true });
});

/** As it is on the wire: fetch would decompress it. */
async function get(path: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') {
  const { statusCode, headers: given, body } = await request(`${origin}${path}`, { method, headers });
  return { status: statusCode, headers: given, bytes: Buffer.from(await body.arrayBuffer()) };
}

const pagePolicy = (sources = '') =>
  `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:${sources}; media-src 'self' blob:${sources}; connect-src 'self'${sources}; frame-src blob:; font-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; manifest-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'`;

test.each([
  '/console',
  '/console/',
  '/console/index.html',
  '/console/reset-password',
  '/console/reset-password?token=abc',
  '/console/projects/6f9619ff/users/a%20b?tab=files',
  '/console/index.html.br',
])('%s is the page, with the headers that protect it, and is revalidated', async (path) => {
  const { status, headers, bytes } = await get(path);
  expect([status, bytes.toString()]).toEqual([200, index]);
  expect(headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'content-length': String(index.length),
    vary: 'Origin, Accept-Encoding',
    'content-security-policy': pagePolicy(),
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=()',
    etag: expect.stringMatching(/^"[\w-]{22}"$/),
  });
  expect(headers['content-encoding']).toBeUndefined();
});

test.each([
  [asset, 'text/javascript; charset=utf-8'],
  ['/console/assets/index-Cc0ffee1.css', 'text/css; charset=utf-8'],
  ['/console/assets/odd-12345678.wasm', 'application/octet-stream'],
])('%s is %s and cached for good', async (path, type) => {
  const { status, headers, bytes } = await get(path);
  expect([status, bytes.toString()]).toEqual([200, built[path.slice('/console/'.length)]]);
  expect(headers).toMatchObject({
    'content-type': type,
    'cache-control': 'public, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  });
});

test('a file without a hash in its name is revalidated', async () => {
  const { headers } = await get('/console/favicon.svg');
  expect(headers).toMatchObject({ 'content-type': 'image/svg+xml', 'cache-control': 'no-cache' });
});

describe('compressed', () => {
  test.each([
    ['br, gzip', 'br'],
    ['gzip, deflate', 'gzip'],
    ['br;q=0.1, gzip;q=0.9', 'gzip'],
    ['br;q=0, gzip;q=0', undefined],
    ['identity', undefined],
  ])('for %j it is sent as %s, with an ETag of its own', async (accepted, coding) => {
    for (const [path, text] of [[asset, script] as const, ['/console/', index] as const]) {
      const plain = await get(path);
      const { headers, bytes } = await get(path, { 'accept-encoding': accepted });
      const decode = coding === 'br' ? brotliDecompressSync : coding === 'gzip' ? gunzipSync : Buffer.from;
      expect(headers['content-encoding']).toBe(coding);
      expect(headers['content-length']).toBe(String(bytes.length));
      expect(decode(bytes).toString()).toBe(text);
      expect(headers['content-type']).toBe(plain.headers['content-type']);
      expect(headers.etag === plain.headers.etag).toBe(coding === undefined);
    }
  });

  test('what was built without it is sent as it is', async () => {
    const { headers, bytes } = await get('/console/favicon.svg', { 'accept-encoding': 'br, gzip' });
    expect([headers['content-encoding'], bytes.toString()]).toEqual([undefined, built['favicon.svg']]);
  });
});

test('a known version is 304 without a body, in any coding and also if the ETag was weakened', async () => {
  for (const path of ['/console/', asset]) {
    const accepted = { 'accept-encoding': 'br' };
    const { headers } = await get(path, accepted);
    const etag = String(headers.etag);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await get(path, { ...accepted, 'if-none-match': known });
      expect([again.status, again.bytes.length], known).toEqual([304, 0]);
      expect(again.headers).toMatchObject({
        etag,
        vary: 'Origin, Accept-Encoding',
        'cache-control': headers['cache-control'],
      });
    }
    expect((await get(path, { ...accepted, 'if-none-match': '"other"' })).status).toBe(200);
    expect((await get(path, { 'if-none-match': etag })).status).toBe(200);
  }
});

test('HEAD answers as GET does, without the body', async () => {
  for (const path of ['/console', '/console/', '/console/users/1', asset]) {
    const [{ headers }, head] = [await get(path), await get(path, {}, 'HEAD')];
    expect([head.status, head.bytes.length], path).toEqual([200, 0]);
    for (const name of ['content-type', 'content-length', 'etag', 'cache-control', 'content-security-policy'])
      expect(head.headers[name], `${path} ${name}`).toBe(headers[name]);
  }
});

/** Sends the target unchanged, as no URL parser would. */
function speak(target: string): Promise<string> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(`GET ${target} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`),
    );
    let text = '';
    socket.setEncoding('latin1').on('data', (piece: string) => {
      text += piece;
    });
    socket.on('error', reject).on('close', () => resolve(text));
  });
}

test.each([
  '/console/../secret.txt',
  '/console/..%2fsecret.txt',
  '/console/%2e%2e/secret.txt',
  '/console/%2e%2e%2fsecret.txt',
  '/console/%252e%252e%252fsecret.txt',
  '/console/..\\secret.txt',
  '/console/..%5csecret.txt',
  '/console//etc/passwd',
  '/console/assets/../../secret.txt',
  '/console/assets/..%2f..%2fsecret.txt',
  '/console/assets/%252e%252e/%252e%252e/secret.txt',
  '/console/secret.txt%00.html',
  '/console/%00',
  '/console/assets/index-B4d8XkQ1.js%00',
  '/console/__proto__',
  '/console/constructor',
  '/console%2f..%2fsecret.txt',
  '/%63onsole/%61ssets/index-B4d8XkQ1.js',
  '/console/%zz',
])('%s leads to no file: it is the page, or an error', async (target) => {
  const reply = await speak(target);
  expect(reply).not.toMatch(/nobody may read|root:|a script of the console/);
  expect(reply).toMatch(
    target.startsWith('/console/assets/') || !target.startsWith('/console/') || target.endsWith('%zz')
      ? /^HTTP\/1.1 (404|400|200) /
      : /^HTTP\/1.1 200 .*<title>console/s,
  );
});

test.each([
  '/console/assets',
  '/console/assets/',
  '/console/assets/index-00000000.js',
  '/console/assets/index-B4d8XkQ1.js/more',
  '/console/assets/index-B4d8XkQ1.js.br',
  '/consoles',
  '/api/v1/nothing',
  '/api/nothing',
])('%s is the JSON 404, not the page', async (path) => {
  const { status, headers, bytes } = await get(path, { accept: 'text/html' });
  expect([status, JSON.parse(bytes.toString()).error.code]).toEqual([404, 'NOT_FOUND']);
  expect(headers['cache-control']).toBe('no-store');
});

test('only GET and HEAD lead to the console', async () => {
  for (const method of ['POST', 'PUT', 'DELETE'] as const)
    expect((await request(`${origin}/console/`, { method })).statusCode, method).toBe(404);
});

test.each(['/', '/api/v1', '/api/v1/', '/docs'])(
  '%s: a browser is redirected to the console, other clients get a list of addresses',
  async (path) => {
    const page = await get(path, { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
    expect([page.status, page.headers.location]).toEqual([302, '/console/']);
    expect(page.headers.vary).toBe('Origin, Accept');
    const links = JSON.parse((await get(path, { accept: '*/*' })).bytes.toString());
    expect(links).toMatchObject({ console: '/console/', reference: '/api/v1/reference' });
  },
);

test('the reference, and the script and style of the old reset page, are still there', async () => {
  for (const path of [
    '/api/v1/reference',
    '/console/reset-password/page.js',
    '/console/reset-password/page.css',
  ]) {
    const { status, bytes } = await get(path);
    expect([status, bytes.includes('<title>console')], path).toEqual([200, false]);
  }
});

test('without built files there is no console: / leads to the reference, and the reset page is the old one', async () => {
  const bare = await service.another({}, { consoleFolder: join(folder, 'nothing') });
  try {
    const at = (path: string) => request(new URL(path, bare.baseUrl), { headers: { accept: 'text/html' } });
    expect((await at('/')).headers.location).toBe('/api/v1/reference');
    expect((await at('/console/')).statusCode).toBe(404);
    expect(await (await at('/console/reset-password')).body.text()).toContain('<h1>New password</h1>');
    expect(bare.pakhus.consoleUrl).toBeNull();
    const links = await (await request(new URL('/', bare.baseUrl))).body.json();
    expect(links).not.toHaveProperty('console');
  } finally {
    await bare.stop();
  }
});

test('a folder that is far too large is not served, and the log says so', async () => {
  const large = await mkdtemp(join(tmpdir(), 'pakhus-console-'));
  await writeFile(join(large, 'index.html'), index);
  await writeFile(join(large, 'large.bin'), Buffer.alloc(17 * 1024 * 1024));
  let lines = '';
  const log = createLogger('warn', {
    write: (line) => {
      lines += line;
    },
  });
  expect(readConsole(log, large)).toBeNull();
  expect(lines).toContain('the console cannot be read');
  await rm(large, { recursive: true });
});

describe('the policy names every origin that a URL of a file can have, and no other', () => {
  test('below a path, the page names its files there, and redirects lead there', async () => {
    const page = '<script src="/console/assets/a.js"></script><link href="/console/assets/a.css">';
    await writeFile(join(folder, 'index.html'), page);
    const below = await service.another(
      { PUBLIC_URL: 'https://files.example.com/below' },
      { consoleFolder: folder },
    );
    await writeFile(join(folder, 'index.html'), index);
    try {
      const at = below.pakhus.address;
      expect(below.pakhus.consoleUrl).toBe('https://files.example.com/below/console/');
      expect(await (await fetch(`${at}/console/users`)).text()).toBe(
        page.replaceAll('/console/', '/below/console/'),
      );
      const entry = await fetch(`${at}/`, { headers: { accept: 'text/html' }, redirect: 'manual' });
      expect(entry.headers.get('location')).toBe('/below/console/');
    } finally {
      await below.stop();
    }
  });

  test('on disk: PUBLIC_URL and R2_PUBLIC_URL', async () => {
    const other = await service.another({
      PUBLIC_URL: 'https://files.example.com/below',
      R2_PUBLIC_URL: 'https://cdn.example.com/public',
    });
    try {
      const { headers } = await request(`${other.pakhus.address}/console/`);
      expect(headers['content-security-policy']).toBe(
        pagePolicy(' https://files.example.com https://cdn.example.com'),
      );
      expect(other.pakhus.consoleUrl).toBe('https://files.example.com/below/console/');
    } finally {
      await other.stop();
    }
  });

  const s3: Omit<S3StoreOptions, 'forcePathStyle'> = {
    endpoint: 'http://127.0.0.1:9000/base',
    region: 'eu-north-1',
    bucket: 'private-files',
    publicBucket: 'public-files',
    accessKeyId: 'id',
    secretAccessKey: 'secret',
    clock: Date.now,
  };
  const { endpoint: _, publicBucket: __, ...amazon } = s3;

  test.each<[string, S3StoreOptions, string[]]>([
    ['S3, path style', { ...s3, forcePathStyle: true }, ['http://127.0.0.1:9000']],
    [
      'S3, virtual hosts',
      { ...s3, endpoint: 'https://s3.example.com', forcePathStyle: false },
      ['https://private-files.s3.example.com', 'https://public-files.s3.example.com'],
    ],
    [
      'S3 behind another address',
      { ...s3, publicEndpoint: 'https://objects.example.com', forcePathStyle: true },
      ['https://objects.example.com'],
    ],
    [
      "Amazon's own, one bucket",
      { ...amazon, forcePathStyle: false },
      ['https://private-files.s3.eu-north-1.amazonaws.com'],
    ],
  ])('%s', async (_name, options, expected) => {
    const store = createS3Store(options);
    const settings = { PUBLIC_URL: null, R2_PUBLIC_URL: null };
    expect(buildPolicy({ settings, objects: store })).toBe(
      pagePolicy(expected.map((one) => ` ${one}`).join('')),
    );
    const meta = {
      contentType: 'text/plain',
      contentDisposition: 'inline',
      expiresInSeconds: 60,
      origin: '',
    };
    const signed = (['private', 'public'] as const).map((zone) => store.downloadUrl(zone, 'key', meta));
    expect(new Set(signed.map((url) => new URL(url).origin))).toEqual(new Set(expected));
    await store.close();
  });
});
