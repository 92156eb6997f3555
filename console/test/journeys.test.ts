// Whole journeys of people through the console, in each browser.
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { waitMsMax } from '../../server/test/support/bounds.ts';
import { browsersFor } from '../../server/test/support/browser.ts';
import { adminEmail, adminPassword } from '../../server/test/support/pakhus.ts';
import { sendFile } from '../../server/test/support/send-file.ts';
import {
  adminSession,
  createPlan,
  createTenant,
  createUser,
  sessionOf,
} from '../../server/test/support/tenants.ts';
import {
  expectTitle,
  logInAs,
  type OpenConsole,
  openConsole,
  press,
  pressInDialog,
} from './support/console.ts';

/** 1 GB with TEST_CONSOLE_BYTES=1000000000. */
const largeBytes = Number(process.env.TEST_CONSOLE_BYTES ?? 24_000_000);
/** Two megabytes in a second are enough. */
const largeMsMax = Math.max(waitMsMax, largeBytes / 2_000);

const browsers = browsersFor('journeys through the console');
if (browsers.length === 0) test.skip('needs a browser', () => undefined);

describe.each(browsers)('in $name', (choice) => {
  let opened: OpenConsole;
  let admin: string;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pakhus-journeys-'));
    opened = await openConsole(choice);
    admin = await adminSession(opened.service.api);
  });
  afterEach(() => expect(opened.takeErrors()).toEqual([]));
  afterAll(async () => {
    await opened?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function chooseFile(page: Page, name: string, bytes: Buffer): Promise<void> {
    const path = join(folder, name);
    // Choosing it again must find the same file.
    if (!existsSync(path)) await writeFile(path, bytes);
    const choosing = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Upload', exact: true }).first().click();
    await (await choosing).setFiles(path);
  }

  test('from the first login of the admin to the first file of a user, by mouse', async () => {
    const page = await opened.newPage();
    await logInAs(page, opened.url, adminEmail, adminPassword);
    await press(page, 'Create a project');
    await page.getByLabel('Name').fill('Harbour office');
    await page.getByLabel('Email of the owner').fill('harbour@example.com');
    await page.getByLabel('Password of the owner').fill('correct horse battery');
    await pressInDialog(page, 'Create');
    await page.getByLabel('I have copied it').check();
    await pressInDialog(page, 'Done');
    await press(page, 'Account');
    await press(page, 'Log out');
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    await logInAs(page, opened.url, 'harbour@example.com', 'correct horse battery');
    await page.getByRole('link', { name: 'Create a user' }).click();
    await page.getByRole('textbox', { name: 'External id' }).fill('anna');
    await pressInDialog(page, 'Create a user');
    await expectTitle(page, 'anna');
    await chooseFile(page, 'first.bin', Buffer.from('the first bytes'));
    await page.getByText('first.bin').first().waitFor();
    const key = await sessionOf(opened.service.api, 'harbour@example.com', 'correct horse battery');
    const [user] = (await opened.service.api.get('/project/users', key)).body.users;
    await expect
      .poll(async () => (await opened.service.api.get(`/project/users/${user.id}/files`, key)).body.files)
      .toMatchObject([{ name: 'first.bin', size: 15 }]);
  });

  test('by keyboard alone: log in, find the users, create one, and never lose the focus', async () => {
    const tenant = await createTenant(opened.service.api, admin);
    const page = await opened.newPage();
    await page.goto(opened.url);
    await page.locator('input[name="email"]:focus').waitFor();
    await page.keyboard.type(tenant.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(tenant.password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Set up your project' }).waitFor();
    await tabTo(page, 'Users');
    await page.keyboard.press('Enter');
    await expectTitle(page, 'Users');
    await tabTo(page, 'Create a user');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => focusedName(page)).toBe('Create a user');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type('bo');
    await page.keyboard.press('Enter');
    await expectTitle(page, 'bo');
    await expect.poll(() => focusedName(page)).toBe('bo');
  });

  test('a session that ends in the middle is renewed without losing what was typed', async () => {
    const { api } = opened.service;
    const tenant = await createTenant(api, admin);
    const page = await opened.newPage();
    await logInAs(page, `${opened.url}/users`, tenant.email, tenant.password);
    await press(page, 'Create a user');
    await page.getByRole('textbox', { name: 'External id' }).fill('typed before');
    const other = await sessionOf(api, tenant.email, tenant.password);
    expect((await api.post('/auth/logout-everywhere', other)).status).toBe(204);
    await pressInDialog(page, 'Create a user');
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    await page.getByLabel('Password', { exact: true }).fill(tenant.password);
    await page.getByRole('button', { name: 'Log in' }).click();
    await expectTitle(page, 'typed before');
    expect((await api.get('/project/users', tenant.key)).body.users).toMatchObject([
      { external_id: 'typed before' },
    ]);
  });

  test('two tabs agree on who is logged in', async () => {
    const { api } = opened.service;
    const [first, second] = [await createTenant(api, admin), await createTenant(api, admin)];
    const tab = await opened.newPage();
    await logInAs(tab, opened.url, first.email, first.password);
    await expectTitle(tab, 'Overview');
    const another = await tab.context().newPage();
    await another.goto(`${opened.url}/settings`);
    await another.getByText(first.id).waitFor();
    await press(another, 'Account');
    await press(another, 'Log out');
    await tab.getByRole('heading', { name: 'Log in' }).waitFor();
    await logInAs(another, `${opened.url}/settings`, second.email, second.password);
    await another.getByText(second.id).waitFor();
    await tab.getByRole('heading', { name: 'Set up your project' }).waitFor();
    await tab.goto(`${opened.url}/settings`);
    await tab.getByText(second.id).waitFor();
  });

  test(
    'a large upload goes on after a lost network and after a reload, and keeps every byte',
    async () => {
      const { api } = opened.service;
      const tenant = await createTenant(api, admin);
      await createPlan(api, tenant.key, { maxFileSize: 2e9, storageLimit: 4e9 });
      const user = await createUser(api, tenant.key, 'anna');
      const page = await opened.newPage();
      await logInAs(page, `${opened.url}/users/${user.id}/files`, tenant.email, tenant.password);
      await page.getByRole('button', { name: 'Upload', exact: true }).first().waitFor();
      const bytes = Buffer.concat([randomBytes(1_000_000), Buffer.alloc(largeBytes - 1_000_000, 7)]);
      const upload = async () =>
        (await api.get(`/project/users/${user.id}/uploads`, tenant.key)).body.uploads[0];
      // The second chunk is lost, and all after the third are held back, so that there is a middle to be interrupted in.
      const chunkBytes = 8 << 20;
      let chunks = 0;
      let release = () => {};
      const reloaded = new Promise<void>((resolve) => {
        release = resolve;
      });
      await page.route('**/uploads/*', async (route) => {
        if (route.request().method() === 'PATCH') {
          chunks += 1;
          if (chunks === 2) return route.abort();
          if (chunks > 3) await reloaded;
        }
        await route.continue().catch(() => undefined);
      });
      await chooseFile(page, 'film.bin', bytes);
      await expect.poll(async () => (await upload())?.offset ?? 0).toBeGreaterThan(0);
      await page.context().setOffline(true);
      await page.context().setOffline(false);
      await expect.poll(async () => (await upload()).offset).toBeGreaterThan(chunkBytes);
      page.once('dialog', (dialog) => dialog.dismiss());
      await page.getByRole('link', { name: 'Plans', exact: true }).click();
      await expectTitle(page, 'anna');
      page.once('dialog', (dialog) => dialog.accept());
      await page.reload();
      release();
      expect((await upload()).status).toBe('uploading');
      await page.getByText('interrupted').first().waitFor();
      await page.unroute('**/uploads/*');
      await chooseFile(page, 'film.bin', bytes);
      await expect.poll(async () => (await upload()).status, { timeout: largeMsMax }).toBe('completed');
      const [file] = (await api.get(`/project/users/${user.id}/files`, tenant.key)).body.files;
      expect(file).toMatchObject({
        size: bytes.length,
        sha256: createHash('sha256').update(bytes).digest('hex'),
      });
      expect((await api.get(`/project/users/${user.id}/uploads`, tenant.key)).body.uploads).toHaveLength(1);
    },
    2 * largeMsMax,
  );

  // Nothing in them depends on the browser; the suite of screens visits all of them in Firefox.
  if (choice.name === 'Firefox') return;

  test('every screen opens for a stranger as the login, and without asking the server for anything', async () => {
    const page = await opened.newPage({ hasTouch: true, viewport: { width: 390, height: 844 } });
    const asked: string[] = [];
    page.on('request', (request) => {
      if (new URL(request.url()).pathname.startsWith('/api/')) asked.push(request.url());
    });
    for (const path of ['/', '/users', '/projects', '/audit', '/account', '/settings', '/users/x/files']) {
      await page.goto(opened.url + path);
      await page.getByRole('heading', { name: 'Log in' }).waitFor();
    }
    expect(asked).toEqual([]);
  });

  test('on a phone by touch, over a slow network: to a user, a preview and back', async () => {
    const { api } = opened.service;
    const tenant = await createTenant(api, admin);
    const user = await createUser(api, tenant.key, 'anna');
    await sendFile(api, tenant.key, user.id, { bytes: Buffer.from('words in a file') });
    const page = await opened.newPage({ hasTouch: true, viewport: { width: 390, height: 844 } });
    await page.route('**/api/v1/**', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      await route.continue().catch(() => undefined);
    });
    await logInAs(page, opened.url, tenant.email, tenant.password);
    await page.getByRole('button', { name: 'Menu' }).tap();
    await page.getByRole('link', { name: 'Users', exact: true }).tap();
    // Something is shown while it loads.
    await page.locator('.skeleton').first().waitFor();
    await page.getByRole('link', { name: 'anna' }).tap();
    await page.getByText('a.txt').first().tap();
    await page.getByText('words in a file').waitFor();
    await page.goBack();
    await page.getByText('words in a file').waitFor({ state: 'detached' });
    await page.getByText('a.txt').first().waitFor();
  });

  test('errors say what the server said, with the id of the request', async () => {
    const { api } = opened.service;
    const tenant = await createTenant(api, admin);
    await createUser(api, tenant.key, 'anna');
    const page = await opened.newPage();
    await logInAs(page, `${opened.url}/users`, tenant.email, tenant.password);
    await press(page, 'Create a user');
    await page.getByRole('textbox', { name: 'External id' }).fill('anna');
    const answering = page.waitForResponse((response) => response.status() === 409);
    await pressInDialog(page, 'Create a user');
    const answer = await answering;
    const { error } = await answer.json();
    const note = page.getByRole('alert');
    await note.getByText(error.message).waitFor();
    await note.getByText(answer.headers()['x-request-id'] ?? 'none').waitFor();
    await page.keyboard.press('Escape');
    await page.goto(`${opened.url}/users/00000000-0000-4000-8000-000000000000/files`);
    await page.getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Try again' }).waitFor();
  });
});

const focusedName = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const focused = document.activeElement;
    return focused?.getAttribute('aria-label') ?? focused?.textContent?.trim() ?? '';
  });

/** Presses Tab until the element with that name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 40; presses += 1) {
    if ((await focusedName(page)) === name) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not lead to ${name}`);
}
