// What the admin does in the console, and the audit log for admin and owner.
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { adminEmail, adminPassword } from '../../server/test/support/pakhus.ts';
import { sendFile } from '../../server/test/support/send-file.ts';
import {
  adminSession,
  createTenant,
  createUser,
  sessionOf,
  unique,
} from '../../server/test/support/tenants.ts';
import {
  browserPath,
  expectTitle,
  expectToast,
  logInAs,
  type OpenConsole,
  openConsole,
} from './support/console.ts';
import { lookAt } from './support/look.ts';

describe.skipIf(!browserPath)('the admin in the console', () => {
  let opened: OpenConsole;
  let admin: string;
  let page: Page;
  beforeAll(async () => {
    opened = await openConsole();
    admin = await adminSession(opened.service.api);
    page = await opened.newPage({ acceptDownloads: true });
    await logInAs(page, opened.url, adminEmail, adminPassword);
    await expectTitle(page, 'Overview');
  });
  afterEach(() => expect(opened.takeErrors()).toEqual([]));
  afterAll(() => opened?.close());

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const inDialog = (name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true });
  const go = (path: string) => page.goto(`${opened.url}${path}`);

  test('the first run leads from an empty overview to a project with its key', async () => {
    await page.getByText('All systems work').waitFor();
    await lookAt(page, 'overview-first-run');
    await button('Create a project').click();
    await page.getByLabel('Name').fill('Harbour office');
    await page.getByLabel('Email of the owner').fill('harbour@example.com');
    await button('Generate a password').click();
    const password = await page.getByLabel('Password of the owner').inputValue();
    await lookAt(page, 'project-create');
    await button('Create').click();

    await page.getByRole('heading', { name: /Harbour office.* is ready/ }).waitFor();
    await lookAt(page, 'project-created');
    const key = (await page.locator('.secret code').textContent()) ?? '';
    expect((await opened.service.api.get('/project/users', key)).status).toBe(200);
    expect(await page.locator('pre.command').textContent()).not.toContain(key);
    expect(await button('Done').isDisabled()).toBe(true);
    await page.getByLabel('I have copied it').check();
    await button('Done').click();
    await page.getByRole('link', { name: 'Harbour office' }).waitFor();
    expect(page.url()).toBe(`${opened.url}/projects`);

    const owner = await opened.newPage();
    await logInAs(owner, `${opened.url}/account`, 'harbour@example.com', password);
    await expectTitle(owner, 'Account');
    await owner.goto(`${opened.url}/projects`);
    await owner.getByText('This page is for another kind of account').waitFor();
  });

  test('a project is renamed, limited, suspended and resumed, gets a new key, and is deleted by its name', async () => {
    const { api } = opened.service;
    const tenant = await createTenant(api, admin);
    const read = async () => (await api.get(`/admin/projects/${tenant.id}`, admin)).body.project;
    const name = unique('<b>renamed</b> \u202Eabc');
    await go(`/projects/${tenant.id}`);
    await page.getByLabel('Name').fill(name);
    await page.getByRole('button', { name: 'Save' }).first().click();
    await expectToast(page, 'Saved');
    // The mark that turns the direction is shown, not obeyed.
    const shown = name.replace('\u202E', '\uFFFD');
    await page.getByRole('heading', { level: 1, name: shown }).waitFor();
    expect((await read()).name).toBe(name);

    await page.getByLabel('Requests per window').fill('25');
    await page.getByLabel('Window in seconds').fill('1.5');
    await page.getByRole('button', { name: 'Save' }).last().click();
    await expect.poll(read).toMatchObject({ rateLimitMax: 25, rateLimitWindow: 1500 });
    await lookAt(page, 'project');

    await button('Suspend').click();
    await lookAt(page, 'project-suspend');
    await inDialog('Suspend').click();
    await button('Resume').waitFor();
    expect((await read()).active).toBe(false);
    await button('Resume').click();
    await button('Suspend').waitFor();
    expect((await read()).active).toBe(true);

    await button('Rotate the key').click();
    await inDialog('Rotate the key').click();
    await page.getByRole('heading', { name: 'The new project key' }).waitFor();
    const key = (await page.locator('.secret code').textContent()) ?? '';
    expect((await api.get('/project/users', tenant.key)).status).toBe(401);
    expect((await api.get('/project/users', key)).status).toBe(200);
    await page.getByLabel('I have copied it').check();
    await button('Done').click();

    await button('Delete the project').click();
    await page.getByLabel(/^Type .* to confirm$/).fill('another name');
    expect(await inDialog('Delete the project').isDisabled()).toBe(true);
    await page.getByLabel(/^Type .* to confirm$/).fill(name);
    await lookAt(page, 'project-delete');
    await inDialog('Delete the project').click();
    await expectTitle(page, 'Projects');
    expect((await api.get(`/admin/projects/${tenant.id}`, admin)).status).toBe(404);
  });

  test('overview, projects, jobs and settings show what the API says', async () => {
    const { api } = opened.service;
    for (const size of [3_000_000, 40_000]) {
      const { key } = await createTenant(api, admin);
      const user = await createUser(api, key);
      await sendFile(api, key, user.id, { bytes: Buffer.alloc(size, 'text ') });
    }
    await go('/');
    await page.locator('.bar-list').waitFor();
    await page.locator('.figure', { hasText: 'Storage' }).getByText('3 MB').waitFor();
    await lookAt(page, 'overview');
    await page.getByRole('link', { name: 'All projects' }).click();
    await page.getByRole('cell', { name: '3 MB' }).waitFor();
    await lookAt(page, 'projects');
    await page.getByRole('link', { name: 'Image jobs' }).click();
    await page.getByText('No job has failed').waitFor();
    await lookAt(page, 'jobs-empty');
    const { key } = await createTenant(api, admin);
    const user = await createUser(api, key);
    const broken = Buffer.from('\x89PNG\r\n\x1a\n and nothing else', 'latin1');
    const fileId = await sendFile(api, key, user.id, { as: 'image', type: 'image/png', bytes: broken });
    await expect.poll(async () => (await api.get('/admin/stats/global', admin)).body.jobs.failed).toBe(1);
    await page.reload();
    await page.getByText(fileId).waitFor();
    await lookAt(page, 'jobs');

    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByLabel('Days to keep').fill('4000');
    await page.getByRole('button', { name: 'Save' }).first().click();
    expect(
      await page.getByLabel('Days to keep').evaluate((input: HTMLInputElement) => input.validity.valid),
    ).toBe(false);
    await page.getByLabel('Days to keep').fill('90');
    await page.getByRole('button', { name: 'Save' }).first().click();
    await expectToast(page, 'Saved');
    expect((await api.get('/admin/settings/audit-retention', admin)).body).toEqual({ retention_days: 90 });
    await page.getByLabel('Requests per window').fill('500');
    await page.getByLabel('Window in seconds').fill('30');
    await page.getByRole('button', { name: 'Save' }).last().click();
    await expect
      .poll(async () => (await api.get('/admin/settings/rate-limit', admin)).body)
      .toEqual({ max: 500, window_ms: 30_000 });
    await lookAt(page, 'settings');
  });

  test('the audit log is filtered by its address, shows hostile text as text, and is exported', async () => {
    const { api } = opened.service;
    const tenant = await createTenant(api, admin);
    const agent = '=HYPERLINK("x") <script>document.title="taken"</script>';
    await api.call('POST', '/project/users', {
      as: tenant.key,
      body: { externalId: 'a' },
      headers: { 'user-agent': agent },
    });
    await go(`/audit?project_id=${tenant.id}`);
    await page.getByLabel('Action').selectOption('user.create');
    await button('Apply').click();
    await expect.poll(() => new URL(page.url()).searchParams.get('action')).toBe('user.create');
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
    await lookAt(page, 'audit');
    await button('Details').click();
    await page.getByRole('dialog').getByText(agent).waitFor();
    await lookAt(page, 'audit-details');
    expect(await page.title()).not.toContain('taken');
    await page.keyboard.press('Escape');

    await page.goBack();
    await expect.poll(() => page.getByLabel('Action').inputValue()).toBe('');
    await page.goForward();
    await expect.poll(() => page.getByLabel('Action').inputValue()).toBe('user.create');

    await button('Export').click();
    await lookAt(page, 'audit-export');
    const downloading = page.waitForEvent('download');
    await inDialog('Export').click();
    const download = await downloading;
    expect(download.suggestedFilename()).toMatch(/^audit-\d{4}-\d\d-\d\d\.csv$/);
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\r\n');
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain(`"'=HYPERLINK(""x"") <script>`);

    await go('/audit?user_id=nonsense');
    await page.getByRole('alert').getByText('user_id').waitFor();
    await go(`/audit?from=2001-01-01&to=2001-01-02`);
    await page.getByText('Nothing matches').waitFor();
    await lookAt(page, 'audit-empty');
  });

  test('an owner reads the audit log of the own project, also after the session was ended elsewhere', async () => {
    const tenant = await createTenant(opened.service.api, admin);
    const owner = await opened.newPage();
    await logInAs(owner, `${opened.url}/audit`, tenant.email, tenant.password);
    await expectTitle(owner, 'Audit log');
    await owner.locator('tbody').getByText('Logged in', { exact: false }).first().waitFor();
    expect(await owner.getByLabel('Project id').count()).toBe(0);
    await lookAt(owner, 'audit-owner');

    const { api } = opened.service;
    const other = await sessionOf(api, tenant.email, tenant.password);
    const passwords = { currentPassword: tenant.password, newPassword: 'a password from elsewhere' };
    expect((await api.put('/auth/change-password', other, passwords)).status).toBe(200);
    await owner.getByRole('button', { name: 'Reload' }).click();
    await owner.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    await lookAt(owner, 'session-ended');
    await owner.getByLabel('Password', { exact: true }).fill(passwords.newPassword);
    await owner.getByRole('button', { name: 'Log in' }).click();
    await owner.locator('tbody').getByText('Password changed').waitFor();
  });
});
