// The guides and READMEs work: every block of shell runs, in order, with the programs that the text shows, against a
// real service.
import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testMsMax } from '../../server/test/support/bounds.ts';
import { adminPassword, startTestPakhus, type TestPakhus } from '../../server/test/support/pakhus.ts';
import { freePort } from '../../server/test/support/ports.ts';
import { adminSession, createPlan, createTenant, createUser } from '../../server/test/support/tenants.ts';

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
    const env = {
      ...process.env,
      HOME: folder,
      XDG_CONFIG_HOME: join(folder, 'config'),
      XDG_STATE_HOME: join(folder, 'state'),
      PAKHUS_URL: origin,
      PAKHUS_KEY: await makeProject(),
    };
    const { stdout } = await run('bash', [path], { cwd: folder, env, timeout: testMsMax });
    expect(stdout).not.toBe('');
  });
});
