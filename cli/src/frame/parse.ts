// Finds the command in the words of a command line and reads its options and arguments, by node:util parseArgs.
import { parseArgs } from 'node:util';
import {
  type Argument,
  type Command,
  type Environment,
  globalOptions,
  nameOf,
  type Option,
  type Options,
} from './command.ts';
import { CommandError } from './failure.ts';
import { findNearest } from './nearest.ts';

export interface Located {
  /** The longest sequence of words that begins some command; may be a whole one. */
  readonly path: readonly string[];
  readonly command: Command | undefined;
  /** The next word, if it makes no command. */
  readonly unknown: string | undefined;
  /** Everything else, in order. */
  readonly rest: readonly string[];
}

/** Only global options may stand before the words of a command. */
export function locate(words: readonly string[], table: readonly Command[]): Located {
  const path: string[] = [];
  const rest: string[] = [];
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i] ?? '';
    if (word.startsWith('-') && word !== '-') {
      rest.push(word);
      const known = findOption(word, globalOptions);
      if (known === undefined) return finish(i + 1);
      if (known.type !== 'boolean' && !word.includes('=')) {
        rest.push(...words.slice(i + 1, i + 2));
        i += 1;
      }
      continue;
    }
    if (!table.some((command) => startsWith(command.words, [...path, word]))) return finish(i, word);
    path.push(word);
  }
  return finish(words.length);

  function finish(next: number, stop?: string): Located {
    const command = table.find(({ words: own }) => own.length === path.length && startsWith(own, path));
    const unknown = command === undefined ? stop : undefined;
    return { path, command, unknown, rest: [...rest, ...words.slice(next)] };
  }
}

export const startsWith = (words: readonly string[], start: readonly string[]): boolean =>
  start.length <= words.length && start.every((word, index) => words[index] === word);

function findOption(word: string, options: Options): Option | undefined {
  const name = word.replace(/^--?/, '').split('=', 1)[0] ?? '';
  if (word.startsWith('--')) return Object.hasOwn(options, name) ? options[name] : undefined;
  return Object.values(options).find(({ short }) => short === name);
}

export interface Parsed {
  readonly options: Readonly<Record<string, unknown>>;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** Throws a CommandError that names the mistake. */
export function parseWords(
  rest: readonly string[],
  command: Pick<Command, 'words' | 'options' | 'arguments'>,
  env: Environment,
): Parsed {
  const options = { ...globalOptions, ...command.options };
  const { values, positionals } = parseStrictly(rest, options, command);
  return {
    options: Object.fromEntries(
      Object.entries(options).map(([name, option]) => [name, readOption(name, option, values[name], env)]),
    ),
    // Both are answered before anybody looks at the arguments.
    arguments: values.help || values.version ? {} : readArguments(positionals, command),
  };
}

export const misuse = (message: string, words: readonly string[]): CommandError =>
  new CommandError(
    'misused',
    `${message}${message.endsWith('?') ? '' : '.'} See ${['pakhus', ...words, '--help'].join(' ')}`,
  );

type Values = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

function parseStrictly(
  rest: readonly string[],
  options: Options,
  command: Pick<Command, 'words'>,
): { values: Values; positionals: string[] } {
  try {
    return parseArgs({
      args: [...rest],
      allowPositionals: true,
      options: Object.fromEntries(
        Object.entries(options).map(([name, option]) => [
          name,
          {
            type: option.type === 'boolean' ? ('boolean' as const) : ('string' as const),
            multiple: option.type === 'string' && option.multiple === true,
            ...(option.short === undefined ? {} : { short: option.short }),
          },
        ]),
      ),
    });
  } catch (error) {
    throw misuse(describeMistake(error as Error, options, command), command.words);
  }
}

function describeMistake({ message }: Error, options: Options, command: Pick<Command, 'words'>): string {
  const [, unknown] = /^Unknown option '(-{1,2}[^']*)'/.exec(message) ?? [];
  // The first sentence says what is wrong, the others speak to programmers.
  if (unknown === undefined) return message.split(/\. |\n/, 1)[0]?.replace(/\.$/, '') ?? message;
  const nearest = findNearest(unknown.replace(/^-+/, ''), Object.keys(options));
  const hint = nearest === undefined ? '' : `: did you mean --${nearest}?`;
  return `${nameOf(command) || 'pakhus'} has no option ${unknown}${hint}`;
}

function readOption(name: string, option: Option, given: Values[string], env: Environment): unknown {
  const fallback = option.env === undefined ? undefined : env[option.env] || undefined;
  const value = given ?? fallback;
  const source = given === undefined && fallback !== undefined ? option.env : `--${name}`;
  if (option.type === 'boolean')
    return value === true || (typeof value === 'string' && /^(1|true)$/.test(value));
  if (option.type === 'integer')
    return value === undefined ? undefined : readInteger(String(value), option, source);
  if (option.multiple) return value === undefined ? [] : [value].flat();
  if (value !== undefined) checkChoice(String(value), option.choices, `${source}`);
  return value;
}

function readInteger(
  text: string,
  { min, max }: { min: number; max: number },
  source: string | undefined,
): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max))
    throw new CommandError('misused', `${source} must be a whole number from ${min} to ${max}`);
  return value;
}

function checkChoice(text: string, choices: readonly string[] | undefined, source: string): void {
  if (choices && !choices.includes(text))
    throw new CommandError('misused', `${source} must be one of ${choices.join(', ')}`);
}

function readArguments(
  positionals: readonly string[],
  command: Pick<Command, 'words' | 'arguments'>,
): Readonly<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  const rest = [...positionals];
  for (const argument of command.arguments) {
    const taken = rest.splice(0, argument.many ? rest.length : 1);
    if (taken.length === 0 && !argument.optional)
      throw misuse(`${nameOf(command)} needs ${placeholderOf(argument)}`, command.words);
    for (const text of taken) checkChoice(text, argument.choices, argument.name);
    values[argument.name] = argument.many ? taken : taken[0];
  }
  if (rest.length > 0) throw misuse(`${nameOf(command)} takes no argument "${rest[0]}"`, command.words);
  return values;
}

export const placeholderOf = ({ name, many }: Argument): string =>
  `${name.toUpperCase()}${many ? '...' : ''}`;

/** The error for words that are no command, with the nearest one. `unknown` is undefined if there are too few. */
export function unknownCommand(
  path: readonly string[],
  unknown: string | undefined,
  table: readonly Command[],
): CommandError {
  if (unknown === undefined)
    return misuse(
      `${path.length === 0 ? 'pakhus' : `"${path.join(' ')}"`} needs a command: ${listNext(path, table).join(', ')}`,
      path,
    );
  const typed = [...path, unknown].join(' ');
  const below = table.filter(({ words }) => startsWith(words, path)).map(nameOf);
  const nearest = findNearest(typed, below) ?? findNearest(typed, table.map(nameOf));
  return misuse(`There is no command "${typed}"${nearest ? `: did you mean "${nearest}"?` : ''}`, []);
}

/** The words that may follow. */
export const listNext = (path: readonly string[], table: readonly Command[]): string[] => [
  ...new Set(
    table.filter(({ words }) => startsWith(words, path)).flatMap(({ words }) => words[path.length] ?? []),
  ),
];
