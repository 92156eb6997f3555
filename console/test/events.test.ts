// Events as they come in.
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { adminSession, createTenant, createUser, type Tenant } from '../../server/test/support/tenants.ts';
import { browserPath, logInAs, type OpenConsole, openConsole, press } from './support/console.ts';
import { lookAt } from './support/look.ts';

if (!browserPath) console.log('SKIPPED events in the console: TEST_CHROMIUM is not set');

const attack = '<img src=x onerror="window.pwned=1">\u202Egpj.exe';

describe.skipIf(!browserPath)('events in the console', () => {
  let opened: OpenConsole;
  let admin: string;
  beforeAll(async () => {
    opened = await openConsole();
    admin = await adminSession(opened.service.api);
  });
  afterEach(() => expect(opened.takeErrors()).toEqual([]));
  afterAll(() => opened?.close());

  const newTenant = () => createTenant(opened.service.api, admin);
  async function enter({ email, password }: Tenant, path: string): Promise<Page> {
    const page = await opened.newPage();
    await logInAs(page, opened.url + path, email, password);
    return page;
  }
  const rowWith = (page: Page, content: string): Locator =>
    page.getByRole('row').filter({ hasText: content }).first();
  /** Everything on the page is text. */
  async function expectHarmless(page: Page): Promise<void> {
    expect(await page.evaluate('window.pwned')).toBeUndefined();
    expect(await page.locator('img[src="x"]').count()).toBe(0);
  }

  test('an event appears without a reload, is filtered by type, and shows hostile names as text', async () => {
    const { api } = opened.service;
    const tenant = await newTenant();
    const page = await enter(tenant, '/events');
    await page.getByRole('heading', { name: 'Waiting for events' }).waitFor();
    const anna = await createUser(api, tenant.key, 'anna');
    await rowWith(page, 'anna').getByText('user.created').waitFor();
    await api.post(`/project/users/${anna.id}/spaces`, tenant.key, { external_id: attack, name: attack });
    await rowWith(page, attack.replace('\u202E', '\uFFFD')).getByText('space.created').waitFor();
    await lookAt(page, 'owner-events');
    const types = () => page.locator('tbody tr th code').allTextContents();
    expect(await types()).toEqual(['space.created', 'user.created']);
    await expectHarmless(page);

    await rowWith(page, 'space.created').getByRole('button', { name: 'Details' }).click();
    await page.getByRole('dialog').getByText('"has_password": false').waitFor();
    await lookAt(page, 'owner-event-dialog');
    await expectHarmless(page);
    await page.keyboard.press('Escape');

    await page.getByLabel('Type').selectOption('user.*');
    await expect.poll(types).toEqual(['user.created']);
    await createUser(api, tenant.key, 'bo');
    await rowWith(page, 'bo').waitFor();
    await api.call('DELETE', `/project/users/${anna.id}`, { as: tenant.key });
    await expect.poll(types).toEqual(['user.deleted', 'user.created', 'user.created']);
    await page.getByLabel('Type').selectOption('');
    await rowWith(page, 'space.created').waitFor();
    await press(page, 'As code');
    await page.getByText('for await (const event of client.project.events()) console.log(event);').waitFor();
  });

  test('a pause, also by hiding the tab, ends reading, and nothing is missing afterwards', async () => {
    const { api } = opened.service;
    const tenant = await newTenant();
    const page = await enter(tenant, '/events');
    await page.getByRole('heading', { name: 'Waiting for events' }).waitFor();
    const setHidden = (isHidden: boolean) =>
      page.evaluate((value) => {
        Object.defineProperty(document, 'hidden', { value, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }, isHidden);
    const nextEnd = () => page.waitForEvent('requestfailed', (request) => request.url().includes('/events'));
    const nextRead = () => page.waitForRequest((request) => request.url().includes('wait=30'));

    const [paused] = await Promise.all([nextEnd(), press(page, 'Pause')]);
    expect(paused.failure()?.errorText).toContain('ABORTED');
    await page.getByRole('status').getByText('Paused').waitFor();
    await createUser(api, tenant.key, 'anna');
    await Promise.all([nextRead(), press(page, 'Continue')]);
    await rowWith(page, 'anna').waitFor();
    await Promise.all([nextEnd(), setHidden(true)]);
    await createUser(api, tenant.key, 'bo');
    expect(await page.locator('tbody tr').count()).toBe(1);
    await Promise.all([nextRead(), setHidden(false)]);
    await rowWith(page, 'bo').waitFor();

    await page.goto(`${opened.url}/events`);
    await page.getByRole('heading', { name: 'Waiting for events' }).waitFor();
    await page.getByLabel('From the oldest kept').check();
    await rowWith(page, 'anna').waitFor();
    expect(await page.locator('tbody tr').count()).toBe(2);
  });

  test('more events at once than the list holds pause it, and what the service refuses is said', async () => {
    const page = await enter(await newTenant(), '/events?types=nonsense');
    await page.getByRole('alert').getByText('types').waitFor();
    let last = 0;
    const answer = (count: number) => ({
      events: Array.from({ length: count }, () => {
        last += 1;
        const user = { id: `u${last}`, external_id: `user-${last}` };
        const created_at = new Date(last * 1000).toISOString();
        return {
          id: `e${last}`,
          type: 'user.created',
          created_at,
          project_id: 'p',
          user_id: user.id,
          data: user,
        };
      }),
      next_cursor: `after ${last}`,
    });
    // The first answer fills the list, the next one has one event more, and then nothing happens.
    const counts = [500, 1];
    await page.route('**/project/events?*', async (route) => {
      const count = counts.shift();
      if (count !== undefined) await route.fulfill({ json: answer(count) });
    });
    await page.getByRole('button', { name: 'Try again' }).waitFor();
    await page.getByLabel('Type').selectOption('');
    await page.getByText('Paused, because 500 events came at once.').waitFor();
    const firstRow = page.locator('tbody tr').first();
    expect(await firstRow.textContent()).toContain('user-500');
    await press(page, 'Continue');
    await firstRow.getByText('user-501').waitFor();
    expect(await page.locator('tbody tr').count()).toBe(500);
    await page.getByText('Shown: the newest 500').waitFor();
  });
});
