// An interrupted test run leaves no server running.
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { spawnChild } from '../support/children.ts';
import { descendantsOf, isGone, until } from '../support/processes.ts';

const vitest = fileURLToPath(new URL('../../../node_modules/vitest/vitest.mjs', import.meta.url));
const config = fileURLToPath(new URL('interrupted.config.ts', import.meta.url));

const waysToEnd = [
  ['killed with -9', 'SIGKILL', 'the runner alone'],
  ['told to stop', 'SIGTERM', 'the runner alone'],
  ['interrupted at the terminal', 'SIGINT', 'its whole group'],
] as const;

describe.skipIf(process.platform !== 'linux')('a run of the tests', () => {
  // Each way is a separate run of half a minute. The first is the hardest; TEST_RUNNER=all tries all of them.
  test.concurrent.each(process.env.TEST_RUNNER === 'all' ? waysToEnd : waysToEnd.slice(0, 1))(
    'that is %s leaves no process behind',
    async (_, signal, receiver) => {
      const folder = await mkdtemp(join(tmpdir(), 'pakhus-runner-'));
      // PostgreSQL's user must be able to enter the folder.
      await chmod(folder, 0o711);
      const { DATABASE_URL: _theirs, ...environment } = process.env;
      const runner = spawnChild(process.execPath, [vitest, 'run', '--config', config], {
        env: { ...environment, TMPDIR: folder },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      });
      let said = '';
      for (const stream of [runner.stdout, runner.stderr])
        stream?.on('data', (chunk: Buffer) => {
          said += chunk.toString();
        });
      const ended = once(runner, 'exit');
      const pid = runner.pid as number;
      await until('everything runs', async () => {
        if (runner.exitCode !== null) throw new Error(`the run ended with ${runner.exitCode}: ${said}`);
        return said.includes('everything runs');
      });
      const family = await descendantsOf(pid);
      expect(family.length).toBeGreaterThan(10);
      process.kill(receiver === 'the runner alone' ? pid : -pid, signal);
      await ended;
      for (const each of family) await until(`${each} is gone`, () => isGone(each));
      await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
    },
  );
});
