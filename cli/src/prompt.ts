// Questions on the terminal. Secrets are typed without echo.

import { createInterface } from 'node:readline/promises';
import type { Readable } from 'node:stream';
import { Writable } from 'node:stream';
import type { Context } from './frame/command.ts';
import { CommandError } from './frame/failure.ts';

type Terminal = Readable & { readonly isTTY?: boolean };

export const isInteractive = ({ stdin }: Context): boolean => (stdin as Terminal).isTTY === true;

/** The line that the person types; an empty one if stdin ends. */
export async function ask(context: Context, question: string, isSecret = false): Promise<string> {
  const { stdin, err, signal } = context;
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  // A terminal interface with an output that goes nowhere switches the echo off.
  const lines = isSecret
    ? createInterface({ input: stdin, output: nowhere, terminal: true })
    : createInterface({ input: stdin });
  // Not before the echo is off: an answer may be pasted at once.
  err.prompt(question);
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once('line', resolve);
      lines.once('close', () => resolve(''));
      lines.once('SIGINT', () => reject(new CommandError('interrupted', 'Interrupted')));
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  } finally {
    lines.close();
    if (isSecret) err.prompt('\n');
  }
}

export async function confirm(context: Context, question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await ask(context, `${question} [y/N] `)).trim());
}

/** What a script pipes in, without the line break at its end. Secrets are short. */
export async function readSecret(stdin: Readable): Promise<string> {
  let text = '';
  for await (const chunk of stdin) {
    text += chunk;
    if (text.length > 10_000) throw new CommandError('misused', 'stdin must contain the key alone');
  }
  return text.trim();
}
