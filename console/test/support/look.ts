// Looks at a screen as people see it: light and dark, checked by axe-core, and on a phone. With TEST_SHOTS, pictures are kept there.
import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const looks = [
  { name: 'light', width: 1280, height: 800, colorScheme: 'light' },
  { name: 'dark', width: 1280, height: 800, colorScheme: 'dark' },
  { name: 'phone', width: 390, height: 844, colorScheme: 'light' },
  // A window of 1280 pixels at 200 %.
  { name: 'zoomed', width: 640, height: 400, colorScheme: 'light' },
] as const;

const folder = process.env.TEST_SHOTS;
const axeSource = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The screen must be complete when this is called. */
export async function lookAt(page: Page, screen: string): Promise<void> {
  if (folder) await mkdir(folder, { recursive: true });
  await nothingIsBusy(page);
  for (const { name, width, height, colorScheme } of looks) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    await nextFrames(page);
    expect(await findFaults(page, checks[name]), `${screen}, ${name}`).toEqual([]);
    expect(await isTooWide(page), `${screen}, ${name}: wider than the window`).toBe(false);
    if (folder && name !== 'zoomed') {
      const fullPage = (await page.locator('dialog[open]').count()) === 0;
      await page.screenshot({ path: join(folder, `${screen}-${name}.png`), fullPage });
    }
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.emulateMedia({ colorScheme: 'light' });
}

/** A button that finishes its work while axe reads the page would be judged by the pale colours of a busy one. */
const nothingIsBusy = (page: Page): Promise<unknown> =>
  page.waitForFunction(() => {
    // Behind a dialog that asks to log in again, a button may wait for its answer.
    const inFront = document.querySelector('dialog[open]') ?? document;
    return !inFront.querySelector('button[aria-busy="true"]');
  });

/** Chromium recolours in the frame after the change. */
const nextFrames = (page: Page): Promise<void> =>
  page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))),
  );

const isTooWide = (page: Page): Promise<boolean> =>
  page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);

/** A theme changes nothing but colours, a narrow window nothing that axe sees. */
const checks = { light: 'all', dark: 'contrast', phone: 'none', zoomed: 'none' } as const;

async function findFaults(page: Page, check: 'all' | 'contrast' | 'none'): Promise<string[]> {
  if (check === 'none') return [];
  await page.evaluate(await axeSource);
  const options = {
    resultTypes: ['violations'],
    ...(check === 'contrast' && { runOnly: ['color-contrast'] }),
  };
  const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify(options)})`);
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join('\n')}`);
}
