// Search, trash, shares, zips, moving and copying, and variants of images, as an owner meets them in the console.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { adminSession, createTenant, type Tenant } from '../../server/test/support/tenants.ts';
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
});
