// The bytes of files with a credential: ranges, conditions, digests and redirects on every store, downloads that survive
// a store that breaks off, and an audio file in a real browser.
import { once } from 'node:events';
import net from 'node:net';
import { DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browserPath, withPage } from '../support/browser.ts';
import { bytesOf, readAll, sha256 } from '../support/bytes.ts';
import { rowsOf } from '../support/database.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { picture } from '../support/image-files.ts';
import { until } from '../support/processes.ts';
import { testS3Server } from '../support/s3-server.ts';
import { createLiveSpace } from '../support/spaces.ts';
import { type PakhusOnStore, startOn, storesFor } from '../support/stores.ts';
import {
  adminSession,
  createTenant,
  createUser,
  mintToken,
  sessionOf,
  type Tenant,
} from '../support/tenants.ts';
import { contentTypeOf, formOf, partsOf, type UploadOptions, upload } from '../support/uploads.ts';

interface Fetched {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Buffer;
}

interface Fixture {
  readonly service: PakhusOnStore;
  readonly tenant: Tenant;
  readonly user: { readonly id: string; readonly externalId: string };
  readonly path: string;
  /** Its path below the API. */
  store(bytes: Buffer | string, options?: UploadOptions): Promise<string>;
  fetch(
    path: string,
    headers?: Record<string, string>,
    method?: 'GET' | 'HEAD',
    as?: string,
  ): Promise<Fetched>;
}

const stores = storesFor('content');

async function fixtureOn(
  store: (typeof stores)[number],
  environment: Record<string, string> = {},
): Promise<Fixture> {
  const service = await startOn(store, environment);
  const tenant = await createTenant(service.api, await adminSession(service.api));
  const user = await createUser(service.api, tenant.key);
  const path = `/project/users/${user.id}`;
  return {
    service,
    tenant,
    user,
    path,
    async store(bytes, options) {
      const reply = await upload(service.api, tenant.key, path, bytes, options);
      expect(reply.status, reply.text).toBe(201);
      return `${path}/files/${reply.body.file.id}`;
    },
    async fetch(at, headers = {}, method = 'GET', as = tenant.key) {
      const reply = await request(`${service.baseUrl}${at}`, {
        method,
        headers: { authorization: `Bearer ${as}`, ...headers },
      });
      return { status: reply.statusCode, headers: reply.headers, body: await readAll(reply.body) };
    },
  };
}

/** The parts of a multipart/byteranges answer, by their Content-Range. */
function partsIn({ headers, body }: Fetched): Map<string, Buffer> {
  const [, boundary] = /^multipart\/byteranges; boundary=(\S+)$/.exec(String(headers['content-type'])) ?? [];
  expect(boundary).toBeDefined();
  const pieces = body.toString('latin1').split(`\r\n--${boundary}`);
  expect(pieces.at(-1)).toBe('--\r\n');
  return new Map(
    pieces.slice(1, -1).map((piece) => {
      const [head = '', ...rest] = piece.split('\r\n\r\n');
      const [, range = ''] = /Content-Range: (.*)/.exec(head) ?? [];
      return [range, Buffer.from(rest.join('\r\n\r\n'), 'latin1')];
    }),
  );
}

for (const store of stores) {
  describe(`content on ${store.name}`, () => {
    const bytes = bytesOf(600_000);
    let fixture: Fixture;
    let at: string;
    let etag: string;
    let modified: string;
    beforeAll(async () => {
      fixture = await fixtureOn(store);
      at = await fixture.store(bytes, { type: 'text/plain', name: 'a.txt' });
      const { headers } = await fixture.fetch(`${at}/content`, {}, 'HEAD');
      etag = String(headers.etag);
      modified = String(headers['last-modified']);
    });
    afterAll(() => fixture.service.stop());

    test('files.content: GET gives every byte with length, type, digest and headers against running it', async () => {
      const reply = await fixture.fetch(`${at}/content`);
      expect(reply.status).toBe(200);
      expect(reply.body.equals(bytes)).toBe(true);
      expect(reply.headers).toMatchObject({
        'content-length': '600000',
        'content-type': 'text/plain',
        'content-disposition': 'inline; filename="a.txt"',
        'accept-ranges': 'bytes',
        'repr-digest': `sha-256=:${Buffer.from(sha256(bytes), 'hex').toString('base64')}:`,
        'content-security-policy': "sandbox; default-src 'none'",
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'private, no-cache',
        etag,
      });
    });

    test('files.content: HEAD says what GET says and opens no object', async () => {
      const [head, get] = [
        await fixture.fetch(`${at}/content`, {}, 'HEAD'),
        await fixture.fetch(`${at}/content`),
      ];
      expect([head.status, head.body.length]).toEqual([200, 0]);
      for (const name of [
        'content-length',
        'content-type',
        'etag',
        'last-modified',
        'repr-digest',
        'content-disposition',
      ])
        expect(head.headers[name], name).toBe(get.headers[name]);
      const { objects } = fixture.service.pakhus.deps;
      const [fileId = ''] = at.split('/').slice(-1);
      await objects.delete('private', `${fixture.tenant.id}/${fileId}`);
      expect((await fixture.fetch(`${at}/content`, {}, 'HEAD')).status).toBe(200);
      expect((await fixture.fetch(`${at}/content`)).status).toBe(404);
      const meta = { contentType: 'text/plain', contentDisposition: 'inline' };
      await objects.put('private', `${fixture.tenant.id}/${fileId}`, bytes, meta);
    });

    test.each([
      ['bytes=0-0', 0, 1],
      ['bytes=599999-', 599_999, 600_000],
      ['bytes=-5', 599_995, 600_000],
      [' bytes= 100-70000 ', 100, 70_001],
      ['bytes=5-99999999999999999999', 5, 600_000],
    ])('files.content: Range %s', async (range, start, end) => {
      const reply = await fixture.fetch(`${at}/content`, { range });
      expect(reply.status).toBe(206);
      expect(reply.headers['content-range']).toBe(`bytes ${start}-${end - 1}/600000`);
      expect(reply.headers['content-length']).toBe(String(end - start));
      expect(reply.body.equals(bytes.subarray(start, end))).toBe(true);
    });

    test('files.content: several ranges come as parts, in the order asked for and with a Content-Length', async () => {
      const reply = await fixture.fetch(`${at}/content`, {
        range: 'bytes=500000-599999, 0-9, 300000-300499',
      });
      expect(reply.status).toBe(206);
      expect(reply.headers['content-length']).toBe(String(reply.body.length));
      const parts = partsIn(reply);
      expect([...parts.keys()]).toEqual([
        'bytes 500000-599999/600000',
        'bytes 0-9/600000',
        'bytes 300000-300499/600000',
      ]);
      for (const [range, part] of parts) {
        const [, start = 0, end = 0] = (/(\d+)-(\d+)/.exec(range) ?? []).map(Number);
        expect(part.equals(bytes.subarray(start, end + 1)), range).toBe(true);
      }
      const joined = await fixture.fetch(`${at}/content`, { range: 'bytes=0-9,5-20,21-30' });
      expect([joined.status, joined.headers['content-range']]).toEqual([206, 'bytes 0-30/600000']);
    });

    test('files.content: ranges that are too many or malformed get everything, ranges beyond the end 416', async () => {
      const many = Array.from({ length: 40 }, (_, nth) => `${nth * 1000}-${nth * 1000}`).join(',');
      for (const range of [`bytes=${many}`, 'bytes=5-2', 'items=0-1', 'bytes=0-1,x'])
        expect((await fixture.fetch(`${at}/content`, { range })).status, range).toBe(200);
      for (const range of ['bytes=600000-', 'bytes=-0', 'bytes=9007199254740993-']) {
        const reply = await fixture.fetch(`${at}/content`, { range });
        expect([reply.status, reply.headers['content-range']], range).toEqual([416, 'bytes */600000']);
      }
    });

    test('files.content: conditions are judged in the order of HTTP', async () => {
      const status = async (headers: Record<string, string>, method: 'GET' | 'HEAD' = 'GET') =>
        (await fixture.fetch(`${at}/content`, headers, method)).status;
      const later = new Date(Date.parse(modified) + 5_000).toUTCString();
      const earlier = new Date(Date.parse(modified) - 5_000).toUTCString();
      expect(await status({ 'if-match': '"other"' })).toBe(412);
      expect(await status({ 'if-match': `W/${etag}` })).toBe(412);
      expect(await status({ 'if-match': `"a", ${etag}`, 'if-none-match': etag })).toBe(304);
      expect(await status({ 'if-none-match': `W/${etag}` }, 'HEAD')).toBe(304);
      expect(await status({ 'if-none-match': '"other"', 'if-modified-since': later })).toBe(200);
      expect(await status({ 'if-modified-since': modified })).toBe(304);
      expect(await status({ 'if-modified-since': earlier })).toBe(200);
      expect(await status({ 'if-unmodified-since': earlier })).toBe(412);
      const range = 'bytes=0-1';
      for (const ifRange of [etag, modified]) expect(await status({ range, 'if-range': ifRange })).toBe(206);
      for (const ifRange of ['"other"', `W/${etag}`, later, 'nonsense'])
        expect(await status({ range, 'if-range': ifRange }), ifRange).toBe(200);
      expect(await status({ range: 'bytes=600000-', 'if-range': '"other"' })).toBe(200);
      const known = await fixture.fetch(`${at}/content`, { 'if-none-match': '*' });
      expect([known.status, known.body.length, known.headers.etag]).toEqual([304, 0, etag]);
    });

    test('files.content: an empty file has no ranges', async () => {
      const empty = await fixture.store('');
      const reply = await fixture.fetch(`${empty}/content`);
      expect([reply.status, reply.headers['content-length']]).toEqual([200, '0']);
      expect((await fixture.fetch(`${empty}/content`, { range: 'bytes=0-' })).status).toBe(416);
    });

    test('files.content: disposition is as wished, but what could run a script is never inline', async () => {
      const disposition = async (file: string, wish: string) =>
        String(
          (await fixture.fetch(`${file}/content?disposition=${wish}`, {}, 'HEAD')).headers[
            'content-disposition'
          ],
        );
      expect(await disposition(at, 'attachment')).toBe('attachment; filename="a.txt"');
      expect(await disposition(at, 'inline')).toBe('inline; filename="a.txt"');
      const page = await fixture.store('<script>', { type: 'text/html', name: 'a.html' });
      expect(await disposition(page, 'inline')).toMatch(/^attachment/);
      expect(
        (await fixture.service.api.get(`${at}/content?disposition=other`, fixture.tenant.key)).status,
      ).toBe(400);
    });

    test('files.content: redirect=true leads to the signed url, with the disposition that was asked for', async () => {
      const plain = await fixture.fetch(`${at}/content?redirect=true`);
      expect(plain.status).toBe(307);
      const got = await request(String(plain.headers.location));
      expect((await readAll(got.body)).equals(bytes)).toBe(true);
      const saved = await fixture.fetch(`${at}/content?redirect=true&disposition=attachment`, {}, 'HEAD');
      const reply = await request(String(saved.headers.location));
      expect(reply.headers['content-disposition']).toMatch(/^attachment/);
      await reply.body.dump();
    });

    test('files.content: a compressed image is delivered as what it became, under another etag', async () => {
      const { service, tenant, path, fetch } = fixture;
      const image = await picture(40, 30).png().toBuffer();
      const sent = await service.api.call('POST', `${path}/images`, {
        as: tenant.key,
        raw: formOf(partsOf(image, { name: 'a.png', type: 'image/png', fileField: 'image' })),
        headers: { 'content-type': contentTypeOf() },
      });
      const file = `${path}/files/${sent.body.file_id}/content`;
      const before = await fetch(file);
      await until('the image is compressed', async () => {
        const { body } = await service.api.get(`/project/jobs/${sent.body.job_id}`, tenant.key);
        return body.status === 'done';
      });
      const after = await fetch(file);
      expect(after.headers).toMatchObject({
        'content-type': 'image/webp',
        'content-disposition': 'inline; filename="a.webp"',
        'content-length': String(after.body.length),
        'repr-digest': `sha-256=:${Buffer.from(sha256(after.body), 'hex').toString('base64')}:`,
      });
      if (before.headers['content-type'] === 'image/png')
        expect(after.headers.etag).not.toBe(before.headers.etag);
      // As it is while the worker has replaced the object and not yet said so.
      await rowsOf(
        service.databaseUrl,
        `update compression_jobs set status = 'processing' where id = '${sent.body.job_id}'`,
      );
      expect((await fetch(file)).headers).toMatchObject({
        'content-type': 'image/webp',
        etag: after.headers.etag,
      });
    });

    test('files.content: the etag stays when only metadata changes, and bytes are found while the file moves', async () => {
      const { service, tenant, fetch } = fixture;
      await service.api.put(at, tenant.key, { folder: 'elsewhere' });
      let over = false;
      const reading = async () => {
        const seen = new Set<string>();
        while (!over) {
          const { status, headers } = await fetch(`${at}/content`, { range: 'bytes=0-99' });
          seen.add(`${status} ${headers.etag}`);
        }
        return [...seen];
      };
      const readers = Promise.all([reading(), reading()]);
      for (const visibility of ['public', 'private', 'public', 'private'])
        expect((await service.api.put(at, tenant.key, { visibility })).status).toBe(200);
      over = true;
      for (const seen of await readers) expect(seen).toEqual([`206 ${etag}`]);
    });

    test('files.content: only who may read the file gets it; a GET is a download, a HEAD is none', async () => {
      const { service, tenant, user, path, fetch } = fixture;
      const other = await createUser(service.api, tenant.key);
      const space = await createLiveSpace(service, tenant.id, user.id, ['files:read']);
      expect((await fetch(`${at}/content`, {}, 'GET', space.token)).status).toBe(404);
      expect((await fetch(at.replace(user.id, other.id).concat('/content'))).status).toBe(404);
      const blind = await mintToken(service.api, tenant.key, user.id, ['files:write']);
      expect((await fetch(`${at}/content`, {}, 'GET', blind.token)).status).toBe(403);
      const reader = await mintToken(service.api, tenant.key, user.id, ['files:read']);
      const file = await fixture.store('counted');
      await fetch(`${file}/content`, {}, 'HEAD', reader.token);
      await fetch(
        `${file.replace(path, `/project/users/ext/${user.externalId}`)}/content`,
        {},
        'GET',
        tenant.key,
      );
      await fetch(`${file}/content`, { 'if-none-match': '*' }, 'GET', reader.token);
      await service.pakhus.deps.auditQueue.flush();
      const rows = await rowsOf(
        service.databaseUrl,
        `select user_id from audit_logs where action = 'file.download' and resource_id = '${file.split('/').at(-1)}'`,
      );
      expect(rows).toEqual([{ user_id: user.id }]);
    });
  });
}

const server = testS3Server();

// A large object is read over another kind of connection.
describe.skipIf(!server).each([
  ['3 MiB', 3 << 20],
  ['24 MiB', 24 << 20],
])('content of %s from a store that fails', (_size, size) => {
  const bytes = bytesOf(size, 7);
  let proxy: FaultProxy;
  let fixture: Fixture;
  let at: string;
  beforeAll(async () => {
    proxy = await startFaultProxy(server?.endpoint ?? '');
    fixture = await fixtureOn(stores[1] as (typeof stores)[number], { S3_ENDPOINT: proxy.url });
    at = `${await fixture.store(bytes)}/content`;
  });
  afterAll(async () => {
    await fixture.service.stop();
    await proxy.close();
  });
  const isGet = ({ method }: { method?: string | undefined }) => method === 'GET';
  const gets = () => proxy.seen.filter((line) => line.startsWith('GET')).length;

  test('files.content: a download goes on where the store broke off, byte for byte', async () => {
    proxy.set(
      { fault: { kind: 'cutReply', bytes: 1 << 20 }, count: 1, when: isGet },
      { fault: { kind: 'cutReply', bytes: 70_001 }, count: 1, when: isGet },
      { fault: { kind: 'cutReply', bytes: 0 }, count: 1, when: isGet },
    );
    const reply = await fixture.fetch(at);
    expect([reply.status, reply.body.equals(bytes)]).toEqual([200, true]);
    expect(gets()).toBe(4);
    proxy.set({ fault: { kind: 'cutReply', bytes: 1000 }, count: 2, when: isGet });
    const part = await fixture.fetch(at, { range: 'bytes=1000000-1999999' });
    expect(part.body.equals(bytes.subarray(1_000_000, 2_000_000))).toBe(true);
    proxy.set({ fault: { kind: 'cutReply', bytes: 1000 }, count: 3, when: isGet });
    const parts = partsIn(await fixture.fetch(at, { range: 'bytes=0-99999,2000000-2099999' }));
    expect([...parts.values()].map((piece) => piece.length)).toEqual([100_000, 100_000]);
    expect(
      parts.get(`bytes 2000000-2099999/${bytes.length}`)?.equals(bytes.subarray(2_000_000, 2_100_000)),
    ).toBe(true);
  });

  test('files.content: a store that breaks off again and again ends the download short, never wrong', async () => {
    proxy.set({ fault: { kind: 'cutReply', bytes: 1000 }, when: isGet });
    await expect(fixture.fetch(at)).rejects.toThrow();
    expect(gets()).toBeLessThan(10);
    proxy.set();
  });

  test.each([
    { kind: 'reset' },
    { kind: 'status', status: 503, code: 'SlowDown' },
    { kind: 'page' },
  ] as const)('files.content: a store that answers with $kind at first is asked again', async (fault) => {
    proxy.set({ fault, count: 2, when: isGet });
    const reply = await fixture.fetch(at);
    expect([reply.status, reply.body.equals(bytes)]).toEqual([200, true]);
    proxy.set();
  });

  test('files.content: an object that is missing from the store is a 404, not an empty file', async () => {
    const file = await fixture.store(bytes);
    const { buckets } = fixture.service;
    const Key = `${fixture.tenant.id}/${file.split('/').at(-1)}`;
    await buckets?.sdk.send(new DeleteObjectCommand({ Bucket: buckets.bucket, Key }));
    const { status } = await fixture.fetch(`${file}/content`);
    expect(status).toBe(404);
  });

  test('files.content: an object that was replaced in the middle is never mixed with its successor', async () => {
    const file = await fixture.store(bytes);
    const key = `${fixture.tenant.id}/${file.split('/').at(-1)}`;
    proxy.set({ fault: { kind: 'stallReply', bytes: 100_000 }, count: 1, when: isGet });
    const reply = await request(`${fixture.service.baseUrl}${file}/content`, {
      headers: { authorization: `Bearer ${fixture.tenant.key}` },
    });
    const first = await new Promise<Buffer>((resolve) => reply.body.once('data', resolve));
    expect(first.equals(bytes.subarray(0, first.length))).toBe(true);
    const { buckets } = fixture.service;
    await buckets?.sdk.send(
      new PutObjectCommand({ Bucket: buckets.bucket, Key: key, Body: bytesOf(size, 8) }),
    );
    await proxy.refuse();
    await proxy.accept();
    await expect(readAll(reply.body)).rejects.toThrow();
    proxy.set();
  });

  test('files.content: a client that leaves, or reads nothing, costs the store no more than a little', async () => {
    const large = `${await fixture.store(bytesOf(24 << 20))}/content`;
    await expect.poll(() => proxy.openConnections()).toBeLessThan(20);
    const before = await proxy.openConnections();
    const { hostname, port } = new URL(fixture.service.baseUrl);
    const sockets = Array.from({ length: 4 }, () => net.connect(Number(port), hostname));
    for (const socket of sockets) {
      socket.write(
        `GET /api/v1${large} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${fixture.tenant.key}\r\n\r\n`,
      );
      await once(socket, 'readable');
    }
    // Nobody reads on: what the store has not sent yet stays there.
    expect(await proxy.openConnections()).toBeGreaterThanOrEqual(Math.min(before, 4));
    for (const socket of sockets) socket.destroy();
    await expect.poll(async () => (await fixture.fetch(large, { range: 'bytes=0-9' })).status).toBe(206);
    await expect.poll(() => proxy.openConnections()).toBeLessThanOrEqual(before);
  });
});

/** Silence, eight bits at 8 kHz. */
function wavOf(seconds: number): Buffer {
  const samples = seconds * 8000;
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + samples, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8000, 24);
  head.writeUInt32LE(8000, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36);
  head.writeUInt32LE(samples, 40);
  return Buffer.concat([head, Buffer.alloc(samples, 128)]);
}

describe.skipIf(!browserPath)('content in a browser', () => {
  test('files.content: a recording plays from any place, by ranges', async () => {
    const fixture = await fixtureOn(stores[0] as (typeof stores)[number]);
    try {
      const { service, tenant } = fixture;
      const file = await fixture.store(wavOf(2400), { type: 'audio/wav', name: 'a.wav' });
      const token = await sessionOf(service.api, tenant.email, tenant.password);
      const { origin } = new URL(service.baseUrl);
      await withPage(async (page) => {
        const ranges: string[] = [];
        page.on('request', (asked) => {
          if (asked.url().includes('/content')) ranges.push(asked.headers().range ?? '');
        });
        await page.context().addCookies([{ name: 'token', value: token, url: origin }]);
        const html = `<audio src="/api/v1${file}/content" preload="metadata"></audio>`;
        await page.route(`${origin}/player`, (route) =>
          route.fulfill({ contentType: 'text/html', body: html }),
        );
        await page.goto(`${origin}/player`);
        const reached = await page.evaluate(`(async () => {
          const audio = document.querySelector('audio');
          const heard = (event) => new Promise((resolve) => audio.addEventListener(event, resolve));
          if (audio.readyState < 1) await heard('loadedmetadata');
          audio.currentTime = 2300;
          await heard('seeked');
          return { time: audio.currentTime, duration: audio.duration };
        })()`);
        expect(reached).toEqual({ time: 2300, duration: 2400 });
        expect(ranges.some((range) => Number(/^bytes=(\d+)-/.exec(range)?.[1]) > 1_000_000)).toBe(true);
      });
    } finally {
      await fixture.service.stop();
    }
  });
});
