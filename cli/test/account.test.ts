// login, logout, whoami, and the commands that manage a project.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { adminEmail, adminPassword } from '../../server/test/support/pakhus.ts';
import { useService } from './support/service.ts';

const service = useService();

/** Without variables: only what login has saved. */
const plain = (words: string, input?: string) =>
  service.run(words, {
    env: { PAKHUS_URL: '', PAKHUS_KEY: '' },
    ...(input !== undefined && { input }),
  });

test('login saves what the service accepts, logout forgets it', async () => {
  const { baseUrl } = service.pakhus;
  const wrong = await plain(`login --url ${baseUrl}`, 'pak_wrong\n');
  expect(wrong.code).toBe(4);
  expect((await plain('ls')).err).toContain('pakhus login');
  const { code, out, err } = await plain(`login --url ${baseUrl}`, `${service.tenant.key}\n`);
  expect([code, err]).toEqual([0, '']);
  expect(out).not.toContain(service.tenant.key);
  expect(out).toContain('project key');
  expect((await plain('ls')).out).toContain('anna');
  expect((await plain('whoami')).out).toContain('everything in its project');
  await plain(`login --url ${baseUrl} --profile admin --email ${adminEmail}`, adminPassword);
  expect((await plain('whoami --profile admin')).out).toContain(adminEmail);
  const config = await readFile(join(service.env.XDG_CONFIG_HOME ?? '', 'pakhus/config.json'), 'utf8');
  const { key } = JSON.parse(config).profiles.admin;
  expect((await plain('logout --profile admin')).code).toBe(0);
  // The session itself is ended.
  expect((await service.run('whoami', { env: { PAKHUS_KEY: key } })).code).toBe(4);
  await plain('logout');
  expect((await plain('ls')).code).toBe(4);
  expect((await plain('logout')).code).toBe(3);
});

test('the admin manages projects', async () => {
  const { baseUrl } = service.pakhus;
  await plain(`login --url ${baseUrl} --profile admin --email ${adminEmail}`, adminPassword);
  const admin = (words: string, input?: string) => plain(`${words} --profile admin`, input);
  expect((await admin('projects create Pier', 'a password')).err).toContain('--email');
  const created = await admin('projects create Pier --email pier@example.com', 'a fine password\n');
  expect(created.code).toBe(0);
  const key = created.out.trim();
  expect((await service.run('whoami', { env: { PAKHUS_KEY: key } })).out).toContain('project key');
  expect((await admin('projects list')).out).toContain('Pier');
  expect((await admin('projects suspend Pier')).out).toContain('suspended');
  expect((await service.run('ls', { env: { PAKHUS_KEY: key } })).code).toBe(4);
  await admin('projects activate Pier');
  expect((await admin('projects rotate Pier')).out.trim()).not.toBe(key);
  expect((await admin('projects delete Pier')).code).toBe(0);
  expect((await admin('projects delete Pier')).code).toBe(3);
  await plain('logout --profile admin');
});

test('login needs a URL and a key', async () => {
  expect((await plain('login', 'x')).err).toContain('pass --url');
  expect((await plain('login --url nonsense', 'x')).code).toBe(2);
  expect((await plain(`login --url ${service.pakhus.baseUrl}`, '')).err).toContain('PAKHUS_KEY');
});

const json = async (words: string) => {
  const { code, out, err } = await service.run(`${words} --json`);
  expect([code, err]).toEqual([0, '']);
  return out
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
};

test('users and plans', async () => {
  const [plan] = await json('plans create small --storage 10MB --max-file-size 1MiB --mime image/*');
  expect(plan).toMatchObject({
    name: 'small',
    storageLimit: 1e7,
    maxFileSize: 1048576,
    allowedMimes: ['image/*'],
  });
  expect((await service.run('plans create x')).err).toContain('--max-file-size');
  expect((await service.run('plans create x --max-file-size much')).code).toBe(2);
  const [user] = await json('users create ben --plan small');
  expect(user.plan.id).toBe(plan.id);
  expect((await json('plans update small --storage unlimited --name tiny'))[0]).toMatchObject({
    storageLimit: null,
  });
  expect((await service.run('users get ben')).out).toContain('0 B of unlimited  ben  plan tiny');
  expect((await json('users plan ben standard'))[0].plan.name).toBe('standard');
  expect((await json('users deactivate ben'))[0].active).toBe(false);
  expect((await json(`users activate id:${user.id}`))[0].active).toBe(true);
  expect((await json('users list')).map(({ external_id }) => external_id)).toContain('ben');
  expect((await json('users list --find BE')).map(({ external_id }) => external_id)).toEqual(['ben']);
  expect(await json('users list --usage-min 90')).toEqual([]);
  expect(await json('settings --trash-days 3')).toEqual([{ trash_days: 3 }]);
  expect(await json('settings')).toEqual([{ trash_days: 3 }]);
  await json('settings --trash-days 0');
  expect((await json('plans default tiny'))[0].is_default).toBe(true);
  expect((await json('plans default standard'))[0].is_default).toBe(true);
  await json('plans delete tiny');
  expect((await service.run('plans delete tiny')).code).toBe(3);
  await json('users delete ben --yes');
  expect((await service.run('users get ben')).code).toBe(3);
});

test('keys, integrations and tokens: the secret alone on stdout, once', async () => {
  const { out: key, err } = await service.run('keys create --name spare');
  expect(key).toMatch(/^pak_[0-9a-f]{64}\n$/);
  expect(err).toContain('only this once');
  expect((await service.run('ls', { env: { PAKHUS_KEY: key.trim() } })).code).toBe(0);
  const spare = (await json('keys list')).find(({ name }) => name === 'spare');
  await json(`keys revoke ${spare.id}`);
  expect((await service.run('ls', { env: { PAKHUS_KEY: key.trim() } })).code).toBe(4);

  const [created] = await json(
    'integrations create --name web --scope files:read --scope users:read --origin https://a.example',
  );
  const { id, scopes, corsOrigins } = created.integration;
  expect({ scopes, corsOrigins }).toEqual({
    scopes: ['files:read', 'users:read'],
    corsOrigins: ['https://a.example'],
  });
  const as = (words: string, PAKHUS_KEY: string) => service.run(words, { env: { PAKHUS_KEY } });
  expect((await as('whoami', created.api_key)).out).toMatch(/integration key\nmay +users:read/);
  const { out: rotated } = await service.run(`integrations rotate ${id} -q`);
  expect((await as('ls', created.api_key)).code).toBe(4);
  expect((await as('ls', rotated.trim())).code).toBe(0);
  expect((await json(`integrations update ${id} --active off`))[0].active).toBe(false);
  expect((await service.run('integrations list')).out).toContain(
    'web  files:read users:read  https://a.example  inactive',
  );
  await json(`integrations delete ${id}`);

  const { out: token, err: silence } = await service.run('tokens mint anna --scope files:read --quiet');
  expect(silence).toBe('');
  const who = await as('whoami', token.trim());
  expect(who.out).toMatch(/user token\nmay +files:read\nexpires/);
  const [minted] = await json('tokens mint anna');
  await json(`tokens revoke anna ${minted.jti}`);
  expect((await as('ls', minted.token)).code).toBe(4);
  expect((await service.run('tokens mint anna --scope nonsense')).code).toBe(1);
});

test('usage of a user and of the project', async () => {
  await service.client.user('anna').files.upload('12345');
  expect((await service.run('usage anna')).out).toBe('5 B of 4.4 TB, 0 %\n');
  expect((await service.run('usage')).out).toMatch(/^\d+ users?, 1 file, 5 B\n$/);
  const { token } = await service.client.user('anna').tokens.mint();
  expect((await service.run('usage', { env: { PAKHUS_KEY: token } })).out).toContain('5 B of');
});

test('usage by day, as text, JSON and CSV, also of a user who is gone', async () => {
  const { id } = await service.client.users.create({ externalId: 'ben' });
  await service.client.user('ben').files.upload('1234567');
  const date = new Date().toISOString().slice(0, 10);
  const from = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const { out } = await service.run(`usage ben --from ${from}`);
  expect(out).toBe(`${date}  ${id}  7 B, at most 7 B  1 upload of 7 B  0 downloads\n`);
  await service.client.user('ben').delete();
  const [day] = await json(`usage id:${id} --from ${from} --to ${date}`);
  expect(day).toMatchObject({ date, user_id: id, bytes_max: 7, bytes_end: 0, uploads: 1, bytes_in: 7 });
  const csv = (await service.run('usage --csv')).out.split('\r\n');
  expect(csv[0]).toBe('date,user_id,bytes_max,bytes_end,uploads,downloads,bytes_in');
  expect(csv).toContain(`${date},${id},7,0,1,0,7`);
  expect((await service.run('usage --from yesterday')).code).toBe(1);
});
