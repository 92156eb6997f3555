// How files reach readers: public addresses, moves between the zones, what a browser is told, and the
// signed URLs of the disk store.
import { PutBucketPolicyCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mover } from '../../src/features/files/files.jobs.ts';
import type { Reply } from '../support/api.ts';
import { bytesOf, readAll, sha256 } from '../support/bytes.ts';
import { rowsOf } from '../support/database.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { picture } from '../support/image-files.ts';
import { expectBalanced, never, objectsOf } from '../support/ledger.ts';
import { until } from '../support/processes.ts';
import { type S3Buckets, testS3Server } from '../support/s3-server.ts';
import { type PakhusOnStore, type StoreChoice, startOn, storesFor } from '../support/stores.ts';
import { adminSession, createTenant, createUser } from '../support/tenants.ts';
import { contentTypeOf, formOf, partsOf, type UploadOptions, upload } from '../support/uploads.ts';

const publicUrl = 'https://files.example.com/zone';

interface Fixture {
  readonly service: PakhusOnStore;
  tenant(): Promise<{ id: string; key: string; path: string }>;
}

async function fixtureOn(store: StoreChoice, environment: Record<string, string>): Promise<Fixture> {
  const service = await startOn(store, environment);
  const admin = await adminSession(service.api);
  return {
    service,
    async tenant() {
      const { id, key } = await createTenant(service.api, admin);
      return { id, key, path: `/project/users/${(await createUser(service.api, key)).id}` };
    },
  };
}

interface Fetched {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Buffer;
}

async function fetched(
  url: string,
  headers: Record<string, string> = {},
  method: 'GET' | 'HEAD' = 'GET',
): Promise<Fetched> {
  const reply = await request(url, { method, headers });
  return { status: reply.statusCode, headers: reply.headers, body: await readAll(reply.body) };
}

const stores = storesFor('delivery of files');

for (const store of stores) {
  describe(`public files on ${store.name}`, () => {
    let fixture: Fixture;
    beforeAll(async () => {
      fixture = await fixtureOn(store, { R2_PUBLIC_URL: publicUrl });
    });
    afterAll(() => fixture.service.stop());

    test.each([5, 400 << 10])(
      'files.upload: a public file of %i bytes has a permanent url and lies on the public zone',
      async (size) => {
        const { service } = fixture;
        for (const metaAfterFile of [false, true]) {
          const { id, key, path } = await fixture.tenant();
          const meta = { visibility: 'public' };
          const { file } = (await upload(service.api, key, path, bytesOf(size), { meta, metaAfterFile }))
            .body;
          const address = { url: `${publicUrl}/${file.storageKey}`, url_expires_at: null };
          expect(file).toMatchObject(address);
          expect((await service.api.get(`${path}/files/${file.id}`, key)).body.file).toMatchObject(address);
          expect(await objectsOf(service, id)).toEqual([`public/${file.storageKey}`]);
          const stored = await readAll(await service.pakhus.deps.objects.get('public', file.storageKey));
          expect(sha256(stored)).toBe(file.sha256);
          await expectBalanced(service, id);
        }
      },
    );

    test('files.update: a change of visibility moves the object, there and back, and leaves no copy', async () => {
      const { service } = fixture;
      const { id, key, path } = await fixture.tenant();
      const bytes = bytesOf(300 << 10);
      const { file } = (await upload(service.api, key, path, bytes)).body;
      expect(file.url).not.toContain(publicUrl);
      for (const visibility of ['public', 'private', 'public', 'private'] as const) {
        const changed = await service.api.put(`${path}/files/${file.id}`, key, { visibility });
        expect(changed.body.file).toMatchObject({ visibility, storageKey: file.storageKey });
        expect(await objectsOf(service, id)).toEqual([`${visibility}/${file.storageKey}`]);
        const read = (await service.api.get(`${path}/files/${file.id}`, key)).body.file;
        expect(read.url_expires_at === null).toBe(visibility === 'public');
        const stored = await readAll(await service.pakhus.deps.objects.get(visibility, file.storageKey));
        expect(sha256(stored)).toBe(file.sha256);
        await expectBalanced(service, id);
      }
    });

    test('files.update: 20 changes of visibility at once lose nothing; the mover brings the object home', async () => {
      const { service } = fixture;
      const { id, key, path } = await fixture.tenant();
      const { file } = (await upload(service.api, key, path, bytesOf(5000))).body;
      const replies = await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          service.api.put(`${path}/files/${file.id}`, key, { visibility: at % 2 ? 'public' : 'private' }),
        ),
      );
      expect(replies.map((reply) => reply.status)).toEqual(Array(20).fill(200));
      // What a mover had begun holds the zone until its lease ends.
      await rowsOf(
        service.databaseUrl,
        `update objects set held_until = now(), late_until = null where file_id = '${file.id}' and state <> 'stored'`,
      );
      await mover.run(service.pakhus.deps, never);
      const read = (await service.api.get(`${path}/files/${file.id}`, key)).body.file;
      const zone = read.visibility;
      const stored = await readAll(await service.pakhus.deps.objects.get(zone, file.storageKey));
      expect(sha256(stored)).toBe(file.sha256);
      const [row] = await rowsOf<{ zone: string }>(
        service.databaseUrl,
        `select zone from files where id = '${file.id}'`,
      );
      expect(row?.zone).toBe(zone);
      expect(await objectsOf(service, id)).toContain(`${zone}/${file.storageKey}`);
    });

    test('files.move: a file that a crash left on the wrong zone is moved by the mover, and keeps a working url', async () => {
      const { service } = fixture;
      const { id, key, path } = await fixture.tenant();
      const { file } = (await upload(service.api, key, path, 'left behind')).body;
      await rowsOf(service.databaseUrl, `update files set visibility = 'public' where id = '${file.id}'`);
      const before = (await service.api.get(`${path}/files/${file.id}`, key)).body.file;
      expect(before.url_expires_at).not.toBeNull();
      expect((await fetched(before.url)).body.toString()).toBe('left behind');
      await mover.run(service.pakhus.deps, never);
      expect(await objectsOf(service, id)).toEqual([`public/${file.storageKey}`]);
      expect((await service.api.get(`${path}/files/${file.id}`, key)).body.file.url).toBe(
        `${publicUrl}/${file.storageKey}`,
      );
      await expectBalanced(service, id);
    });
  });

  if (store.name === 's3') {
    test('files.update: a store that swallows every packet does not hold a change of visibility up, and the file follows it later', async () => {
      const proxy = await startFaultProxy(testS3Server()?.endpoint ?? '');
      const { service, tenant } = await fixtureOn(store, { S3_ENDPOINT: proxy.url });
      try {
        const { id, key, path } = await tenant();
        const { file } = (await upload(service.api, key, path, 'patient')).body;
        const at = `${path}/files/${file.id}`;
        proxy.set({ fault: { kind: 'hang' } });
        const reply = await service.api.put(at, key, { visibility: 'public' });
        expect([reply.status, reply.body.file.visibility]).toEqual([200, 'public']);
        // A copy that was given up has no holder any more.
        const copies = await rowsOf(
          service.databaseUrl,
          `select state, holder is not null as held from objects where zone = 'public'`,
        );
        expect(copies, 'the copy is still waited for').toEqual([{ state: 'moving', held: true }]);
        proxy.set();
        await until('the file has followed', async () => {
          await mover.run(service.pakhus.deps, never);
          return (await objectsOf(service, id)).join() === `public/${file.storageKey}`;
        });
        expect((await fetched((await service.api.get(at, key)).body.file.url)).body.toString()).toBe(
          'patient',
        );
      } finally {
        await service.stop();
        await proxy.close();
      }
    }, 120_000);

    describe('the public bucket', () => {
      let fixture: Fixture;
      beforeAll(async () => {
        fixture = await fixtureOn(store, {});
        const { sdk, publicBucket: Bucket } = bucketsOf(fixture);
        const statement = {
          Effect: 'Allow',
          Principal: { AWS: ['*'] },
          Action: ['s3:GetObject'],
          Resource: [`arn:aws:s3:::${Bucket}/*`],
        };
        const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
        await sdk.send(new PutBucketPolicyCommand({ Bucket, Policy }));
      });
      afterAll(() => fixture.service.stop());

      const bucketsOf = ({ service }: Fixture): S3Buckets => {
        if (!service.buckets) throw new Error('there are no buckets');
        return service.buckets;
      };

      /** What a stranger gets at the object's permanent address. */
      const seen = async (storageKey: string) => {
        const { publicBucket, options } = bucketsOf(fixture);
        const { status, headers } = await fetched(`${options.endpoint}/${publicBucket}/${storageKey}`);
        expect(status).toBe(200);
        return [headers['content-type'], String(headers['content-disposition']).split(';')[0]];
      };

      const kinds = [
        { type: 'text/html', sees: ['application/octet-stream', 'attachment'] },
        { type: 'image/svg+xml', sees: ['application/octet-stream', 'attachment'] },
        { type: 'text/plain', sees: ['text/plain', 'inline'] },
        { type: 'image/png', sees: ['image/png', 'inline'] },
      ];
      const sizes = [
        { size: 'small', bytes: 100 },
        { size: 'streamed', bytes: 1 << 20 },
        { size: 'in parts', bytes: 6 << 20 },
      ];
      test.each(kinds.flatMap((kind) => sizes.map((size) => ({ ...kind, ...size }))))(
        'files.upload: what is public shows $type ($size) as $sees, uploaded there or moved there',
        async ({ type, bytes, sees }) => {
          const { key, path } = await fixture.tenant();
          const { api } = fixture.service;
          const data = bytesOf(bytes);
          const meta = { visibility: 'public' };
          const direct = (await upload(api, key, path, data, { type, meta })).body.file;
          expect(await seen(direct.storageKey)).toEqual(sees);
          const moved = (await upload(api, key, path, data, { type })).body.file;
          expect((await api.put(`${path}/files/${moved.id}`, key, meta)).status).toBe(200);
          expect(await seen(moved.storageKey)).toEqual(sees);
        },
      );

      test('files.update: a page that was stored as text/html is plain bytes once it is public', async () => {
        const { key, path } = await fixture.tenant();
        const { api } = fixture.service;
        const { sdk, bucket: Bucket } = bucketsOf(fixture);
        const { file } = (await upload(api, key, path, '<p>', { type: 'text/html', name: 'a.html' })).body;
        await sdk.send(
          new PutObjectCommand({
            Bucket,
            Key: file.storageKey,
            Body: '<p>',
            ContentType: 'text/html',
            ContentDisposition: 'inline; filename="a.html"',
          }),
        );
        const { headers } = await fetched(file.url);
        expect([headers['content-type'], headers['content-disposition']]).toEqual([
          'application/octet-stream',
          'attachment; filename="a.html"',
        ]);
        await api.put(`${path}/files/${file.id}`, key, { visibility: 'public' });
        expect(await seen(file.storageKey)).toEqual(['application/octet-stream', 'attachment']);
      });

      test('images.upload: a compressed image is shown as what it became, also after a move', async () => {
        const { key, path } = await fixture.tenant();
        const { api } = fixture.service;
        const image = await picture(40, 30).png().toBuffer();
        const sent = await api.call('POST', `${path}/images`, {
          as: key,
          raw: formOf(partsOf(image, { name: 'a.svg', type: 'image/svg+xml', fileField: 'image' })),
          headers: { 'content-type': contentTypeOf() },
        });
        await until('the image is compressed', async () => {
          const { body } = await api.get(`/project/jobs/${sent.body.job_id}`, key);
          return body.status === 'done';
        });
        const at = `${path}/files/${sent.body.file_id}`;
        expect((await api.put(at, key, { visibility: 'public' })).status).toBe(200);
        const { file } = (await api.get(at, key)).body;
        expect(await seen(file.storageKey)).toEqual(['image/webp', 'inline']);
        expect((await fetched(file.url)).headers['content-type']).toBe('image/webp');
      });
    });

    test('files.update: a slow removal from the zone that a file has left never takes the file that came back', async () => {
      const proxy = await startFaultProxy(testS3Server()?.endpoint ?? '');
      const { service, tenant } = await fixtureOn(store, {
        R2_PUBLIC_URL: publicUrl,
        S3_ENDPOINT: proxy.url,
      });
      try {
        const { key, path } = await tenant();
        const { file } = (await upload(service.api, key, path, 'here to stay')).body;
        const at = `${path}/files/${file.id}`;
        const isDelete = (request: { method?: string | undefined }) => request.method === 'DELETE';
        proxy.set({ fault: { kind: 'latency', ms: 4_000 }, count: 1, when: isDelete });
        const landedAt = Date.now() + 5_000;
        // Each waits for the removal only so long.
        for (const visibility of ['public', 'private'])
          expect((await service.api.put(at, key, { visibility })).status).toBe(200);
        const deletes = () => proxy.seen.filter((line) => line.startsWith('DELETE')).length;
        await until('the file is home and every removal is over', async () => {
          await mover.run(service.pakhus.deps, never);
          const left = await rowsOf(
            service.databaseUrl,
            `select 1 from files where visibility <> zone union all select 1 from objects where state <> 'stored'`,
          );
          return deletes() >= 2 && left.length === 0 && Date.now() > landedAt;
        });
        const read = (await service.api.get(at, key)).body.file;
        expect((await fetched(read.url)).body.toString()).toBe('here to stay');
      } finally {
        await service.stop();
        await proxy.close();
      }
    });
  }

  describe(`delivery on ${store.name}`, () => {
    let fixture: Fixture;
    let owner: Awaited<ReturnType<Fixture['tenant']>>;
    beforeAll(async () => {
      fixture = await fixtureOn(store, { SIGNED_URL_EXPIRY_SECONDS: '3600' });
      owner = await fixture.tenant();
    });
    afterAll(() => fixture.service.stop());

    const urlOf = async (bytes: Buffer | string, options: UploadOptions = {}): Promise<string> => {
      const reply = await upload(fixture.service.api, owner.key, owner.path, bytes, options);
      expect(reply.status, reply.text).toBe(201);
      return reply.body.file.url;
    };

    test('files.upload: the longest name is stored and downloaded in full, also when it exceeds the headers S3 takes', async () => {
      const name = `${'倉'.repeat(200)}.txt`;
      const { status, headers, body } = await fetched(await urlOf('long', { name, type: 'text/plain' }));
      expect({ status, body: body.toString() }).toEqual({ status: 200, body: 'long' });
      expect(headers['content-disposition']).toContain(`filename*=UTF-8''${encodeURIComponent(name)}`);
    });

    test('files.read: without R2_PUBLIC_URL a public file gets a signed url that expires', async () => {
      const meta = { visibility: 'public' };
      const { file } = (await upload(fixture.service.api, owner.key, owner.path, 'open', { meta })).body;
      expect(file.url_expires_at).not.toBeNull();
      expect((await fetched(file.url)).body.toString()).toBe('open');
    });

    test.each([
      ['text/html', '<script>alert(1)</script>'],
      ['image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
      ['application/xhtml+xml', '<html/>'],
      ['text/xml', '<a/>'],
      ['text/javascript', 'alert(1)'],
      ['application/pdf', '%PDF-1.7'],
      ['application/x-unknown', 'x'],
      ['nonsense', 'x'],
    ])('files.download: %s is an attachment that nothing may sniff or run', async (type, bytes) => {
      const { status, headers } = await fetched(await urlOf(bytes, { type, name: 'a.html' }));
      expect(status).toBe(200);
      expect(headers['content-disposition']).toMatch(/^attachment; filename="a\.html"/);
      if (store.name === 'disk') {
        expect(headers['x-content-type-options']).toBe('nosniff');
        expect(headers['content-security-policy']).toMatch(/^sandbox/);
      } else expect(headers['content-type']).toBe('application/octet-stream');
    });

    test.each(['image/png', 'text/plain', 'video/mp4'])(
      'files.download: %s may be shown in place, as exactly that type',
      async (type) => {
        const { headers } = await fetched(await urlOf('x', { type, name: 'a.bin' }));
        expect(headers['content-disposition']).toMatch(/^inline; filename="a\.bin"/);
        expect(headers['content-type']).toBe(type);
      },
    );

    test.each(['æøå.txt', '日本語.txt', '😀.txt', "it's (1) 100%.txt", 'a;b=c.txt', 'semi"quote.txt'])(
      'files.download: the name %s comes back whole',
      async (name) => {
        const head = Buffer.from(
          `Content-Disposition: form-data; name="file"; filename="${name.replace('"', '\\"')}"\r\nContent-Type: text/plain`,
        );
        const { service } = fixture;
        const reply = await service.api.call('POST', `${owner.path}/files`, {
          as: owner.key,
          raw: Buffer.concat([Buffer.from('--b\r\n'), head, Buffer.from('\r\n\r\nx\r\n--b--\r\n')]),
          headers: { 'content-type': 'multipart/form-data; boundary=b' },
        });
        expect(reply.body.file.name).toBe(name);
        const disposition = String((await fetched(reply.body.file.url)).headers['content-disposition']);
        const [, full = ''] = /filename\*=UTF-8''(\S+)$/.exec(disposition) ?? [];
        expect(decodeURIComponent(full)).toBe(name);
      },
    );
  });
}

describe('downloads from the disk', () => {
  const bytes = bytesOf(1000);
  let fixture: Fixture;
  let url: string;
  let etag: string;

  beforeAll(async () => {
    const [disk] = stores;
    fixture = await fixtureOn(disk as StoreChoice, { SIGNED_URL_EXPIRY_SECONDS: '3600' });
    const { key, path } = await fixture.tenant();
    url = (await upload(fixture.service.api, key, path, bytes, { type: 'text/plain' })).body.file.url;
    etag = String((await fetched(url)).headers.etag);
  });
  afterAll(() => fixture.service.stop());

  test('files.download: the url works without any credential and names its length, type and etag', async () => {
    const reply = await fetched(url);
    expect(reply.status).toBe(200);
    expect(reply.body.equals(bytes)).toBe(true);
    expect(reply.headers).toMatchObject({
      'content-length': '1000',
      'content-type': 'text/plain',
      'accept-ranges': 'bytes',
    });
    expect(etag).toMatch(/^"[^"]+"$/);
    expect(reply.headers['cache-control']).toContain('private');
  });

  test('files.download: HEAD says what GET says, without the bytes', async () => {
    const [head, get] = [await fetched(url, {}, 'HEAD'), await fetched(url)];
    expect([head.status, head.body.length]).toEqual([200, 0]);
    for (const name of [
      'content-length',
      'content-type',
      'content-disposition',
      'etag',
      'last-modified',
      'accept-ranges',
    ])
      expect(head.headers[name], name).toBe(get.headers[name]);
  });

  test.each([
    ['bytes=0-0', 0, 1],
    ['Bytes=0-0', 0, 1],
    ['bytes=0-499', 0, 500],
    ['bytes=500-', 500, 1000],
    ['bytes=-1', 999, 1000],
    ['bytes=-300', 700, 1000],
    ['bytes=-5000', 0, 1000],
    ['bytes=990-5000', 990, 1000],
    ['bytes=1-9007199254740991', 1, 1000],
    ['bytes=1-99999999999999999999999', 1, 1000],
    ['bytes=-99999999999999999999999', 0, 1000],
    ['bytes= 0-499', 0, 500],
  ])('files.download: Range %s is a 206 with exactly these bytes', async (range, start, end) => {
    const reply = await fetched(url, { range });
    expect(reply.status).toBe(206);
    expect(reply.headers['content-range']).toBe(`bytes ${start}-${end - 1}/1000`);
    expect(reply.headers['content-length']).toBe(String(end - start));
    expect(reply.body.equals(bytes.subarray(start, end))).toBe(true);
  });

  test.each(['bytes=1000-', 'bytes=1000-2000', 'bytes=-0'])(
    'files.download: Range %s is 416 and names the size',
    async (range) => {
      const reply = await fetched(url, { range });
      expect(reply.status).toBe(416);
      expect(reply.headers['content-range']).toBe('bytes */1000');
    },
  );

  test.each(['bytes=5-2', 'bytes=a-b', 'items=0-1', 'bytes='])(
    'files.download: Range %s is ignored',
    async (range) => {
      const reply = await fetched(url, { range });
      expect([reply.status, reply.body.length]).toEqual([200, 1000]);
    },
  );

  test('files.download: If-Match with another etag is 412, whatever else is asked', async () => {
    for (const wanted of [etag, `"other", ${etag}`, '*'])
      expect((await fetched(url, { 'if-match': wanted })).status, wanted).toBe(200);
    for (const wanted of ['"other"', `W/${etag}`]) {
      const reply = await fetched(url, { 'if-match': wanted, range: 'bytes=0-1' });
      expect([reply.status, reply.headers['content-type']], wanted).toEqual([
        412,
        'application/json; charset=utf-8',
      ]);
    }
  });

  test('files.download: If-None-Match with the etag is 304 without a body, with another one 200', async () => {
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const reply = await fetched(url, { 'if-none-match': known });
      expect([reply.status, reply.body.length], known).toEqual([304, 0]);
      expect(reply.headers.etag).toBe(etag);
      // A length would be taken for that of the file.
      expect(reply.headers['content-length']).toBeUndefined();
    }
    expect((await fetched(url, { 'if-none-match': '"other"' })).status).toBe(200);
    expect((await fetched(url, { 'if-none-match': etag }, 'HEAD')).status).toBe(304);
  });

  test('files.download: If-Modified-Since is 304 unless the file is younger, and says nothing beside If-None-Match', async () => {
    const modified = String((await fetched(url, {})).headers['last-modified']);
    const earlier = new Date(Date.parse(modified) - 1000).toUTCString();
    const statusOf = async (headers: Record<string, string>) => (await fetched(url, headers)).status;
    expect(await statusOf({ 'if-modified-since': modified })).toBe(304);
    expect(await statusOf({ 'if-modified-since': earlier })).toBe(200);
    expect(await statusOf({ 'if-modified-since': 'yesterday' })).toBe(200);
    expect(await statusOf({ 'if-modified-since': modified, 'if-none-match': '"other"' })).toBe(200);
  });

  test('files.download: If-Range with the etag gives the part, with another one the whole', async () => {
    expect((await fetched(url, { range: 'bytes=0-9', 'if-range': etag })).status).toBe(206);
    expect((await fetched(url, { range: 'bytes=0-9', 'if-range': '"other"' })).status).toBe(200);
  });

  test('files.download: HEAD knows no ranges', async () => {
    const reply = await fetched(url, { range: 'bytes=0-9' }, 'HEAD');
    expect([reply.status, reply.headers['content-length']]).toEqual([200, '1000']);
  });

  test('files.download: a url works while the file changes its visibility back and forth', async () => {
    const { key, path } = await fixture.tenant();
    const { file } = (await upload(fixture.service.api, key, path, bytes)).body;
    let over = false;
    const reading = async () => {
      const statuses = [];
      while (!over) statuses.push((await fetched(file.url)).status);
      return statuses;
    };
    const readers = Promise.all([1, 2, 3, 4].map(reading));
    for (let nth = 0; nth < 30; nth += 1) {
      const visibility = nth % 2 ? 'private' : 'public';
      expect((await fixture.service.api.put(`${path}/files/${file.id}`, key, { visibility })).status).toBe(
        200,
      );
    }
    over = true;
    expect(new Set((await readers).flat())).toEqual(new Set([200]));
  });

  test('files.download: an empty file is 200 with length 0, and any range of it 416', async () => {
    const { key, path } = await fixture.tenant();
    const empty = (await upload(fixture.service.api, key, path, '')).body.file.url;
    const reply = await fetched(empty);
    expect([reply.status, reply.headers['content-length']]).toEqual([200, '0']);
    expect((await fetched(empty, { range: 'bytes=0-' })).status).toBe(416);
  });

  test('files.download: a url of which anything was changed is 403', async () => {
    const changed = (name: string, value: string) => {
      const copy = new URL(url);
      copy.searchParams.set(name, value);
      return copy.toString();
    };
    const { key, path } = await fixture.tenant();
    const other = (await upload(fixture.service.api, key, path, 'x')).body.file.storageKey;
    const good = new URL(url);
    for (const bad of [
      changed('signature', 'A'.repeat(43)),
      changed('signature', `${good.searchParams.get('signature')}=`),
      changed('expires', String(Number(good.searchParams.get('expires')) + 1)),
      changed('type', 'text/html'),
      changed('disposition', 'inline'),
      `${url}&type=text%2Fhtml`,
      `${url}&more=1`,
      url.replace(/&signature=.*/, ''),
      `${good.origin}${good.pathname}`,
      `${good.origin}/api/v1/objects/${other}${good.search}`,
    ]) {
      const reply = await fetched(bad);
      expect(reply.status, bad).toBe(403);
      expect(reply.body.includes('FORBIDDEN')).toBe(true);
    }
    expect((await fetched(url)).status).toBe(200);
  });

  const ends: [string, (at: { key: string; path: string; id: string }, fileId: string) => Promise<Reply>][] =
    [
      ['the file', ({ key, path }, fileId) => service().delete(`${path}/files/${fileId}`, key)],
      ['its user', ({ key, path }) => service().delete(path, key)],
      [
        'its project',
        async ({ id }) => service().delete(`/admin/projects/${id}`, await adminSession(service())),
      ],
    ];
  test.each(ends)(
    'files.download: a url is 404 from the moment %s is deleted, also while the bytes are there',
    async (_name, end) => {
      const { objects } = fixture.service.pakhus.deps;
      for (const type of ['text/plain', 'image/png']) {
        const at = await fixture.tenant();
        const { file } = (await upload(service(), at.key, at.path, 'some bytes', { type })).body;
        expect((await fetched(file.url)).status).toBe(200);
        expect((await end(at, file.id)).status).toBe(204);
        // As it is until the reaper comes.
        const meta = { contentType: type, contentDisposition: 'attachment' };
        await objects.put('private', file.storageKey, Buffer.from('some bytes'), meta);
        expect(await objects.head('private', file.storageKey)).not.toBeNull();
        for (const headers of [{}, { range: 'bytes=0-1' }, { 'if-none-match': '*' }]) {
          expect((await fetched(file.url, headers)).status).toBe(404);
          expect((await fetched(file.url, headers, 'HEAD')).status).toBe(404);
        }
        await objects.delete('private', file.storageKey);
      }
    },
  );

  test('files.download: a url stops working when it has expired, and the file has a new one', async () => {
    const { key, path } = await fixture.tenant();
    const { file } = (await upload(fixture.service.api, key, path, 'x')).body;
    const lasting = Date.parse(file.url_expires_at) - Date.now();
    fixture.service.advance(lasting - 5_000);
    expect((await fetched(file.url)).status).toBe(200);
    fixture.service.advance(6_000);
    expect((await fetched(file.url)).status).toBe(403);
    const again = (await service().get(`${path}/files/${file.id}`, key)).body.file;
    expect((await fetched(again.url)).status).toBe(200);
    fixture.service.advance(-lasting - 1_000);
  });

  const service = () => fixture.service.api;
});
