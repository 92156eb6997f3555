// pakhus demo as people run it: what it prints works, and it ends cleanly.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../server/test/support/processes.ts';
import { pakhusHere, startCommand } from './support/command.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pakhus-demo-test-'));
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

function start(words: readonly string[], env: Record<string, string> = {}) {
  const child = startCommand(['demo', ...words], { env: { TMPDIR: folder, ...env } });
  const exited = once(child, 'exit');
  let [out, err] = ['', ''];
  child.stdout?.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    err += chunk;
  });
  return {
    ready: (sign: string) =>
      until(`the demo prints ${sign}`, async () => {
        expect([child.exitCode, err]).toEqual([null, expect.anything()]);
        return out.includes(sign) && out;
      }),
    interrupt: async () => {
      child.kill('SIGINT');
      const [code] = await exited;
      return { code, err };
    },
  };
}

test('the printed lines work, an interrupt ends it, and the next start on the folder goes on', async () => {
  const dir = join(folder, 'demo');
  // Variables of an operator must not lead the demo elsewhere.
  const first = start(['--dir', dir], { DATABASE_URL: 'postgres://127.0.0.1:1/x', PORT: 'nonsense' });
  const text = await first.ready('Ctrl-C ends it.');
  const lines = /Try:\n(.*?)\n\n/s.exec(text)?.[1]?.split('\n') ?? [];
  const curls = lines.filter((line) => line.includes('curl'));
  expect(curls).toHaveLength(6);
  const assignments = lines.filter((line) => !line.includes('curl')).join('\n');
  for (const line of curls) {
    const run = promisify(execFile)('bash', ['-c', `${assignments}\n${line}`], { cwd: folder });
    const reply = JSON.parse((await run).stdout);
    expect(reply, line).not.toHaveProperty('error');
  }
  const doctor = await pakhusHere('doctor --json', { env: { DATA_DIR: join(dir, 'data'), PORT: '0' } });
  expect(doctor.code, doctor.out).toBe(0);
  expect(doctor.out).toMatch(/PostgreSQL .* answers \(embedded\)/);
  expect(await first.interrupt()).toMatchObject({ code: 0 });

  const second = start(['--dir', dir, '--json']);
  const shown = JSON.parse(await second.ready('\n'));
  expect(shown.key).toBe(JSON.parse(await readFile(join(dir, 'demo.json'), 'utf8')).filled.key);
  const read = async (path: string) => {
    const headers = { authorization: `Bearer ${shown.key}` };
    return (
      await fetch(`${shown.baseUrl}/project/users/ext/anna/files${path}`, { headers })
    ).json() as Promise<{
      files: { id: string; name: string }[];
      file: { url: string };
    }>;
  };
  const { files } = await read('?folder=photos/island');
  expect(files.map(({ name }) => name).sort()).toEqual(['island-1.png', 'island-2.png', 'island-3.png']);
  const { file } = await read(`/${files[0]?.id}`);
  const image = Buffer.from(await (await fetch(file.url)).arrayBuffer());
  expect(image.subarray(1, 4).toString()).toBe('PNG');
  expect(await second.interrupt()).toMatchObject({ code: 0 });
});

test('interrupted while it starts, it removes its temporary folder', async () => {
  const own = join(folder, 'own');
  await mkdir(own);
  const run = start([], { TMPDIR: own });
  await until('the folder is there', async () => (await readdir(own)).length > 0);
  expect(await run.interrupt()).toMatchObject({ code: 130 });
  expect(await readdir(own)).toEqual([]);
});

test('a folder with something else in it is left alone', async () => {
  await writeFile(join(folder, 'precious.txt'), '');
  const { code, err } = await pakhusHere(['demo', '--dir', folder]);
  expect([code, err]).toEqual([2, expect.stringContaining('name another folder')]);
});
