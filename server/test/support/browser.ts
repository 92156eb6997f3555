// A real Chromium, if TEST_CHROMIUM names one.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { waitMsMax } from './bounds.ts';

export const browserPath = process.env.TEST_CHROMIUM;

/** Runs `work` with a page of a fresh browser and closes it. */
export async function withPage(work: (page: Page) => Promise<void>): Promise<void> {
  const profile = await mkdtemp(join(tmpdir(), 'pakhus-browser-'));
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath: browserPath ?? '',
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
  try {
    browser.setDefaultTimeout(waitMsMax);
    await work(await browser.newPage());
  } finally {
    await browser.close();
    await rm(profile, { recursive: true, force: true });
  }
}
