// The admin commands through the command; server/test/features/cli.test.ts tests what they do.
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { adminEmail, startTestPakhus, type TestPakhus } from '../../server/test/support/pakhus.ts';
import { logIn } from '../../server/test/support/tenants.ts';
import { pakhusHere } from './support/command.ts';

let service: TestPakhus;
let environment: Record<string, string>;
beforeAll(async () => {
  service = await startTestPakhus();
  environment = { DATABASE_URL: service.databaseUrl, DATA_DIR: service.dataDir };
});
afterAll(() => service.stop());

test('admin reset-password prints a password that works', async () => {
  const { code, out, err } = await pakhusHere('admin reset-password', { env: environment });
  expect([code, err]).toEqual([0, '']);
  const password = / \/ (\S+)$/m.exec(out)?.[1] ?? '';
  expect((await logIn(service.api, adminEmail, password)).status).toBe(200);
});

test('admin disable-2fa reports an unknown account in one sentence, with 1', async () => {
  const outcome = await pakhusHere('admin disable-2fa --email no@body.example', { env: environment });
  expect(outcome).toMatchObject({
    code: 1,
    out: '',
    err: 'There is no account with the e-mail no@body.example\n',
  });
});

test('admin export-database writes the same to a file and to stdout', async () => {
  const path = join(service.dataDir, 'export.sql');
  const toFile = await pakhusHere(['admin', 'export-database', '--file', path], { env: environment });
  expect([toFile.code, toFile.out]).toEqual([0, '']);
  expect(toFile.err).toMatch(/^Exported \d+ rows/);
  const { code, out } = await pakhusHere('admin export-database', { env: environment });
  expect(code).toBe(0);
  const tables = (text: string) => text.match(/^create table \w+/gim);
  expect(tables(out)).toEqual(tables(await readFile(path, 'utf8')));
  await rm(path);
});

test('a mistake in the variables is reported, with 1', async () => {
  const { code, err } = await pakhusHere('admin disable-2fa', { env: { JWT_SECRET: 'short' } });
  expect([code, err]).toEqual([1, expect.stringContaining('JWT_SECRET must')]);
});
