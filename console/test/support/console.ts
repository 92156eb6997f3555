// The console in a real browser, served by a running Pakhus.
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, firefox, type Page } from 'playwright-core';
import { expect, vi } from 'vitest';
import { randomAddress } from '../../../server/test/support/accounts.ts';
import type { Api } from '../../../server/test/support/api.ts';
import { waitMsMax } from '../../../server/test/support/bounds.ts';
import { type BrowserChoice, browserPath } from '../../../server/test/support/browser.ts';
import { startTestPakhus, type TestPakhus } from '../../../server/test/support/pakhus.ts';

export { browserPath };

/** Pages answer sooner than machines start. */
const pageMsMax = 60_000;

const dist = fileURLToPath(new URL('../../dist', import.meta.url));

export interface OpenConsole {
  readonly service: TestPakhus;
  readonly browser: Browser;
  /** Where the pages are; screens are below it. */
  readonly url: string;
  /** A page with its own cookies. */
  newPage(options?: BrowserContextOptions): Promise<Page>;
  /** Errors of all pages since the last call. */
  takeErrors(): string[];
  close(): Promise<void>;
}

const chromiumOfSystem: BrowserChoice = { name: 'Chromium', path: browserPath ?? '' };

/** The channel stands for an unpatched Firefox. */
const launch = ({ name, path: executablePath }: BrowserChoice): Promise<Browser> =>
  name === 'Firefox'
    ? firefox.launch({ executablePath, channel: 'moz-firefox', timeout: waitMsMax })
    : chromium.launch({
        executablePath,
        timeout: waitMsMax,
        args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
      });

interface ConsoleOptions {
  readonly environment?: Record<string, string>;
  /** Beside the service, for bytes of files. */
  readonly storeOrigin?: string;
}

export async function openConsole(
  choice: BrowserChoice = chromiumOfSystem,
  { environment = {}, storeOrigin }: ConsoleOptions = {},
): Promise<OpenConsole> {
  const service = await startTestPakhus(environment, undefined, { consoleFolder: dist });
  const { origin } = new URL(service.baseUrl);
  const allowed = storeOrigin ? [origin, storeOrigin] : [origin];
  const browser = await launch(choice);
  let errors: string[] = [];
  return {
    service,
    browser,
    url: `${origin}/console`,
    newPage: async (options = {}) => {
      const context = await browser.newContext({
        // Tests share the server but not its limit of logins.
        extraHTTPHeaders: { 'x-forwarded-for': randomAddress() },
        reducedMotion: 'reduce',
        ...options,
      });
      context.setDefaultTimeout(pageMsMax);
      const page = await context.newPage();
      watch(page, allowed, (error) => errors.push(error));
      return page;
    },
    takeErrors: () => {
      const taken = errors;
      errors = [];
      return taken;
    },
    close: async () => {
      await browser.close();
      await service.stop();
    },
  };
}

/** A refused request is no error of the page: the tests provoke them. */
function watch(page: Page, origins: readonly string[], report: (error: string) => void): void {
  page.on('pageerror', ({ message }) => report(`exception: ${message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      report(`console: ${message.text()}`);
  });
  page.on('request', (sent) => {
    if (![...origins, 'blob:'].some((origin) => sent.url().startsWith(origin)))
      report(`request to ${sent.url()}`);
  });
}

export async function logInAs(page: Page, url: string, email: string, password: string): Promise<void> {
  await page.goto(url);
  await page.getByLabel('Email', { exact: true }).fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}

/** One that delivers nothing. Resolves to its id. */
export async function createIdleWebhook(api: Api, key: string): Promise<string> {
  const body = { url: 'https://1.1.1.1/pakhus', active: false };
  const reply = await api.post('/project/webhooks', key, body);
  expect(reply.status, reply.text).toBe(201);
  return reply.body.webhook.id;
}

export const expectToast = (page: Page, text: string): Promise<void> =>
  page.locator('.toast', { hasText: text }).first().waitFor();

export const expectTitle = async (page: Page, title: string): Promise<void> => {
  await page.getByRole('heading', { level: 1, name: title }).waitFor();
  // Set by an effect, after the heading is painted.
  await vi.waitFor(async () => expect(await page.title()).toContain(title), waitMsMax);
};

export const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click();

export const pressInDialog = (page: Page, name: string): Promise<void> =>
  page.locator('dialog[open]').getByRole('button', { name, exact: true }).click();
