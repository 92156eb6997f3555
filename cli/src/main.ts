// Runs one command line: finds the command, reads its options, and turns whatever fails into a message and an exit code.
import { readFile } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import type { Command, Context, Environment, Run } from './frame/command.ts';
import { CommandError, exitCodes, reportFailure } from './frame/failure.ts';
import { findHelp, listHelp } from './frame/help.ts';
import { createMessages, createOutput } from './frame/output.ts';
import { locate, parseWords, unknownCommand } from './frame/parse.ts';
import { table } from './table.ts';

export interface Surroundings {
  readonly words: readonly string[];
  readonly env: Environment;
  readonly cwd: string;
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Makes sure that the service can be imported. */
  readonly prepareServer: () => Promise<void>;
}

/** Resolves to the exit code. */
export async function main(surroundings: Surroundings): Promise<number> {
  const { words, stderr } = surroundings;
  const interruption = createInterruption();
  try {
    return await runWords(surroundings, interruption);
  } catch (error) {
    const { failure, ...report } = reportFailure(error, interruption.signalIfUsed());
    const exitCode = exitCodes[failure];
    const isJson = words.includes('--json');
    createMessages(stderr, { isJson, isQuiet: false }).endProgress();
    stderr.write(
      isJson ? `${JSON.stringify({ error: { ...report, failure, exitCode } })}\n` : `${report.message}\n`,
    );
    return exitCode;
  } finally {
    interruption.end();
  }
}

async function runWords(surroundings: Surroundings, interruption: Interruption): Promise<number> {
  const { words, env, stdout, prepareServer } = surroundings;
  const { path, command, unknown, rest } = locate(words, table);
  if (unknown !== undefined) throw unknownCommand(path, unknown, table);
  const show = async (name: string, text: string) => {
    endWhenOutputCloses(stdout, 'end');
    const isJson = words.includes('--json');
    await createOutput(stdout, { isJson, isQuiet: false }).print({ [name]: text }, text);
    return exitCodes.done;
  };
  const parsed = parseWords(rest, command ?? { words: path, options: {}, arguments: [] }, env);
  if (parsed.options.help === true) return show('help', await findHelp(path, table, prepareServer));
  if (parsed.options.version === true) return show('version', await readVersion());
  if (words.length === 0) throw new CommandError('misused', listHelp(table));
  if (command === undefined) throw unknownCommand(path, undefined, table);
  endWhenOutputCloses(stdout, command.whenOutputCloses ?? 'end');
  const run = (await command.load()) as Run<unknown, unknown>;
  const context = createContext(surroundings, parsed.options, interruption);
  const code = await run({ options: parsed.options, arguments: parsed.arguments, context });
  return code ?? exitCodes.done;
}

function createContext(
  { env, cwd, stdin, stdout, stderr, prepareServer }: Surroundings,
  options: Readonly<Record<string, unknown>>,
  interruption: Interruption,
): Context {
  const shown = { isJson: options.json === true, isQuiet: options.quiet === true };
  return {
    ...shown,
    out: createOutput(stdout, shown),
    err: createMessages(stderr, shown),
    get signal() {
      return interruption.signal();
    },
    stdin,
    env,
    cwd,
    profile: options.profile as string | undefined,
    commands: table,
    prepareServer,
  };
}

interface Interruption {
  /** Listens from now on. */
  signal(): AbortSignal;
  signalIfUsed(): AbortSignal | undefined;
  /** Listens no longer. */
  end(): void;
}

const interruptions = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The first SIGINT or SIGTERM aborts, the second one ends the process at once. */
function createInterruption(): Interruption {
  let controller: AbortController | undefined;
  const onSignal = () => {
    if (controller?.signal.aborted) process.exit(exitCodes.interrupted);
    controller?.abort(new CommandError('interrupted', 'Interrupted'));
  };
  return {
    signal: () => {
      if (controller === undefined) {
        controller = new AbortController();
        for (const name of interruptions) process.on(name, onSignal);
      }
      return controller.signal;
    },
    signalIfUsed: () => controller?.signal,
    end: () => {
      for (const name of interruptions) process.off(name, onSignal);
    },
  };
}

/** `pakhus ls | head` ends the reader first. */
function endWhenOutputCloses(stdout: Writable, policy: NonNullable<Command['whenOutputCloses']>): void {
  if (policy === 'ignore') return;
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') process.stderr.write(`The output cannot be written (${error.message})\n`);
    process.exit(error.code === 'EPIPE' && policy === 'end' ? exitCodes.done : exitCodes.failed);
  });
}

async function readVersion(): Promise<string> {
  const manifest = await readFile(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
