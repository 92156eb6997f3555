// The guides and READMEs work: every block of shell runs, in order, with the programs that the text shows, against a
// real service.
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testMsMax } from '../../server/test/support/bounds.ts';
import { adminPassword, startTestPakhus, type TestPakhus } from '../../server/test/support/pakhus.ts';
import { freePort } from '../../server/test/support/ports.ts';
import { adminSession, createPlan, createTenant, createUser } from '../../server/test/support/tenants.ts';
import { drawImage } from '../src/demo/png.ts';
import { pakhusHere, type Surroundings } from './support/command.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const guides = [
  ...(await readdir(join(root, 'docs', 'guides'))).map((name) => join('docs', 'guides', name)),
  join('docs', 'events.md'),
  join('client', 'README.md'),
  'README.md',
];
/** Guides use it to read JSON. */
const hasJq = canRun('jq');
if (!hasJq) console.log('SKIPPED the guides: jq is not installed');

function canRun(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Ends with the first failure, and ends what it started in the background. */
const preamble = `set -euo pipefail
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT`;

/**
 * The command in this process, which is many times quicker. What goes on without end is a process of its own: ended before it listens to
 * signals or afterwards, it has not failed.
 */
const quickCommand = `pakhus() {
  local REPLY
  REPLY=$(curl -s --fail -d "$(jq -cn '$ARGS.positional' --args -- "$@")" "$COMMAND_URL")
  jq -rj .out <<< "$REPLY"
  jq -rj .err <<< "$REPLY" >&2
  return "$(jq .code <<< "$REPLY")"
}
endlessly() { timeout --preserve-status -s TERM 2 "$@" || test $? = 130 -o $? = 143; }
wait_for_endless() { for JOB in $(jobs -p); do wait "$JOB"; done; }`;

/** Takes the words of a command line as JSON. */
async function startCommandServer(surroundings: Surroundings) {
  const server = createServer(async (request, response) => {
    const { code, out, err } = await pakhusHere((await json(request)) as string[], surroundings);
    response.end(JSON.stringify({ code, out, err }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

interface Block {
  readonly language: string;
  readonly code: string;
}

const readBlocks = async (guide: string): Promise<Block[]> =>
  [...(await readFile(join(root, guide), 'utf8')).matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(
    ([, language = '', code = '']) => ({ language, code }),
  );

/** A program says in its first line how it is called. */
const nameOf = ({ code }: Block): string => /^\/\/ ([\w-]+\.mjs)\n/.exec(code)?.[1] ?? '';

describe.skipIf(!hasJq)('the guides', () => {
  let pakhus: TestPakhus;
  let folder: string;

  beforeAll(async () => {
    pakhus = await startTestPakhus();
    folder = await mkdtemp(join(tmpdir(), 'pakhus-guides-'));
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'README.md'), await readFile(join(root, 'README.md')));
  });
  afterAll(async () => {
    await pakhus?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const homes = (home: string) => ({
    HOME: home,
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_STATE_HOME: join(home, 'state'),
  });

  /** A project with the user anna, which guides after the first one begin with. */
  async function makeProject(): Promise<string> {
    const { api } = pakhus;
    const { key } = await createTenant(api, await adminSession(api));
    await createPlan(api, key, { maxFileSize: 1e9, storageLimit: 1e10 });
    await createUser(api, key, 'anna');
    return key;
  }

  test.each(guides)('%s', async (guide) => {
    const blocks = await readBlocks(guide);
    const port = await freePort();
    const { origin } = new URL(pakhus.baseUrl);
    const toHere = (text: string) =>
      text
        .replaceAll('http://127.0.0.1:3000', origin)
        .replaceAll('THE-PRINTED-PASSWORD', adminPassword)
        .replaceAll('8123', String(port));
    // What installs, starts or tests Pakhus itself is not for this test.
    const isRun = ({ language, code }: Block) => language === 'sh' && !/^npm /m.test(code);
    const script = blocks.filter(isRun).map(({ code }) => code);
    for (const block of blocks.filter(({ language }) => language === 'js')) {
      expect(script.join('\n'), 'a program of the guide is never run').toContain(`node ${nameOf(block)}`);
      await writeFile(join(folder, nameOf(block)), toHere(block.code));
    }
    const path = join(folder, `${basename(guide)}.sh`);
    await writeFile(path, toHere([preamble, ...script].join('\n')));
    const env = { ...process.env, ...homes(folder), PAKHUS_URL: origin, PAKHUS_KEY: await makeProject() };
    const { stdout } = await run('bash', [path], { cwd: folder, env, timeout: testMsMax });
    expect(stdout).not.toBe('');
  });

  /** What the lines of docs/command.md begin with. */
  async function writeFixtures(home: string): Promise<void> {
    for (const path of ['bin', 'photos', 'site', join('.config', 'fish', 'completions')])
      await mkdir(join(home, path), { recursive: true });
    await symlink(join(root, 'cli', 'bin', 'pakhus.mjs'), join(home, 'bin', 'pakhus'));
    await writeFile(join(home, 'report.pdf'), '%PDF-1.7 a report');
    await writeFile(join(home, 'photos', 'a.png'), drawImage(40, 30, 1));
    await writeFile(join(home, 'site', 'index.html'), '<p>Hello</p>');
  }

  test('docs/command.md', async () => {
    // What other guides have written must not be in the way.
    const home = join(folder, 'command');
    await writeFixtures(home);
    const { origin } = new URL(pakhus.baseUrl);
    const lines = (await readBlocks(join('docs', 'command.md')))
      .filter(({ language }) => language === 'sh')
      .flatMap(({ code }) => code.split('\n'))
      .map((line) => line.replace('https://files.example.com', origin))
      // What goes on without end runs beside the others, and is ended.
      .map((line) => (/ until Ctrl-C$/.test(line) ? `endlessly ${line.replace(/#.*/, '&')}` : line));
    const path = join(home, 'command.md.sh');
    await writeFile(path, [preamble, quickCommand, ...lines, 'wait_for_endless'].join('\n'));
    // The only one that reads stdin is login.
    const here = await startCommandServer({ env: homes(home), cwd: home, input: await makeProject() });
    const env = {
      ...process.env,
      ...homes(home),
      PATH: `${join(home, 'bin')}:${process.env.PATH}`,
      COMMAND_URL: here.url,
    };
    const { stdout } = await run('bash', [path], { cwd: home, env, timeout: testMsMax });
    here.close();
    expect(stdout).toContain('/s/');
    expect(await readFile(join(home, 'backup', 'report.pdf'), 'utf8')).toContain('a report');
    expect(await readFile(join(home, 'new.jsonl'), 'utf8')).toContain('"file.created"');
    expect((await readFile(join(home, 'preview.webp'))).subarray(8, 12).toString()).toBe('WEBP');
  });
});
