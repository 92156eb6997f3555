// Help, derived from the declarations.
import { type Command, globalOptions, groups, nameOf, type Options } from './command.ts';
import { exitCodeMeanings, exitCodes } from './failure.ts';
import { locate, placeholderOf, startsWith, unknownCommand } from './parse.ts';

/** The help of one command, or of all that begin with these words. */
export async function findHelp(
  words: readonly string[],
  table: readonly Command[],
  prepareServer: () => Promise<void>,
): Promise<string> {
  const { path, command } = locate(words, table);
  if (path.length < words.length) throw unknownCommand(path, words[path.length], table);
  if (command === undefined) return listHelp(table, path);
  return commandHelp(command, command.details ?? (await command.loadDetails?.(prepareServer)));
}

type Row = readonly [left: string, right: string];

/** All commands, or those that begin with `path`. */
export function listHelp(table: readonly Command[], path: readonly string[] = []): string {
  const shown = table.filter(({ words }) => startsWith(words, path));
  const sections = Object.entries(groups).flatMap(([group, title]) => {
    const rows = shown
      .filter((command) => command.group === group)
      .map((command): Row => [usageOf(command), command.summary]);
    return rows.length === 0 ? [] : [{ title, rows }];
  });
  return render([
    `Usage: ${['pakhus', ...path].join(' ')} COMMAND [OPTIONS]`,
    ...toColumns(sections),
    ...toColumns([{ title: 'Options of every command', rows: optionRows(globalOptions) }]),
    ...toColumns([{ title: 'Exit codes', rows: exitCodeRows() }]),
    'pakhus help COMMAND tells more about one of them, pakhus serve --help lists the variables of the service.',
  ]);
}

export function commandHelp(command: Command, details: string | undefined): string {
  const { summary, arguments: named, options, examples = [] } = command;
  const argumentRows = named.map((argument): Row => [placeholderOf(argument), argument.summary]);
  return render([
    `Usage: pakhus ${usageOf(command)}${Object.keys(options).length > 0 ? ' [OPTIONS]' : ''}`,
    `${summary}.`,
    ...(details === undefined ? [] : [details.trimEnd()]),
    ...toColumns([
      { title: 'Arguments', rows: argumentRows },
      { title: 'Options', rows: optionRows(options) },
      { title: 'Options of every command', rows: optionRows(globalOptions) },
    ]),
    ...examples.map(({ line, summary: why }) => `${why}:\n  ${line}`),
  ]);
}

const render = (paragraphs: readonly string[]): string => paragraphs.join('\n\n');

const usageOf = (command: Command): string =>
  [
    nameOf(command),
    ...command.arguments.map((argument) =>
      argument.optional ? `[${placeholderOf(argument)}]` : placeholderOf(argument),
    ),
  ].join(' ');

function toColumns(sections: readonly { readonly title: string; readonly rows: readonly Row[] }[]): string[] {
  const filled = sections.filter(({ rows }) => rows.length > 0);
  const width = Math.max(...filled.flatMap(({ rows }) => rows.map(([left]) => left.length)));
  return filled.map(({ title, rows }) =>
    [`${title}:`, ...rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)].join('\n'),
  );
}

const optionRows = (options: Options): Row[] =>
  Object.entries(options).map(([name, option]) => {
    const short = option.short === undefined ? '' : `-${option.short}, `;
    const value = option.type === 'boolean' ? '' : ` ${option.value}`;
    const choices = option.type === 'string' && option.choices ? ` (${option.choices.join(', ')})` : '';
    const env = option.env === undefined ? '' : ` [${option.env}]`;
    return [`${short}--${name}${value}`, `${option.summary}${choices}${env}`];
  });

const exitCodeRows = (): Row[] =>
  Object.entries(exitCodes).map(([name, code]) => [
    String(code),
    exitCodeMeanings[name as keyof typeof exitCodes],
  ]);
