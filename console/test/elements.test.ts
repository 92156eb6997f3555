// <pakhus-files> as people use it, in real browsers, on a page of another origin, against a real service.
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type Client, createClient } from '../../client/src/index.ts';
import { serve } from '../../client/test/support/served.ts';
import { browsersFor } from '../../server/test/support/browser.ts';
import { rowsOf } from '../../server/test/support/database.ts';
import { picture } from '../../server/test/support/image-files.ts';
import { startTcpProxy, type TcpProxy } from '../../server/test/support/tcp-proxy.ts';
import { unique } from '../../server/test/support/tenants.ts';
import {
  buildElement,
  buildPage,
  type OpenBrowser,
  openBrowser,
  type PageServer,
  servePages,
} from './elements-support.ts';
import { lookAt } from './support/look.ts';
import { buildPdf } from './support/pdf.ts';

const served = serve();
const allScopes = ['files:read', 'files:write', 'files:delete', 'files:share', 'users:read'];
let folder: string;
let pages: PageServer;
let proxy: TcpProxy;
let integration: Client;

const html = `<!doctype html><html lang="en"><title>Files</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="stylesheet" href="/page.css">
<main><h1>Files</h1><pakhus-files></pakhus-files></main><script type="module" src="/page.js"></script></html>`;

/** Attributes come from the query; what the element tells is kept in `told`. */
const script = `
import '/lib/index.js?v=1';
import '/lib/index.js?again';
const query = new URLSearchParams(location.search);
const element = document.querySelector('pakhus-files');
window.told = [];
for (const type of ['select', 'uploaded', 'error', 'navigate'])
  document.addEventListener(type, ({ detail }) => {
    if (!detail) return;
    const { error, ...rest } = detail;
    window.told.push({ type, ...rest, ...(error && { code: error.code }) });
  });
for (const [name, value] of query) if (name !== 'who' && name !== 'scopes') element.setAttribute(name, value);
if (query.get('dir')) document.documentElement.dir = query.get('dir');
const ask = async () => (await fetch('/token?' + query)).json();
element.baseUrl = (await ask()).baseUrl;
element.token = async () => (await ask()).token;`;

const css = `:root { color-scheme: light dark; background: Canvas; color: CanvasText; } body { margin: 0; }
main { display: flex; flex-direction: column; height: 100vh; } pakhus-files { flex: 1; min-height: 0; } h1 { margin: 0; }`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pakhus-elements-'));
  await buildElement(join(folder, 'lib'));
  await buildPage(join(folder, 'browser'));
  proxy = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(served.baseUrl).port) });
  pages = await servePages({
    folders: [folder],
    service: () => `http://127.0.0.1:${proxy.port}`,
    pages: { '/index.html': html, '/page.js': script, '/page.css': css },
    mint: async (query) => {
      const scopes = (query.get('scopes')?.split(',') ?? allScopes) as 'files:read'[];
      const user = integration.user(query.get('who') ?? '');
      return (await user.tokens.mint({ scopes })).token;
    },
  });
  const { api_key } = await served.client.project.integrations.create({
    name: 'pages',
    scopes: [...allScopes, 'stats:read'] as 'files:read'[],
    corsOrigins: [pages.origin],
  });
  integration = createClient({ baseUrl: served.baseUrl, key: api_key });
});
afterAll(async () => {
  await pages?.close();
  await proxy?.close();
  await rm(folder, { recursive: true, force: true });
});

async function newUser(): Promise<{ who: string; files: ReturnType<Client['user']>['files'] }> {
  const who = unique('user');
  await served.client.users.create({ externalId: who });
  return { who, files: served.client.user(who).files };
}

const namesIn = async ({ files }: { files: ReturnType<Client['user']>['files'] }) => {
  const names: string[] = [];
  for await (const file of files.list({ limit: 100 }))
    names.push(file.folder ? `${file.folder}/${file.name}` : file.name);
  return names.sort();
};

async function open(page: Page, query: Record<string, string>): Promise<void> {
  await page.goto(`${pages.origin}/?${new URLSearchParams(query)}`);
  await page.locator('.row[data-index], .tile[data-index], .empty, .notice').first().waitFor();
}

const row = (page: Page, name: string) => page.locator('[data-index]', { hasText: name });
const shownNames = (page: Page) => page.locator('[data-index] .label').allTextContents();
const focusedName = (page: Page) =>
  page.evaluate(
    () =>
      document.querySelector('pakhus-files')?.shadowRoot?.activeElement?.querySelector('.label')
        ?.textContent ?? null,
  );
const told = (page: Page, type: string) =>
  page.evaluate(
    (wanted) => (window as unknown as { told: { type: string }[] }).told.filter((one) => one.type === wanted),
    type,
  );

/** Opens the menu of a file, and closes it again. */
async function verbsOf(page: Page, name: string): Promise<string[]> {
  await page.getByRole('button', { name: `Actions for ${name}` }).click();
  await page.getByRole('menu').waitFor();
  const verbs = await page.getByRole('menuitem').allTextContents();
  await page.keyboard.press('Escape');
  return verbs;
}

async function chooseVerb(page: Page, name: string, verb: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${name}` }).click();
  await page.getByRole('menuitem', { name: verb, exact: true }).click();
}

async function chooseTool(page: Page, tool: string): Promise<void> {
  await page.getByRole('button', { name: 'Folder and trash' }).click();
  await page.getByRole('menuitem', { name: tool, exact: true }).click();
}

const press = (page: Page, name: string) =>
  page.locator('dialog').getByRole('button', { name, exact: true }).click();

const closed = (page: Page) => page.locator('dialog').waitFor({ state: 'detached' });

/** What the browser saves. */
async function saved(page: Page, start: () => Promise<void>): Promise<string> {
  const [download] = await Promise.all([page.waitForEvent('download'), start()]);
  return (await readFile(await download.path())).toString('latin1');
}

const browsers = browsersFor('<pakhus-files>');
if (browsers.length === 0) test.skip('the pages need a browser', () => undefined);

/** Names that a careless page would run, or that would break its layout. */
const hostileNames = [
  `<img src=x onerror="document.title='run'">.txt`,
  `${'b'.repeat(250)}.txt`,
  'مستند مهم.txt',
  '👩‍🚀🏳️‍🌈.txt',
  `"'&amp;\${1}.txt`,
];

describe.each(browsers)('in $name', (choice) => {
  let browser: OpenBrowser;
  let page: Page;
  beforeAll(async () => {
    browser = await openBrowser(choice);
    page = browser.page;
    page.on('dialog', (dialog) => void dialog.accept());
  });
  beforeEach(() => {
    browser.complaints.length = 0;
  });
  afterAll(() => browser?.close());

  test('folders, uploads, previews and deletion work, without a complaint of the page', async () => {
    const user = await newUser();
    await user.files.upload('Dear diary', {
      name: 'diary.txt',
      mimeType: 'text/plain',
      folder: 'notes/2026',
    });
    const pdf = { name: 'report.pdf', mimeType: 'application/pdf', folder: 'notes/2026' };
    await user.files.upload(buildPdf(), pdf);
    await open(page, { who: user.who });
    await row(page, 'notes').locator('.label').click();
    await row(page, '2026').locator('.label').click();
    // In the second file.
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByLabel('Search by name').fill('DIARY');
    await page.locator('.hit', { hasText: 'diary.txt' }).click();
    await page.getByText('Dear diary').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => focusedName(page)).toBe('diary.txt');

    expect(browser.complaints).toEqual([]);
    await row(page, 'report.pdf').locator('.label').click();
    await page.locator('iframe[src^="blob:"]').waitFor();
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.locator('dialog').waitFor({ state: 'detached' });

    const fresh = { name: 'new.txt', mimeType: 'text/plain', buffer: Buffer.from('new') };
    await page.locator('[data-chooser="files"]').setInputFiles(fresh);
    await row(page, 'new.txt').waitFor();
    expect(await told(page, 'uploaded')).toMatchObject([{ file: { name: 'new.txt', folder: 'notes/2026' } }]);
    await row(page, 'new.txt').focus();
    await page.keyboard.press('Delete');
    await row(page, 'new.txt').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await row(page, 'new.txt').waitFor();
    await row(page, 'new.txt').focus();
    await page.keyboard.press('Delete');
    // Leaving the page sends the deletion.
    await page.goto('about:blank');
    await expect.poll(() => namesIn(user)).toEqual(['notes/2026/diary.txt', 'notes/2026/report.pdf']);
    // Firefox's viewer is below the policy of the page, which refuses its worker. It does without.
    const isOfViewer = (text: string) =>
      choice.name === 'Firefox' && text.includes('require-trusted-types-for');
    expect(browser.complaints.filter((text) => !isOfViewer(text))).toEqual([]);
  });

  if (choice.name === 'Firefox') return;

  test('hostile names are text, in the list, in tiles, in the viewer and in folders', async () => {
    const user = await newUser();
    for (const name of hostileNames) await user.files.upload('x', { name, tags: [name.slice(0, 60)] });
    await user.files.upload('<script>document.title="run"</script>', {
      name: 'a.html',
      mimeType: 'text/html',
    });
    await user.files.upload('<svg onload="document.title=1"/>', { name: 'a.svg', mimeType: 'image/svg+xml' });
    await user.files.upload('x', { name: 'x', folder: '<b>bold/\u0645' });
    await open(page, { who: user.who });
    expect((await shownNames(page)).sort()).toEqual(['<b>bold', 'a.html', 'a.svg', ...hostileNames].sort());
    for (const name of ['a.html', 'a.svg']) {
      await row(page, name).locator('.label').click();
      await page.locator('.text-preview pre', { hasText: 'document.title' }).waitFor();
      expect(await page.locator('dialog').locator('script, object, embed, img, iframe').count()).toBe(0);
      await page.getByRole('button', { name: 'Close', exact: true }).click();
    }
    await row(page, 'onerror').locator('.label').click();
    await page.locator('.viewer-head', { hasText: 'onerror' }).waitFor();
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByRole('button', { name: 'Grid' }).click();
    await page.locator('.tile', { hasText: 'onerror' }).waitFor();
    await page.getByRole('button', { name: 'List', exact: true }).click();
    await row(page, '<b>bold').locator('.label').click();
    await page.getByRole('navigation').getByText('<b>bold').waitFor();
    expect(await page.title()).toBe('Files');
    expect(browser.complaints).toEqual([]);
  });

  test('everything can be selected, opened and deleted by keyboard alone', async () => {
    const user = await newUser();
    for (const name of ['1', '2', '3', '4', '5'])
      await user.files.upload(name, { name: `${name}.txt`, mimeType: 'text/plain' });
    await open(page, { who: user.who });
    const selected = () => page.locator('[aria-selected="true"] .label').allTextContents();
    await row(page, '5.txt').focus();
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => focusedName(page)).toBe('4.txt');
    await page.keyboard.press('Space');
    await expect.poll(selected).toEqual(['4.txt']);
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Shift+ArrowDown');
    await expect.poll(selected).toEqual(['4.txt', '3.txt', '2.txt']);
    await page.keyboard.press('Control+a');
    await expect.poll(selected).toHaveLength(5);
    await page.keyboard.press('Escape');
    await expect.poll(selected).toEqual([]);
    await page.keyboard.press('End');
    await expect.poll(() => focusedName(page)).toBe('1.txt');
    await page.keyboard.press('Enter');
    await page.locator('.text-preview', { hasText: '1' }).waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.locator('.text-preview', { hasText: '2' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => focusedName(page)).toBe('2.txt');
    await page.keyboard.press('Delete');
    await expect.poll(() => focusedName(page)).toBe('1.txt');
    await page.keyboard.press('Control+z');
    await expect.poll(() => focusedName(page)).toBe('2.txt');
    await page.keyboard.press('Shift+F10');
    await page.getByRole('menuitem', { name: 'Download' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Delete');
    await expect.poll(() => shownNames(page)).toEqual(['5.txt', '4.txt', '3.txt', '1.txt']);
    await expect.poll(() => namesIn(user)).toEqual(['1.txt', '3.txt', '4.txt', '5.txt']);
    await expect.poll(async () => (await told(page, 'select')).length).toBeGreaterThan(4);
  });

  test('details are edited in place, and a change of somebody else is not overwritten', async () => {
    const user = await newUser();
    const { id } = await user.files.upload('x', { name: 'a.txt', mimeType: 'text/plain', tags: ['one'] });
    // A deep link.
    await page.goto(`${pages.origin}/browser/?${new URLSearchParams({ who: user.who, file: id })}`);
    await page.getByRole('button', { name: 'Edit Tags' }).click();
    await page.getByRole('textbox', { name: 'Tags' }).fill('two, three');
    await page.keyboard.press('Enter');
    await page.locator('.chips', { hasText: 'three' }).waitFor();
    await page.getByRole('button', { name: 'Edit Metadata' }).click();
    await page.getByRole('textbox', { name: 'Metadata' }).fill('[1]');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Write a JSON object').waitFor();
    await page.getByRole('textbox', { name: 'Metadata' }).fill('{"year": 2026}');
    await user.files.update(id, { classifier: 'faster' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Somebody changed this file').waitFor();
    await page.getByRole('button', { name: 'Load newest version' }).click();
    await page.getByText('faster').waitFor();
    expect(await user.files.get(id)).toMatchObject({
      tags: ['two', 'three'],
      metadata: {},
      classifier: 'faster',
    });
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('textbox', { name: 'New name' }).fill('b.txt');
    await page.locator('dialog.sheet').getByRole('button', { name: 'Rename' }).click();
    await expect.poll(() => namesIn(user)).toEqual(['b.txt']);
    await page.locator('.viewer-head', { hasText: 'b.txt' }).waitFor();
    const { files } = await user.files.list().page();
    expect(files).toMatchObject([{ tags: ['two', 'three'], classifier: 'faster' }]);
    expect(files[0]?.id).not.toBe(id);
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    // The copy is selected.
    await page.locator('.count').getByText('1').waitFor();
  });

  test('an upload goes on after the network was lost, after a reload, and after its element was away', async () => {
    const user = await newUser();
    const lost = join(folder, 'lost.bin');
    const reloaded = join(folder, 'reloaded.bin');
    const removed = join(folder, 'removed.bin');
    for (const path of [lost, reloaded, removed]) await writeFile(path, randomBytes(9 << 20));
    await open(page, { who: user.who });
    const files = page.locator('[data-chooser="files"]');
    let held = proxy.hold('PATCH /');
    await files.setInputFiles(lost);
    await expect.poll(held.held).toBeGreaterThan(0);
    await page.context().setOffline(true);
    held.letGo();
    await page.locator('.queue-row', { hasText: 'lost.bin' }).waitFor();
    await page.context().setOffline(false);
    await row(page, 'lost.bin').waitFor();

    held = proxy.hold('PATCH /');
    await files.setInputFiles(reloaded);
    await expect.poll(held.held).toBeGreaterThan(0);
    await page.reload();
    held.letGo();
    await page.getByText('1 upload was interrupted').waitFor();
    await files.setInputFiles(reloaded);
    await row(page, 'reloaded.bin').waitFor();
    await expect.poll(() => page.getByText('was interrupted').count()).toBe(0);

    held = proxy.hold('PATCH /');
    await files.setInputFiles(removed);
    await expect.poll(held.held).toBeGreaterThan(0);
    await page.evaluate(async () => {
      const element = document.querySelector('pakhus-files');
      const parent = element?.parentElement;
      element?.remove();
      await new Promise((resolve) => setTimeout(resolve));
      if (element) parent?.append(element);
    });
    held.letGo();
    await page.getByText('1 upload was interrupted').waitFor();
    await files.setInputFiles(removed);
    await row(page, 'removed.bin').waitFor();
    expect(await namesIn(user)).toEqual(['lost.bin', 'reloaded.bin', 'removed.bin']);
    const { uploads } = await served.client.user(user.who).uploads.list().page();
    expect(uploads.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
  });

  test('uploads are paused, resumed and cancelled; folders, drops and pastes keep their place', async () => {
    const user = await newUser();
    const photos = join(folder, 'photos');
    await mkdir(join(photos, 'deep'), { recursive: true });
    await writeFile(join(photos, 'a.txt'), 'a');
    await writeFile(join(photos, 'deep', 'b.txt'), 'b');
    const large = join(folder, 'large.bin');
    await writeFile(large, randomBytes(9 << 20));
    await open(page, { who: user.who, folder: 'in' });
    const held = proxy.hold('PATCH /');
    await page.locator('[data-chooser="files"]').setInputFiles(large);
    await expect.poll(held.held).toBeGreaterThan(0);
    await page.getByRole('button', { name: 'Pause large.bin' }).click();
    await page.getByText('1 upload paused').waitFor();
    held.letGo();
    await page.getByRole('button', { name: 'Resume large.bin' }).click();
    await row(page, 'large.bin').waitFor();
    await page.locator('[data-chooser="folder"]').setInputFiles(photos);
    await row(page, 'photos').waitFor();
    await page.locator('.pakhus-browser').evaluate((root) => {
      const give = (type: string, name: string) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File(['x'], name));
        const event =
          type === 'drop'
            ? new DragEvent(type, { dataTransfer: transfer, bubbles: true, composed: true })
            : new ClipboardEvent(type, { clipboardData: transfer, bubbles: true, composed: true });
        root.dispatchEvent(event);
      };
      give('drop', 'dropped.txt');
      give('paste', 'pasted.txt');
    });
    await row(page, 'pasted.txt').waitFor();
    await row(page, 'dropped.txt').waitFor();
    await expect
      .poll(() => namesIn(user))
      .toEqual([
        'in/dropped.txt',
        'in/large.bin',
        'in/pasted.txt',
        'in/photos/a.txt',
        'in/photos/deep/b.txt',
      ]);
    expect(browser.complaints).toEqual([]);
  });

  test('a picker tells what was chosen; read-only, nothing can be changed', async () => {
    const user = await newUser();
    for (const name of ['a.txt', 'b.txt']) await user.files.upload(name, { name });
    await open(page, { who: user.who, picker: '', multiple: '', readonly: '' });
    await expect.poll(() => page.getByRole('button', { name: 'Choose a file' }).isDisabled()).toBe(true);
    await row(page, 'a.txt').locator('.check').click();
    await row(page, 'b.txt').locator('.check').click();
    expect(await told(page, 'select')).toEqual([]);
    await page.getByRole('button', { name: 'Choose 2 files' }).click();
    expect(await told(page, 'select')).toMatchObject([{ files: [{ name: 'b.txt' }, { name: 'a.txt' }] }]);
    await row(page, 'a.txt').focus();
    await page.keyboard.press('Delete');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Shift+F10');
    await expect.poll(() => page.getByRole('menuitem').allTextContents()).toEqual(['Open', 'Download']);
    expect(await page.getByRole('button', { name: 'Upload' }).count()).toBe(0);
    expect(await shownNames(page)).toEqual(['b.txt', 'a.txt']);
  });

  test('what the credential may not do is said, and no longer offered', async () => {
    const user = await newUser();
    await user.files.upload('x', { name: 'a.txt' });
    await open(page, { who: user.who, scopes: 'files:read' });
    await page.getByRole('button', { name: 'Upload' }).first().waitFor({ state: 'detached' });
    const fresh = { name: 'b.txt', mimeType: 'text/plain', buffer: Buffer.from('b') };
    await page.locator('[data-chooser="files"]').setInputFiles([fresh, { ...fresh, name: 'c.txt' }]);
    await page.locator('.toast', { hasText: 'You may not upload here' }).waitFor();
    await row(page, 'a.txt').focus();
    await page.keyboard.press('Delete');
    await expect.poll(() => verbsOf(page, 'a.txt')).toEqual(['Open', 'Download', 'Zip']);
    await page.getByRole('button', { name: 'Folder and trash' }).click();
    await expect
      .poll(() => page.getByRole('menuitem').allTextContents())
      .toEqual(['Download as zip', 'Trash']);
    await page.keyboard.press('Escape');
    expect(await told(page, 'error')).toMatchObject([{ code: 'FORBIDDEN' }, { code: 'FORBIDDEN' }]);
    await page.goto('about:blank');

    await open(page, { who: user.who, scopes: 'files:write' });
    await page.getByText('lacks the scope files:read').waitFor();
    await page.getByText(/^Request [0-9a-f-]{36}$/).waitFor();
    expect(await told(page, 'error')).toMatchObject([{ code: 'FORBIDDEN' }]);
    expect(await namesIn(user)).toEqual(['a.txt']);
  });

  test('files and folders are found, moved, copied, renamed and zipped', async () => {
    const user = await newUser();
    await user.files.upload('1', { name: 'one.txt', mimeType: 'text/plain' });
    await user.files.upload('2', { name: 'two.txt', mimeType: 'text/plain', folder: 'old' });
    await open(page, { who: user.who });
    await chooseVerb(page, 'one.txt', 'Copy');
    await page.getByLabel('Name of the copy').fill('uno.txt');
    await press(page, 'old');
    await press(page, 'Copy');
    await page.locator('.toast', { hasText: '1 file copied' }).waitFor();
    await closed(page);
    await row(page, 'one.txt').locator('.check').click();
    await page.getByRole('button', { name: 'Actions', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Move', exact: true }).click();
    await page.getByRole('textbox', { name: 'Folder' }).fill('new/place');
    await press(page, 'Move');
    await expect.poll(() => namesIn(user)).toEqual(['new/place/one.txt', 'old/two.txt', 'old/uno.txt']);
    await row(page, 'old').locator('.label').click();
    await chooseVerb(page, 'uno.txt', 'Rename');
    await page.getByLabel('New name').fill('eins.txt');
    await press(page, 'Rename');
    await expect.poll(() => focusedName(page)).toBe('eins.txt');
    const zip = await saved(page, () => chooseTool(page, 'Download as zip'));
    expect(zip.startsWith('PK')).toBe(true);
    expect(zip).toContain('eins.txt');
    expect(await saved(page, () => chooseVerb(page, 'two.txt', 'Zip'))).not.toContain('eins.txt');
    await chooseTool(page, 'Move or rename the folder');
    await page.getByRole('textbox', { name: 'Folder' }).fill('new/old');
    await press(page, 'Move');
    await expect.poll(() => namesIn(user)).toContain('new/old/eins.txt');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByLabel('Search by name').fill('ONE');
    await page.locator('dialog').getByText('new/place').waitFor();
    await lookAt(page, 'element-search');
    await page.locator('.hit', { hasText: 'one.txt' }).click();
    await page.locator('.viewer-head', { hasText: 'one.txt' }).waitFor();
    expect(await told(page, 'navigate')).toMatchObject([
      { folder: 'old' },
      { folder: 'new/old' },
      { folder: 'new/place' },
    ]);
    await press(page, 'Close');
    await expect.poll(() => shownNames(page)).toEqual(['one.txt']);
    await chooseTool(page, 'Delete the folder');
    await press(page, 'Delete the folder');
    await expect.poll(() => namesIn(user)).toEqual(['new/old/eins.txt', 'new/old/two.txt']);
    expect(browser.complaints).toEqual([]);
  });

  test('a link is made, changed, revoked, activated again and deleted; the focus returns', async () => {
    const user = await newUser();
    await user.files.upload('secret', { name: 'contract.txt', mimeType: 'text/plain' });
    await open(page, { who: user.who });
    const statusOf = async (url: string) => (await fetch(url)).status;
    await row(page, 'contract.txt').focus();
    await page.keyboard.press('Shift+F10');
    await page.getByRole('menuitem', { name: 'Share' }).press('Enter');
    await page.getByLabel('Downloads at most').fill('3');
    await page.getByLabel('Password').fill('open sesame');
    await press(page, 'Create a link');
    const url = (await page.locator('dialog code').textContent()) ?? '';
    await page.getByText('0 of 3 downloads · password').waitFor();
    await press(page, 'Edit');
    await page.getByLabel('Remove the password').check();
    await page.getByLabel('Downloads at most').fill('');
    await page.getByLabel('Note for yourself').fill('For the printer');
    await page.getByLabel('Ends at').fill('2020-01-01T00:00');
    await press(page, 'Save');
    await page.locator('dialog').getByRole('alert').waitFor();
    await page.getByLabel('Ends at').fill('2040-01-01T00:00');
    await lookAt(page, 'element-share-edit');
    await press(page, 'Save');
    await page.getByText(/^0 downloads · ends Jan 1, 2040/).waitFor();
    await press(page, 'Revoke');
    await page.getByRole('button', { name: 'Activate' }).waitFor();
    expect(await statusOf(url)).toBe(404);
    await page.keyboard.press('Escape');
    await closed(page);
    await expect.poll(() => focusedName(page)).toBe('contract.txt');
    await chooseTool(page, 'Shared links');
    await page.locator('dialog').getByText('contract.txt').waitFor();
    await press(page, 'Activate');
    await page.getByRole('button', { name: 'Revoke' }).waitFor();
    expect(await statusOf(url)).toBe(200);
    await press(page, 'Delete');
    await page.getByText('No links yet.').waitFor();
    expect(await statusOf(url)).toBe(404);
    // Browsers log each refusal of a server.
    expect(browser.complaints).toEqual([expect.stringContaining('422')]);
  });

  test('an image is shown as a variant; deleted files come back from the trash or go for good', async () => {
    const user = await newUser();
    const photo = await picture(120, 90).jpeg().toBuffer();
    await user.files.upload(new Blob([new Uint8Array(photo)]), { name: 'photo.jpg', mimeType: 'image/jpeg' });
    const variants = await served.client.project.variants();
    await variants.create({ name: 'small', format: 'webp', width: 40 });
    await served.client.project.settings.update({ trash_days: 7 });
    onTestFinished(async () => {
      await served.client.project.settings.update({ trash_days: 0 });
    });
    for (const name of ['keep.txt', 'drop.txt'])
      await user.files.delete((await user.files.upload(name, { name, mimeType: 'text/plain' })).id);
    await open(page, { who: user.who });
    await chooseVerb(page, 'photo.jpg', 'Variants');
    const image = page.getByRole('img', { name: 'photo.jpg as small' });
    await expect.poll(() => image.evaluate((shown) => (shown as HTMLImageElement).naturalWidth)).toBe(40);
    await press(page, 'Close');
    await chooseTool(page, 'Trash');
    const entry = (name: string) => page.locator('dialog li', { hasText: name });
    await entry('keep.txt').waitFor();
    await lookAt(page, 'element-trash');
    await entry('keep.txt').getByRole('button', { name: 'Restore' }).click();
    await page.getByText('keep.txt was restored').waitFor();
    await entry('drop.txt').getByRole('button', { name: 'Delete for good' }).click();
    await page.getByRole('alert').getByText('Delete drop.txt for good?').waitFor();
    // The focus is where the entry was.
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('The trash is empty').waitFor();
    await page.keyboard.press('Escape');
    await row(page, 'keep.txt').waitFor();
    expect(await namesIn(user)).toEqual(['keep.txt', 'photo.jpg']);
    expect(browser.complaints).toEqual([]);
  });

  test('if the second file cannot be loaded, that is said, and everything else works', async () => {
    const user = await newUser();
    await user.files.upload('x', { name: 'a.txt' });
    const second = '**/lib/pakhus-files-more-*.js';
    await page.route(second, (route) => route.abort());
    await open(page, { who: user.who });
    await chooseVerb(page, 'a.txt', 'Share');
    await page.locator('.toast', { hasText: 'This could not be loaded' }).waitFor();
    const fresh = { name: 'b.txt', mimeType: 'text/plain', buffer: Buffer.from('b') };
    await page.locator('[data-chooser="files"]').setInputFiles(fresh);
    await row(page, 'b.txt').waitFor();
    await page.unroute(second);
    await open(page, { who: user.who });
    await page.getByRole('button', { name: 'New folder' }).click();
    await page.getByLabel('Name of the folder').fill('inner');
    await page.keyboard.press('Enter');
    await page.getByRole('navigation').getByText('inner').waitFor();
  });

  test('elements come and go on one page without leaving anything behind', async () => {
    const user = await newUser();
    await user.files.upload('x', { name: 'a.txt' });
    await open(page, { who: user.who });
    await page.evaluate(() => {
      const first = document.querySelector('pakhus-files') as HTMLElement & Record<string, unknown>;
      const second = document.createElement('pakhus-files') as typeof first;
      Object.assign(second, { id: 'second', strings: { allFiles: 'Alles' }, readOnly: true });
      Object.assign(second, { baseUrl: first.baseUrl, token: first.token });
      first.after(second);
    });
    await page.locator('#second').getByText('a.txt').waitFor();
    await page.locator('#second').getByText('Alles').waitFor();
    await page.evaluate(() => document.querySelector('pakhus-files')?.remove());
    await expect.poll(() => page.locator('[data-index]').count()).toBe(1);
    const moved = await page.evaluate(async () => {
      const element = document.querySelector('#second') as HTMLElement & { refresh(): void };
      document.querySelector('main')?.prepend(element);
      await new Promise((resolve) => setTimeout(resolve));
      element.refresh();
      return element.shadowRoot?.querySelectorAll('.pakhus-browser').length;
    });
    expect(moved).toBe(1);
    expect(browser.complaints).toEqual([]);
  });

  test('a hundred thousand files cost no more elements than a hundred', async () => {
    const user = await newUser();
    const { id: userId } = await served.client.user(user.who).get();
    await rowsOf(
      served.pakhus.databaseUrl,
      `insert into files (id, project_id, user_id, name, size, mime_type, storage_key, sha256, created_at)
       select gen_random_uuid(), users.project_id, users.id, 'file ' || n, 1, 'text/plain', gen_random_uuid(), '\\x00',
         now() - n * interval '1 second'
       from users, generate_series(1, 100000) n where users.id = '${userId}'`,
    );
    await open(page, { who: user.who });
    const elements = () =>
      page.evaluate(
        () => document.querySelector('pakhus-files')?.shadowRoot?.querySelectorAll('*').length ?? 0,
      );
    const few = await elements();
    await row(page, 'file 1').first().focus();
    // Each press goes to the last entry that is loaded, which loads more.
    const goToEnd = async () => {
      await page.keyboard.press('End');
      return Number((await focusedName(page))?.slice('file '.length));
    };
    await expect.poll(goToEnd).toBeGreaterThan(800);
    await page.keyboard.press('Control+a');
    await page.getByText(/^[\d,]+ selected$/).waitFor();
    expect(await elements()).toBeLessThan(few * 2);
    await page.keyboard.press('Home');
    await expect.poll(() => focusedName(page)).toBe('file 1');
    await row(page, 'file 2').first().waitFor();
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => focusedName(page)).toBe('file 2');
    await page.getByRole('button', { name: 'Grid' }).click();
    await page.locator('.tile').first().waitFor();
    expect(await page.locator('.tile').count()).toBeLessThan(200);
    await page.getByRole('button', { name: 'List', exact: true }).click();
    expect(browser.complaints).toEqual([]);
  });

  test('axe finds nothing serious, in light and dark, with everything open; it fits a phone', async () => {
    const user = await newUser();
    const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    for (const name of ['a.txt', 'b.txt'])
      await user.files.upload(name, { name, mimeType: 'text/plain', folder: 'x' });
    const [{ id: fileId = '' } = {}] = (await user.files.list().page()).files;
    const plan = await served.client.project.plans.create({
      name: unique('plan'),
      maxFileSize: 1000,
      storageLimit: 11,
    });
    await served.client.user(user.who).assignPlan(plan.id);
    const findings = async () => {
      await page.evaluate(axe);
      return page.evaluate(async () => {
        const { violations } = await (
          window as unknown as {
            axe: {
              run(): Promise<{ violations: { impact: string; id: string; nodes: { html: string }[] }[] }>;
            };
          }
        ).axe.run();
        return violations
          .filter(({ impact }) => impact === 'serious' || impact === 'critical')
          .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join()}`);
      });
    };
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await open(page, { who: user.who, folder: 'x' });
      await page.getByText('Nearly full').waitFor();
      const fresh = { name: 'too-large.txt', mimeType: 'text/plain', buffer: Buffer.alloc(30) };
      await page.locator('[data-chooser="files"]').setInputFiles(fresh);
      await page.locator('.queue', { hasText: '1 upload failed' }).waitFor();
      await row(page, 'a.txt').locator('.check').click();
      expect(await findings()).toEqual([]);
      await page.getByRole('button', { name: 'Grid' }).click();
      expect(await findings()).toEqual([]);
      await page.getByRole('button', { name: 'List', exact: true }).click();
      await row(page, 'b.txt').locator('.label').click();
      await page.locator('.text-preview').waitFor();
      expect(await findings()).toEqual([]);
      await page.goto(`${pages.origin}/browser/?${new URLSearchParams({ who: user.who, file: fileId })}`);
      await page.getByRole('button', { name: 'Edit Metadata' }).click();
      expect(await findings()).toEqual([]);
    }
    await page.setViewportSize({ width: 390, height: 800 });
    await open(page, { who: user.who, folder: 'x', dir: 'rtl' });
    await row(page, 'a.txt').locator('.check').click();
    const small = await page.evaluate(() => {
      const root = document.querySelector('pakhus-files')?.shadowRoot;
      const boxes = [...(root?.querySelectorAll('button') ?? [])].map((one) => one.getBoundingClientRect());
      return {
        isScrolled: document.documentElement.scrollWidth > innerWidth,
        smallest: Math.min(
          ...boxes.filter(({ width }) => width > 0).map(({ width, height }) => Math.min(width, height)),
        ),
      };
    });
    expect(small.isScrolled).toBe(false);
    expect(small.smallest).toBeGreaterThanOrEqual(40);
  });
});
