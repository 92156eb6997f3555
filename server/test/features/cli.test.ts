// The command line of the built product, as an operator runs it.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answer, challengeOf, codeOf, guard } from '../support/accounts.ts';
import { apiOf } from '../support/api.ts';
import { spawnChild } from '../support/children.ts';
import { rowsOf, withDatabase } from '../support/database.ts';
import { dist } from '../support/dist.ts';
import { adminEmail, adminPassword, startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { adminSession, createTenant, logIn, sessionOf } from '../support/tenants.ts';

interface Outcome {
  readonly code: number | null;
  readonly said: string;
  readonly complained: string;
}

const start = (words: readonly string[], environment: Record<string, string>): ChildProcess =>
  spawnChild(process.execPath, [join(dist, 'main.js'), ...words], {
    env: { PATH: process.env.PATH, LOG_LEVEL: 'silent', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });

async function pakhus(words: string, environment: Record<string, string> = {}): Promise<Outcome> {
  const child = start(words.split(' '), environment);
  let [said, complained] = ['', ''];
  child.stdout?.on('data', (chunk) => {
    said += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    complained += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, said, complained };
}

const passwordIn = (said: string): string => / \/ (\S+)$/m.exec(said)?.[1] ?? '';

describe('on the database of a running service', () => {
  let service: TestPakhus;
  let environment: Record<string, string>;

  beforeAll(async () => {
    service = await startTestPakhus();
    environment = { DATABASE_URL: service.databaseUrl, DATA_DIR: service.dataDir };
  });
  afterAll(() => service.stop());

  const auditOf = (action: string, accountId: string) =>
    rowsOf(
      service.databaseUrl,
      `select actor_type, actor_id, project_id, metadata from audit_logs
       where action = '${action}' and resource_id = '${accountId}' and metadata ? 'by'`,
    );
  const accountOf = async (email: string) =>
    (await rowsOf<{ id: string }>(service.databaseUrl, `select id from accounts where email = '${email}'`))[0]
      ?.id ?? '';

  test("admin reset-password prints the admin's new password, ends the sessions, and is audited", async () => {
    const session = await adminSession(service.api);
    const { code, said, complained } = await pakhus('admin reset-password', environment);
    expect([code, complained]).toEqual([0, '']);
    const password = passwordIn(said);
    expect(password).toMatch(/^[\w-]{20}$/);
    expect((await service.api.get('/auth/me', session)).status).toBe(401);
    expect((await logIn(service.api, adminEmail, adminPassword)).status).toBe(401);
    expect((await logIn(service.api, adminEmail, password)).status).toBe(200);
    expect(await auditOf('auth.password_reset', await accountOf(adminEmail))).toEqual([
      { actor_type: 'admin', actor_id: null, project_id: null, metadata: { by: 'command line' } },
    ]);
    const kept = await rowsOf(service.databaseUrl, 'select a::text as row from audit_logs a');
    expect(JSON.stringify(kept)).not.toContain(password);
    // The other tests of this file expect the original password.
    const own = await sessionOf(service.api, adminEmail, password);
    const back = { currentPassword: password, newPassword: adminPassword };
    expect((await service.api.put('/auth/change-password', own, back)).status).toBe(200);
  });

  test('--email selects any account, ignoring case; its second factor stays', async () => {
    const tenant = await createTenant(service.api, await adminSession(service.api));
    const guarded = await guard(service, tenant);
    const { code, said } = await pakhus(
      `admin reset-password --email ${tenant.email.toUpperCase()}`,
      environment,
    );
    expect(code).toBe(0);
    expect(said).toContain('Two-factor login stays on');
    const challenge = await challengeOf(service.api, { email: tenant.email, password: passwordIn(said) });
    expect((await answer(service.api, challenge, codeOf(service, guarded.secret))).status).toBe(200);
    expect(await auditOf('auth.password_reset', await accountOf(tenant.email))).toMatchObject([
      { actor_type: 'admin', project_id: tenant.id },
    ]);
  });

  test('admin disable-2fa switches two-factor login off once, and is audited once', async () => {
    const tenant = await createTenant(service.api, await adminSession(service.api));
    await guard(service, tenant);
    const challenge = await challengeOf(service.api, tenant);
    const command = `admin disable-2fa --email=${tenant.email}`;
    const first = await pakhus(command, environment);
    expect([first.code, first.said]).toEqual([0, `Two-factor login is off now: ${tenant.email}\n`]);
    expect((await logIn(service.api, tenant.email, tenant.password)).body.token).toBeTruthy();
    expect((await answer(service.api, challenge, '123456')).status).toBe(401);
    const second = await pakhus(command, environment);
    expect([second.code, second.said]).toEqual([0, `Two-factor login was off already: ${tenant.email}\n`]);
    expect(await auditOf('auth.2fa_disable', await accountOf(tenant.email))).toEqual([
      { actor_type: 'admin', actor_id: null, project_id: tenant.id, metadata: { by: 'command line' } },
    ]);
  });

  test('an unknown account is an error that names it', async () => {
    const { code, said, complained } = await pakhus('admin disable-2fa --email no@body.example', environment);
    expect([code, said]).toEqual([1, '']);
    expect(complained).toBe('There is no account with the e-mail no@body.example\n');
  });

  test('a database of another application is left unchanged and reported', async () => {
    const empty = withDatabase(service.databaseUrl, 'postgres');
    const tables = `select from pg_tables where schemaname = 'public'`;
    const before = await rowsOf(empty, tables);
    const { code, complained } = await pakhus('admin reset-password', {
      ...environment,
      DATABASE_URL: empty,
    });
    expect([code, complained]).toEqual([1, expect.stringMatching(/DATABASE_URL/)]);
    expect(await rowsOf(empty, tables)).toEqual(before);
  });

  test('with several admins, --email is required', async () => {
    const own = await startTestPakhus();
    try {
      await rowsOf(
        own.databaseUrl,
        `insert into accounts (email, email_key, password_hash) values ('b@b.example', 'b@b.example', 'x')`,
      );
      const { code, complained } = await pakhus('admin reset-password', { DATABASE_URL: own.databaseUrl });
      expect(code).toBe(1);
      expect(complained).toContain('--email');
    } finally {
      await own.stop();
    }
  });
});

describe('without a database', () => {
  test.each([
    'nonsense',
    'admin',
    'admin reset-password more',
    'admin reset-password --mail a@b.example',
    'admin reset-password --email',
    'constructor',
  ])('%s is reported as a usage error with exit code 2', async (words) => {
    const { code, said, complained } = await pakhus(words);
    expect([code, said]).toEqual([2, '']);
    expect(complained).toMatch(/See pakhus --help\n$/);
    expect(complained.trim().split('\n')).toHaveLength(1);
  });

  test('--help mentions the commands', async () => {
    for (const words of ['--help', 'admin --help']) {
      const { code, said } = await pakhus(words);
      expect(code).toBe(0);
      expect(said).toContain('admin reset-password [--email E]');
      expect(said).toContain('admin disable-2fa [--email E]');
      expect(said).toContain('ENCRYPTION_KEY_PREVIOUS');
    }
  });

  test('a bad configuration and a folder without a database are reported with exit code 1', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pakhus-cli-'));
    const bad = await pakhus('admin disable-2fa', { JWT_SECRET: 'short', ENCRYPTION_KEY_PREVIOUS: 'x' });
    expect(bad.code).toBe(1);
    expect(bad.complained).toContain('JWT_SECRET must');
    expect(bad.complained).toContain('ENCRYPTION_KEY_PREVIOUS must');
    const empty = await pakhus('admin disable-2fa', { DATA_DIR: folder });
    expect(empty.code).toBe(1);
    expect(empty.complained).toContain(`There is no database in ${join(folder, 'postgres')}`);
    await rm(folder, { recursive: true });
  });
});

test('cli: with the embedded database, the command refuses while the service runs and works once it is stopped', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'pakhus-cli-'));
  const environment = { DATA_DIR: dataDir, PORT: '0' };
  const running: ChildProcess[] = [];
  const serve = async () => {
    const child = start([], environment);
    running.push(child);
    let said = '';
    const baseUrl = await new Promise<string>((resolve, reject) => {
      child.on('exit', () => reject(new Error(`the service ended: ${said}`)));
      child.stdout?.on('data', (chunk) => {
        said += chunk;
        const [, url] = /Pakhus is ready at (\S+)/.exec(said) ?? [];
        if (url) resolve(url);
      });
    });
    return { api: apiOf(baseUrl), child, password: passwordIn(said) };
  };
  const stop = async (child: ChildProcess) => {
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    expect((await exited)[0]).toBe(0);
  };
  try {
    const first = await serve();
    expect((await logIn(first.api, adminEmail, first.password)).status).toBe(200);
    const refused = await pakhus('admin reset-password', environment);
    expect(refused.code).toBe(1);
    expect(refused.complained).toContain(`pid ${first.child.pid}`);
    await stop(first.child);
    const { code, said } = await pakhus('admin reset-password', environment);
    expect(code).toBe(0);
    const second = await serve();
    expect((await logIn(second.api, adminEmail, passwordIn(said))).status).toBe(200);
    expect((await logIn(second.api, adminEmail, first.password)).status).toBe(401);
    await stop(second.child);
  } finally {
    for (const child of running) if (child.exitCode === null) child.kill('SIGKILL');
    await rm(dataDir, { recursive: true, force: true });
  }
});
