// The client in pages of another origin, in real browsers: as published, bundled by Vite, over connections that are cut.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browsersFor, withPage } from '../../server/test/support/browser.ts';
import { bundlePage, type Site, startSite } from '../../server/test/support/pages.ts';
import { startTcpProxy, type TcpProxy } from '../../server/test/support/tcp-proxy.ts';
import { createClient } from '../src/index.ts';
import { serve } from './support/served.ts';

const mib = 1 << 20;
const size = 9 * mib + 17;

/** What the page does; the tests call it by name. */
const pageScript = (baseUrl: string) => `
import { createClient, PakhusError } from '@pakhus/client';
const client = createClient({
  baseUrl: ${JSON.stringify(baseUrl)},
  token: async () => (await fetch('/token', { method: 'POST' })).text(),
});
const { files, storage } = client.user();
const makeFile = () => new File([new Uint8Array(${size}).fill(7)], 'träumen.bin', { lastModified: 1 });

window.uploads = async (mode) => {
  const seen = [];
  const file = await files.upload(makeFile(), { mode, folder: mode, chunkSize: ${4 * mib}, onProgress: (now) => seen.push(now) });
  const stored = await (await files.download(file.id)).arrayBuffer();
  return { name: file.name, size: file.size, bytes: stored.byteLength, last: seen.at(-1), events: seen.length };
};

/** Leaves the page in the middle, so that the next one goes on. */
window.leaves = () => new Promise((resolve) => {
  const task = files.upload(makeFile(), {
    mode: 'resumable', folder: 'left', chunkSize: ${mib},
    onProgress: ({ loaded }) => { if (loaded >= ${3 * mib}) { task.pause(); resolve(localStorage.length); } },
  });
});
window.returns = async () => {
  let first;
  const file = await files.upload(makeFile(), {
    mode: 'resumable', folder: 'left', chunkSize: ${mib}, onProgress: ({ loaded }) => { first ??= loaded; },
  });
  return { first, size: file.size, left: localStorage.length };
};
window.lists = async () => {
  const names = [];
  for await (const { name } of files.list({ limit: 1 })) names.push(name);
  return names;
};
window.fails = async () => {
  const error = await files.get('00000000-0000-4000-8000-000000000000').catch((thrown) => thrown);
  return { isOurs: error instanceof PakhusError, code: error.code, status: error.status, hasId: error.requestId !== null };
};
window.reserved = async () => (await storage()).storageReserved;
window.isReady = true;
`;

type PageFunctions = Record<string, (argument?: string) => Promise<unknown>>;

const browsers = browsersFor('the client');
if (browsers.length === 0) test.skip('needs a browser', () => undefined);

describe.each(browsers)('in $name', (browser) => {
  const served = serve();
  let site: Site;
  let proxy: TcpProxy;

  beforeAll(async () => {
    proxy = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(served.baseUrl).port) });
    let page = '';
    let web: ReturnType<typeof createClient>;
    site = await startSite(async (request, response) => {
      if (request.method === 'POST') return response.end((await web.user('anna').tokens.mint()).token);
      response.setHeader('content-type', request.url === '/page.js' ? 'text/javascript' : 'text/html');
      response.end(
        request.url === '/page.js' ? page : '<!doctype html><script type=module src=/page.js></script>',
      );
    });
    const { api_key } = await served.client.project.integrations.create({
      name: 'web',
      scopes: ['files:read', 'files:write', 'users:read', 'users:write'],
      corsOrigins: [site.origin],
    });
    web = createClient({ baseUrl: served.baseUrl, key: api_key });
    page = await bundlePage({ 'page.js': pageScript(`http://127.0.0.1:${proxy.port}`) });
  });
  afterAll(async () => {
    site?.close();
    await proxy?.close();
  });

  test('a page uploads in every way, resumes after a reload, lists and gets errors', async () => {
    await withPage(async (page) => {
      const call = (name: string, argument?: string) =>
        page.evaluate(([of, given]) => (window as unknown as PageFunctions)[of ?? '']?.(given), [
          name,
          argument,
        ] as const);
      const open = async () => {
        await page.goto(site.origin);
        await page.waitForFunction(() => 'isReady' in window);
      };
      await open();
      for (const mode of ['form', 'resumable', 'direct']) {
        proxy.cutAfter(2 * mib, 5 * mib);
        expect(await call('uploads', mode)).toMatchObject({
          name: 'träumen.bin',
          size,
          bytes: size,
          last: { loaded: size, total: size },
        });
        proxy.cutAfter();
      }
      expect(await call('leaves')).toBe(1);
      await open();
      const { first, ...rest } = (await call('returns')) as { first: number };
      expect(first).toBeGreaterThanOrEqual(3 * mib);
      expect(rest).toEqual({ size, left: 0 });
      expect(await call('lists')).toEqual(Array(4).fill('träumen.bin'));
      expect(await call('fails')).toEqual({ isOurs: true, code: 'NOT_FOUND', status: 404, hasId: true });
      expect(await call('reserved')).toBe(0);
    }, browser);
  });
});
