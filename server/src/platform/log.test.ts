import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { createLogger } from './log.ts';

function lineOf(fields: object): Record<string, unknown> {
  const lines: string[] = [];
  createLogger('info', { write: (line) => void lines.push(line) }).info(fields, 'said');
  return JSON.parse(lines.join(''));
}

test.each(['password', 'token', 'secret', 'authorization', 'cookie', 'api_key', 'url'])(
  'log: %s is cut, at the top and one level down, and is no part of an error',
  (field) => {
    const err = Object.assign(new Error('broken'), { [field]: 'hunter2' });
    const line = lineOf({ [field]: 'hunter2', request: { [field]: 'hunter2', kept: 1 }, err });
    expect(JSON.stringify(line)).not.toContain('hunter2');
    expect(line).toMatchObject({ [field]: '[cut]', request: { [field]: '[cut]', kept: 1 } });
    expect(line.err).toMatchObject({ type: 'Error', message: 'broken' });
  },
);

test('log: an error is logged with message, code, stack and causes, and nothing else attached to it', () => {
  const cause = Object.assign(new Error('refused'), {
    code: 'ECONNREFUSED',
    client: { password: 'hunter2' },
  });
  const err = Object.assign(new Error('away', { cause }), { client: { secretKey: 42 }, status: 503 });
  expect(lineOf({ err }).err).toEqual({
    type: 'Error',
    message: 'away',
    status: 503,
    stack: err.stack,
    cause: { type: 'Error', message: 'refused', code: 'ECONNREFUSED', stack: cause.stack },
  });
});

test('log: cutting secrets does not change the logged object', () => {
  const fields = { token: 'hunter2', request: { cookie: 'hunter2' } };
  lineOf(fields);
  expect(fields).toEqual({ token: 'hunter2', request: { cookie: 'hunter2' } });
});

test.each([
  { actor: 'integration', projectId: '6f9619ff-8b86-4d01-b42d-00cf4fc964ff' },
  { actor: undefined, projectId: undefined },
])('log: the line of a request is the one that pino would write, whatever its path holds: %j', (caller) => {
  const lines: string[] = [];
  const log = createLogger('info', { write: (line) => void lines.push(line) });
  const line = { method: 'GET', path: '/api/"\\\n\u0000é😀', status: 200, ms: 1.5 };
  log.request({ requestId: 'a"b', ...line, ...caller });
  log.info({ request_id: 'a"b', ...line, actor: caller.actor, project_id: caller.projectId }, 'request');
  const withoutTime = lines.map((text) => text.replace(/"time":"[^"]+"/, ''));
  expect(withoutTime[0]).toBe(withoutTime[1]);
  createLogger('warn', { write: (text) => void lines.push(text) }).request({
    requestId: 'a',
    ...line,
    ...caller,
  });
  expect(lines, 'a level that is off').toHaveLength(2);
});

test('log: a field without a value is left out', () => {
  expect(lineOf({ token: undefined, kept: 1 })).not.toHaveProperty('token');
});

test.each([
  ['process.exit', 'process.exit(0)'],
  ['an exception that nobody catches', 'throw new Error()'],
])('log: the last lines are written when the process ends by %s', (_, ending) => {
  const module = new URL('../../dist/platform/log.js', import.meta.url).href;
  const script = `import { createLogger } from '${module}';
    const log = createLogger('info');
    for (let n = 0; n < 1000; n++) log.info({ n }, 'line');
    ${ending};`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(stdout.trim().split('\n')).toHaveLength(1000);
  expect(stdout).toContain('"n":999');
});
