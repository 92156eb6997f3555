// Every screen in Firefox, on a desktop and on a phone. In Chromium, the tests of each area look at them more closely.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { browsersFor } from '../../server/test/support/browser.ts';
import { adminEmail, adminPassword } from '../../server/test/support/pakhus.ts';
import { sendFile } from '../../server/test/support/send-file.ts';
import { adminSession, createTenant, createUser, type Tenant } from '../../server/test/support/tenants.ts';
import { createIdleWebhook, logInAs, type OpenConsole, openConsole } from './support/console.ts';

const firefox = browsersFor('the screens of the console').filter(({ name }) => name === 'Firefox');

if (firefox.length === 0) test.skip('needs Firefox', () => undefined);

describe.each(firefox)('in $name', (choice) => {
  let opened: OpenConsole;
  let tenant: Tenant;
  let userId: string;
  let webhookId: string;
  beforeAll(async () => {
    opened = await openConsole(choice);
    const { api } = opened.service;
    tenant = await createTenant(api, await adminSession(api));
    userId = (await createUser(api, tenant.key, 'anna')).id;
    await sendFile(api, tenant.key, userId);
    webhookId = await createIdleWebhook(api, tenant.key);
  });
  afterEach(() => expect(opened.takeErrors()).toEqual([]));
  afterAll(() => opened?.close());

  async function visit(email: string, password: string, screens: Readonly<Record<string, string>>) {
    const page = await opened.newPage();
    await logInAs(page, opened.url, email, password);
    await page.locator('.layout h1').waitFor();
    for (const [path, title] of Object.entries(screens)) {
      await page.goto(opened.url + path);
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 844 });
        await page.getByRole('heading', { level: 1, name: title }).waitFor();
        await expect.poll(() => page.locator('[aria-busy=true]').count()).toBe(0);
        const { scroll, client } = await page.evaluate(() => ({
          scroll: document.documentElement.scrollWidth,
          client: document.documentElement.clientWidth,
        }));
        expect(scroll, `${path} at ${width}`).toBeLessThanOrEqual(client);
      }
    }
  }

  test('the owner', () =>
    visit(tenant.email, tenant.password, {
      '/': 'Overview',
      '/users': 'Users',
      [`/users/${userId}/files`]: 'anna',
      [`/users/${userId}/spaces`]: 'anna',
      [`/users/${userId}/tokens`]: 'anna',
      [`/users/${userId}/details`]: 'anna',
      '/plans': 'Plans',
      '/variants': 'Image variants',
      '/keys': 'Keys',
      '/integrations': 'Integrations',
      '/events': 'Events',
      '/webhooks': 'Webhooks',
      [`/webhooks/${webhookId}`]: 'https://1.1.1.1/pakhus',
      '/audit': 'Audit log',
      '/settings': 'Settings',
      '/account': 'Account',
    }));

  test('the admin', () =>
    visit(adminEmail, adminPassword, {
      '/': 'Overview',
      '/projects': 'Projects',
      [`/projects/${tenant.id}`]: 'project-',
      '/jobs': 'Image jobs',
      '/audit': 'Audit log',
      '/settings': 'Settings',
      '/account': 'Account',
    }));
});
