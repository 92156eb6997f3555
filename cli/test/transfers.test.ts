// put, get, cat, cp, rm, ls and url against the real service.
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { access, mkdir, readdir, readFile, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { beforeEach, describe, expect, test } from 'vitest';
import { outcomeOf, startCommand } from './support/command.ts';
import { useService } from './support/service.ts';

const service = useService();
const mib = 1 << 20;
let user: string;
let folder: string;
let counter = 0;

beforeEach(async () => {
  user = await service.user();
  counter += 1;
  folder = join(service.folder, `test-${counter}`);
  await mkdir(folder);
});

const run = (words: string | readonly string[], input?: string | Buffer) =>
  service.run(words, { cwd: folder, ...(input !== undefined && { input }) });

async function write(path: string, content: string | Buffer): Promise<string> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), content);
  return join(folder, path);
}

const read = (path: string) => readFile(join(folder, path), 'utf8');
const exists = (path: string) =>
  access(join(folder, path)).then(
    () => true,
    () => false,
  );

const files = () => service.client.user(user).files;

async function remotePaths(): Promise<string[]> {
  const paths: string[] = [];
  for await (const file of files().list({ limit: 100 })) paths.push(`${file.folder}/${file.name}`);
  return paths.sort();
}

const upload = (path: string, content: string | Uint8Array<ArrayBuffer>) =>
  files().upload(content, {
    folder: dirname(path) === '.' ? '' : dirname(path),
    name: path.split('/').at(-1) ?? '',
  });

describe('put', () => {
  test('sends files, folders and patterns with type, time and digest; a second run sends nothing', async () => {
    await write('a.txt', 'one');
    await write('tree/b.json', '{}');
    await write('tree/deep/c', 'three');
    await write('x1.log', '1');
    await write('x2.log', '2');
    await utimes(join(folder, 'a.txt'), new Date(), new Date('2020-02-02T02:02:02.222Z'));
    const words = [
      'put',
      'a.txt',
      'tree',
      'x?.log',
      `${user}:in/`,
      '--tag',
      't',
      '--meta',
      'k=v',
      '--classifier',
      'c',
    ];
    const first = await run([...words, '--json']);
    expect([first.code, first.err]).toEqual([0, '']);
    expect(first.out.trim().split('\n')).toHaveLength(5);
    expect(await remotePaths()).toEqual([
      'in/a.txt',
      'in/tree/b.json',
      'in/tree/deep/c',
      'in/x1.log',
      'in/x2.log',
    ]);
    const [file] = (await files().list({ folder: 'in', mime_type: 'text/plain' }).page()).files;
    expect(file).toMatchObject({
      name: 'a.txt',
      tags: ['t'],
      classifier: 'c',
      sha256: createHash('sha256').update('one').digest('hex'),
      metadata: { k: 'v', mtime: '2020-02-02T02:02:02.222Z' },
    });
    expect((await run(words)).err).toContain('5 files already there');
    expect(await remotePaths()).toHaveLength(5);
  });

  test('keeps a different file of the same name, or replaces it, with its tags', async () => {
    await write('a.txt', 'one');
    await run(`put a.txt ${user}: --tag kept --visibility public`);
    await write('a.txt', 'two');
    await run(`put a.txt ${user}:`);
    expect(await remotePaths()).toEqual(['/a.txt', '/a.txt']);
    await write('a.txt', 'three');
    await run(`put --replace a.txt ${user}:`);
    expect(await remotePaths()).toEqual(['/a.txt', '/a.txt']);
    const [newest] = (await files().list().page()).files;
    expect(newest).toMatchObject({ size: 5, visibility: 'private' });
  });

  test('a target without a slash is the new name of a file or folder', async () => {
    await write('a.txt', 'one');
    await write('tree/b.txt', 'two');
    await run(`put a.txt ${user}:x/renamed.txt`);
    await run(`put tree ${user}:moved`);
    await run(`put tree/ ${user}:content/`);
    expect(await remotePaths()).toEqual(['content/b.txt', 'moved/b.txt', 'x/renamed.txt']);
    const { code, err } = await run(`put a.txt tree ${user}:x`);
    expect([code, err]).toEqual([2, `Several files need a folder as target: write ${user}:x/\n`]);
  });

  test('takes stdin, also without end in sight, and needs a name for it', async () => {
    const content = randomBytes(5 * mib);
    expect((await run(['put', '-', `${user}:pipe.bin`], content)).code).toBe(0);
    const [file] = (await files().list().page()).files;
    expect(file?.sha256).toBe(createHash('sha256').update(content).digest('hex'));
    expect((await run(['put', '-', `${user}:`], 'x')).err).toContain('needs a name');
  });

  test('skips symbolic links unless told to follow them', async () => {
    await write('tree/a', '1');
    await write('outside', '2');
    await symlink('../outside', join(folder, 'tree/link'));
    expect((await run(`put tree ${user}:`)).err).toContain('--follow');
    expect(await remotePaths()).toEqual(['tree/a']);
    await run(`put --follow tree ${user}:`);
    expect(await remotePaths()).toEqual(['tree/a', 'tree/link']);
  });

  test('sends names that forms would change, and reports those that cannot be stored', async () => {
    await write('tree/back\\slash "quoted" 100%22', '1');
    await write('tree/blank ', '2');
    await write('tree/ok', '3');
    const { code, err } = await run(`put tree ${user}:`);
    expect(code).not.toBe(0);
    expect(err).toContain('ends with a blank');
    expect(await remotePaths()).toEqual(['tree/back\\slash "quoted" 100%22', 'tree/ok']);
  });

  test('a file whose answer was lost is not sent twice', async () => {
    const { baseUrl } = service.pakhus;
    let lost = 0;
    const proxy = createServer(async (request, response) => {
      const body = await buffer(request);
      const hasBody = body.byteLength > 0;
      const { authorization = '', 'content-type': type = '' } = request.headers;
      const answer = await fetch(new URL(request.url ?? '', baseUrl), {
        method: request.method ?? 'GET',
        headers: { authorization, ...(hasBody && { 'content-type': type }) },
        ...(hasBody && { body: new Uint8Array(body) }),
      });
      const text = await answer.text();
      if (request.method === 'POST' && lost === 0) {
        lost += 1;
        request.socket.destroy();
      } else response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const { port } = proxy.address() as AddressInfo;
    await write('a.txt', 'one');
    const env = { PAKHUS_URL: `http://127.0.0.1:${port}` };
    const { code } = await service.run(`put a.txt ${user}:`, { cwd: folder, env });
    proxy.close();
    proxy.closeAllConnections();
    expect([code, lost]).toEqual([0, 1]);
    expect(await remotePaths()).toEqual(['/a.txt']);
  });

  test('goes on where it was after an interruption', async () => {
    const content = randomBytes(40 * mib);
    const path = await write('large.bin', content);
    const child = startCommand(`put ${path} ${user}:`, { env: service.env, cwd: folder });
    const outcome = outcomeOf(child);
    const state = join(service.env.XDG_STATE_HOME ?? '', 'pakhus/uploads');
    // Written before the first byte is sent.
    while (!(await readdir(state).catch((): string[] => [])).some((name) => name.endsWith('.json')));
    child.kill('SIGINT');
    const { code, err } = await outcome;
    expect([code, err]).toEqual([130, 'Interrupted\n']);
    expect(await remotePaths()).toEqual([]);
    const uploads = async () => (await service.client.user(user).uploads.list().page()).uploads;
    const [left] = await uploads();
    expect(left?.status).toBe('uploading');
    expect((await run(`put ${path} ${user}:`)).code).toBe(0);
    // The same upload was continued: there is no second one.
    expect((await uploads()).map(({ id, status }) => ({ id, status }))).toEqual([
      { id: left?.id, status: 'completed' },
    ]);
    const [file] = (await files().list().page()).files;
    expect(file?.sha256).toBe(createHash('sha256').update(content).digest('hex'));
    expect(await readdir(state)).toEqual([]);
  });
});

describe('get', () => {
  test('writes files and folders, restores their times and checks them', async () => {
    await write('tree/a.txt', 'one');
    await write('tree/deep/b.txt', 'two');
    await utimes(join(folder, 'tree/a.txt'), new Date(), new Date('2020-02-02T02:02:02.222Z'));
    await run(`put tree ${user}:`);
    expect((await run(`get ${user}:tree out`)).code).toBe(0);
    expect([await read('out/a.txt'), await read('out/deep/b.txt')]).toEqual(['one', 'two']);
    expect(Math.round((await stat(join(folder, 'out/a.txt'))).mtimeMs)).toBe(
      Date.parse('2020-02-02T02:02:02.222Z'),
    );
    expect((await run(`get ${user}:tree out`)).err).toContain('2 files already there');
    await run(`get ${user}:tree into/`);
    await run(['get', `${user}:tree/**/*.txt`, 'flat']);
    await run(`get ${user}:tree/a.txt renamed.txt`);
    await run(`get ${user}:tree/a.txt`);
    expect([
      await read('into/tree/a.txt'),
      await read('flat/b.txt'),
      await read('renamed.txt'),
      await read('a.txt'),
    ]).toEqual(['one', 'two', 'one', 'one']);
    expect((await readdir(folder, { recursive: true })).filter((name) => name.endsWith('part'))).toEqual([]);
  });

  test('does not overwrite a file that differs, unless told to', async () => {
    await upload('a.txt', 'remote');
    await write('a.txt', 'local');
    const { code, err } = await run(`get ${user}:a.txt .`);
    expect([code, err]).toEqual([1, expect.stringContaining('--force overwrites it')]);
    const changedAt = (date: string) => utimes(join(folder, 'a.txt'), new Date(), new Date(date));
    // Not as it was written: the clock of a file system is up to 10 ms behind that of the service.
    await changedAt('2200-01-01');
    expect((await run(`get --newer ${user}:a.txt .`)).code).toBe(0);
    expect(await read('a.txt')).toBe('local');
    await changedAt('2020-01-01');
    await run(`get --newer ${user}:a.txt .`);
    expect(await read('a.txt')).toBe('remote');
    await write('a.txt', 'local');
    await run(`get --force ${user}:a.txt .`);
    expect(await read('a.txt')).toBe('remote');
  });

  test('writes to stdout, byte by byte, and to a reader that goes away', async () => {
    const content = randomBytes(3 * mib);
    await upload('x.bin', new Uint8Array(content));
    await upload('y.txt', 'after');
    const { bytes } = await run(`cat ${user}:x.bin ${user}:y.txt`);
    expect(bytes.equals(Buffer.concat([content, Buffer.from('after')]))).toBe(true);
    expect((await run(`get ${user}:y.txt -`)).out).toBe('after');
    const child = startCommand(`cat ${user}:x.bin`, { env: service.env });
    child.stdout?.once('data', () => child.stdout?.destroy());
    expect((await outcomeOf(child)).code).toBe(0);
  });

  test('never follows a link out of its folder and never writes hostile names', async () => {
    await upload('docs/a.txt', 'evil');
    await mkdir(join(folder, 'outside'));
    await mkdir(join(folder, 'out'));
    await symlink('../outside', join(folder, 'out/docs'));
    const { code, err } = await run(`get ${user}: out`);
    expect([code, err]).toEqual([1, expect.stringContaining('symbolic link')]);
    expect(await readdir(join(folder, 'outside'))).toEqual([]);
    // Names with slashes come in by the route that takes a name as JSON.
    await files().upload('evil', { name: '../../escaped', mode: 'resumable' });
    await files().upload('part', { name: 'x.pakhus-part', mode: 'resumable' });
    const hostile = await run(`get ${user}: other`);
    expect(hostile.code).toBe(1);
    expect(hostile.err).toContain('USER:#ID');
    expect(await readdir(join(folder, 'other'), { recursive: true })).toEqual(['docs', 'docs/a.txt']);
    expect(await exists('../escaped')).toBe(false);
    const [file] = (await files().list({ folder: '' }).page()).files;
    expect((await run(`get ${user}:#${file?.id} mine`)).code).toBe(0);
  });

  test('a download that was killed can be repeated', async () => {
    const content = randomBytes(8 * mib);
    await upload('large.bin', new Uint8Array(content));
    const child = startCommand(`get ${user}:large.bin .`, { env: service.env, cwd: folder });
    const ended = outcomeOf(child);
    while ((await readdir(folder)).length === 0 && child.exitCode === null);
    child.kill('SIGKILL');
    await ended;
    expect((await run(`get ${user}:large.bin .`)).code).toBe(0);
    expect(content.equals(await readFile(join(folder, 'large.bin')))).toBe(true);
    expect(await readdir(folder)).toEqual(['large.bin']);
  });

  test('only what a part lacks is fetched', async () => {
    const content = randomBytes(2 * mib);
    const { id } = await upload('large.bin', new Uint8Array(content));
    await leavePart(id, content.subarray(0, -7));
    const lengths: (string | null)[] = [];
    const { fetch: real } = globalThis;
    globalThis.fetch = async (...call) => {
      const response = await real(...call);
      if (String(call[0]).includes('/objects/')) lengths.push(response.headers.get('content-length'));
      return response;
    };
    try {
      expect((await run(`get ${user}:large.bin .`)).code).toBe(0);
    } finally {
      globalThis.fetch = real;
    }
    expect(lengths).toEqual(['7']);
    expect(content.equals(await readFile(join(folder, 'large.bin')))).toBe(true);
  });

  test('a part with wrong bytes is noticed and fetched anew', async () => {
    const content = randomBytes(2 * mib);
    const { id } = await upload('large.bin', new Uint8Array(content));
    const { etag, part } = await leavePart(id, Buffer.alloc(mib));
    expect(etag).toBeTruthy();
    expect((await run(`get ${user}:large.bin .`)).code).toBe(0);
    expect(content.equals(await readFile(join(folder, 'large.bin')))).toBe(true);
    expect(await exists(part)).toBe(false);
  });
});

/** As an interrupted download of large.bin leaves it. */
async function leavePart(id: string, bytes: Buffer): Promise<{ etag: string; part: string }> {
  const { folderStore } = await import('@pakhus/client/node');
  const etag = (await files().download(id)).headers.get('etag') ?? '';
  const part = join(folder, 'large.bin.pakhus-part');
  await writeFile(part, bytes);
  const store = folderStore(join(service.env.XDG_STATE_HOME ?? '', 'pakhus/downloads'));
  await store.set(part, JSON.stringify({ id, etag }));
  return { etag, part };
}

describe('ls, tree, url, cp and rm', () => {
  test('list what is there, the same in JSON', async () => {
    await upload('docs/a.txt', 'one');
    await upload('docs/2026/b.txt', 'two');
    const { id } = await upload('docs/a.txt', 'newer');
    expect((await run(`ls ${user}:docs`)).out).toBe('2026/\na.txt\na.txt\n');
    expect((await run(`ls -l ${user}:docs/a.txt`)).out).toMatch(
      new RegExp(`^${id} +5 B  .*  private  a.txt\n$`),
    );
    expect((await run(`ls -r ${user}:`)).out).toBe(
      'docs/\ndocs/2026/\ndocs/2026/b.txt\ndocs/a.txt\ndocs/a.txt\n',
    );
    expect((await run(`tree ${user}:docs`)).out).toBe(
      `${user}:docs\n├── 2026/\n│   └── b.txt\n├── a.txt\n└── a.txt\n`,
    );
    const [line = ''] = (await run(`ls --json ${user}:docs/2026`)).out.split('\n');
    expect(JSON.parse(line).file).toMatchObject({ name: 'b.txt', folder: 'docs/2026', size: 3 });
    expect((await run('ls')).out).toContain(user);
    const missing = await run(`ls ${user}:nothing`);
    expect([missing.code, missing.err]).toEqual([3, expect.stringContaining(`pakhus ls ${user}:`)]);
    expect((await run('ls nobody-knows:')).code).toBe(3);
  });

  test('url prints one that works without a credential', async () => {
    await upload('a.txt', 'content');
    const { out } = await run(`url ${user}:a.txt`);
    expect(await (await fetch(out.trim())).text()).toBe('content');
  });

  test('cp copies between users with everything that belongs to a file', async () => {
    const other = await service.user();
    await files().upload('content', { folder: 'docs', name: 'a.txt', tags: ['t'], metadata: { k: 1 } });
    await files().upload('more', { folder: 'docs/deep', name: 'b.txt' });
    expect((await run(`cp ${user}:docs ${other}:copy`)).code).toBe(0);
    const copies: unknown[] = [];
    for await (const file of service.client.user(other).files.list()) copies.push(file);
    expect(copies).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          folder: 'copy',
          name: 'a.txt',
          tags: ['t'],
          metadata: { k: 1 },
          mimeType: 'application/octet-stream',
        }),
        expect.objectContaining({ folder: 'copy/deep', name: 'b.txt' }),
      ]),
    );
    await write('local.txt', 'x');
    await run(`cp local.txt ${user}:`);
    expect((await run(`cp ${user}:local.txt back.txt`)).code).toBe(0);
    expect(await read('back.txt')).toBe('x');
    expect((await run('cp a b')).code).toBe(2);
  });

  test('rm deletes files, patterns and, with -r, folders; a dry run deletes nothing', async () => {
    for (const path of ['a.txt', 'b.log', 'docs/c.txt', 'docs/deep/d.txt']) await upload(path, path);
    expect((await run(`rm ${user}:docs`)).code).toBe(2);
    expect((await run(`rm -r --dry-run ${user}:docs`)).out.split('\n').sort()).toEqual(
      ['', `delete ${user}:docs/c.txt`, `delete ${user}:docs/deep/d.txt`].sort(),
    );
    await run(['rm', `${user}:*.log`]);
    expect(await remotePaths()).toEqual(['/a.txt', 'docs/c.txt', 'docs/deep/d.txt']);
    const { out, err } = await run(`rm -r --json ${user}:docs`);
    expect([JSON.parse(out), err]).toEqual([{ action: 'delete', path: `${user}:docs/`, files: 2 }, '']);
    expect(await remotePaths()).toEqual(['/a.txt']);
    expect((await run(`rm ${user}:gone`)).code).toBe(3);
    for (const path of ['b.txt', 'docs/c.txt', 'docs/deep/d.txt', 'more/e.txt']) await upload(path, path);
    expect((await run(`rm -r ${user}:`)).err).toBe('5 files deleted\n');
    expect(await remotePaths()).toEqual([]);
  });
});

test('a user token works on its own user, within its scopes', async () => {
  const { out: token } = await run(`tokens mint ${user} --scope files:write --quiet`);
  await write('a.txt', 'one');
  const as = (words: string) => service.run(words, { cwd: folder, env: { PAKHUS_KEY: token.trim() } });
  expect((await as('put a.txt :docs/')).code).toBe(0);
  expect(await remotePaths()).toEqual(['docs/a.txt']);
  expect((await as('ls')).code).toBe(4);
});

test('a space has files of its own', async () => {
  const { id } = await service.client.user(user).spaces.create({ external_id: 'app', name: 'app' });
  await write('a.txt', 'in the space');
  await run(`put a.txt ${user}:docs/ --space ${id}`);
  await write('a.txt', 'outside');
  await run(`put a.txt ${user}:docs/`);
  expect((await run(`cat ${user}:docs/a.txt --space ${id}`)).out).toBe('in the space');
  expect((await run(`cat ${user}:docs/a.txt --space none`)).out).toBe('outside');
  await run(`sync ${user}:docs out --space ${id}`);
  expect(await read('out/a.txt')).toBe('in the space');
  await run(`rm ${user}:docs/a.txt --space ${id}`);
  expect(await remotePaths()).toEqual(['docs/a.txt']);
  await run(`put a.txt ${user}:docs/ --space ${id}`);
  await run(`rm -r ${user}:docs --space ${id}`);
  expect(await remotePaths()).toEqual(['docs/a.txt']);
});

test('an unreachable service ends with 6, a wrong key with 4', async () => {
  expect((await service.run('ls', { env: { PAKHUS_URL: 'http://127.0.0.1:1024' } })).code).toBe(6);
  expect((await service.run('ls', { env: { PAKHUS_KEY: 'pak_wrong' } })).code).toBe(4);
});
