// The built product as a separate process, for tests that kill it.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { spawnChild } from './children.ts';
import { dist } from './dist.ts';

export interface PakhusProcess {
  readonly child: ChildProcess;
  /** Empty for a worker. */
  readonly baseUrl: string;
  /** kill -9; resolves when the process is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves to the exit code. */
  stop(): Promise<number | null>;
}

export async function startProcess(
  environment: Record<string, string>,
  hear: (line: string) => void = () => undefined,
): Promise<PakhusProcess> {
  const child = spawnChild(process.execPath, [join(dist, 'main.js')], {
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      PORT: '0',
      LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  let complaints = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    complaints += chunk.toString();
  });
  const ready = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      hear(line);
      const [, url = ''] = /^Pakhus is ready(?: at (\S+))?/.exec(line) ?? [];
      if (line.startsWith('Pakhus is ready')) resolve(url);
    });
    exited.then(([code]) => reject(new Error(`Pakhus ended with ${code}: ${complaints}`)), reject);
  });
  const baseUrl = await ready;
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await exited;
    return child.exitCode;
  };
  return { child, baseUrl, kill: async () => void (await end('SIGKILL')), stop: () => end('SIGTERM') };
}
