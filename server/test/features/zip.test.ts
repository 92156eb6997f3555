// Zips of folders and of chosen files: read by Info-ZIP and Python, cut and resumed at random, on every store.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bytesOf, readAll } from '../support/bytes.ts';
import { rowsOf } from '../support/database.ts';
import { picture } from '../support/image-files.ts';
import { createLiveSpace } from '../support/spaces.ts';
import { type PakhusOnStore, startOn, storesFor } from '../support/stores.ts';
import { adminSession, createTenant, createUser, mintToken, type Tenant } from '../support/tenants.ts';
import { contentTypeOf, formOf, partsOf, type UploadOptions, upload } from '../support/uploads.ts';

/** How many downloads are cut at random and resumed. */
const cuts = Number(process.env.ZIP_CUTS ?? 12);
const run = promisify(execFile);

const readWithPython = `
import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as z:
    print(json.dumps({i.filename: z.read(i).hex() for i in z.infolist()}))`;

interface Fetched {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Buffer;
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'zips-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** What is in a zip, by name, after Info-ZIP has tested it. */
async function contentsOf(zip: Buffer): Promise<Record<string, Buffer>> {
  const file = join(folder, `${crypto.randomUUID()}.zip`);
  await writeFile(file, zip);
  await run('unzip', ['-t', file]);
  const { stdout } = await run('python3', ['-c', readWithPython, file], { maxBuffer: 64 << 20 });
  const hex = JSON.parse(stdout) as Record<string, string>;
  return Object.fromEntries(Object.entries(hex).map(([name, bytes]) => [name, Buffer.from(bytes, 'hex')]));
}

for (const store of storesFor('zips')) {
  describe(`zips on ${store.name}`, () => {
    let service: PakhusOnStore;
    let tenant: Tenant;
    let path: string;
    let user: { readonly id: string };

    beforeAll(async () => {
      service = await startOn(store);
      tenant = await createTenant(service.api, await adminSession(service.api));
      user = await createUser(service.api, tenant.key);
      path = `/project/users/${user.id}`;
    });
    afterAll(() => service.stop());

    async function put(bytes: Buffer | string, name: string, options: UploadOptions = {}): Promise<string> {
      const reply = await upload(service.api, tenant.key, path, bytes, { ...options, name });
      expect(reply.status, reply.text).toBe(201);
      return reply.body.file.id;
    }

    const inFolder = (name: string): UploadOptions => ({ fields: { folder: name } });

    async function fetchZip(
      query: string,
      headers: Record<string, string> = {},
      method: 'GET' | 'HEAD' = 'GET',
      as = tenant.key,
      of = path,
    ): Promise<Fetched> {
      const reply = await request(`${service.baseUrl}${of}/files/zip?${query}`, {
        method,
        headers: { authorization: `Bearer ${as}`, ...headers },
      });
      return { status: reply.statusCode, headers: reply.headers, body: await readAll(reply.body) };
    }

    const codeOf = ({ body }: Fetched): string => JSON.parse(body.toString()).error.code;

    test('files.zip: a folder with its subfolders, named as in the folders, equal names numbered', async () => {
      const large = bytesOf(700_000, 3);
      await put('one', 'a.txt', inFolder('docs'));
      await put('two', 'a.txt', inFolder('docs'));
      await put(large, 'b.bin', inFolder('docs/deep/er'));
      await put('', 'empty', inFolder('docs'));
      await put('no', 'other.txt', inFolder('docs2'));
      await put('no', 'root.txt');
      const reply = await fetchZip('folder=docs');
      expect(reply.status).toBe(200);
      expect(reply.headers).toMatchObject({
        'content-type': 'application/zip',
        'content-length': String(reply.body.length),
        'content-disposition': 'attachment; filename="docs.zip"',
        'accept-ranges': 'bytes',
      });
      const contents = await contentsOf(reply.body);
      expect(Object.keys(contents).sort()).toEqual(['a (2).txt', 'a.txt', 'deep/er/b.bin', 'empty']);
      expect([contents['a.txt'], contents['a (2).txt']].map(String)).toEqual(['one', 'two']);
      expect(contents['deep/er/b.bin']?.equals(large)).toBe(true);
      const everything = await contentsOf((await fetchZip('folder=')).body);
      expect(Object.keys(everything)).toEqual(
        expect.arrayContaining(['docs/a.txt', 'docs2/other.txt', 'root.txt']),
      );
    });

    test('files.zip: files by their ids keep their whole folder', async () => {
      const ids = [await put('x', 'x', inFolder('p/q')), await put('y', 'y'), await put('z', 'z')];
      const query = `ids=${ids[0]},${ids[1]?.toUpperCase()}&ids=${ids[2]}&ids=${ids[0]}`;
      const contents = await contentsOf((await fetchZip(query)).body);
      expect(Object.keys(contents).sort()).toEqual(['p/q/x', 'y', 'z']);
    });

    test('files.zip: no name leads out of the folder it is unpacked in', async () => {
      await put('1', '..\\\\..\\\\evil.txt', inFolder('names'));
      await put('2', 'CON', inFolder('names'));
      await put('3', 'a:b?.txt', inFolder('names'));
      const names = Object.keys(await contentsOf((await fetchZip('folder=names')).body));
      expect(names.every((name) => !/[\\:?]|^\/|(^|\/)\.\.(\/|$)/.test(name))).toBe(true);
      expect(names).toEqual(expect.arrayContaining(['_CON', 'a_b_.txt']));
    });

    test('files.zip: HEAD tells length and ETag, which conditional requests use', async () => {
      await put('h', 'h', inFolder('head'));
      const [head, get] = [await fetchZip('folder=head', {}, 'HEAD'), await fetchZip('folder=head')];
      expect([head.status, head.body.length]).toEqual([200, 0]);
      for (const name of ['content-length', 'etag', 'last-modified'])
        expect(head.headers[name]).toBe(get.headers[name]);
      const etag = String(head.headers.etag);
      expect((await fetchZip('folder=head', { 'if-none-match': etag })).status).toBe(304);
      expect((await fetchZip('folder=head', { 'if-match': '"other"' })).status).toBe(412);
      expect((await fetchZip('folder=head', { range: 'bytes=99999-' })).status).toBe(416);
      await put('more', 'more', inFolder('head'));
      const changed = await fetchZip('folder=head', { range: 'bytes=5-', 'if-range': etag });
      expect([changed.status, changed.headers.etag === etag]).toEqual([200, false]);
    });

    /** From one byte on, until about `length` have arrived: a connection that breaks, or a range with an end. */
    async function fetchUntilCut(at: number, length: number, etag: string, breaks: boolean): Promise<Buffer> {
      if (!breaks) {
        const range = `bytes=${at}-${at + length - 1}`;
        const { status, body } = await fetchZip('folder=cut', { range, 'if-range': etag });
        expect(status).toBe(206);
        return body;
      }
      const headers = { authorization: `Bearer ${tenant.key}`, range: `bytes=${at}-`, 'if-range': etag };
      const reply = await request(`${service.baseUrl}${path}/files/zip?folder=cut`, { headers });
      expect(reply.statusCode).toBe(206);
      const chunks: Buffer[] = [];
      let left = length;
      // Leaving the loop destroys the connection.
      for await (const chunk of reply.body) {
        chunks.push(chunk.subarray(0, left));
        left -= chunk.length;
        if (left <= 0) break;
      }
      return Buffer.concat(chunks);
    }

    test('files.zip: cut at random and resumed, it is the same byte for byte', async () => {
      for (let number = 0; number < 12; number += 1)
        await put(
          bytesOf(number % 3 === 0 ? 300_000 + number : 997 * number, number),
          `${number}.bin`,
          inFolder('cut'),
        );
      const whole = await fetchZip('folder=cut');
      await contentsOf(whole.body);
      const etag = String(whole.headers.etag);
      const resumed = join(folder, 'resumed.zip');
      let requests = 0;
      for (let number = 0; number < cuts; number += 1) {
        const parts: Buffer[] = [];
        for (let at = 0; at < whole.body.length; requests += 1) {
          const length = 1 + Math.floor(Math.random() ** 3 * whole.body.length);
          const part = await fetchUntilCut(at, length, etag, Math.random() < 0.5);
          parts.push(part);
          at += part.length;
        }
        const zip = Buffer.concat(parts);
        expect(zip.equals(whole.body)).toBe(true);
        await writeFile(resumed, zip);
        await run('unzip', ['-tq', resumed]);
      }
      console.log(`zips on ${store.name}: ${cuts} downloads resumed, ${requests} requests`);
      const last = await fetchZip('folder=cut', { range: 'bytes=-22' });
      expect(last.body.equals(whole.body.subarray(-22))).toBe(true);
    });

    test('files.zip: files whose checksum is not known are read for it, once', async () => {
      const ids = [
        await put(bytesOf(5_000), 'small', inFolder('unread')),
        await put(bytesOf(400_000), 'large', inFolder('unread')),
        await put('', 'none', inFolder('unread')),
      ];
      const before = await fetchZip('folder=unread');
      const listed = ids.map((id) => `'${id}'`).join();
      const known = await rowsOf(
        service.databaseUrl,
        `select id, crc32 from files where id in (${listed}) order by id`,
      );
      expect(known.every(({ crc32 }) => crc32 !== null)).toBe(true);
      await rowsOf(service.databaseUrl, `update files set crc32 = null where id in (${listed}) returning id`);
      // The directory at the end needs the checksums of files that are not in this range.
      const end = await fetchZip('folder=unread', { range: 'bytes=-200' });
      expect(end.body.equals(before.body.subarray(-200))).toBe(true);
      await rowsOf(service.databaseUrl, `update files set crc32 = null where id in (${listed}) returning id`);
      const after = await fetchZip('folder=unread');
      expect(after.headers.etag).toBe(before.headers.etag);
      expect(after.body.equals(before.body)).toBe(true);
      expect(
        await rowsOf(service.databaseUrl, `select id, crc32 from files where id in (${listed}) order by id`),
      ).toEqual(known);
    });

    test('files.zip: a compressed image is zipped as it is now, under its new name', async () => {
      const original = await picture(400, 300).jpeg({ quality: 100 }).toBuffer();
      const parts = partsOf(original, {
        fileField: 'image',
        name: 'p.jpg',
        type: 'image/jpeg',
        fields: { folder: 'pictures', format: 'webp' },
      });
      const posted = await service.api.call('POST', `${path}/images`, {
        as: tenant.key,
        raw: formOf(parts),
        headers: { 'content-type': contentTypeOf() },
      });
      expect(posted.status, posted.text).toBe(202);
      const id = posted.body.file_id;
      await expect
        .poll(
          async () => (await service.api.get(`${path}/files/${id}`, tenant.key)).body.file.compression.status,
          { timeout: 20_000 },
        )
        .toBe('done');
      const contents = await contentsOf((await fetchZip('folder=pictures')).body);
      expect(Object.keys(contents)).toEqual(['p.webp']);
      expect(contents['p.webp']?.subarray(8, 12).toString()).toBe('WEBP');
    });

    test('files.zip: a file that is deleted in the middle ends the connection, and the next zip is another', async () => {
      // More than the buffers between here and there hold.
      const first = await put(bytesOf(40_000_000), 'a', inFolder('gone'));
      const second = await put(bytesOf(400_000, 2), 'b', inFolder('gone'));
      expect(first).not.toBe(second);
      const reply = await request(`${service.baseUrl}${path}/files/zip?folder=gone`, {
        headers: { authorization: `Bearer ${tenant.key}` },
      });
      const deleted = await service.api.call('DELETE', `${path}/files/${second}`, { as: tenant.key });
      expect(deleted.status).toBe(204);
      const { objects } = service.pakhus.deps;
      await expect
        .poll(() => objects.head('private', `${tenant.id}/${second}`), { timeout: 20_000 })
        .toBeNull();
      await expect(readAll(reply.body)).rejects.toThrow();
      const again = await fetchZip('folder=gone');
      expect(again.headers.etag).not.toBe(reply.headers.etag);
      // The first file and little more.
      expect(Math.floor(again.body.length / 1_000)).toBe(40_000);
    });

    test('files.zip: a client that leaves ends the reading', async () => {
      await put(bytesOf(8_000_000), 'a', inFolder('left'));
      for (let number = 0; number < 45; number += 1) {
        const reply = await request(`${service.baseUrl}${path}/files/zip?folder=left`, {
          headers: { authorization: `Bearer ${tenant.key}` },
        });
        const closed = new Promise((resolve) => reply.body.once('close', resolve));
        reply.body.on('error', () => undefined).destroy();
        await closed;
      }
      // Without the end of the others there would be no memory left for this one.
      expect((await fetchZip('folder=left', { range: 'bytes=0-9' })).status).toBe(206);
    });

    test('files.zip: asks for a folder or ids; foreign files are not found, and too many are refused', async () => {
      expect((await fetchZip('')).status).toBe(400);
      expect((await fetchZip('folder=a&ids=b')).status).toBe(400);
      expect((await fetchZip('ids=nonsense')).status).toBe(400);
      expect((await fetchZip('ids=,')).status).toBe(400);
      expect((await fetchZip('folder=nothing-here')).status).toBe(404);
      const mine = await put('mine', 'mine');
      const other = await createUser(service.api, tenant.key);
      const foreign = await fetchZip(`ids=${mine}`, {}, 'GET', tenant.key, `/project/users/${other.id}`);
      expect([foreign.status, codeOf(foreign)]).toEqual([404, 'NOT_FOUND']);
      expect(foreign.body.toString()).toContain(mine);
      await rowsOf(
        service.databaseUrl,
        `insert into files (id, project_id, user_id, name, size, mime_type, storage_key, folder, visibility, zone)
         select gen_random_uuid(), project_id, '${other.id}', 'n', 0, 'text/plain', 'k', 'many', 'private', 'private'
         from files, generate_series(1, 10001) where id = '${mine}' returning id`,
      );
      const many = await fetchZip('folder=many', {}, 'GET', tenant.key, `/project/users/${other.id}`);
      expect([many.status, codeOf(many)]).toEqual([422, 'VALIDATION_ERROR']);
    });

    test('files.zip: a space token gets the files of its space, and space_id filters', async () => {
      const space = await createLiveSpace(service, tenant.id, user.id, ['files:read']);
      await put('in', 'in', { fields: { folder: 'both', space_id: space.id } });
      const outside = await put('out', 'out', inFolder('both'));
      const names = async (query: string, as?: string) =>
        Object.keys(await contentsOf((await fetchZip(query, {}, 'GET', as)).body)).sort();
      expect(await names('folder=both')).toEqual(['in', 'out']);
      expect(await names('folder=both&space_id=none')).toEqual(['out']);
      expect(await names(`folder=both&space_id=${space.id}`)).toEqual(['in']);
      expect(await names('folder=both', space.token)).toEqual(['in']);
      expect((await fetchZip(`ids=${outside}`, {}, 'GET', space.token)).status).toBe(404);
    });

    test('files.zip: needs files:read, counts as one download and is audited once', async () => {
      const { token: writer } = await mintToken(service.api, tenant.key, user.id, ['files:write']);
      expect((await fetchZip('folder=docs', {}, 'GET', writer)).status).toBe(403);
      await put('audit', 'audited', inFolder('audited'));
      await fetchZip('folder=audited', {}, 'HEAD');
      await fetchZip('folder=audited');
      await expect
        .poll(() =>
          rowsOf(
            service.databaseUrl,
            `select metadata from audit_logs where action = 'file.zip' and metadata ->> 'folder' = 'audited'`,
          ),
        )
        .toEqual([{ metadata: { files: 1, folder: 'audited' } }]);
    });
  });
}
