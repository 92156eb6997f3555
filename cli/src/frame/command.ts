// How a command is declared. Parsing, help, suggestions and completion all derive from the declaration.
import type { Readable } from 'node:stream';
import type { Messages, Output } from './output.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

interface OptionBase {
  readonly summary: string;
  readonly short?: string;
  /** This variable applies when the option is not given. */
  readonly env?: string;
}

export interface FlagOption extends OptionBase {
  readonly type: 'boolean';
}

export interface TextOption extends OptionBase {
  readonly type: 'string';
  /** The placeholder in help: `--email ADDRESS`. */
  readonly value: string;
  readonly choices?: readonly string[];
  readonly completes?: Completes;
  /** May be given several times. */
  readonly multiple?: boolean;
}

export interface IntegerOption extends OptionBase {
  readonly type: 'integer';
  readonly value: string;
  readonly min: number;
  readonly max: number;
}

export type Option = FlagOption | TextOption | IntegerOption;
export type Options = Readonly<Record<string, Option>>;
export type Completes = 'file' | 'folder';

export interface Argument {
  /** As shown in help. Also the key of its value. */
  readonly name: string;
  readonly summary: string;
  readonly optional?: boolean;
  /** Only for the last argument: takes all that remain. */
  readonly many?: boolean;
  readonly choices?: readonly string[];
  readonly completes?: Completes;
}

type OptionValue<One extends Option> = One extends FlagOption
  ? boolean
  : One extends IntegerOption
    ? number | undefined
    : One extends { multiple: true }
      ? readonly string[]
      : string | undefined;

type ArgumentValue<One extends Argument> = One extends { many: true }
  ? readonly string[]
  : One extends { optional: true }
    ? string | undefined
    : string;

export type OptionValues<All extends Options> = { readonly [Name in keyof All]: OptionValue<All[Name]> };
export type ArgumentValues<All extends readonly Argument[]> = {
  readonly [One in All[number] as One['name']]: ArgumentValue<One>;
};

export interface Context {
  /** Results, on stdout. */
  readonly out: Output;
  /** Messages and progress, on stderr. */
  readonly err: Messages;
  /** Aborted by SIGINT and SIGTERM. A command that never reads it ends as the system does it. */
  readonly signal: AbortSignal;
  readonly stdin: Readable;
  readonly env: Environment;
  readonly cwd: string;
  /** `--profile`, or PAKHUS_PROFILE. */
  readonly profile: string | undefined;
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  /** All of them, for help and completion. */
  readonly commands: readonly Command[];
  /** Call before importing the service. In a checkout it builds it. */
  readonly prepareServer: () => Promise<void>;
}

export interface Call<Values = unknown, Given = unknown> {
  readonly options: Values;
  readonly arguments: Given;
  readonly context: Context;
}

/** Resolves to an exit code if the command did not simply succeed. */
// biome-ignore lint/suspicious/noConfusingVoidType: most commands return nothing.
export type Run<Values, Given> = (call: Call<Values, Given>) => Promise<number | void>;

export interface Example {
  readonly line: string;
  readonly summary: string;
}

export const groups = {
  service: 'Run the service',
  account: 'Connect to a service',
  files: 'Files',
  project: 'Project',
  projects: 'Projects, for the admin',
  other: 'Other',
} as const;

interface Shape {
  /** `['admin', 'reset-password']`. */
  readonly words: readonly string[];
  readonly group: keyof typeof groups;
  /** One line that begins with a verb. */
  readonly summary: string;
  readonly examples?: readonly Example[];
  /** Paragraphs below the summary in the help of this command. */
  readonly details?: string;
  /** Like `details`, but made when it is asked for. */
  readonly loadDetails?: (prepareServer: () => Promise<void>) => Promise<string>;
  /**
   * If nobody reads stdout any more: `end` stops quietly with 0, `fail` with 1 because the output must be complete, and
   * `ignore` goes on.
   */
  readonly whenOutputCloses?: 'end' | 'fail' | 'ignore';
}

export interface Command extends Shape {
  readonly arguments: readonly Argument[];
  readonly options: Options;
  readonly load: () => Promise<Run<never, never>>;
}

/** Declares a command. `load` imports the code that runs it, so that no command loads the code of another. */
export const command = <
  const Declared extends Options = Record<never, never>,
  const Named extends readonly Argument[] = readonly [],
>(
  shape: Shape & {
    readonly arguments?: Named;
    readonly options?: Declared;
    readonly load: () => Promise<Run<OptionValues<Declared>, ArgumentValues<Named>>>;
  },
): Command => ({
  ...shape,
  arguments: shape.arguments ?? [],
  options: shape.options ?? {},
  load: shape.load as Command['load'],
});

export const nameOf = ({ words }: Pick<Command, 'words'>): string => words.join(' ');

/** Options of every command. */
export const globalOptions = {
  help: { type: 'boolean', short: 'h', summary: 'Show help' },
  version: { type: 'boolean', short: 'v', summary: 'Print the version' },
  json: { type: 'boolean', summary: 'Print results as JSON, one object per line, and errors as JSON' },
  quiet: {
    type: 'boolean',
    short: 'q',
    summary: 'Print no messages and no progress, only results and errors',
  },
  profile: {
    type: 'string',
    value: 'NAME',
    env: 'PAKHUS_PROFILE',
    summary: 'Use this profile instead of the current one',
  },
} as const satisfies Options;
