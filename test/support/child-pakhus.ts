// The built product as a process of its own, to be killed without warning.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { dist } from './dist.ts';
import { adminPassword } from './pakhus.ts';

export interface ChildPakhus {
  readonly baseUrl: string;
  readonly process: ChildProcess;
  /** kill -9; resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves to the exit code. */
  stop(): Promise<number | null>;
}

export async function startChildPakhus(environment: Record<string, string>): Promise<ChildPakhus> {
  const child = spawn(process.execPath, [join(dist, 'main.js')], {
    env: {
      PATH: process.env.PATH ?? '',
      PORT: '0',
      LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
      JWT_SECRET: 'a secret that only the tests know about',
      ADMIN_PASSWORD: adminPassword,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const gone = once(child, 'exit');
  const said: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk.toString()));
  const lines = createInterface({ input: child.stdout });
  const baseUrl = await new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      said.push(line);
      const [, found] = /ready at (\S+)/.exec(line) ?? [];
      if (found) resolve(found);
    });
    child.once('exit', (code) =>
      reject(new Error(`it ended with ${code} before it was ready: ${said.join('\n')}`)),
    );
  });
  return {
    baseUrl,
    process: child,
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
    async stop() {
      child.kill('SIGTERM');
      await gone;
      return child.exitCode;
    },
  };
}
