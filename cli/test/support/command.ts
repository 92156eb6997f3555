// The command: in this process, which is much quicker, or built and as a process with signals of its own.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { spawnChild } from '../../../server/test/support/children.ts';
import { main } from '../../src/main.ts';

const bin = fileURLToPath(new URL('../../bin/pakhus.mjs', import.meta.url));

export interface Outcome {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Surroundings {
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  /** What stdin has; nothing if absent. */
  readonly input?: string | Buffer | Readable;
}

/** Split at blanks, unless it is a list. */
type Words = string | readonly string[];

const split = (words: Words): readonly string[] =>
  typeof words === 'string' ? words.split(' ').filter(Boolean) : words;

/** Nobody's profiles. */
const emptyHome = { HOME: '/nonexistent' };

/** In this process. */
export async function pakhusHere(
  words: Words,
  { env = {}, cwd = '/', input = '' }: Surroundings = {},
): Promise<Outcome & { readonly bytes: Buffer }> {
  const [out, err] = [createCollector(), createCollector()];
  const code = await main({
    words: split(words),
    env: { ...emptyHome, ...env },
    cwd,
    stdin: input instanceof Readable ? input : Readable.from([Buffer.from(input)]),
    stdout: out.stream,
    stderr: err.stream,
    prepareServer: async () => undefined,
  });
  return { code, out: out.bytes().toString(), err: err.bytes().toString(), bytes: out.bytes() };
}

function createCollector() {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      chunks.push(Buffer.from(chunk));
      done();
    },
  });
  return { stream, bytes: () => Buffer.concat(chunks) };
}

/** As a process, which goes on. */
export function startCommand(words: Words, { env = {}, cwd = '/', input }: Surroundings = {}): ChildProcess {
  const child = spawnChild(process.execPath, [bin, ...split(words)], {
    env: { PATH: process.env.PATH, ...emptyHome, ...env },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    cwd,
  });
  child.stdin?.on('error', () => undefined);
  if (input instanceof Readable && child.stdin) input.pipe(child.stdin);
  else child.stdin?.end(input);
  return child;
}

export async function outcomeOf(child: ChildProcess): Promise<Outcome> {
  let [out, err] = ['', ''];
  child.stdout?.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    err += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, out, err };
}

/** As a process, to its end. */
export const pakhus = (words: Words, surroundings?: Surroundings): Promise<Outcome> =>
  outcomeOf(startCommand(words, surroundings));
