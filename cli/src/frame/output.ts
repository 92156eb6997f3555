// What a command writes: results on stdout, messages and progress on stderr.
import { once } from 'node:events';
import type { Writable } from 'node:stream';

type Terminal = Writable & { readonly isTTY?: boolean; readonly columns?: number };

export interface Output {
  /** One result: as a line of JSON with --json, otherwise as text. Await it when there may be many. */
  print(value: unknown, text: string | (() => string)): Promise<void>;
  /** Bytes or text as they are, such as the content of a file. Resolves when they are written. */
  write(chunk: string | Uint8Array): Promise<void>;
  readonly isTerminal: boolean;
}

export interface Messages {
  /** Information for people. Not shown with --quiet or --json. */
  say(text: string): void;
  /** Something to look at, though the command goes on. Not shown with --quiet. */
  warn(text: string): void;
  /** A question, without a line break. Always shown. */
  prompt(text: string): void;
  /** Replaces the line of progress, on a terminal only. */
  progress(text: string): void;
  /** Removes it. */
  endProgress(): void;
  readonly showsProgress: boolean;
}

export interface OutputOptions {
  readonly isJson: boolean;
  readonly isQuiet: boolean;
}

export const createOutput = (stdout: Terminal, { isJson }: OutputOptions): Output => ({
  isTerminal: stdout.isTTY === true,
  print: async (value, text) => {
    const line = isJson ? JSON.stringify(value) : typeof text === 'string' ? text : text();
    if (!stdout.write(`${line}\n`)) await once(stdout, 'drain');
  },
  write: (chunk) =>
    new Promise((resolve, reject) => {
      stdout.write(chunk, (error) => (error ? reject(error) : resolve()));
    }),
});

const clearLine = '\r\x1b[K';

export function createMessages(stderr: Terminal, { isJson, isQuiet }: OutputOptions): Messages {
  const showsProgress = stderr.isTTY === true && !isQuiet && !isJson;
  let isShown = false;
  const clear = () => {
    if (isShown) stderr.write(clearLine);
    isShown = false;
  };
  const line = (text: string) => {
    clear();
    stderr.write(`${text}\n`);
  };
  return {
    showsProgress,
    say: (text) => {
      if (!isQuiet && !isJson) line(text);
    },
    warn: (text) => {
      if (!isQuiet) line(isJson ? JSON.stringify({ warning: text }) : text);
    },
    prompt: (text) => {
      clear();
      stderr.write(text);
    },
    progress: (text) => {
      if (!showsProgress) return;
      stderr.write(`${clearLine}${text.slice(0, (stderr.columns ?? 80) - 1)}`);
      isShown = true;
    },
    endProgress: clear,
  };
}
