// What no honest client sends: broken forms, hostile names and fields, lies about lengths, and clients that go
// away. Each gets a clear refusal or the right result, and none leaves anything behind.
import { Client } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Reply } from '../support/api.ts';
import { repetitions } from '../support/bounds.ts';
import { bytesOf } from '../support/bytes.ts';
import { rowsOf } from '../support/database.ts';
import { expectBalanced, placesOf, reapAll } from '../support/ledger.ts';
import { until } from '../support/processes.ts';
import { openRawPost } from '../support/raw-client.ts';
import { type PakhusOnStore, startOn, storesFor } from '../support/stores.ts';
import { adminSession, createPlan, createTenant, createUser } from '../support/tenants.ts';
import {
  contentTypeOf,
  defaultBoundary,
  formOf,
  type Part,
  partsOf,
  type UploadOptions,
  upload,
} from '../support/uploads.ts';

// Most of it is refused before it meets a store: one is enough in most runs.
const stores = storesFor('bad input').slice(-repetitions(2, 1));
for (const store of stores) describe(`on ${store.name}`, suite.bind(null, store));

interface Target {
  readonly id: string;
  readonly key: string;
  readonly path: string;
}

function suite(store: Parameters<typeof startOn>[0]): void {
  let service: PakhusOnStore;
  let admin: string;

  beforeAll(async () => {
    service = await startOn(store);
    admin = await adminSession(service.api);
  });
  afterAll(() => service.stop());

  const target = async (): Promise<Target> => {
    const { id, key } = await createTenant(service.api, admin);
    return { id, key, path: `/project/users/${(await createUser(service.api, key)).id}` };
  };
  const post = (at: Target, raw: Buffer, type = contentTypeOf()): Promise<Reply> =>
    service.api.call('POST', `${at.path}/files`, { as: at.key, raw, headers: { 'content-type': type } });

  /** No row, no object, no charge; what is still on record goes with the reaper. */
  const expectNothingLeft = async (at: Target) => {
    expect(await placesOf(service, at.id)).toEqual([]);
    await reapAll(service);
    await expectBalanced(service, at.id);
    const { body } = await service.api.get(`${at.path}/storage`, at.key);
    expect(body.storageUsed).toBe(0);
  };
  const expectRefused = async (at: Target, reply: Reply, status = 422, code = 'VALIDATION_ERROR') => {
    expect(reply.status, reply.text).toBe(status);
    expect(reply.body.error.code).toBe(code);
    expect(reply.body.error.details.issues.length).toBeGreaterThan(0);
    await expectNothingLeft(at);
  };

  describe.each([
    ['small', 1000],
    ['large', 700 << 10],
  ])('broken forms around a %s file', (_kind, size) => {
    const bytes = bytesOf(size);
    const whole = formOf(partsOf(bytes));
    const file = partsOf(bytes)[0] as Part;
    const unclosed = formOf([file], { closed: false });
    const opening = Buffer.from(`--${defaultBoundary}\r\n`);
    const ending = Buffer.from(`junk\r\n--${defaultBoundary}--\r\n`);

    test.each<[string, Buffer]>([
      ['a form that ends in the middle of the file', whole.subarray(0, whole.length - 200)],
      ['a form without its last boundary', formOf(partsOf(bytes), { closed: false })],
      ['a form that ends inside its last boundary', whole.subarray(0, whole.length - 6)],
      ['a form that ends in the head of its file', whole.subarray(0, 60)],
      [
        'a form that ends in the head of a second part',
        Buffer.concat([formOf([file], { closed: false }), whole.subarray(0, 60)]),
      ],
      ['two files', formOf([file, file])],
      ['two files of which the second is cut', formOf([file, file]).subarray(0, -300)],
      [
        'two files of which the second is cut in its head',
        formOf([file, file]).subarray(0, whole.length + 40),
      ],
      ['no file', formOf([{ name: 'folder', value: 'a' }])],
      ['no part at all', formOf([])],
      ['an empty body', Buffer.alloc(0)],
      ['a file under another name', formOf([{ ...file, name: 'upload' }])],
      [
        'a file part without a name',
        formOf([{ ...file, head: 'Content-Disposition: form-data; filename="x"' }]),
      ],
      ['a part without a head', formOf([{ ...file, head: '' }])],
      ['a part that ends in its head', Buffer.concat([opening, Buffer.from('junk\r\n'), whole])],
      ['a part that ends in its head, after the file', Buffer.concat([unclosed, opening, ending])],
      ['an empty part', Buffer.concat([opening, Buffer.from('\r\n'), whole])],
      ['nothing but a part that ends in its head', Buffer.concat([opening, ending])],
      ['a file that is a text field', formOf([{ name: 'file', value: bytesOf(size) }])],
      ['a file input that was left empty', formOf([{ name: 'file', filename: '', value: '' }])],
      ['a second file under another name', formOf([file, { ...file, name: 'attachment' }])],
      ['another boundary than announced', formOf([file], { boundary: 'another' })],
      ['random bytes', bytesOf(size, 7)],
    ])('files.upload: %s is refused', async (_what, raw) => {
      const at = await target();
      await expectRefused(at, await post(at, raw));
    });

    test('files.upload: a small file is stored despite an empty file input or megabytes after the form', async () => {
      const at = await target();
      await createPlan(service.api, at.key, { maxFileSize: size });
      const empty = { name: 'attachment', filename: '', value: '' };
      expect((await post(at, formOf([empty, file]))).status).toBe(201);
      expect((await post(at, Buffer.concat([whole, Buffer.alloc(7 << 20, 'x')]))).status).toBe(201);
    });

    test('files.upload: the service lives on after every one of them', async () => {
      const at = await target();
      const reply = await post(at, whole);
      expect(reply.status, reply.text).toBe(201);
    });

    test.each<[string, UploadOptions]>([
      ['meta that is no JSON', { fields: { meta: '{"folder":' } }],
      ['meta that is a list', { meta: ['folder'] }],
      ['meta that is a number', { meta: 7 }],
      ['meta that is null', { fields: { meta: 'null' } }],
      ['meta nested 33 levels deep', { meta: { metadata: nested(33) } }],
      ['meta nested 30,000 levels deep', { fields: { meta: `${'['.repeat(30_000)}${']'.repeat(30_000)}` } }],
      ['meta of 1 MB', { meta: { metadata: { a: 'x'.repeat(1 << 20) } } }],
      ['a number beyond all numbers', { fields: { metadata: '{"a":[1e400]}' } }],
      ['a __proto__ in meta', { fields: { meta: '{"metadata":{"__proto__":{"admin":true}}}' } }],
      ['a __proto__ at the top of meta', { fields: { meta: '{"__proto__":{"folder":"a"}}' } }],
      ['a __proto__ in disguise', { fields: { meta: '{"metadata":{"__\\u0070roto__":{"admin":true}}}' } }],
      ['a __proto__ in metadata', { fields: { metadata: '{"a":[{"__proto__":1}]}' } }],
      ['metadata that is no JSON', { fields: { metadata: 'order=42' } }],
      ['metadata that is text', { fields: { metadata: '"text"' } }],
      ['a lone surrogate in metadata', { fields: { meta: '{"metadata":{"a":"\\ud800"}}' } }],
      ['a lone surrogate as a name in metadata', { fields: { metadata: '{"\\udfff":1}' } }],
      ['a lone surrogate in a tag', { fields: { tags: '["\\ud800"]' } }],
      ['NUL in a tag', { fields: { tags: '["a\\u0000b"]' } }],
      ['NUL in a bare tag', { fields: { tags: 'a\u0000b' } }],
      ['NUL in metadata', { fields: { metadata: '{"a":"\\u0000"}' } }],
      ['NUL in the classifier', { fields: { classifier: 'a\u0000' } }],
      ['NUL in the folder', { fields: { folder: 'a\u0000b' } }],
      ['a folder that climbs', { fields: { folder: '../../etc' } }],
      ['tags that are numbers', { meta: { tags: [1, 2] } }],
      ['tags that are an object', { meta: { tags: { a: 1 } } }],
      ['tags that are text in meta', { meta: { tags: 'a,b' } }],
      ['33 tags', { fields: { tags: Array.from({ length: 33 }, (_, nth) => `t${nth}`).join(',') } }],
      ['a tag of 65 characters', { fields: { tags: 'x'.repeat(65) } }],
      ['metadata over 16 KiB', { meta: { metadata: { a: 'x'.repeat(16_400) } } }],
      [
        'metadata over 16 KiB once its numbers are written out',
        { meta: { metadata: { a: Array(60).fill(1e308) } } },
      ],
      ['a classifier of 256 characters', { fields: { classifier: 'x'.repeat(256) } }],
      ['an unknown visibility', { fields: { visibility: 'PUBLIC' } }],
      ['both casings with different values', { meta: { space_id: uuid(1), spaceId: uuid(2) } }],
      ['a sha256 that is none', { fields: { sha256: 'xyz' } }],
    ])('files.upload: %s is refused, before and after the file', async (_what, options) => {
      const at = await target();
      await expectRefused(at, await upload(service.api, at.key, at.path, bytes, options));
      await expectRefused(
        at,
        await upload(service.api, at.key, at.path, bytes, { ...options, metaAfterFile: true }),
      );
    });
  });

  test.each([
    ['no boundary', 'multipart/form-data'],
    ['an empty boundary', 'multipart/form-data; boundary='],
    ['a boundary of 71 characters', `multipart/form-data; boundary=${'b'.repeat(71)}`],
    ['no content type', ''],
    ['JSON', 'application/json'],
  ])('files.upload: a form with %s in its content type is refused', async (_what, type) => {
    const at = await target();
    const raw = formOf(partsOf('abc'));
    const reply = await service.api.call('POST', `${at.path}/files`, {
      as: at.key,
      raw,
      headers: type ? { 'content-type': type } : {},
    });
    await expectRefused(at, reply);
  });

  test.each([
    ['fields', (nth: number): Part => ({ name: `f${nth}`, value: 'x' })],
    ['fields of one name', (): Part => ({ name: 'tags', value: 'x' })],
    ['files', (): Part => ({ name: 'file', filename: 'a', value: 'x' })],
    ['files of other names', (nth: number): Part => ({ name: `f${nth}`, filename: 'a', value: 'x' })],
  ])('files.upload: ten thousand %s are refused', async (_what, part) => {
    const at = await target();
    const raw = formOf([...Array.from({ length: 10_000 }, (_, nth) => part(nth)), ...partsOf('abc')]);
    await expectRefused(at, await post(at, raw));
  });

  test.each([
    ['../../../etc/passwd', 'passwd'],
    ['..\\\\..\\\\boot.ini', 'boot.ini'],
    ['C:\\\\temp\\\\a.txt', 'a.txt'],
    ['/absolute/name.txt', 'name.txt'],
    ['', 'file'],
    ['   ', 'file'],
    ['x'.repeat(255), 'x'.repeat(255)],
  ])('files.upload: the name %j is kept as a plain name', async (given, kept) => {
    const at = await target();
    const reply = await upload(service.api, at.key, at.path, 'abc', { name: given });
    expect(reply.status, reply.text).toBe(201);
    expect(reply.body.file.name).toBe(kept);
    expect(reply.body.file.storageKey).toBe(`${at.id}/${reply.body.file.id}`);
    expect(await (await fetch(reply.body.file.url)).text()).toBe('abc');
  });

  test.each([
    ['NUL', 'a\u0000b'],
    ['a tab', 'a\tb'],
    ['an escape character', 'a\u001b[31m'],
    ['256 characters', 'x'.repeat(256)],
    ['10 KB', 'x'.repeat(10_240)],
    ['an encoded CRLF', undefined],
    ['an encoded NUL', undefined],
  ])('files.upload: a name with %s is refused, and never reaches a header', async (what, name) => {
    const at = await target();
    const encoded = what === 'an encoded CRLF' ? 'a%0D%0ASet-Cookie:%20x.txt' : 'a%00b';
    const head = `Content-Disposition: form-data; name="file"; filename*=UTF-8''${encoded}\r\nContent-Type: text/plain`;
    for (const bytes of [Buffer.from('abc'), bytesOf(300 << 10)]) {
      const file = partsOf(bytes, name === undefined ? {} : { name })[0] as Part;
      await expectRefused(at, await post(at, formOf([name === undefined ? { ...file, head } : file])));
    }
  });

  test.each(['061C', '200E', '200F', '202A', '202D', '202E', '2066', '2069'])(
    'files.upload: a name with the bidirectional control character U+%s is refused, and the character named',
    async (code) => {
      const at = await target();
      const name = `photo${String.fromCharCode(Number.parseInt(code, 16))}gpj.exe`;
      const reply = await upload(service.api, at.key, at.path, 'abc', { name });
      await expectRefused(at, reply);
      expect(reply.body.error.details.issues[0]).toMatchObject({
        path: 'filename',
        message: expect.stringContaining(`U+${code}`),
      });
    },
  );

  test('files.upload: a name in a script that is written from the right is none of them', async () => {
    const at = await target();
    const name = '\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 \u200d.txt';
    const reply = await upload(service.api, at.key, at.path, 'abc', { name });
    expect(reply.body.file.name).toBe(name);
  });

  test('files.upload: a raw CRLF in a name cannot smuggle a header into the download', async () => {
    const at = await target();
    const reply = await upload(service.api, at.key, at.path, 'abc', { name: 'a\r\nX-Evil: 1\r\n.txt' });
    expect([201, 422]).toContain(reply.status);
    if (reply.status === 422) return expectNothingLeft(at);
    const download = await fetch(reply.body.file.url);
    expect(download.headers.get('x-evil')).toBeNull();
    expect(await download.text()).toBe('abc');
  });

  test.each([
    ['text/plain; charset=utf-8', 'text/plain'],
    ['TEXT/HTML;charset="x"', 'text/html'],
    ['image/png; name="a.png"; foo=bar', 'image/png'],
    ['text/plain\u0000', 'application/octet-stream'],
    ['text', 'application/octet-stream'],
    ['text/plain/extra', 'application/octet-stream'],
    [`text/${'x'.repeat(300)}`, 'application/octet-stream'],
  ])('files.upload: the declared type %j is kept as %s', async (type, kept) => {
    const at = await target();
    const reply = await upload(service.api, at.key, at.path, 'abc', { type });
    if (reply.status === 422) return expectRefused(at, reply);
    expect(reply.status, reply.text).toBe(201);
    expect(reply.body.file.mimeType).toBe(kept);
  });

  test('files.upload: a field in another charset never becomes text that cannot be stored', async () => {
    const at = await target();
    const half = Buffer.from([0x00, 0xd8, 0x61, 0x00]);
    const [file] = partsOf('abc');
    for (const charset of ['utf-16le', 'utf-8', 'latin1', 'nonsense']) {
      const field = { name: 'classifier', contentType: `text/plain; charset=${charset}`, value: half };
      const reply = await post(at, formOf([field, file as Part]));
      expect([201, 422], reply.text).toContain(reply.status);
    }
    await reapAll(service);
    await expectBalanced(service, at.id);
  });

  describe('clients that lie or go away', () => {
    const begin = async (at: Target, length: number | 'chunked') =>
      openRawPost(service.baseUrl, {
        path: `${at.path}/files`,
        as: at.key,
        headers: [
          `Content-Type: ${contentTypeOf()}`,
          length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`,
        ],
      });

    test('files.upload: a hundred large uploads of one project are under way at once', async () => {
      const at = await target();
      const form = formOf(partsOf(bytesOf(400_000)));
      const clients = await Promise.all(Array.from({ length: 100 }, () => begin(at, form.length)));
      await Promise.all(clients.map((client) => client.write(form.subarray(0, 350_000))));
      // In reverse order: a later upload does not wait for an earlier one to finish.
      for (const client of clients.toReversed()) {
        await client.write(form.subarray(350_000));
        expect((await client.reply()).status).toBe(201);
        client.end();
      }
      await expectBalanced(service, at.id);
    });

    test('files.upload: a file that is sent byte by byte is stored as it is', async () => {
      const at = await target();
      const bytes = bytesOf(3_000);
      const form = formOf(partsOf(bytes, { fields: { classifier: 'slow' } }));
      const client = await begin(at, 'chunked');
      for (const byte of form) await client.write(Buffer.from([0x31, 0x0d, 0x0a, byte, 0x0d, 0x0a]));
      await client.write('0\r\n\r\n');
      const { status, text } = await client.reply();
      expect(status, text).toBe(201);
      const { file } = JSON.parse(text.slice(text.indexOf('{')));
      expect(file).toMatchObject({ size: 3_000, classifier: 'slow' });
      expect(Buffer.from(await (await fetch(file.url)).arrayBuffer()).equals(bytes)).toBe(true);
      client.end();
    });

    test.each([
      ['a second file', { name: 'more', filename: 'b', value: bytesOf(40 << 20) }],
      ['a field', { name: 'folder', value: bytesOf(40 << 20) }],
    ])(
      'files.upload: a client that is still sending 40 MiB of %s too much hears so',
      async (_what, extra) => {
        const at = await target();
        const form = formOf([...partsOf('abc'), extra]);
        const client = await begin(at, form.length);
        for (let from = 0; from < form.length && !client.answered; from += 1 << 20)
          await client.write(form.subarray(from, from + (1 << 20)));
        expect((await client.reply()).status).toBe(422);
        client.end();
        await expectNothingLeft(at);
      },
    );

    test.each(['before the form', 'behind the form', 'in a part without a name'])(
      'files.upload: a client that sends without end %s is refused',
      async (where) => {
        const at = await target();
        const form = formOf(partsOf('abc'));
        const nameless = formOf([{ name: '', head: 'Content-Type: text/plain', value: 'x' }], {
          closed: false,
        });
        const client = await begin(at, 100 << 20);
        if (where === 'behind the form') await client.write(form);
        if (where === 'in a part without a name') await client.write(nameless.subarray(0, -2));
        for (let sent = 0; sent < 100 << 20 && !client.answered; sent += 1 << 20)
          await client.write(Buffer.alloc(1 << 20, 'x'));
        expect((await client.reply()).status).toBe(422);
        client.end();
        await expectNothingLeft(at);
      },
    );

    test('files.upload: a Content-Length below the truth cuts the form, which is refused', async () => {
      const at = await target();
      const form = formOf(partsOf(bytesOf(5000)));
      const client = await begin(at, form.length - 2000);
      await client.write(form);
      const reply = await client.reply();
      // What comes after the length is taken for another request, and may be refused first.
      expect([400, 422]).toContain(reply.status);
      client.end();
      await expectNothingLeft(at);
    });

    test('files.upload: bytes after the last boundary change nothing', async () => {
      const at = await target();
      const form = Buffer.concat([formOf(partsOf(bytesOf(5000))), Buffer.from('\r\nepilogue '.repeat(100))]);
      const reply = await post(at, form);
      expect(reply.status, reply.text).toBe(201);
      expect(reply.body.file.size).toBe(5000);
    });

    test.each([
      ['a small upload', 10_000, 5_000],
      ['20 MiB', 20 << 20, 11 << 20],
      ['20 MiB, in chunks', 20 << 20, 11 << 20],
    ])(
      'files.upload: a client that hangs up in the middle of %s leaves nothing',
      async (what, size, sent) => {
        const at = await target();
        const form = formOf(partsOf(bytesOf(size)));
        const chunked = what.endsWith('chunks');
        const client = await begin(at, chunked ? 'chunked' : form.length);
        const part = form.subarray(0, sent);
        await client.write(
          chunked
            ? Buffer.concat([Buffer.from(`${sent.toString(16)}\r\n`), part, Buffer.from('\r\n')])
            : part,
        );
        // A large file is on record while it arrives: then it is surely being stored.
        if (size > 1 << 20) await until('the upload is on record', async () => (await recordsOf(at)) > 0);
        client.hangUp();
        await until('its place is free again', async () => {
          const again = await upload(service.api, at.key, at.path, 'after');
          return again.status === 201;
        });
        const [only] = (await service.api.get(`${at.path}/files`, at.key)).body.files;
        await service.api.delete(`${at.path}/files/${only.id}`, at.key);
        await until('nothing is being written', async () => {
          await reapAll(service);
          return (await recordsOf(at)) === 0;
        });
        await expectNothingLeft(at);
      },
    );

    test('files.upload: 200 clients that hang up do not use up the places of others', async () => {
      const at = await target();
      const form = formOf(partsOf(bytesOf(50_000)));
      const clients = await Promise.all(Array.from({ length: 200 }, () => begin(at, form.length)));
      await Promise.all(clients.map((client) => client.write(form.subarray(0, 30_000))));
      for (const client of clients) client.hangUp();
      const reply = await upload(service.api, at.key, at.path, 'after');
      expect(reply.status, reply.text).toBe(201);
    });

    test('files.upload: 70 bodies that stop being HTTP do not use up the places of others', async () => {
      const at = await target();
      const clients = await Promise.all(Array.from({ length: 70 }, () => begin(at, 'chunked')));
      const form = formOf(partsOf(bytesOf(5_000))).subarray(0, 3_000);
      await Promise.all(clients.map((client) => client.write(`${form.length.toString(16)}\r\n`)));
      await Promise.all(clients.map((client) => client.write(form)));
      await Promise.all(clients.map((client) => client.write('\r\nZZZZ\r\n')));
      const replies = await Promise.all(clients.map((client) => client.reply()));
      expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([400]));
      expect((await upload(service.api, at.key, at.path, 'after')).status).toBe(201);
      for (const client of clients) client.end();
    });

    test('files.upload: 70 forms that have no end do not use up the places of others', async () => {
      const at = await target();
      const form = Buffer.from(`--${defaultBoundary}\r\njunk\r\n--${defaultBoundary}--\r\n`);
      const replies = await Promise.all(Array.from({ length: 70 }, () => post(at, form)));
      expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([422]));
      expect((await upload(service.api, at.key, at.path, 'after')).status).toBe(201);
    });

    test.each([
      ['FILE_TOO_LARGE', { maxFileSize: 100 }],
      ['FILE_TOO_LARGE', { maxFileSize: 30 << 20, storageLimit: 100 }],
      ['STORAGE_LIMIT_EXCEEDED', { maxFileSize: 1 << 30, storageLimit: 100 }],
      ['MIME_NOT_ALLOWED', { maxFileSize: 1 << 30, allowedMimes: ['image/png'] }],
    ])('files.upload: a client that is still sending 40 MiB hears %s', async (code, plan) => {
      const at = await target();
      await createPlan(service.api, at.key, plan);
      const form = formOf(partsOf(bytesOf(40 << 20)));
      const client = await begin(at, form.length);
      for (let from = 0; from < form.length && !client.answered; from += 1 << 20)
        await client.write(form.subarray(from, from + (1 << 20)));
      const reply = await client.reply();
      expect([reply.status, JSON.parse(reply.text).error.code]).toEqual([422, code]);
      client.end();
      await expectNothingLeft(at);
      // An ordinary client, which sends all of it first, hears the same.
      const ordinary = await post(at, form);
      expect([ordinary.status, ordinary.body.error.code]).toEqual([422, code]);
      await expectNothingLeft(at);
    });

    test('files.upload: a connection on which an upload was refused serves its next request', async () => {
      const at = await target();
      const headers = { authorization: `Bearer ${at.key}`, 'content-type': contentTypeOf() };
      const origin = new URL(service.baseUrl);
      const connection = new Client(origin.origin, { pipelining: 1 });
      for (let round = 0; round < 40; round += 1) {
        const [file] = partsOf(bytesOf(round * 20_000));
        const broken = formOf([file as Part, { name: 'x', value: bytesOf(50_000) }], { closed: false });
        for (const body of [broken, formOf([{ ...(file as Part), head: 'X: 1' }]), formOf([file as Part])]) {
          const path = `${origin.pathname}${at.path}/files`;
          const reply = await connection.request({ method: 'POST', path, headers, body });
          await reply.body.dump();
          expect([201, 422]).toContain(reply.statusCode);
        }
      }
      await connection.close();
    });

    test('files.upload: a stranger and a reader are answered while they still send', async () => {
      const at = await target();
      const form = formOf(partsOf(bytesOf(4 << 20)));
      const client = await begin({ ...at, key: `pak_${'0'.repeat(64)}` }, form.length);
      for (let from = 0; from < form.length && !client.answered; from += 1 << 20)
        await client.write(form.subarray(from, from + (1 << 20)));
      expect((await client.reply()).status).toBe(401);
      client.end();
      await expectNothingLeft(at);
    });

    const recordsOf = async (at: Target) =>
      (
        await rowsOf(
          service.databaseUrl,
          `select 1 from objects where project_id = '${at.id}' and state <> 'stored'`,
        )
      ).length;
  });

  test('files.upload: a boundary that occurs in the file with one character more is part of the file', async () => {
    const at = await target();
    const bytes = Buffer.from(`a\r\n-${defaultBoundary}\r\n--${defaultBoundary.slice(0, -1)}\r\n\r\n--`);
    const reply = await upload(service.api, at.key, at.path, bytes);
    expect(reply.status, reply.text).toBe(201);
    const stored = Buffer.from(await (await fetch(reply.body.file.url)).arrayBuffer());
    expect(stored.equals(bytes)).toBe(true);
  });
}

function nested(levels: number): object {
  return levels === 0 ? {} : { a: nested(levels - 1) };
}

function uuid(last: number): string {
  return `00000000-0000-4000-8000-00000000000${last}`;
}
