// Search, trash, shares, zips, moving and copying, and variants of images, as an owner meets them in the console.
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { picture } from '../../server/test/support/image-files.ts';
import { adminSession, createTenant, createUser, type Tenant } from '../../server/test/support/tenants.ts';
import { partsOf, postForm } from '../../server/test/support/uploads.ts';
import {
  browserPath,
  expectToast,
  logInAs,
  type OpenConsole,
  openConsole,
  press,
  pressInDialog,
} from './support/console.ts';
import { lookAt } from './support/look.ts';

if (!browserPath) console.log('SKIPPED delivery in the console: TEST_CHROMIUM is not set');

describe.skipIf(!browserPath)('delivery in the console', () => {
  let opened: OpenConsole;
  let admin: string;
  beforeAll(async () => {
    opened = await openConsole();
    admin = await adminSession(opened.service.api);
  });
  afterEach(() => expect(opened.takeErrors()).toEqual([]));
  afterAll(() => opened?.close());

  const newTenant = () => createTenant(opened.service.api, admin);
  async function enter(tenant: Tenant, path = '/'): Promise<Page> {
    const page = await opened.newPage();
    await logInAs(page, opened.url + path, tenant.email, tenant.password);
    return page;
  }
  async function choose(page: Page, row: string, action: string): Promise<void> {
    await page.getByRole('row').filter({ hasText: row }).getByRole('button').last().click();
    await page.getByRole('button', { name: action, exact: true }).click();
  }
  interface Sent {
    readonly name: string;
    readonly bytes?: Buffer;
    readonly folder?: string;
    readonly type?: string;
  }
  /** A project with one user, who has these files; the last one is the newest. */
  async function enterFiles(files: readonly Sent[]) {
    const { api } = opened.service;
    const tenant = await newTenant();
    const { id } = await createUser(api, tenant.key, 'anna');
    const at = `/project/users/${id}`;
    for (const { name, bytes = Buffer.from(name), folder = '', type = 'text/plain' } of files) {
      const reply = await postForm(api, tenant.key, at, partsOf(bytes, { name, type, fields: { folder } }));
      expect(reply.status, reply.text).toBe(201);
    }
    const list = async (query = ''): Promise<{ name: string; folder: string; id: string }[]> =>
      (await api.get(`${at}/files${query}`, tenant.key)).body.files;
    const open = () => enter(tenant, `/users/${id}/files`);
    return { api, tenant, at, list, open };
  }
  /** A verb from the menu of a file in the browser. */
  async function chooseVerb(page: Page, name: string, verb: string): Promise<void> {
    await page.getByRole('button', { name: `Actions for ${name}` }).click();
    await page.getByRole('menuitem', { name: verb, exact: true }).click();
  }
  async function chooseTool(page: Page, tool: string): Promise<void> {
    await page.getByRole('button', { name: 'Folder and trash' }).click();
    await page.getByRole('menuitem', { name: tool, exact: true }).click();
  }
  const pathsOf = (files: readonly { name: string; folder: string }[]) =>
    files.map(({ name, folder }) => `${folder}/${name}`).sort();

  test('the owner decides how long the trash keeps files', async () => {
    const tenant = await newTenant();
    const { api } = opened.service;
    const page = await enter(tenant, '/settings');
    await page.getByLabel('Days in the trash').fill('30');
    await press(page, 'Save');
    await expectToast(page, 'The setting is saved');
    expect((await api.get('/project/settings', tenant.key)).body.settings.trash_days).toBe(30);
  });

  test('a variant is made, changed and deleted', async () => {
    const tenant = await newTenant();
    const { api } = opened.service;
    const page = await enter(tenant, '/variants');
    await press(page, 'Create a variant');
    await page.getByLabel('Name', { exact: true }).fill('Not a name');
    await pressInDialog(page, 'Create a variant');
    await page.locator('dialog .wrong').waitFor();
    await page.getByLabel('Name', { exact: true }).fill('thumbnail');
    await page.getByLabel('Width in pixels').fill('320');
    await lookAt(page, 'delivery-variant-dialog');
    await pressInDialog(page, 'Create a variant');
    await expectToast(page, 'The variant thumbnail was created');
    await page.getByText('320 × any').waitFor();
    await choose(page, 'thumbnail', 'Edit');
    await page.getByLabel('Height in pixels').fill('200');
    await page.getByLabel('Fit').selectOption('cover');
    await pressInDialog(page, 'Save');
    await page.getByText('320 × 200').waitFor();
    await lookAt(page, 'delivery-variants');
    const { variants } = (await api.get('/project/variants', tenant.key)).body;
    expect(variants).toMatchObject([{ name: 'thumbnail', width: 320, height: 200, fit: 'cover' }]);
    await choose(page, 'thumbnail', 'Delete');
    await pressInDialog(page, 'Delete');
    await page.getByRole('heading', { name: 'No variants yet' }).waitFor();
    expect((await api.get('/project/variants', tenant.key)).body.variants).toEqual([]);
  });

  test('files of all folders are found by a part of their name, in the order that was chosen', async () => {
    const { open } = await enterFiles([
      { name: 'Zebra report.txt', folder: 'a/b', bytes: Buffer.alloc(5_000) },
      { name: 'apple report.txt', bytes: Buffer.alloc(9_000) },
      { name: 'other.txt', folder: 'a' },
    ]);
    const page = await open();
    await page.getByLabel('Search by name').fill('REPORT');
    const names = async () => page.getByRole('rowheader').allTextContents();
    await expect.poll(names).toEqual(['apple report.txt', 'Zebra report.txt']);
    await page.getByLabel('Order').selectOption('size');
    await expect.poll(() => new URL(page.url()).search).toBe('?q=REPORT&sort=size');
    await expect.poll(names).toEqual(['apple report.txt', 'Zebra report.txt']);
    await lookAt(page, 'delivery-search');
    await page.getByLabel('Search by name').fill('');
    await expect.poll(async () => (await names()).at(-1)).toBe('other.txt');
    await page.getByRole('link', { name: 'Zebra report.txt' }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('folder')).toBe('a/b');
    await page.getByRole('dialog', { name: 'Zebra report.txt' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('Search by name').fill('nothing like it');
    await page.getByRole('heading', { name: 'No file matches' }).waitFor();
  });

  test('a deleted file is brought back from the trash, or deleted for good', async () => {
    const { api, tenant, at, list, open } = await enterFiles([{ name: 'keep.txt' }, { name: 'drop.txt' }]);
    const page = await open();
    await press(page, 'Trash');
    await page.getByRole('heading', { name: 'This project keeps no trash' }).waitFor();
    await api.put('/project/settings', tenant.key, { trash_days: 7 });
    for (const { id } of await list()) await api.delete(`${at}/files/${id}`, tenant.key);
    await page.reload();
    const row = (name: string) => page.getByRole('row').filter({ hasText: name });
    await row('keep.txt').waitFor();
    await lookAt(page, 'delivery-trash');
    await row('keep.txt').getByRole('button', { name: 'Restore' }).click();
    await expectToast(page, 'keep.txt was restored');
    await row('drop.txt').getByRole('button', { name: 'Delete for good' }).click();
    await pressInDialog(page, 'Delete for good');
    await page.getByRole('heading', { name: 'The trash is empty' }).waitFor();
    expect(await list('?trashed=true')).toEqual([]);
    await press(page, 'Back to the folders');
    await page.getByText('keep.txt').first().waitFor();
    expect((await list()).map(({ name }) => name)).toEqual(['keep.txt']);
  });

  test('files and folders are moved, copied and deleted', async () => {
    const { list, open } = await enterFiles([
      { name: 'one.txt' },
      { name: 'two.txt', folder: 'old' },
      { name: 'three.txt' },
    ]);
    const page = await open();
    await chooseVerb(page, 'one.txt', 'Copy');
    await page.getByLabel('Name of the copy').fill('uno.txt');
    await page.locator('dialog').getByRole('button', { name: 'old' }).click();
    await pressInDialog(page, 'Copy');
    await expectToast(page, '1 file copied');
    await page.getByText('1 selected').waitFor({ state: 'detached' });
    for (const name of ['one.txt', 'three.txt'])
      await page
        .getByText(name)
        .first()
        .click({ modifiers: ['ControlOrMeta'] });
    await page.locator('.files').getByRole('button', { name: 'Actions', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Move', exact: true }).click();
    await page.getByRole('textbox', { name: 'Folder', exact: true }).fill('new/place');
    await lookAt(page, 'delivery-move');
    await pressInDialog(page, 'Move');
    await expectToast(page, '2 files moved');
    expect(pathsOf(await list())).toEqual([
      'new/place/one.txt',
      'new/place/three.txt',
      'old/two.txt',
      'old/uno.txt',
    ]);
    await page.getByText('old', { exact: true }).first().click();
    await expect.poll(() => new URL(page.url()).searchParams.get('folder')).toBe('old');
    await chooseTool(page, 'Move or rename the folder');
    await page.getByRole('textbox', { name: 'Folder', exact: true }).fill('new/old');
    await pressInDialog(page, 'Move');
    await expect.poll(() => new URL(page.url()).searchParams.get('folder')).toBe('new/old');
    await chooseTool(page, 'Delete the folder');
    await pressInDialog(page, 'Delete the folder');
    await expectToast(page, '2 files deleted');
    expect(pathsOf(await list())).toEqual(['new/place/one.txt', 'new/place/three.txt']);

    await page.getByText('place', { exact: true }).first().click();
    for (const name of ['one.txt', 'three.txt'])
      await page
        .getByText(name)
        .first()
        .click({ modifiers: ['ControlOrMeta'] });
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.method() !== 'GET') asked.push(`${request.method()} ${new URL(request.url()).pathname}`);
    });
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    // Leaving does not wait for the time to undo, and one request is enough.
    await page.getByRole('link', { name: 'Spaces', exact: true }).click();
    await expect.poll(list).toEqual([]);
    expect(asked).toEqual([expect.stringMatching(/^POST .*\/files\/batch$/)]);
  });

  test('a folder, or the files that are selected, are downloaded as a zip', async () => {
    const { open } = await enterFiles([{ name: 'one.txt' }, { name: 'two.txt', folder: 'deep' }]);
    const page = await open();
    const downloadBy = async (start: () => Promise<void>): Promise<string> => {
      const [download] = await Promise.all([page.waitForEvent('download'), start()]);
      return (await readFile(await download.path())).toString('latin1');
    };
    const whole = await downloadBy(() => chooseTool(page, 'Download as zip'));
    expect(whole.startsWith('PK')).toBe(true);
    expect(whole).toContain('one.txt');
    expect(whole).toContain('deep/two.txt');
    const some = await downloadBy(() => chooseVerb(page, 'one.txt', 'Zip'));
    expect(some).toContain('one.txt');
    expect(some).not.toContain('two.txt');
    await press(page, 'As code');
    await page.getByText('.files.zip({ ids: [').waitFor();
  });

  test('a zip that there is none of is refused in words of its own', async () => {
    const { api, tenant, at, list, open } = await enterFiles([{ name: 'one.txt' }, { name: 'two.txt' }]);
    const page = await open();
    await page.getByRole('button', { name: 'Actions for one.txt' }).waitFor();
    const [{ id } = { id: '' }] = await list('?q=one');
    await api.delete(`${at}/files/${id}`, tenant.key);
    await chooseVerb(page, 'one.txt', 'Zip');
    await expectToast(page, 'One of these files is no longer there');
    const zipFolder = () => chooseTool(page, 'Download as zip');
    await page.goto(`${page.url().split('?')[0]}?folder=nothing`);
    await zipFolder();
    await expectToast(page, 'There are no files in this folder');
    // More than a test can store.
    await page.route('**/files/zip?*', (route) => route.fulfill({ status: 422, body: '' }));
    await zipFolder();
    await expectToast(page, 'More than 10,000 files are too many');
  });

  test('the owner says when a file goes and until when it must stay, which cannot be taken back', async () => {
    const { list, open } = await enterFiles([{ name: 'ledger.txt', folder: 'books' }]);
    const page = await open();
    await page.getByText('books').first().dblclick();
    await page.getByText('ledger.txt').first().dblclick();
    const details = page.getByRole('complementary', { name: 'Details' });
    const edit = async (field: string, value: string) => {
      await details.getByRole('button', { name: `Edit ${field}` }).click();
      await details.getByLabel(field, { exact: true }).fill(value);
      await details.getByRole('button', { name: 'Save' }).click();
    };
    await edit('Expires', '2099-01-02T03:04');
    await details.getByText('Jan 2, 2099').waitFor();
    await edit('Held until', '2000-01-01T00:00');
    await details.getByText('a hold is never shortened').waitFor();
    await lookAt(page, 'delivery-hold');
    await details.getByRole('button', { name: 'Cancel' }).click();
    await edit('Held until', '2098-01-02T03:04');
    await details.getByText('Jan 2, 2098').waitFor();
    await edit('Held until', '');
    await details.getByText('a hold is never shortened').waitFor();
    await details.getByRole('button', { name: 'Cancel' }).click();
    await edit('Expires', '');
    // The hint beside the field says "never" as well.
    await details.locator('[data-field=expires_at]').getByText('Never', { exact: true }).waitFor();
    const [file] = await list();
    expect(file).toMatchObject({ retain_until: expect.stringMatching(/^2098-01-0/) });
    expect(file).not.toHaveProperty('expires_at');
    await page.clock.install();
    await page.getByRole('dialog', { name: 'ledger.txt' }).getByRole('button', { name: 'Delete' }).click();
    // It could have been undone until then.
    await page.clock.runFor(10_000);
    await page.locator('.toast-text', { hasText: 'A file is held until Jan 2, 2098' }).waitFor();
    await chooseTool(page, 'Delete the folder');
    await pressInDialog(page, 'Delete the folder');
    await page.getByRole('alert').getByText('A file is held until Jan 2, 2098').waitFor();
    expect(await list()).toHaveLength(1);
  });

  test('a link to a file is shown once, works for a stranger, can be changed, and stops when it is revoked', async () => {
    const { api, tenant, at, list, open } = await enterFiles([{ name: 'contract.txt' }]);
    const page = await open();
    await chooseVerb(page, 'contract.txt', 'Share');
    await page.getByLabel('Downloads at most').fill('3');
    await page.getByLabel('Password').fill('open sesame');
    await page.getByLabel('Note for yourself').fill('For the printer');
    await lookAt(page, 'delivery-share');
    await pressInDialog(page, 'Create a link');
    const url = (await page.locator('dialog .secret code').textContent()) ?? '';
    await page.getByText('0 of 3').waitFor();
    await lookAt(page, 'delivery-share-made');
    expect((await fetch(url)).status).toBe(200);
    const [file] = await list();
    const { shares } = (await api.get(`${at}/files/${file?.id}/shares`, tenant.key)).body;
    expect(shares).toMatchObject([{ name: 'For the printer', max_downloads: 3, has_password: true }]);
    await pressInDialog(page, 'Edit');
    await page.getByLabel('Remove the password').check();
    await page.getByLabel('Downloads at most').last().fill('5');
    await pressInDialog(page, 'Save');
    await page.getByText('0 of 5 downloads').waitFor();
    await pressInDialog(page, 'Revoke');
    await page.getByRole('button', { name: 'Activate' }).waitFor();
    expect((await fetch(url)).status).toBe(404);
    await page.keyboard.press('Escape');
    await chooseTool(page, 'Shared links');
    await page.getByText('contract.txt').last().waitFor();
    await pressInDialog(page, 'Activate');
    await page.getByRole('button', { name: 'Revoke' }).waitFor();
    expect((await fetch(url)).status).toBe(200);
    await lookAt(page, 'delivery-links');
    await pressInDialog(page, 'Delete');
    await page.getByText('No links yet.').waitFor();
    expect((await fetch(url)).status).toBe(404);
  });

  test('an image is shown as a variant shows it', async () => {
    const bytes = await picture(120, 90).jpeg().toBuffer();
    const { api, tenant, open } = await enterFiles([
      { name: 'photo.jpg', bytes, type: 'image/jpeg' },
      { name: 'text.txt' },
    ]);
    await api.post('/project/variants', tenant.key, { name: 'small', format: 'webp', width: 40 });
    const page = await open();
    await page.getByRole('button', { name: 'Actions for text.txt' }).click();
    await page.getByRole('menuitem', { name: 'Share' }).waitFor();
    expect(await page.getByRole('menuitem', { name: 'Variants' }).count()).toBe(0);
    await page.keyboard.press('Escape');
    await chooseVerb(page, 'photo.jpg', 'Variants');
    const image = page.getByRole('img', { name: 'photo.jpg as small' });
    await expect.poll(() => image.evaluate((shown) => (shown as HTMLImageElement).naturalWidth)).toBe(40);
    await page.getByText('40 × 30 pixels').waitFor();
    await lookAt(page, 'delivery-variant-preview');
  });
});
