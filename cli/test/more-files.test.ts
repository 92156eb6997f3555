// mv, zip, search, share, restore, trash, and copies within the service, against the real service.
import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { parseWhen } from '../src/files/when.ts';
import { outcomeOf, startCommand } from './support/command.ts';
import { useService } from './support/service.ts';

const service = useService();
let user: string;
let folder: string;
let counter = 0;

beforeAll(() => service.client.project.settings.update({ trash_days: 7 }));
beforeEach(async () => {
  user = await service.user();
  counter += 1;
  folder = join(service.folder, `more-${counter}`);
  await mkdir(folder);
});

const run = (words: string | readonly string[], input?: string) =>
  service.run(words, { cwd: folder, ...(input !== undefined && { input }) });
const files = () => service.client.user(user).files;

async function remotePaths(): Promise<string[]> {
  const paths: string[] = [];
  for await (const file of files().list({ limit: 100 })) paths.push(`${file.folder}/${file.name}`);
  return paths.sort();
}

const upload = (path: string, content: string | Uint8Array<ArrayBuffer> = path) =>
  files().upload(content, {
    folder: dirname(path) === '.' ? '' : dirname(path),
    name: path.split('/').at(-1) ?? '',
  });

test('mv gives files another folder or name, and moves folders with everything below', async () => {
  const moved = await upload('a/one.txt');
  await upload('a/two.txt');
  await files().update((await upload('a/b/three.txt')).id, { tags: ['kept'], expires_at: '2099-01-01' });
  expect(await run(`mv ${user}:a/one.txt ${user}:in/`)).toMatchObject({ code: 0, out: '' });
  expect((await files().get(moved.id)).folder).toBe('in');
  expect((await run(`mv ${user}:a/b/three.txt ${user}:a/b/3.txt`)).code).toBe(0);
  expect((await run(`mv ${user}:a ${user}:z/`)).code).toBe(0);
  expect(await remotePaths()).toEqual(['in/one.txt', 'z/a/b/3.txt', 'z/a/two.txt']);
  const [renamed] = (await files().list({ q: '3.txt' }).page()).files;
  expect(renamed).toMatchObject({ tags: ['kept'], expires_at: '2099-01-01T00:00:00.000Z' });
  const json = await run(`mv ${user}:z/a/ ${user}:y --json`);
  expect(JSON.parse(json.out)).toMatchObject({ action: 'move', from: 'z/a', to: 'y', files: 2 });
  expect(await remotePaths()).toEqual(['in/one.txt', 'y/b/3.txt', 'y/two.txt']);
  expect((await run(`mv ${user}:y anna:y`)).code).toBe(2);
  expect((await run(`mv ${user}:nothing ${user}:y`)).code).toBe(3);
});

test('a file on hold keeps its name, and no copy of it is left', async () => {
  const { id } = await upload('held.txt');
  await files().update(id, { retain_until: '2099-01-01' });
  const refused = await run(`mv ${user}:held.txt ${user}:free.txt`);
  expect([refused.code, await remotePaths()]).toEqual([1, ['/held.txt']]);
});

test('rm -r deletes a folder with everything in it, or nothing, and past the trash with --permanent', async () => {
  const { id } = await upload('a/b/held.txt');
  await upload('a/free.txt');
  await upload('z/one.txt');
  await files().update(id, { retain_until: '2099-01-01' });
  const refused = await run(`rm -r ${user}:a ${user}:z`);
  expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/a\/: .* held until 2099-01-01/)]);
  expect(await remotePaths()).toEqual(['a/b/held.txt', 'a/free.txt']);
  await upload('y/two.txt');
  expect((await run(`rm -r --permanent ${user}:y`)).code).toBe(0);
  expect((await run(`trash list ${user}:`)).out).toMatch(/^[^\n]*z\/one.txt\n$/);
});

test('cp copies within the service, with all facts; with new ones the bytes pass through', async () => {
  const { id } = await upload('a/one.txt');
  await files().update(id, { tags: ['t'], metadata: { k: 'v' } });
  expect((await run(`cp ${user}:a ${user}:b --visibility public`)).code).toBe(0);
  expect((await run(`cp ${user}:a/one.txt ${user}:c.txt --tag other`)).code).toBe(0);
  const { files: copies } = await files().list({ sort: 'name' }).page();
  expect(copies.map(({ name, folder: at, tags, visibility }) => ({ name, at, tags, visibility }))).toEqual(
    expect.arrayContaining([
      { name: 'one.txt', at: 'b', tags: ['t'], visibility: 'public' },
      { name: 'c.txt', at: '', tags: ['other'], visibility: 'private' },
    ]),
  );
  expect(copies.every(({ metadata }) => metadata.k === 'v')).toBe(true);
});

test('search finds parts of names, sorts and filters', async () => {
  await upload('x/Über uns.txt', '1');
  await upload('uber.txt', '12345');
  await upload('other.txt');
  const found = await run(`search UBER ${user}: --sort size --order desc`);
  expect(found.out).toBe('uber.txt\nx/Über uns.txt\n');
  expect((await run(`search uber ${user}: --max-size 2B --json`)).out.trim().split('\n')).toHaveLength(1);
  expect(await run('search uber')).toMatchObject({
    code: 2,
    err: expect.stringContaining('Say whose files'),
  });
});

test('share prints a link that works until it is revoked', async () => {
  const { id } = await upload('docs/a.txt', 'for you');
  const words = ['share', `${user}:docs/a.txt`, '--expires', '7d', '--max-downloads', '3', '--name', 'Ann'];
  const shared = await run(words);
  expect([shared.code, shared.err]).toEqual([0, expect.stringContaining('only this once')]);
  const url = shared.out.trim();
  expect(await (await fetch(`${url}/download`)).text()).toBe('for you');
  const locked = JSON.parse((await run(`share ${user}:docs/a.txt --password --json`, 'hush-hush\n')).out);
  expect(locked.share).toMatchObject({ file_id: id, has_password: true });
  const [one] = (await run(`share list ${user}:docs/a.txt --json`)).out.trim().split('\n').slice(-1);
  const { id: shareId, name, downloads } = JSON.parse(one ?? '');
  expect([name, downloads]).toEqual(['Ann', 1]);
  expect((await run(`share list ${user}:`)).out).toContain('1 of 3 downloads');
  expect((await run(`share revoke ${user}: ${shareId}`)).code).toBe(0);
  expect((await fetch(`${url}/download`)).status).toBe(404);
  expect((await run(`share revoke ${user}: ${shareId}`)).code).toBe(3);
  expect((await run(`share ${user}:docs/a.txt --expires soon`)).code).toBe(2);
});

test('share update changes what is given, and the link stays the same', async () => {
  await upload('docs/a.txt', 'for you');
  const { share, url } = JSON.parse((await run(`share ${user}:docs/a.txt --expires 7d --json`)).out);
  const status = async () => (await fetch(`${url}/download`)).status;
  const update = async (words: string, input?: string) =>
    JSON.parse((await run(`share update ${user}: ${share.id} --json ${words}`, input)).out);
  expect(await update('--expires never --max-downloads 9 --name Ann')).toMatchObject({
    id: share.id,
    expires_at: null,
    max_downloads: 9,
    name: 'Ann',
  });
  expect(await update('--password --max-downloads 0', 'hush-hush')).toMatchObject({
    has_password: true,
    max_downloads: null,
  });
  expect(await update('--no-password --active off')).toMatchObject({ has_password: false, active: false });
  expect(await status()).toBe(404);
  expect(await update('--active on --expires 2099-01-01')).toMatchObject({
    name: 'Ann',
    expires_at: '2099-01-01T00:00:00.000Z',
  });
  expect(await status()).toBe(200);
  expect((await run(`share update ${user}: ${share.id}`)).code).toBe(2);
  expect((await run(`share update ${user}: ${randomUUID()} --active off`)).code).toBe(3);
});

test('times are counted from now, or dates of UTC, and always to come', () => {
  const now = Date.parse('2024-02-29T00:00:00Z');
  const parse = (text: string) => parseWhen(text, '--expires', now);
  expect(parse('90m')).toBe('2024-02-29T01:30:00.000Z');
  expect(parse('2w')).toBe('2024-03-14T00:00:00.000Z');
  expect(parse('4y')).toBe('2028-02-29T00:00:00.000Z');
  expect(parse('2026-12-31')).toBe('2026-12-31T00:00:00.000Z');
  expect(parse('2026-12-31T10:00')).toBe('2026-12-31T10:00:00.000Z');
  expect(parse('2026-12-31T10:00+02:00')).toBe('2026-12-31T08:00:00.000Z');
  for (const wrong of ['7 days', '2026-13-01', '2026-12-31 10:00', '999999y', ''])
    expect(() => parse(wrong), wrong).toThrow(/--expires .* 12h, 7d or 2y/);
  for (const past of ['0m', '2024-02-29']) expect(() => parse(past), past).toThrow(/a time to come/);
});

test('rm puts into the trash, restore brings back, trash empty and rm --permanent delete for good', async () => {
  const first = await upload('a/one.txt', 'older');
  await upload('a/b/two.txt');
  await upload('three.txt');
  await run(`rm ${user}:a/one.txt`);
  const second = await upload('a/one.txt', 'newer');
  expect((await run(`rm -r ${user}:a ${user}:three.txt`)).code).toBe(0);
  expect((await run(`trash list ${user}: --json`)).out.trim().split('\n')).toHaveLength(4);
  expect((await run(`trash list ${user}:a/b/`)).out).toMatch(/deleted \d.* kept until \d.* a\/b\/two.txt\n$/);
  expect((await run(`restore ${user}:a/one.txt`)).code).toBe(0);
  expect((await files().get(second.id)).sha256).toBe(second.sha256);
  expect((await run(`trash restore ${user}:#${first.id}`)).code).toBe(0);
  expect((await run(`restore ${user}:a/`)).code).toBe(0);
  expect(await remotePaths()).toEqual(['a/b/two.txt', 'a/one.txt', 'a/one.txt']);
  expect((await run(`rm --permanent ${user}:a/b/two.txt`)).code).toBe(0);
  expect((await run(`restore ${user}:a/b/two.txt`)).code).toBe(3);
  expect((await run(`trash empty ${user}:`)).code).toBe(0);
  expect((await run(`trash list ${user}:`)).out).toBe('');
  expect((await run(`trash empty ${user}:`)).code).toBe(0);
});

const checkZip = (path: string) =>
  execFileSync('python3', [
    '-c',
    'import sys,zipfile; print(*sorted(zipfile.ZipFile(sys.argv[1]).namelist()))',
    path,
  ])
    .toString()
    .trim();

test('zip downloads a folder or files, and overwrites only with --force', async () => {
  await upload('a/one.txt');
  await upload('a/b/two.txt');
  expect((await run(`zip ${user}:a`)).code).toBe(0);
  expect(checkZip(join(folder, 'a.zip'))).toBe('b/two.txt one.txt');
  expect((await run(`zip ${user}:a`)).code).toBe(1);
  expect((await run(`zip ${user}:a/one.txt ${user}:a/b/two.txt -o a.zip --force`)).code).toBe(0);
  expect(checkZip(join(folder, 'a.zip'))).toBe('a/b/two.txt a/one.txt');
  expect((await run(`zip ${user}:a/one.txt ${user}:a/b`)).code).toBe(2);
});

/** Passes requests on. Of zips it notes the range, and sends as much of the body as `share` says, of which it takes one after the other. */
async function startProxy(
  shares: ('half, then silence' | 'half, then cut')[],
  betweenZips: () => Promise<unknown> = async () => undefined,
) {
  const ranges: (string | undefined)[] = [];
  const server: Server = createServer(async (request, response) => {
    const isZip = request.url?.includes('/files/zip') === true;
    if (isZip && ranges.length > 0) await betweenZips();
    const { authorization = '', range, 'if-range': ifRange } = request.headers;
    const answer = await fetch(new URL(request.url ?? '', service.pakhus.baseUrl), {
      headers: { authorization, ...(range && { range }), ...(ifRange && { 'if-range': String(ifRange) }) },
    });
    const body = Buffer.from(await answer.arrayBuffer());
    response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), connection: 'close' });
    if (!isZip) return response.end(body);
    ranges.push(range);
    const share = shares.shift();
    if (share === undefined) return response.end(body);
    const half = body.subarray(0, body.length >> 1);
    return response.write(half, () => share === 'half, then cut' && setImmediate(() => response.destroy()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { ranges, env: { ...service.env, PAKHUS_URL: url }, close };
}

const readZip = async () => Buffer.from(await (await files().zip({ folder: 'a' })).arrayBuffer());

test('zip goes on where it was, after an interruption and after a lost connection', async () => {
  for (const name of ['1', '2', '3']) await upload(`a/${name}`, new Uint8Array(randomBytes(700_000)));
  const proxy = await startProxy(['half, then silence', 'half, then cut']);
  const { env } = proxy;
  const child = startCommand(`zip ${user}:a -o out.zip`, { env, cwd: folder });
  const outcome = outcomeOf(child);
  const part = join(folder, 'out.zip.pakhus-part');
  const partSize = () =>
    stat(part).then(
      ({ size }) => size,
      () => 0,
    );
  await expect.poll(partSize, { timeout: 20_000 }).toBeGreaterThan(1_000_000);
  child.kill('SIGINT');
  expect((await outcome).code).toBe(130);
  const had = await partSize();
  expect(await service.run(`zip ${user}:a -o out.zip`, { env, cwd: folder })).toMatchObject({ code: 0 });
  const [first, second, third] = proxy.ranges;
  expect([first, second]).toEqual([undefined, `bytes=${had}-`]);
  expect(Number(third?.match(/\d+/)?.[0])).toBeGreaterThan(had);
  expect((await readFile(join(folder, 'out.zip'))).equals(await readZip())).toBe(true);
  expect(await readdir(folder)).toEqual(['out.zip']);
  proxy.close();
});

test('zip begins anew if the files have changed since', async () => {
  await upload('a/1', new Uint8Array(randomBytes(700_000)));
  const proxy = await startProxy(['half, then cut'], () => upload('a/2', 'new'));
  expect(await service.run(`zip ${user}:a -o out.zip`, { env: proxy.env, cwd: folder })).toMatchObject({
    code: 0,
  });
  expect((await readFile(join(folder, 'out.zip'))).equals(await readZip())).toBe(true);
  expect(checkZip(join(folder, 'out.zip'))).toBe('1 2');
  proxy.close();
});
