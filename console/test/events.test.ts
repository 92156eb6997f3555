// Events as they come in, and webhooks with their deliveries.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { verifyWebhook } from '../../client/src/webhooks.ts';
import { adminSession, createTenant, createUser, type Tenant } from '../../server/test/support/tenants.ts';
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

if (!browserPath) console.log('SKIPPED events in the console: TEST_CHROMIUM is not set');

const attack = '<img src=x onerror="window.pwned=1">\u202Egpj.exe';

describe.skipIf(!browserPath)('events in the console', () => {
  let opened: OpenConsole;
  let admin: string;
  beforeAll(async () => {
    opened = await openConsole(undefined, { environment: { WEBHOOK_ALLOW_PRIVATE: 'true' } });
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

    await page.getByRole('status').getByText('Live').waitFor();
    await page.route('**/project/events?*', (route) => route.abort());
    // The next read fails when the one that waits is answered.
    await createUser(api, tenant.key, 'cleo');
    await page.getByRole('status').getByText('Reconnecting').waitFor();
    await page.unroute('**/project/events?*');
    await createUser(api, tenant.key, 'dora');
    await rowWith(page, 'dora').waitFor();
    await page.getByRole('status').getByText('Live').waitFor();

    await page.goto(`${opened.url}/events`);
    await page.getByRole('heading', { name: 'Waiting for events' }).waitFor();
    await page.getByLabel('From the oldest kept').check();
    await rowWith(page, 'anna').waitFor();
    expect(await page.locator('tbody tr').count()).toBe(4);
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

  test('a webhook is created, tested, replayed, rotated, paused and deleted', async () => {
    const receiver = await startReceiver();
    try {
      const { api } = opened.service;
      const tenant = await newTenant();
      const page = await enter(tenant, '/webhooks');
      await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
      await press(page, 'Create a webhook');
      await page.getByLabel('Address').fill('ftp://example.com');
      await page.getByLabel('All events').uncheck();
      await pressInDialog(page, 'Create a webhook');
      await page.getByText('Choose at least one, or all events').waitFor();
      await page.getByLabel('All user events').check();
      await page.getByLabel('File stored').check();
      await lookAt(page, 'owner-webhook-dialog');
      await pressInDialog(page, 'Create a webhook');
      await page.locator('dialog .input[aria-invalid=true]').waitFor();
      await page.getByLabel('Address').fill(receiver.url);
      await pressInDialog(page, 'Create a webhook');
      const first = await takeSecret(page);
      await rowWith(page, receiver.url).getByText('user.*').waitFor();
      await lookAt(page, 'owner-webhooks');

      await page.getByRole('link', { name: receiver.url }).click();
      await expectTitle(page, receiver.url);
      await press(page, 'Send a test');
      await rowWith(page, 'Test').getByText('delivered').waitFor();
      expect(await receiver.verify(0, first)).toMatchObject({ type: 'test' });
      await createUser(api, tenant.key, 'anna');
      await receiver.waitFor(2);
      receiver.answer = { status: 500, body: attack };
      await press(page, 'Reload');
      await rowWith(page, 'user.created').getByText('delivered').waitFor();
      await rowWith(page, 'user.created').getByRole('button', { name: 'Details' }).click();
      await pressInDialog(page, 'Send again');
      await rowWith(page, 'to be repeated').getByText('answered 500').waitFor();
      expect(await receiver.verify(2, first)).toEqual(await receiver.verify(1, first));
      await lookAt(page, 'owner-webhook');
      await rowWith(page, 'to be repeated').getByRole('button', { name: 'Details' }).click();
      await page.locator('dialog').getByText('onerror').waitFor();
      await expectHarmless(page);
      await page.keyboard.press('Escape');
      await page.getByLabel('Status').selectOption('succeeded');
      await expect
        .poll(() => page.locator('tbody .badge').allTextContents())
        .toEqual(['delivered', 'delivered']);

      receiver.answer = { status: 204, body: '' };
      await choose(page, 'Rotate the secret');
      await pressInDialog(page, 'Rotate the secret');
      const second = await takeSecret(page);
      await page.getByText('the secret from before signs as well').waitFor();
      const sent = receiver.count;
      await press(page, 'Send a test');
      await receiver.waitFor(sent + 1);
      expect(await receiver.verify(sent, second)).toEqual(await receiver.verify(sent, first));
      await choose(page, 'Pause');
      await expectToast(page, 'The webhook is paused');
      await page.getByText('Nothing is sent.').waitFor();
      await choose(page, 'Delete');
      await pressInDialog(page, 'Delete');
      await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
      expect((await api.get('/project/webhooks', tenant.key)).body.webhooks).toEqual([]);
      await page.goto(`${opened.url}/audit`);
      await page.getByText('Secret of a webhook replaced').last().waitFor();
    } finally {
      await receiver.close();
    }
  });

  async function choose(page: Page, action: string): Promise<void> {
    await press(page, 'Actions');
    await page.locator('.menu:popover-open').getByRole('button', { name: action, exact: true }).click();
  }
  async function takeSecret(page: Page): Promise<string> {
    const secret = (await page.locator('dialog .secret code').textContent()) ?? '';
    await page.getByLabel('I have copied it').check();
    await pressInDialog(page, 'Done');
    await page.locator('dialog').waitFor({ state: 'detached' });
    return secret;
  }
});

interface Receiver {
  readonly url: string;
  readonly count: number;
  answer: { status: number; body: string };
  waitFor(count: number): Promise<void>;
  /** Resolves to the body of the nth request, if this secret signed it. */
  verify(index: number, secret: string): Promise<unknown>;
  close(): Promise<void>;
}

async function startReceiver(): Promise<Receiver> {
  const received: { body: string; headers: Record<string, string | string[] | undefined> }[] = [];
  const server: Server = createServer(async (request, response) => {
    received.push({ body: await text(request), headers: request.headers });
    response.writeHead(receiver.answer.status).end(receiver.answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    get count() {
      return received.length;
    },
    answer: { status: 200, body: 'ok' },
    waitFor: (count) => expect.poll(() => received.length).toBeGreaterThanOrEqual(count),
    verify: (index, secret) => {
      const { body = '', headers = {} } = received[index] ?? {};
      return verifyWebhook(body, headers, secret);
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}
