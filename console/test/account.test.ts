// Accounts in the console: login, passwords, two-factor login.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { alignToStep, codeOf, wrongCodeOf } from '../../server/test/support/accounts.ts';
import { linkOf, outboxTo } from '../../server/test/support/mail.ts';
import { adminSession, createTenant, sessionOf, type Tenant } from '../../server/test/support/tenants.ts';
import {
  browserPath,
  expectTitle,
  expectToast,
  logInAs,
  type OpenConsole,
  openConsole,
} from './support/console.ts';
import { lookAt } from './support/look.ts';

if (!browserPath) console.log('SKIPPED the console in a browser: TEST_CHROMIUM is not set');

describe.skipIf(!browserPath)('accounts in the console', () => {
  let opened: OpenConsole;
  let admin: string;
  beforeAll(async () => {
    opened = await openConsole();
    admin = await adminSession(opened.service.api);
  });
  afterEach(() => expect(opened.takeErrors()).toEqual([]));
  afterAll(() => opened?.close());

  const newTenant = (): Promise<Tenant> => createTenant(opened.service.api, admin);
  const heading = (page: Page, name: string) => page.getByRole('heading', { name });

  async function openAccount(tenant: Tenant): Promise<Page> {
    const page = await opened.newPage({ acceptDownloads: true });
    await logInAs(page, `${opened.url}/account`, tenant.email, tenant.password);
    await expectTitle(page, 'Account');
    return page;
  }

  test('a forgotten password is reset by the mailed link, once', async () => {
    const { email } = await newTenant();
    const page = await opened.newPage();
    await page.goto(opened.url);
    await lookAt(page, 'login');
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await expectTitle(page, 'Forgot your password?');
    await lookAt(page, 'forgot-password');
    await page.getByLabel('Email').fill(email);
    await page.getByRole('button', { name: 'Send the link' }).click();
    await expectTitle(page, 'Check your mail');
    await page.getByText(/If there is an account for .*, a mail with a link is on its way/).waitFor();

    const [mail] = await outboxTo(opened.service.dataDir, email);
    const { search } = new URL(linkOf(mail as NonNullable<typeof mail>));
    await page.goto(`${opened.url}/reset-password${search}`);
    await expectTitle(page, 'New password');
    await expect.poll(() => page.url()).toBe(`${opened.url}/reset-password`);
    await lookAt(page, 'reset-password');
    await page.getByLabel('New password', { exact: true }).fill('a password after the mail');
    await page.getByLabel('New password, again').fill('another password');
    await page.getByRole('button', { name: 'Set the password' }).click();
    await page.getByText('The two passwords are not the same').waitFor();
    await page.getByLabel('New password, again').fill('a password after the mail');
    await page.getByRole('button', { name: 'Set the password' }).click();
    await expectToast(page, 'The password is set');
    await expectTitle(page, 'Log in');
    await sessionOf(opened.service.api, email, 'a password after the mail');

    await page.goto(`${opened.url}/reset-password${search}`);
    await page.getByLabel('New password', { exact: true }).fill('a third password');
    await page.getByLabel('New password, again').fill('a third password');
    await page.getByRole('button', { name: 'Set the password' }).click();
    await expectTitle(page, 'This link no longer works');
    await lookAt(page, 'reset-password-dead');
    await page.getByRole('link', { name: 'Request a new link' }).click();
    await expectTitle(page, 'Forgot your password?');
  });

  test('a refused login says why: wrong password, suspended project, too many attempts', async () => {
    const tenant = await newTenant();
    const page = await opened.newPage();
    await logInAs(page, opened.url, tenant.email, 'a wrong password');
    const note = page.getByRole('alert');
    await note.getByText('Request id').waitFor();
    await opened.service.api.patch(`/admin/projects/${tenant.id}/status`, admin, { active: false });
    await logInAs(page, opened.url, tenant.email, tenant.password);
    await note.getByText(/not active|inactive/i).waitFor();
    for (let attempt = 0; attempt < 8; attempt += 1) {
      const answered = page.waitForResponse(/auth\/login/);
      await page.getByRole('button', { name: 'Log in' }).click();
      await answered;
    }
    await page.getByRole('button', { name: 'Log in' }).click();
    await note.getByText(/You can try again at \d/).waitFor();
    await lookAt(page, 'login-limited');
  });

  test('a changed password ends the other sessions and keeps this one', async () => {
    const tenant = await newTenant();
    const other = await sessionOf(opened.service.api, tenant.email, tenant.password);
    const page = await openAccount(tenant);
    await page.getByRole('button', { name: 'Set up two-factor login' }).waitFor();
    await lookAt(page, 'account');
    const change = async (current: string) => {
      await page.getByLabel('Current password').fill(current);
      await page.getByLabel('New password', { exact: true }).fill('a password that is new');
      await page.getByLabel('New password, again').fill('a password that is new');
      await page.getByRole('button', { name: 'Change the password' }).click();
    };
    await change('not the current one');
    await page.getByText('Is not the current password').waitFor();
    await change(tenant.password);
    await expectToast(page, 'Password changed');
    await expect.poll(() => page.getByLabel('Current password').inputValue()).toBe('');
    expect((await opened.service.api.get('/auth/me', other)).status).toBe(401);
    await page.reload();
    await expectTitle(page, 'Account');
  });

  test('logging out everywhere ends this session and all others', async () => {
    const tenant = await newTenant();
    const other = await sessionOf(opened.service.api, tenant.email, tenant.password);
    const page = await openAccount(tenant);
    await page.getByRole('button', { name: 'Log out everywhere' }).click();
    await lookAt(page, 'log-out-everywhere');
    await page.getByRole('dialog').getByRole('button', { name: 'Log out everywhere' }).click();
    await expectTitle(page, 'Log in');
    expect((await opened.service.api.get('/auth/me', other)).status).toBe(401);
  });

  test('two-factor login is turned on with recovery codes, used at login, and turned off', async () => {
    const { service } = opened;
    const tenant = await newTenant();
    const page = await openAccount(tenant);
    await page.getByRole('button', { name: 'Set up two-factor login' }).click();
    await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor();
    await page.getByText('Cannot scan it?').click();
    await lookAt(page, 'two-factor-enrol');
    const secret = (await page.locator('.secret code').textContent()) ?? '';
    expect(
      await page.getByRole('link', { name: 'Open the authenticator app' }).getAttribute('href'),
    ).toContain(secret);
    alignToStep(service);
    await page.getByLabel('Code', { exact: true }).fill(wrongCodeOf(service, secret));
    await page.getByRole('button', { name: 'Turn on' }).click();
    await page.getByText('Is wrong or too old').waitFor();
    await page.getByLabel('Code', { exact: true }).fill(codeOf(service, secret));
    await page.getByRole('button', { name: 'Turn on' }).click();

    await heading(page, 'Recovery codes').waitFor();
    await lookAt(page, 'two-factor-recovery');
    const codes = await page.locator('.recovery-codes li').allTextContents();
    expect(codes).toHaveLength(10);
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download' }).click();
    expect((await downloading).suggestedFilename()).toBe('pakhus-recovery-codes.txt');
    const done = page.getByRole('button', { name: 'Done' });
    expect(await done.isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await heading(page, 'Recovery codes').waitFor();
    await page.getByLabel('I have stored the codes in a safe place').check();
    await done.click();
    await page.getByRole('button', { name: 'Turn off' }).waitFor();

    await page.getByRole('main').getByRole('button', { name: 'Log out', exact: true }).click();
    await expectTitle(page, 'Log in');
    alignToStep(service, 1);
    await logInAs(page, `${opened.url}/account`, tenant.email, tenant.password);
    await expectTitle(page, 'Two-factor login');
    await lookAt(page, 'login-code');
    await page.getByLabel('Code', { exact: true }).fill(wrongCodeOf(service, secret));
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('The code is wrong or has been used').waitFor();
    const code = codeOf(service, secret);
    await page.getByLabel('Code', { exact: true }).fill(`${code.slice(0, 3)} ${code.slice(3)}`);
    await page.getByRole('button', { name: 'Confirm' }).click();
    await expectTitle(page, 'Account');

    await page.getByRole('button', { name: 'Turn off' }).click();
    await lookAt(page, 'two-factor-off');
    await page.getByLabel('Code', { exact: true }).fill(codes[0] ?? '');
    await page.getByRole('dialog').getByRole('button', { name: 'Turn off' }).click();
    await expectToast(page, 'Two-factor login is off');
    await page.getByRole('button', { name: 'Set up two-factor login' }).waitFor();
  });
});
