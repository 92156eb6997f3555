// The frame of the command: help, mistakes, exit codes and completion follow from the table of commands.
import { execFile, execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import type * as operator from '../../server/src/operator.ts';
import type * as serve from '../../server/src/serve.ts';
import { nameOf } from '../src/frame/command.ts';
import { completionScript } from '../src/frame/completion.ts';
import { CommandError, exitCodeMeanings, exitCodes, reportFailure } from '../src/frame/failure.ts';
import { commandHelp } from '../src/frame/help.ts';
import { locate, parseWords } from '../src/frame/parse.ts';
import type { OperatorModule, ServeModule } from '../src/server.ts';
import { table } from '../src/table.ts';
import { pakhus, pakhusHere } from './support/command.ts';

describe('help', () => {
  test('--help lists every command and every exit code', async () => {
    const { code, out } = await pakhus('--help');
    expect(code).toBe(0);
    for (const command of table) expect(out).toContain(`  ${nameOf(command)}`);
    for (const number of Object.values(exitCodes)) expect(out).toMatch(new RegExp(`^  ${number} `, 'm'));
  });

  test('docs/command.md has every exit code', () => {
    const text = readFileSync(new URL('../../docs/command.md', import.meta.url), 'utf8');
    for (const [name, number] of Object.entries(exitCodes))
      expect(text.toLowerCase()).toContain(
        `| ${number} | ${exitCodeMeanings[name as keyof typeof exitCodes].toLowerCase()} |`,
      );
  });

  test.each(table.map((command) => [nameOf(command), command] as const))(
    '%s: its help names every option and argument',
    (_, command) => {
      const help = commandHelp(command, command.details);
      for (const option of Object.keys(command.options)) expect(help).toContain(`--${option}`);
      for (const { name } of command.arguments) expect(help).toContain(name.toUpperCase());
      expect(command.summary).toMatch(/^[A-Z].*[^.]$/);
    },
  );

  test('serve --help and help serve print every variable of the service', async () => {
    const { code, out } = await pakhus('serve --help');
    expect(code).toBe(0);
    expect(out).toContain('ENCRYPTION_KEY_PREVIOUS');
    expect((await pakhus('help serve')).out).toBe(out);
  });

  test('--version prints the version, before and after a command', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
    for (const words of ['--version', '-v', 'serve --version'])
      expect(await pakhusHere(words)).toMatchObject({ code: 0, out: `${version}\n`, err: '' });
  });
});

describe('mistakes', () => {
  test.each([
    ['serv', 'did you mean "serve"?'],
    ['nonsense --option', 'There is no command "nonsense"'],
    ['constructor', 'There is no command "constructor"'],
    ['admin', 'reset-password, disable-2fa'],
    ['admin reset-passwrod', 'did you mean "admin reset-password"?'],
    ['admin reset-password more', 'takes no argument "more"'],
    ['admin reset-password --mail a@b.example', 'did you mean --email?'],
    ['admin reset-password --email', '--email'],
    ['--nonsense', '--nonsense'],
    ['completion', 'completion needs SHELL'],
    ['completion tcsh', 'must be one of bash, zsh, fish'],
    ['help nonsense', 'There is no command "nonsense"'],
  ])('%s is answered with one sentence and exit code 2', async (words, expected) => {
    const { code, out, err } = await pakhusHere(words);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(expected);
    expect(err.trim().split('\n')).toHaveLength(1);
  });

  test('without words the command prints its help and exits with 2', async () => {
    const { code, out, err } = await pakhusHere('');
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('Usage: pakhus COMMAND');
  });

  test('with --json an error is one object on stderr', async () => {
    const { code, err } = await pakhusHere('--json serv');
    expect(code).toBe(2);
    expect(JSON.parse(err).error).toMatchObject({ exitCode: 2, failure: 'misused' });
  });
});

test('global options may stand before the words of a command, also with a value', () => {
  const { command, rest } = locate(['--profile', 'admin', '--json', 'completion', 'bash'], table);
  expect(nameOf(command ?? { words: [] })).toBe('completion');
  const parsed = parseWords(rest, command ?? expect.fail('no command'), {});
  expect(parsed.options).toMatchObject({ profile: 'admin', json: true });
  expect(parsed.arguments).toEqual({ shell: 'bash' });
});

test('a variable applies when its option is not given', () => {
  const shape = { words: ['x'], arguments: [], options: {} };
  expect(parseWords([], shape, { PAKHUS_PROFILE: 'a' }).options.profile).toBe('a');
  expect(parseWords(['--profile=b'], shape, { PAKHUS_PROFILE: 'a' }).options.profile).toBe('b');
});

describe('exit codes', () => {
  const reply = (status: number, code: string) => Object.assign(new Error('x'), { status, code });
  const network = new TypeError('fetch failed', {
    cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }),
  });
  test.each([
    [reply(404, 'NOT_FOUND'), 3],
    [reply(401, 'UNAUTHORIZED'), 4],
    [reply(403, 'FORBIDDEN'), 4],
    [reply(422, 'OVER_QUOTA'), 5],
    [reply(422, 'MIME_NOT_ALLOWED'), 5],
    [reply(422, 'VALIDATION_ERROR'), 1],
    [reply(429, 'RATE_LIMIT_EXCEEDED'), 5],
    [reply(503, 'STORAGE_UNAVAILABLE'), 1],
    [network, 6],
    [new CommandError('misused', 'x'), 2],
    [new Error('x'), 1],
  ])('%o ends with %i', (error, code) => {
    expect(exitCodes[reportFailure(error, undefined).failure]).toBe(code);
  });

  test('whatever fails after an interruption counts as interrupted', () => {
    expect(reportFailure(network, AbortSignal.abort()).failure).toBe('interrupted');
  });
});

describe('completion', () => {
  test('the script for bash parses and completes words, options, values and files', async () => {
    const script = completionScript('bash', table);
    execFileSync('bash', ['-n'], { input: script });
    const complete = async (...words: string[]) => {
      const call = `${script}\nCOMP_WORDS=(pakhus "$@"); COMP_CWORD=$#; _pakhus; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const cwd = fileURLToPath(new URL('..', import.meta.url));
      return (await promisify(execFile)('bash', ['-c', call, 'bash', ...words], { cwd })).stdout
        .trim()
        .split('\n');
    };
    expect(await complete('adm')).toEqual(['admin']);
    expect(await complete('admin', 're')).toEqual(['reset-password']);
    expect(await complete('--profile', 'serve', 'admin', 'reset-password', '--em')).toEqual(['--email']);
    expect(await complete('completion', 'z')).toEqual(['zsh']);
    expect(await complete('variants', 'set', 'small', '--fit', 'c')).toEqual(['cover']);
    expect(await complete('put', '--re')).toEqual(['--retain', '--replace']);
    expect(await complete('share', 'u')).toEqual(['update']);
    expect(await complete('admin', 'export-database', '--file', 'vitest')).toEqual(['vitest.config.ts']);
  });

  test.each(['zsh', 'fish'] as const)('the script for %s has every command and option', (shell) => {
    const script = completionScript(shell, table);
    for (const { words, options } of table)
      for (const word of [...words, ...Object.keys(options)]) expect(script).toContain(word);
  });
});

describe('the service is loaded by the commands that need it alone', () => {
  test('only server.ts names its package, and imports it when asked', () => {
    const src = fileURLToPath(new URL('../src', import.meta.url));
    const naming = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
      (file) =>
        file.endsWith('.ts') &&
        /@pakhus\/server\/|\.\.\/server\//.test(readFileSync(`${src}/${file}`, 'utf8')),
    );
    expect(naming).toEqual(['server.ts']);
    expect(readFileSync(`${src}/server.ts`, 'utf8')).not.toMatch(/^import .*@pakhus\/server/m);
  });

  test('its modules are what server.ts says they are', () => {
    // Checked by the compiler.
    const check = (modules: [typeof operator, typeof serve]): [OperatorModule, ServeModule] => modules;
    expect(check).toBeTypeOf('function');
  });
});

test('a reader that goes away ends the command quietly', async () => {
  const bin = fileURLToPath(new URL('../bin/pakhus.mjs', import.meta.url));
  const pipe = `"$0" "$1" serve --help | true; echo "\${PIPESTATUS[0]}"`;
  const { stdout, stderr } = await promisify(execFile)('bash', ['-c', pipe, process.execPath, bin]);
  expect([stdout, stderr]).toEqual(['0\n', '']);
});
