// Real browsers, if TEST_CHROMIUM or TEST_FIREFOX name them: those of the system, driven by Playwright.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, firefox, type Page } from 'playwright-core';
import { waitMsMax } from './bounds.ts';

export const browserPath = process.env.TEST_CHROMIUM;

export interface BrowserChoice {
  readonly name: 'Chromium' | 'Firefox';
  readonly path: string;
}

/** Those that are there. Says which are missing. */
export function browsersFor(suite: string): readonly BrowserChoice[] {
  const named = { Chromium: process.env.TEST_CHROMIUM, Firefox: process.env.TEST_FIREFOX } as const;
  return (['Chromium', 'Firefox'] as const).flatMap((name) => {
    const path = named[name];
    if (path) return [{ name, path }];
    console.log(`SKIPPED ${suite} in ${name}: TEST_${name.toUpperCase()} is not set`);
    return [];
  });
}

/** Runs `work` with a page of a fresh browser and closes it. */
export async function withPage(
  work: (page: Page) => Promise<void>,
  { name, path }: BrowserChoice = { name: 'Chromium', path: browserPath ?? '' },
): Promise<void> {
  const profile = await mkdtemp(join(tmpdir(), 'pakhus-browser-'));
  const browser = await (name === 'Chromium' ? launchChromium(path, profile) : launchFirefox(path, profile));
  try {
    browser.setDefaultTimeout(waitMsMax);
    await work(await browser.newPage());
  } finally {
    await browser.close();
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

const launchChromium = (executablePath: string, profile: string) =>
  chromium.launchPersistentContext(profile, {
    executablePath,
    timeout: waitMsMax,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });

/** The channel stands for an unpatched Firefox, which is driven by WebDriver BiDi. */
const launchFirefox = (executablePath: string, profile: string) =>
  firefox.launchPersistentContext(profile, {
    executablePath,
    channel: 'moz-firefox',
    timeout: waitMsMax,
    // When an address is entered, as tests do all the time, Firefox cuts off whatever script happens to run.
    firefoxUserPrefs: { 'dom.ipc.cancel_content_js_when_navigating': false },
  });
