// The pages of shares in a real browser: download, password, and what a phone shows. They have no script.
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browserPath, withPage } from '../support/browser.ts';
import { bytesOf } from '../support/bytes.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { adminSession, createTenant, createUser } from '../support/tenants.ts';
import { upload } from '../support/uploads.ts';

if (!browserPath) console.log('SKIPPED pages of shares: TEST_CHROMIUM is not set');

const bytes = bytesOf(300_000);
const longName = `${'a-very-long-name-without-any-space'.repeat(5)}.html`;

describe.skipIf(!browserPath)('pages of shares', () => {
  let service: TestPakhus;
  let share: (input: object) => Promise<string>;
  beforeAll(async () => {
    service = await startTestPakhus();
    const { key } = await createTenant(service.api, await adminSession(service.api));
    const path = `/project/users/${(await createUser(service.api, key)).id}`;
    const { file } = (await upload(service.api, key, path, bytes, { name: longName, type: 'text/html' }))
      .body;
    share = async (input) => (await service.api.post(`${path}/files/${file.id}/shares`, key, input)).body.url;
  });
  afterAll(() => service.stop());

  /** Clicks, and resolves to what the browser has saved. */
  async function saved(page: Page): Promise<{ name: string; bytes: Buffer }> {
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('.button')]);
    return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
  }

  /** Nothing was refused by the policy, and nothing is wider than a small phone. */
  async function expectFits(page: Page): Promise<void> {
    await page.setViewportSize({ width: 320, height: 568 });
    const width = await page.evaluate('document.documentElement.scrollWidth');
    expect(width).toBeLessThanOrEqual(320);
    const style = await page.evaluate("getComputedStyle(document.querySelector('main')).borderRadius");
    expect(style, 'the style is allowed by its own policy').toBe('12px');
  }

  test('shares.page: a person downloads by a button, with or without a password, and no script runs', async () => {
    const [open, locked] = [await share({}), await share({ password: 'open sesame' })];
    await withPage(async (page) => {
      const problems: string[] = [];
      page.on('console', (message) => problems.push(message.text()));
      await page.goto(open);
      expect(await page.textContent('h1')).toBe(longName);
      expect(await page.locator('script').count()).toBe(0);
      await expectFits(page);
      expect(await saved(page)).toEqual({ name: longName, bytes });
      await page.goto(locked);
      await expectFits(page);
      expect(problems).toEqual([]);
      await page.fill('input', 'wrong');
      await page.click('.button');
      expect(await page.textContent('.wrong')).toBe('This password is wrong.');
      await page.fill('input', 'open sesame');
      expect(await saved(page)).toEqual({ name: longName, bytes });
      const gone = await page.goto(`${open}x`);
      expect([gone?.status(), await page.textContent('h1')]).toEqual([404, 'Nothing here']);
      await expectFits(page);
    });
  });
});
