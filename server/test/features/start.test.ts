import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, inject, test } from 'vitest';
import { startPakhus } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { apiPrefix } from '../../src/http/route-table.ts';
import { createLogger } from '../../src/platform/log.ts';
import { apiOf } from '../support/api.ts';
import { endWithUs, spawnChild } from '../support/children.ts';
import { dropDatabase, freshDatabase, onServer, rowsOf, withDatabase } from '../support/database.ts';
import { dist } from '../support/dist.ts';
import { testSecrets } from '../support/pakhus.ts';
import { freePort } from '../support/ports.ts';
import { type PakhusProcess, startProcess } from '../support/process.ts';
import { childrenOf, until } from '../support/processes.ts';
import { adminSession, createTenant, logIn } from '../support/tenants.ts';

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function dataFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pakhus-start-'));
  cleanUps.push(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 }));
  return folder;
}

async function started(environment: Record<string, string>): Promise<PakhusProcess> {
  const process = await startProcess(environment);
  cleanUps.push(() => process.kill());
  return process;
}

/** Runs Pakhus and waits for it to exit. */
async function run(
  environment: Record<string, string>,
  ...args: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const options = { env: { PATH: process.env.PATH ?? '', ...environment } };
  const running = promisify(execFile)(process.execPath, [join(dist, 'main.js'), ...args], options);
  endWithUs(running.child);
  const result = await running.catch((error) => error);
  return { code: result.code ?? 0, stdout: result.stdout, stderr: result.stderr };
}

const passwords = { ADMIN_PASSWORD: 'the admin of the tests' };

describe('configuration', () => {
  test('every configuration error is listed at once, and the process exits with 1 before it listens', async () => {
    const { code, stdout, stderr } = await run({
      PORT: '99999',
      SCOPE_ENFORCEMENT: 'maybe',
      DATABASE_URL: 'mysql://localhost',
      R2_PUBLIC_URL: 'not a url',
      API_CORS_ALLOW_ORIGINS: 'https://a.example/path',
      JWT_EXPIRES_IN: 'soon',
      JWT_SECRET: 'short',
      ENCRYPTION_KEY: `${'not base64!! '.repeat(3)}xxxxx`,
      ADMIN_PASSWORD: 'x',
      PUBLIC_URL: 'https://files.example/?x=1',
      S3_BUCKET: 'b',
      SIGNED_URL_EXPIRY_SECONDS: '700000',
    });
    expect(code).toBe(1);
    expect(stdout).toBe('');
    for (const name of [
      'PORT',
      'SCOPE_ENFORCEMENT',
      'DATABASE_URL',
      'R2_PUBLIC_URL',
      'API_CORS_ALLOW_ORIGINS',
      'JWT_EXPIRES_IN',
      'JWT_SECRET',
      'ENCRYPTION_KEY',
      'ADMIN_PASSWORD',
      'PUBLIC_URL',
      'S3_ACCESS_KEY_ID',
      'S3_SECRET_ACCESS_KEY',
      'SIGNED_URL_EXPIRY_SECONDS',
    ]) {
      expect(stderr).toContain(`- ${name} `);
    }
  });

  test.each([
    [{ JWT_SECRET: 'short' }, 'JWT_SECRET'],
    [{ JWT_EXPIRES_IN: '999999999w' }, 'JWT_EXPIRES_IN'],
    [{ ENCRYPTION_KEY: 'abc' }, 'ENCRYPTION_KEY'],
    [{ ADMIN_PASSWORD: '1234567' }, 'ADMIN_PASSWORD'],
    [{ S3_ENDPOINT: 'http://127.0.0.1:1' }, 'S3_BUCKET'],
    [{ S3_PUBLIC_ENDPOINT: 'http://127.0.0.1:1' }, 'S3_BUCKET'],
    [{ S3_PUBLIC_ENDPOINT: 's3.example.com' }, 'S3_PUBLIC_ENDPOINT'],
    [{ DATABASE_URL: 'postgres://u:pa/ss@db:5432/x' }, 'DATABASE_URL'],
    [{ REDIS_URL: 'redis://:pa/ss@cache:6379' }, 'REDIS_URL'],
    [{ SMTP_URL: 'smtp://me:pa/ss@mail:587' }, 'SMTP_URL'],
    [{ SMTP_URL: 'smtp://' }, 'SMTP_URL'],
    [{ SMTP_URL: 'smtp://mail:587' }, 'PUBLIC_URL or RESET_URL'],
    [{ S3_BUCKET: 'b' }, 'S3_ACCESS_KEY_ID'],
    [
      {
        S3_BUCKET: 'b',
        S3_ACCESS_KEY_ID: 'a',
        S3_SECRET_ACCESS_KEY: 's',
        SIGNED_URL_EXPIRY_SECONDS: '604801',
      },
      'SIGNED_URL_EXPIRY_SECONDS',
    ],
    [
      { S3_BUCKET: 'b', S3_ACCESS_KEY_ID: 'a', S3_SECRET_ACCESS_KEY: 's', S3_PUBLIC_BUCKET: 'b' },
      'S3_PUBLIC_BUCKET',
    ],
    [{ PORT: '4000', METRICS_PORT: '4000' }, 'METRICS_PORT'],
  ])('%j is refused by the name of %s', (environment, name) => {
    expect(() => readConfig(environment)).toThrow(name);
  });

  test.each([
    [{ JWT_SECRET: 'x'.repeat(20) }, 'JWT_SECRET is shorter'],
    [{ DATABASE_URL: 'postgres://x/y' }, 'JWT_SECRET is generated'],
    [
      {
        S3_BUCKET: 'b',
        S3_ACCESS_KEY_ID: 'a',
        S3_SECRET_ACCESS_KEY: 's',
        R2_PUBLIC_URL: 'https://p.example',
      },
      'S3_PUBLIC_BUCKET',
    ],
  ])('%j works with a warning', (environment, warning) => {
    expect(readConfig(environment).warnings.join()).toContain(warning);
  });

  test.each([
    ['S3_BUKET', 'did you mean S3_BUCKET?'],
    ['DATABASE_URI', 'did you mean DATABASE_URL?'],
    ['REDIS_ULR', 'did you mean REDIS_URL?'],
    ['PROT', 'did you mean PORT?'],
    ['data_dir', 'did you mean DATA_DIR?'],
    ['PAKHUS_PORT_NUMBER', '--help lists those that are'],
    ['SMTP_PASSWORD', '--help lists those that are'],
  ])('%s is warned of as ignored, without its value', (name, advice) => {
    expect(readConfig({ [name]: 'hush' }).warnings).toEqual([
      `${name} is not a variable of Pakhus and is ignored: ${advice}`,
    ]);
  });

  test('variables of the system, of npm and of Kubernetes are not reported as typos', () => {
    const names = [
      'HOME',
      'PATH',
      'HOSTNAME',
      'SHELL',
      'TERM',
      'USER',
      'LANG',
      'NODE_ENV',
      'npm_config_cache',
    ];
    names.push('PAKHUS_SERVICE_HOST', 'PAKHUS_SERVICE_PORT_HTTP', 'PAKHUS_PORT_3000_TCP_ADDR', 'PAKHUS_PORT');
    expect(readConfig(Object.fromEntries(names.map((name) => [name, 'x']))).warnings).toEqual([]);
    expect(readConfig({ S3_BUKET: '' }).warnings, 'empty means not set').toEqual([]);
  });

  test('a misspelled variable is logged as a warning at startup', async () => {
    const lines: string[] = [];
    const environment = { DATA_DIR: await dataFolder(), LOG_LEVEL: 'warn', RESET_ULR: 'https://a.example' };
    const process = await startProcess(environment, (line) => lines.push(line));
    cleanUps.push(() => process.kill());
    expect(lines.filter((line) => line.includes('RESET_ULR is not a variable'))).toHaveLength(1);
  });

  test('a mail server without PUBLIC_URL or RESET_URL is listed with the other errors, and the process exits with 1', async () => {
    const { code, stdout, stderr } = await run({ SMTP_URL: 'smtp://127.0.0.1:1', PORT: 'x' });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('2 mistakes');
    expect(stderr).toContain('- PORT ');
    expect(stderr).toContain('- PUBLIC_URL or RESET_URL is missing, but SMTP_URL is set');
  });

  test('RESET_URL is kept unchanged, and PUBLIC_URL loses its trailing slash', () => {
    const url = 'https://app.example.com/reset/?next=/';
    expect(readConfig({ RESET_URL: url, PUBLIC_URL: 'https://a.example/' }).settings).toMatchObject({
      RESET_URL: url,
      PUBLIC_URL: 'https://a.example',
    });
  });

  test('an empty variable counts as unset', () => {
    expect(readConfig({ PORT: '', REDIS_URL: '' }).settings).toMatchObject({ PORT: 3000, REDIS_URL: null });
  });

  test('--version prints the version of the package and nothing else', async () => {
    const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
    for (const word of ['--version', '-v'])
      expect(await run({ PORT: 'bad' }, word)).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  test('--help prints every variable', async () => {
    const { code, stdout } = await run({}, '--help');
    expect(code).toBe(0);
    for (const name of ['DATABASE_URL', 'MAX_UPLOAD_BYTES', 'TRUST_PROXY_HOPS', 'LOG_LEVEL'])
      expect(stdout).toContain(name);
  });
});

describe('on the embedded defaults', () => {
  test('a first start serves and keeps its secrets private; a second start on the same folder is refused', async () => {
    const folder = await dataFolder();
    const first = await started({ DATA_DIR: folder, ...passwords });
    const api = apiOf(first.baseUrl);
    expect((await api.get('/health')).body).toMatchObject({
      status: 'ok',
      checks: { database: 'ok', storage: 'ok' },
    });
    const secret = join(folder, 'secrets', 'jwt');
    expect((await stat(secret)).mode & 0o777).toBe(0o600);
    expect((await readFile(secret, 'utf8')).trim().length).toBeGreaterThanOrEqual(32);

    const second = await run({ DATA_DIR: folder, PORT: '0' });
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(String(first.child.pid));

    expect(await first.stop()).toBe(0);
    const again = await started({ DATA_DIR: folder, ADMIN_PASSWORD: 'another password' });
    // Variables of a later start never overwrite an existing admin.
    expect((await logIn(apiOf(again.baseUrl), 'admin@pakhus.local', 'another password')).status).toBe(401);
    expect(await adminSession(apiOf(again.baseUrl))).toBeTruthy();
  });

  test('a generated admin password is printed once, on the first start, and never logged', async () => {
    const folder = await dataFolder();
    const lines: string[] = [];
    const first = await startProcess({ DATA_DIR: folder, LOG_LEVEL: 'debug' }, (line) => lines.push(line));
    cleanUps.push(() => first.kill());
    const [, password = ''] = /admin@pakhus\.local \/ (\S+)/.exec(lines.join('\n')) ?? [];
    expect((await logIn(apiOf(first.baseUrl), 'admin@pakhus.local', password)).status).toBe(200);
    expect(lines.filter((line) => line.includes(password))).toHaveLength(1);
  });

  test('a start that fails after creating the admin has printed the password, and the next start accepts it', async () => {
    const folder = await dataFolder();
    const taken = createServer().listen(0, '127.0.0.1');
    cleanUps.push(async () => void taken.close());
    await until('a port', async () => taken.listening);
    const { port } = taken.address() as { port: number };
    const { code, stdout, stderr } = await run({ DATA_DIR: folder, PORT: String(port) });
    expect([code, stderr]).toEqual([1, expect.stringContaining('EADDRINUSE')]);
    const [, password = ''] = /admin@pakhus\.local \/ (\S+)/.exec(stdout) ?? [];
    const pakhus = await started({ DATA_DIR: folder });
    expect((await logIn(apiOf(pakhus.baseUrl), 'admin@pakhus.local', password)).status).toBe(200);
  });

  test('with a PUBLIC_URL, the listening address is printed as well', async () => {
    const lines: string[] = [];
    const environment = { DATA_DIR: await dataFolder(), PUBLIC_URL: 'https://files.example' };
    const pakhus = await startProcess(environment, (line) => lines.push(line));
    cleanUps.push(() => pakhus.kill());
    const [, address] =
      /ready at https:\/\/files\.example\/api\/v1, listening on (\S+)/.exec(lines.join('\n')) ?? [];
    expect((await fetch(`${address}/api/v1/health`)).status).toBe(200);
  });

  test('if the embedded PostgreSQL dies, Pakhus restarts it; requests meanwhile get 503', async () => {
    const folder = await dataFolder();
    const pakhus = await started({ DATA_DIR: folder, ...passwords });
    const api = apiOf(pakhus.baseUrl);
    const tenant = await createTenant(api, await adminSession(api));
    const [postmaster] = (await readFile(await postmasterFile(folder), 'utf8')).split('\n');
    process.kill(Number(postmaster), 'SIGKILL');
    const seen = new Set<number>();
    await until('the database to be back', async () => {
      const { status } = await api.get('/project/users', tenant.key);
      seen.add(status);
      return seen.has(503) && status === 200;
    });
    expect([...seen].every((status) => status === 200 || status === 503)).toBe(true);
    expect((await api.get('/health')).status).toBe(200);
  });

  test('kill -9 leaves no PostgreSQL process behind, and the next start serves', async () => {
    const folder = await dataFolder();
    const first = await started({ DATA_DIR: folder, ...passwords });
    const tenant = await createTenant(apiOf(first.baseUrl), await adminSession(apiOf(first.baseUrl)));
    await first.kill();
    const second = await started({ DATA_DIR: folder, ...passwords });
    expect((await apiOf(second.baseUrl).get('/project/plans', tenant.key)).status).toBe(200);
  });
});

async function postmasterFile(folder: string): Promise<string> {
  const names = await readdir(join(folder, 'postgres'), { recursive: true });
  return join(folder, 'postgres', names.find((name) => name.endsWith('postmaster.pid')) ?? '');
}

describe('on a server', () => {
  test('ten instances that start at once on an empty database all serve, with one admin', async () => {
    const server = inject('databaseServer');
    const name = `pakhus_ten_${process.pid}`;
    await onServer(server, `create database ${name}`);
    cleanUps.push(() => dropDatabase(server, name));
    const url = withDatabase(server, name);
    const folder = await dataFolder();
    const environment = { DATA_DIR: folder, DATABASE_URL: url, ...passwords };
    const instances = await Promise.all(Array.from({ length: 10 }, () => started(environment)));
    for (const { baseUrl } of instances) expect((await apiOf(baseUrl).get('/health')).status).toBe(200);
    expect(await rowsOf(url, 'select 1 from accounts where project_id is null')).toHaveLength(1);
    await Promise.all(instances.map((instance) => instance.stop()));
  });

  test('a database server that does not answer is retried; then the process exits with 1 and says why', async () => {
    const listener = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    cleanUps.push(async () => void listener.close());
    await until('a port', async () => listener.listening);
    const { port } = listener.address() as { port: number };
    const { code, stderr } = await run({
      DATABASE_URL: `postgres://nobody@127.0.0.1:${port}/x`,
      DATA_DIR: await dataFolder(),
    });
    expect(code).toBe(1);
    expect(stderr).toContain('DATABASE_URL');
  });
});

test('start: a database without a free connection is retried, like one that is down', async () => {
  const database = await freshDatabase();
  cleanUps.push(() => database.drop());
  const name = /\/([^/?]+)(\?.*)?$/.exec(database.url)?.[1];
  const limitTo = (connections: number) =>
    onServer(inject('databaseServer'), `alter database ${name} connection limit ${connections}`);
  // One connection for the first statement, none for the next.
  await limitTo(1);
  let lines = '';
  const { settings } = readConfig({
    ...testSecrets,
    PORT: '0',
    DATABASE_URL: database.url,
    DATA_DIR: await dataFolder(),
  });
  const hear = (line: string) => {
    lines += line;
  };
  const starting = startPakhus({ settings, log: createLogger('warn', { write: hear }) });
  cleanUps.push(() =>
    starting.then(
      (pakhus) => pakhus.stop(),
      () => undefined,
    ),
  );
  await Promise.race([
    starting,
    until('a start that is retried', async () => lines.includes('failed during the start')),
  ]);
  expect(lines).toContain('too many connections');
  await limitTo(100);
  expect((await starting).baseUrl).not.toBeNull();
});

test('stop: npm start forwards the signal and exits with 0, even before the service is ready', async () => {
  const folder = await dataFolder();
  for (const line of ['database migrated', 'Pakhus is ready']) {
    const child = spawnChild('npm', ['start'], {
      cwd: join(dist, '../..'),
      env: { PATH: process.env.PATH ?? '', HOME: folder, PORT: '0', DATA_DIR: join(folder, 'data') },
    });
    const exited = once(child, 'exit');
    let said = '';
    child.stdout?.on('data', (chunk) => {
      said += chunk;
    });
    await until(line, async () => said.includes(line));
    child.kill('SIGTERM');
    expect(await exited, said).toEqual([0, null]);
  }
  if (process.platform === 'linux') expect(await childrenOf(1, folder)).toEqual([]);
});

test('start: a service that cannot write its log to a full disk keeps running', async () => {
  const port = await freePort();
  const child = spawnChild(
    'sh',
    ['-c', 'exec "$0" "$1" > /dev/full', process.execPath, join(dist, 'main.js')],
    {
      env: { PATH: process.env.PATH ?? '', PORT: String(port), DATA_DIR: await dataFolder(), ...passwords },
    },
  );
  const exited = once(child, 'exit');
  cleanUps.push(async () => void child.kill('SIGKILL'));
  const api = apiOf(`http://127.0.0.1:${port}${apiPrefix}`);
  const isHealthy = () =>
    api.get('/health').then(
      ({ status }) => status === 200,
      () => false,
    );
  await until('it answers', isHealthy);
  for (let nth = 0; nth < 50; nth += 1) expect((await api.get('/health')).status).toBe(200);
  // An idle connection must not delay the shutdown.
  const unused = connect(port, '127.0.0.1');
  unused.on('error', () => undefined);
  await once(unused, 'connect');
  const hungUp = once(unused, 'close');
  child.kill('SIGTERM');
  // In a terminal the whole process group gets the signal, and npm forwards it a second time.
  child.kill('SIGINT');
  await hungUp;
  expect(await exited).toEqual([0, null]);
});

test('stop: a service that is waiting for its database exits at once, with 0', async () => {
  const listener = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  cleanUps.push(async () => void listener.close());
  await until('a port', async () => listener.listening);
  const { port } = listener.address() as { port: number };
  const child = spawnChild(process.execPath, [join(dist, 'main.js')], {
    env: {
      PATH: process.env.PATH ?? '',
      DATABASE_URL: `postgres://nobody@127.0.0.1:${port}/x`,
      DATA_DIR: await dataFolder(),
    },
  });
  const exited = once(child, 'exit');
  let said = '';
  child.stdout?.on('data', (chunk) => {
    said += chunk;
  });
  await until('a wait of three seconds', async () => said.includes('"retry_in_ms":3000'));
  child.kill('SIGTERM');
  expect(await exited, said).toEqual([0, null]);
  expect(said).not.toContain('gave up');
});

test('stop: requests in flight are finished before the process exits with 0', async () => {
  const folder = await dataFolder();
  const pakhus = await started({ DATA_DIR: folder, ...passwords });
  const api = apiOf(pakhus.baseUrl);
  const tenant = await createTenant(api, await adminSession(api));
  // Each request hashes a password, so it is still in flight when the signal arrives.
  const admin = await adminSession(api);
  const underWay = Array.from({ length: 12 }, () => createTenant(api, admin));
  await until(
    'a request to be under way',
    async () => (await api.get('/project/users', tenant.key)).status === 200,
  );
  const stopped = pakhus.stop();
  const settled = await Promise.allSettled(underWay);
  expect(await stopped).toBe(0);
  expect(settled.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0);
  if (process.platform === 'linux') expect(await childrenOf(1, folder)).toEqual([]);
});
