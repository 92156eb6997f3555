import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browserPath, withPage } from '../support/browser.ts';
import { linkOf, outboxTo } from '../support/mail.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { adminSession, createTenant, createUser } from '../support/tenants.ts';

if (!browserPath) console.log('SKIPPED reference in a browser: TEST_CHROMIUM is not set');

let service: TestPakhus;
beforeAll(async () => {
  service = await startTestPakhus();
});
afterAll(() => service.stop());

test('llms.txt: names the guides, which are plain Markdown', async () => {
  const read = async (path: string) => {
    const reply = await fetch(new URL(path, service.baseUrl));
    expect(reply.status, path).toBe(200);
    expect(reply.headers.get('access-control-allow-origin')).toBe('*');
    return { type: reply.headers.get('content-type'), text: await reply.text() };
  };
  const { type, text } = await read('/llms.txt');
  expect(type).toBe('text/plain; charset=utf-8');
  const links = [...text.matchAll(/\]\((\/docs\/[^)]+)\)/g)].map(([, path = '']) => path);
  expect(links).toContain('/docs/guides/quick-start.md');
  for (const path of links) {
    const guide = await read(path);
    expect(guide.type).toBe('text/markdown; charset=utf-8');
    expect(guide.text).toMatch(/^# \w/);
    for (const [, linked = ''] of guide.text.matchAll(/\]\(([\w./-]+\.md)\)/g))
      expect(links, path).toContain(new URL(linked, `http://x${path}`).pathname);
  }
});

test('openapi.json: it is 3.1, its server is /api/v1, and every operation has an example and its errors', async () => {
  const { body } = await service.api.get('/openapi.json');
  expect(body.openapi).toMatch(/^3\.1/);
  expect(body.servers).toEqual([{ url: '/api/v1' }]);
  const operations = Object.values<Record<string, Record<string, never>>>(body.paths).flatMap((methods) =>
    Object.values(methods),
  );
  expect(operations.length).toBeGreaterThan(60);
  const isShared = (answer: { $ref?: string }) => answer.$ref !== undefined;
  expect(Object.keys(body.components.responses).length).toBeGreaterThan(8);
  for (const { operationId, tags, requestBody, responses } of operations as never as {
    operationId: string;
    tags: string[];
    requestBody?: { content: object };
    responses: Record<string, { $ref?: string; content?: object }>;
  }[]) {
    const own = Object.values(responses).filter((answer) => !isShared(answer));
    const contents = [requestBody, ...own, ...Object.values<{ content: object }>(body.components.responses)];
    for (const media of contents.flatMap((part) => Object.values(part?.content ?? {}))) {
      // Binary bodies have neither.
      if (media.schema)
        expect(media.example ?? media.examples, `${operationId} has an example`).toBeDefined();
    }
    expect(Object.keys(responses), operationId).toEqual(
      expect.arrayContaining(tags.includes('reference') ? ['500'] : ['500', '503']),
    );
  }
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  const used = new Set((operations as never as { tags: string[] }[]).flatMap(({ tags }) => tags));
  expect(
    new Map(body.tags.map(({ name, description }: Record<string, string>) => [name, description])),
  ).toEqual(new Map([...used].map((tag) => [tag, expect.stringMatching(/^[A-Z].*\.$/)])));
});

test.each([
  ['/openapi.json', 'application/json'],
  ['/reference', 'text/html'],
  ['/docs', 'text/html'],
])('%s is in the document and served as %s', async (path, type) => {
  const { body } = await service.api.get('/openapi.json');
  expect(Object.keys(body.paths[path].get.responses[200].content)).toEqual([type]);
  const reply = await service.api.get(path);
  expect([reply.status, String(reply.headers['content-type']).split(';')[0]]).toEqual([200, type]);
});

test.each(['/', '/api/v1', '/api/v1/', '/docs'])(
  '%s: a browser is redirected to the reference, other clients get a list of addresses',
  async (path) => {
    const { origin } = new URL(service.baseUrl);
    const asked = (accept: string) => fetch(`${origin}${path}`, { headers: { accept }, redirect: 'manual' });
    const page = await asked('text/html,application/xhtml+xml,*/*;q=0.8');
    expect([page.status, page.headers.get('location')]).toEqual([302, '/api/v1/reference']);
    const told = await asked('*/*');
    expect(told.status).toBe(200);
    const { reference, openapi, health } = (await told.json()) as Record<string, string>;
    for (const place of [reference, openapi, health])
      expect((await fetch(`${origin}${place}`)).status, place).toBe(200);
  },
);

/** Opens a page and records its requests to other origins and its errors. */
const inBrowser = (
  work: (page: Page, seen: { foreign: string[]; errors: string[] }) => Promise<void>,
): Promise<void> =>
  withPage(async (page) => {
    const seen: { foreign: string[]; errors: string[] } = { foreign: [], errors: [] };
    page.on('request', (request) => {
      const isOwn = request.url().startsWith(new URL(service.baseUrl).origin);
      if (!isOwn && !request.url().startsWith('data:')) seen.foreign.push(request.url());
    });
    page.on('pageerror', (error) => seen.errors.push(error.message));
    await work(page, seen);
  });

test('the reset page is served with its own assets and allows no other scripts', async () => {
  const { origin } = new URL(service.baseUrl);
  for (const file of ['', '/page.js', '/page.css']) {
    const answer = await fetch(`${origin}/console/reset-password${file}`);
    expect([answer.status, answer.headers.get('referrer-policy')], file).toEqual([200, 'no-referrer']);
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
  }
});

describe.skipIf(!browserPath)('in a browser', () => {
  test('a reset link opens a page that sets the password', async () => {
    const tenant = await createTenant(service.api, await adminSession(service.api));
    await service.api.post('/auth/forgot-password', undefined, { email: tenant.email });
    const [mail] = await outboxTo(service.dataDir, tenant.email);
    if (!mail) throw new Error('no mail');
    await inBrowser(async (page, seen) => {
      await page.goto(linkOf(mail));
      expect(page.url(), 'the token is out of sight').not.toContain('token');
      await page.fill('#password', 'a new password');
      await page.fill('#again', 'another one');
      await page.click('button');
      await page.getByText('The passwords do not match').waitFor();
      await page.fill('#again', 'a new password');
      if (process.env.SCREENSHOT) await page.screenshot({ path: `${process.env.SCREENSHOT}.reset.png` });
      await page.click('button');
      await page.getByText('The password is set').waitFor();
      expect(seen).toEqual({ foreign: [], errors: [] });
    });
    const { email } = tenant;
    const reply = await service.api.post('/auth/login', undefined, { email, password: 'a new password' });
    expect(reply.status).toBe(200);
  });

  test('a used reset link shows one message about the link', async () => {
    await inBrowser(async (page) => {
      await page.goto(`${new URL(service.baseUrl).origin}/console/reset-password?token=used`);
      await page.fill('#password', 'a new password');
      await page.fill('#again', 'a new password');
      await page.click('button');
      await page.getByText('has been used').waitFor();
      expect(await page.locator('#message').textContent()).toBe(
        'This link is wrong, has expired or has been used: request a new one.',
      );
    });
  });

  test('the reference: after authorizing on the first screen, the upload example works unchanged', async () => {
    const tenant = await createTenant(service.api, await adminSession(service.api));
    const user = await createUser(service.api, tenant.key);
    await inBrowser(async (page) => {
      await page.setViewportSize({ width: 1280, height: 720 });
      await page.goto(`${service.baseUrl}/reference`);
      const authorize = page.locator('.btn.authorize').first();
      const box = await authorize.boundingBox();
      expect((box?.y ?? Number.POSITIVE_INFINITY) + (box?.height ?? 0)).toBeLessThan(720);
      await authorize.click();
      await page.locator('.modal-ux input').first().fill(tenant.key);
      await page.locator('.modal-ux button.authorize').first().click();
      await page.locator('.modal-ux button.btn-done').first().click();
      await page.locator('#operations-tag-files').click();
      const operation = page.locator('.opblock', { hasText: 'Upload a file' }).first();
      await operation.locator('.opblock-summary').click();
      await operation.locator('tr[data-param-name="userId"] input').fill(user.id);
      const file = { name: 'say "hi".txt', mimeType: 'text/plain', buffer: Buffer.from('hello') };
      await operation.locator('input[type=file]').setInputFiles(file);
      await operation.locator('button.execute').click();
      const status = operation.locator('.live-responses-table tbody .response-col_status').first();
      await status.waitFor();
      expect((await status.textContent())?.trim()).toBe('201');
    });
    const { files } = (await service.api.get(`/project/users/${user.id}/files`, tenant.key)).body;
    expect(files).toMatchObject([{ name: 'say "hi".txt', size: 5 }]);
  });

  test.each(['/reference', '/docs'])('%s shows every operation and contacts only this service', (path) =>
    inBrowser(async (page, seen) => {
      await page.goto(`${service.baseUrl}${path}`);
      await page.waitForSelector('.opblock-tag-section');
      expect(await page.title()).toBe('Pakhus API reference');
      expect(await page.locator('.opblock-tag-section').count()).toBeGreaterThan(8);
      if (process.env.SCREENSHOT) await page.screenshot({ path: process.env.SCREENSHOT });
      expect(seen).toEqual({ foreign: [], errors: [] });
    }),
  );
});
