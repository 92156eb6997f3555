// What a project owner does in the console.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { sendFile } from '../../server/test/support/send-file.ts';
import {
  adminSession,
  createIntegration,
  createPlan,
  createTenant,
  createUser,
  type Tenant,
} from '../../server/test/support/tenants.ts';
import {
  browserPath,
  expectTitle,
  expectToast,
  logInAs,
  type OpenConsole,
  openConsole,
  press,
  pressInDialog,
} from './support/console.ts';
import { lookAt } from './support/look.ts';

if (!browserPath) console.log('SKIPPED the console of an owner: TEST_CHROMIUM is not set');

describe.skipIf(!browserPath)('the console of an owner', () => {
  let opened: OpenConsole;
  let admin: string;
  beforeAll(async () => {
    opened = await openConsole();
    admin = await adminSession(opened.service.api);
  });
  afterEach(() => expect(opened.takeErrors()).toEqual([]));
  afterAll(() => opened?.close());

  async function enter(tenant: Tenant, path = '/'): Promise<Page> {
    const page = await opened.newPage();
    await logInAs(page, opened.url + path, tenant.email, tenant.password);
    return page;
  }
  const newTenant = () => createTenant(opened.service.api, admin);
  /** The menu of the row that has this text. */
  async function choose(page: Page, row: string, action: string): Promise<void> {
    await page.getByRole('row').filter({ hasText: row }).getByRole('button').last().click();
    await page.getByRole('button', { name: action, exact: true }).click();
  }
  const takeSecret = async (page: Page): Promise<string> => {
    const secret = (await page.locator('dialog .secret code').textContent()) ?? '';
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    expect(await page.locator('dialog .secret code').textContent()).toBe(secret);
    await page.getByLabel('I have copied it').check();
    await pressInDialog(page, 'Done');
    await page.locator('dialog').waitFor({ state: 'detached' });
    return secret;
  };

  test('an empty project says what to do next on every screen', async () => {
    const page = await enter(await newTenant());
    await page.getByRole('heading', { name: 'Set up your project' }).waitFor();
    await lookAt(page, 'owner-first-steps');
    for (const [path, heading] of [
      ['/users', 'No users yet'],
      ['/plans', 'No plans yet'],
      ['/variants', 'No variants yet'],
      ['/integrations', 'No integrations yet'],
      ['/events', 'Waiting for events'],
      ['/webhooks', 'No webhooks yet'],
    ] as const) {
      await page.goto(opened.url + path);
      await page.getByRole('heading', { name: heading }).waitFor();
    }
    await page.goto(`${opened.url}/nowhere/at/all`);
    await expectTitle(page, 'There is nothing here');
    await page.goto(`${opened.url}/projects`);
    await page
      .getByText('There is nothing here')
      .or(page.getByText('another kind of account'))
      .first()
      .waitFor();
  });

  test('every screen shows what the API knows, and looks right in light, dark and on a phone', async () => {
    const { api } = opened.service;
    const tenant = await newTenant();
    await createPlan(api, tenant.key, { name: 'Basic', storageLimit: 10_000, maxFileSize: 10_000 });
    await createIntegration(api, tenant.key, { name: 'Web back end', scopes: ['users:read', 'files:read'] });
    const anna = await createUser(api, tenant.key, 'anna');
    await createUser(api, tenant.key, 'bo');
    await sendFile(api, tenant.key, anna.id, { bytes: Buffer.alloc(9_000) });
    await api.post(`/project/users/${anna.id}/spaces`, tenant.key, {
      external_id: 'route-7',
      name: 'Route 7',
      scopes: ['files:read'],
      limit_bytes: 1_000_000,
    });
    const page = await enter(tenant);
    await page.getByText('90%').waitFor();
    await page.getByText('file.upload').waitFor();
    await lookAt(page, 'owner-overview');
    const screens: readonly (readonly [name: string, path: string, text: string])[] = [
      ['users', '/users', 'anna'],
      ['user-spaces', `/users/${anna.id}/spaces`, 'Route 7'],
      ['user-tokens', `/users/${anna.id}/tokens`, 'No token was minted on this page'],
      ['user-details', `/users/${anna.id}/details`, '1 uploads'],
      ['plans', '/plans', 'Basic'],
      ['keys', '/keys', tenant.key.slice(0, 12)],
      ['integrations', '/integrations', 'Web back end'],
      ['settings', '/settings', tenant.id],
    ];
    for (const [name, path, text] of screens) {
      await page.goto(opened.url + path);
      await page.getByText(text).first().waitFor();
      await lookAt(page, `owner-${name}`);
    }
    await page.goto(`${opened.url}/users?near=1`);
    await page.getByRole('link', { name: 'anna' }).waitFor();
    expect(await page.getByRole('link', { name: 'bo', exact: true }).count()).toBe(0);
    await page.goto(`${opened.url}/users`);
    await page.getByLabel('Search by external id').fill('AN');
    await expect.poll(() => new URL(page.url()).search).toBe('?q=AN');
    await page.getByRole('link', { name: 'bo', exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'anna' }).waitFor();
  });

  test('a plan, a user, a space and a token are made, changed and removed', async () => {
    const tenant = await newTenant();
    const page = await enter(tenant, '/plans');
    await press(page, 'Create a plan');
    await page.getByLabel('Name', { exact: true }).fill('Basic');
    await page.getByLabel('Storage for each user', { exact: true }).fill('2.5');
    await page.getByLabel('Allowed types').fill('image/*\nnot a type');
    await lookAt(page, 'owner-plan-dialog');
    await pressInDialog(page, 'Create a plan');
    await page.getByText('Has the wrong format').waitFor();
    await page.getByLabel('Allowed types').fill('image/*');
    await pressInDialog(page, 'Create a plan');
    await expectToast(page, 'The plan Basic was created');
    await page.getByText('2.5 GB').waitFor();

    await page.goto(`${opened.url}/users`);
    await press(page, 'Create a user');
    await page.getByRole('textbox', { name: 'External id' }).fill('anna');
    await pressInDialog(page, 'Create a user');
    await expectTitle(page, 'anna');

    await page.getByRole('link', { name: 'Spaces', exact: true }).click();
    await press(page, 'Create a space');
    await page.getByLabel('Name', { exact: true }).fill('Route 7');
    await page.getByRole('textbox', { name: 'External id' }).fill('route-7');
    await page.getByLabel('Password', { exact: true }).fill('1234');
    await pressInDialog(page, 'Create a space');
    await expectToast(page, 'The space Route 7 was created');
    const { api } = opened.service;
    const login = () =>
      api.post('/project/spaces/login', tenant.key, { external_id: 'route-7', password: '1234' });
    expect((await login()).status).toBe(201);
    await choose(page, 'Route 7', 'Suspend');
    await page.getByRole('row').filter({ hasText: 'suspended' }).waitFor();
    expect((await login()).status).toBe(403);

    await page.getByRole('link', { name: 'Tokens', exact: true }).click();
    await press(page, 'Mint a token');
    await pressInDialog(page, 'Mint a token');
    const token = await takeSecret(page);
    const [user] = (await api.get('/project/users', tenant.key)).body.users;
    const list = () => api.get(`/project/users/${user.id}/files`, token);
    expect((await list()).status).toBe(200);
    await page.getByRole('row').last().getByRole('button', { name: 'Revoke' }).click();
    await expectToast(page, 'The token is revoked');
    expect((await list()).status).toBe(401);

    await press(page, 'Actions');
    await press(page, 'Suspend');
    await page.locator('.toast').getByRole('button', { name: 'Undo' }).click();
    await expect
      .poll(async () => (await api.get(`/project/users/${user.id}`, tenant.key)).body.user.active)
      .toBe(true);
    await press(page, 'Actions');
    await page.locator('.menu').getByRole('button', { name: 'Delete' }).click();
    const remove = page.getByRole('dialog').getByRole('button', { name: 'Delete' });
    expect(await remove.isDisabled()).toBe(true);
    await page.getByLabel(/^Type .*anna.* to confirm$/).fill('anna');
    await remove.click();
    await expectTitle(page, 'Users');
    expect((await api.get('/project/users', tenant.key)).body.users).toEqual([]);
  });

  test('keys and integrations show their secret once, and stop working when told so', async () => {
    const tenant = await newTenant();
    const { api } = opened.service;
    const page = await enter(tenant, '/keys');
    await press(page, 'Create a key');
    await page.getByLabel('Name', { exact: true }).fill('build server');
    await pressInDialog(page, 'Create a key');
    const key = await takeSecret(page);
    expect((await api.get('/project/plans', key)).status).toBe(200);
    await page
      .getByRole('row')
      .filter({ hasText: 'build server' })
      .getByRole('button', { name: 'Revoke' })
      .click();
    await pressInDialog(page, 'Revoke');
    await expectToast(page, 'The key is revoked');
    expect((await api.get('/project/plans', key)).status).toBe(401);

    await page.goto(`${opened.url}/integrations`);
    await press(page, 'Create an integration');
    await page.getByLabel('Name', { exact: true }).fill('web');
    await page.getByLabel('plans:read').check();
    await page.getByLabel('Origins of its pages').fill('https://app.example.com');
    await lookAt(page, 'owner-integration-dialog');
    await pressInDialog(page, 'Create an integration');
    const first = await takeSecret(page);
    expect((await api.get('/project/plans', first)).status).toBe(200);
    expect((await api.get('/project/users', first)).status).toBe(403);
    await choose(page, 'web', 'Rotate the key');
    await pressInDialog(page, 'Rotate the key');
    const second = await takeSecret(page);
    expect((await api.get('/project/plans', first)).status).toBe(401);
    expect((await api.get('/project/plans', second)).status).toBe(200);
    await choose(page, 'web', 'Delete');
    await pressInDialog(page, 'Delete');
    await expectToast(page, 'The integration was deleted');
    expect((await api.get('/project/plans', second)).status).toBe(401);
  });

  test('the drawer shows the requests as code that works, without secrets', async () => {
    const tenant = await newTenant();
    const page = await enter(tenant, '/users');
    await press(page, 'Create a user');
    await page.getByRole('textbox', { name: 'External id' }).fill("o'hara");
    await pressInDialog(page, 'Create a user');
    await expectTitle(page, "o'hara");
    await page.getByRole('link', { name: 'Spaces', exact: true }).click();
    await press(page, 'Create a space');
    await page.getByLabel('Name', { exact: true }).fill('Route 7');
    await page.getByRole('textbox', { name: 'External id' }).fill('route-7');
    await page.getByLabel('Password', { exact: true }).fill('secret-of-the-space');
    await pressInDialog(page, 'Create a space');
    await expectToast(page, 'The space Route 7 was created');
    await press(page, 'As code');
    const drawer = page.getByRole('complementary', { name: 'This screen as code' });
    await drawer.getByText('.spaces.create(').waitFor();
    const text = (await drawer.textContent()) ?? '';
    expect(text).not.toContain('secret-of-the-space');
    expect(text).toContain('client.user({ id:');
    await lookAt(page, 'owner-as-code');
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    // Back on a screen whose code is there already.
    await page.getByRole('link', { name: 'Users', exact: true }).first().click();
    await page.locator('h1:focus').getByText('Users', { exact: true }).waitFor();
    await press(page, 'As code');
    await drawer.getByText('.users.list(').waitFor();
  });
});
