// What a browser has to load before it shows something, and what each screen asks the server for.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminEmail, adminPassword } from '../../server/test/support/pakhus.ts';
import { sendFile } from '../../server/test/support/send-file.ts';
import { adminSession, createTenant, createUser, type Tenant } from '../../server/test/support/tenants.ts';
import { browserPath, createIdleWebhook, logInAs, type OpenConsole, openConsole } from './support/console.ts';

if (!browserPath) console.log('SKIPPED what the console loads: TEST_CHROMIUM is not set');

const bytesMax = 60_000;
const requestsMax = 5;

describe.skipIf(!browserPath)('what the console loads', () => {
  let opened: OpenConsole;
  let tenant: Tenant;
  let userId: string;
  let webhookId: string;
  beforeAll(async () => {
    opened = await openConsole();
    const { api } = opened.service;
    tenant = await createTenant(api, await adminSession(api));
    userId = (await createUser(api, tenant.key, 'anna')).id;
    await sendFile(api, tenant.key, userId);
    webhookId = await createIdleWebhook(api, tenant.key);
  });
  afterAll(() => opened?.close());

  test(`the first screen comes with ${requestsMax} requests and ${bytesMax} bytes at most`, async () => {
    const page = await opened.newPage();
    const responses: Promise<number>[] = [];
    page.on('response', (response) =>
      responses.push(
        response
          .request()
          .sizes()
          .then(({ responseBodySize }) => responseBodySize),
      ),
    );
    await page.goto(`${opened.url}/`);
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    await page.waitForLoadState('networkidle');
    const sizes = await Promise.all(responses);
    expect(sizes.length).toBeLessThanOrEqual(requestsMax);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(bytesMax);
    // Compressed by the build.
    const plain = await (
      await fetch(`${opened.url}/`, { headers: { 'accept-encoding': 'identity' } })
    ).text();
    expect(sizes[0]).toBeLessThan(plain.length);
  });

  test('each screen asks only for what it shows', async () => {
    const owner: Record<string, readonly string[]> = {
      '/': [
        'GET /project/audit',
        'GET /project/stats/files',
        'GET /project/stats/overview',
        'GET /project/stats/requests',
        'GET /project/users',
      ],
      '/users': ['GET /project/users'],
      [`/users/${userId}/files`]: [
        `GET /project/users/${userId}`,
        `GET /project/users/${userId}/files/folders`,
        `GET /project/users/${userId}/spaces`,
        `GET /project/users/${userId}/storage`,
      ],
      [`/users/${userId}/spaces`]: [`GET /project/users/${userId}`, `GET /project/users/${userId}/spaces`],
      [`/users/${userId}/tokens`]: [`GET /project/users/${userId}`],
      [`/users/${userId}/details`]: [`GET /project/users/${userId}`, `GET /project/users/${userId}/stats`],
      '/plans': ['GET /project/plans'],
      '/keys': ['GET /project/keys'],
      '/integrations': ['GET /project/integrations'],
      // Where the feed is now, and what comes next.
      '/events': ['GET /project/events', 'GET /project/events'],
      '/webhooks': ['GET /project/webhooks'],
      [`/webhooks/${webhookId}`]: [
        `GET /project/webhooks/${webhookId}`,
        `GET /project/webhooks/${webhookId}/deliveries`,
      ],
      '/audit': ['GET /project/audit'],
      '/variants': ['GET /project/variants'],
      '/settings': ['GET /project/settings'],
      '/account': ['GET /auth/2fa/status'],
    };
    const admin: Record<string, readonly string[]> = {
      '/': ['GET /admin/stats/global', 'GET /admin/stats/projects', 'GET /health'],
      '/projects': ['GET /admin/projects', 'GET /admin/stats/projects'],
      [`/projects/${tenant.id}`]: [`GET /admin/projects/${tenant.id}`],
      '/jobs': ['GET /admin/audit', 'GET /admin/stats/global'],
      '/audit': ['GET /admin/audit'],
      '/settings': ['GET /admin/settings/audit-retention', 'GET /admin/settings/rate-limit'],
    };
    await expectRequests(tenant.email, tenant.password, owner);
    await expectRequests(adminEmail, adminPassword, admin);
  });

  async function expectRequests(
    email: string,
    password: string,
    screens: Readonly<Record<string, readonly string[]>>,
  ): Promise<void> {
    const page = await opened.newPage();
    await logInAs(page, opened.url, email, password);
    await page.locator('.layout h1').waitFor();
    let asked: string[] = [];
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith('/api/v1/'))
        asked.push(`${request.method()} ${pathname.slice('/api/v1'.length)}`);
    });
    for (const [path, expected] of Object.entries(screens)) {
      // Or the last screen's late requests would be counted for this one.
      await page.goto('about:blank');
      asked = [];
      await page.goto(opened.url + path);
      await page.locator('.layout h1').waitFor();
      await expect.poll(() => asked.length, { message: path }).toBeGreaterThan(expected.length);
      // The feed stays open.
      if (path !== '/events') await page.waitForLoadState('networkidle');
      expect(asked.sort(), path).toEqual(['GET /auth/me', ...expected].sort());
    }
  }
});
