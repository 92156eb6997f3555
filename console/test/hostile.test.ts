// Whatever strangers can write is shown as text, and nobody gets more from the console than the API gives.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { adminEmail, adminPassword } from '../../server/test/support/pakhus.ts';
import { adminSession, createTenant, type Tenant } from '../../server/test/support/tenants.ts';
import { browserPath, logInAs, type OpenConsole, openConsole } from './support/console.ts';

if (!browserPath) console.log('SKIPPED hostile content in the console: TEST_CHROMIUM is not set');

const attack = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>';
const link = 'javascript:window.pwned=1';
const bidi = '\u202Egpj.exe\u2066 שלום 👩‍👩‍👧‍👦';

describe.skipIf(!browserPath)('hostile content in the console', () => {
  let opened: OpenConsole;
  let admin: string;
  let tenant: Tenant;
  let userId: string;
  let spaceId: string;
  const files: Record<string, string> = {};
  beforeAll(async () => {
    opened = await openConsole();
    const { api } = opened.service;
    admin = await adminSession(api);
    tenant = await createTenant(api, admin);
    await api.call('PATCH', `/admin/projects/${tenant.id}`, { as: admin, body: { name: attack } });
    const send = async (path: string, body: object) => {
      const reply = await api.call('POST', path, { as: tenant.key, body, headers: { 'user-agent': attack } });
      expect(reply.status, reply.text).toBeLessThan(300);
      return reply.body;
    };
    await send('/project/plans', { name: attack, description: attack, maxFileSize: 1e9, storageLimit: 1e9 });
    await send('/project/keys', { name: attack });
    await send('/project/integrations', { name: attack, scopes: ['files:read'] });
    // From here on, events are recorded.
    await api.get('/project/events', tenant.key);
    await send('/project/webhooks', { url: `https://1.1.1.1/?${attack}`, active: false });
    await send('/project/users', { externalId: bidi });
    userId = (await send('/project/users', { externalId: attack })).user.id;
    spaceId = (await send(`/project/users/${userId}/spaces`, { external_id: attack, name: attack })).space.id;
    const contents = {
      'page.html': ['text/html', `<!doctype html>${attack}`],
      'picture.svg': ['image/svg+xml', `<svg xmlns="http://www.w3.org/2000/svg" onload="window.pwned=1"/>`],
      [attack.replaceAll('/', '_')]: ['text/plain', attack],
      // The server refuses control characters in names.
      'שלום 👩‍👩‍👧‍👦.txt': ['text/plain', attack],
    } as const;
    for (const [name, [type, content]] of Object.entries(contents)) {
      const form = new FormData();
      form.set(
        'meta',
        JSON.stringify({
          tags: [attack.slice(0, 64)],
          classifier: attack,
          metadata: { [attack]: attack, link },
        }),
      );
      form.set('file', new File([content], name, { type }));
      const answer = await fetch(`${opened.service.baseUrl}/project/users/${userId}/files`, {
        method: 'POST',
        headers: { authorization: `Bearer ${tenant.key}`, 'user-agent': 'hostile' },
        body: form,
      });
      const text = await answer.text();
      expect(answer.status, text).toBe(201);
      files[name] = JSON.parse(text).file.id;
    }
  });
  afterEach(() => expect(opened.takeErrors()).toEqual([]));
  afterAll(() => opened?.close());

  /** Everything on the page is text, and no script of a stranger ran. */
  async function expectHarmless(page: Page): Promise<void> {
    expect(await page.evaluate('window.pwned')).toBeUndefined();
    expect(await page.locator('img[src="x"], script:not([type=module])').count()).toBe(0);
    expect(await page.locator('a[href^="javascript:"]').count()).toBe(0);
  }

  test('in every screen of the owner', async () => {
    const page = await opened.newPage();
    await logInAs(page, opened.url, tenant.email, tenant.password);
    await page.getByText(attack).first().waitFor();
    await expectHarmless(page);
    for (const path of [
      '/users',
      '/plans',
      '/keys',
      '/integrations',
      '/events?from=oldest',
      '/webhooks',
      '/audit',
      '/settings',
      `/users/${userId}/files`,
      `/users/${userId}/files?space=${spaceId}`,
      `/users/${userId}/spaces`,
      `/users/${userId}/tokens`,
      `/users/${userId}/details`,
    ]) {
      await page.goto(opened.url + path);
      await page.locator('h1').waitFor();
      await expect.poll(() => page.locator('[aria-busy=true]').count()).toBe(0);
      await expectHarmless(page);
    }
  });

  test('in previews of html, svg and names that lie about their direction', async () => {
    const page = await opened.newPage();
    await logInAs(page, `${opened.url}/users/${userId}/files`, tenant.email, tenant.password);
    await page.locator('.layout h1').waitFor();
    for (const [name, id] of Object.entries(files)) {
      await page.goto(`${opened.url}/users/${userId}/files?file=${id}`);
      await page.getByRole('dialog').first().waitFor();
      await expect.poll(() => page.locator('[aria-busy=true]').count()).toBe(0);
      await expectHarmless(page);
      expect(await page.locator('iframe, object, embed').count(), name).toBe(0);
      for (const frame of page.frames()) expect(await frame.evaluate('window.pwned')).toBeUndefined();
    }
  });

  test('in the screens of the admin, and in the audit log with its user agents', async () => {
    const page = await opened.newPage();
    await logInAs(page, `${opened.url}/projects`, adminEmail, adminPassword);
    await page.getByText(attack).first().waitFor();
    await expectHarmless(page);
    for (const path of ['/', `/projects/${tenant.id}`, `/audit?project_id=${tenant.id}`]) {
      await page.goto(opened.url + path);
      await page.locator('h1').waitFor();
      await expect.poll(() => page.locator('[aria-busy=true]').count()).toBe(0);
      await expectHarmless(page);
    }
  });

  test('the session of an owner sees nothing of the admin, whatever address is opened', async () => {
    const page = await opened.newPage();
    await logInAs(page, `${opened.url}/projects`, tenant.email, tenant.password);
    await page.getByRole('heading', { name: 'another kind of account' }).waitFor();
    await page.goto(`${opened.url}/jobs`);
    await page.getByRole('heading', { name: 'another kind of account' }).waitFor();
    const status = await page.evaluate(async () => (await fetch('/api/v1/admin/projects')).status);
    expect(status).toBe(403);
  });

  test('no other page can frame it', async () => {
    const host = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(`<iframe src="${opened.url}/"></iframe>`);
    });
    await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
    try {
      const page = await opened.newPage();
      await page.goto(`http://127.0.0.1:${(host.address() as AddressInfo).port}/`);
      await page.locator('iframe').waitFor();
      expect(await page.frames()[1]?.locator('#app').count()).toBe(0);
    } finally {
      host.closeAllConnections();
      host.close();
      opened.takeErrors();
    }
  });
});
