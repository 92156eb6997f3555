// The console with a user of 100,000 files, in Chromium: what the first screen loads, and how long the page takes to answer
// a key or a click while the list is scrolled, selected and filtered ("interaction to next paint").
import { chromium } from 'playwright-core';
import { buildIfStale } from '../../scripts/build.mjs';
import { fillFiles } from './support/fill.mjs';
import { pace, quantile } from './support/load.mjs';

export const name = 'console';

const files = 100_000;
const rounds = Math.max(2, Math.round(10 * pace));

export async function run({ pakhus, tenant }) {
  if (!process.env.TEST_CHROMIUM) throw new Error('Set TEST_CHROMIUM to the path of Chromium');
  await fillFiles(pakhus, files, { folder: `''`, name: `'file ' || n` });
  const origin = new URL(pakhus.url).origin;
  const browser = await chromium.launch({
    executablePath: process.env.TEST_CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    const first = await loadFirst(page, `${origin}/console/`);
    await logIn(page, tenant);
    await page.goto(`${origin}/console/users/${tenant.userId}/files`);
    await page
      .getByText(/^file \d+$/)
      .first()
      .waitFor();
    const loaded = await loadAll(page);
    await watchInteractions(page);
    for (let round = 0; round < rounds; round++) await useList(page);
    const durations = await page.evaluate(() => globalThis.durations);
    const elements = await page.evaluate(
      () => document.querySelector('.files').shadowRoot.querySelectorAll('*').length,
    );
    return [
      { name: 'first screen: requests', figure: first.requests, unit: '', target: { atMost: 5 } },
      { name: 'first screen: bytes, compressed', figure: first.bytes, unit: 'B', target: { atMost: 60_000 } },
      { name: 'files in the list', figure: loaded, unit: '' },
      { name: 'interactions', figure: durations.length, unit: '' },
      { name: 'interaction to next paint, p50', figure: quantile(durations, 0.5), unit: 'ms' },
      {
        name: 'interaction to next paint, p95',
        figure: quantile(durations, 0.95),
        unit: 'ms',
        target: { atMost: 100 },
      },
      { name: 'elements of the list', figure: elements, unit: '' },
    ];
  } finally {
    await browser.close();
  }
}

// Before the service starts, which reads the pages once.
await buildIfStale('console');

async function loadFirst(page, url) {
  const sizes = [];
  page.on('response', (response) => sizes.push(response.request().sizes()));
  await page.goto(url);
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  await page.waitForLoadState('networkidle');
  page.removeAllListeners('response');
  const bodies = (await Promise.all(sizes)).map(({ responseBodySize }) => responseBodySize);
  return { requests: bodies.length, bytes: bodies.reduce((sum, size) => sum + size, 0) };
}

async function logIn(page, { email, password }) {
  await page.getByLabel('Email', { exact: true }).fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.locator('.layout h1').waitFor();
}

/** Each key and click, from the event to the next frame that shows its effect. */
const watchInteractions = (page) =>
  page.evaluate(() => {
    globalThis.durations = [];
    const observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        if (entry.interactionId) globalThis.durations.push(entry.duration);
    });
    observer.observe({ type: 'event', durationThreshold: 16 });
  });

/** To the end of what is loaded, which loads more; then a selection of everything, and back. */
async function useList(page) {
  await page
    .getByText(/^file \d+$/)
    .first()
    .click();
  for (const key of [
    'End',
    'End',
    'End',
    'ArrowUp',
    'Shift+ArrowUp',
    'PageUp',
    'Control+a',
    'Escape',
    'Home',
  ])
    await page.keyboard.press(key, { delay: 30 });
}

/** Presses End until the list has grown to its end; resolves to its height in rows. */
async function loadAll(page) {
  await page
    .getByText(/^file \d+$/)
    .first()
    .click();
  await page.keyboard.press('Escape');
  const rows = () => page.evaluate(countRows);
  for (let before = -1, same = 0; same < 100; ) {
    await page.keyboard.press('End');
    await page.waitForTimeout(20);
    const now = await rows();
    same = now === before ? same + 1 : 0;
    before = now;
  }
  return rows();
}

/** In the page: the height of the whole list, by that of one row. */
const countRows = () => {
  const { shadowRoot } = document.querySelector('.files');
  const row = shadowRoot.querySelector('.canvas [role=row]');
  return Math.round(shadowRoot.querySelector('.canvas').offsetHeight / row.offsetHeight);
};
