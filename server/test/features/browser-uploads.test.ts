// The code of docs/browser-uploads.md, as it stands there, in a real browser: a page of another origin uploads with
// Uppy and a token that its own server has minted with the key of an integration.
import type { RequestListener } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browserPath, withPage } from '../support/browser.ts';
import { bytesOf, sha256 } from '../support/bytes.ts';
import { bundlePage, codeOfGuide, type Site, startSite } from '../support/pages.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { until } from '../support/processes.ts';
import { adminSession, createIntegration, createPlan, createTenant, createUser } from '../support/tenants.ts';

if (!browserPath) console.log('SKIPPED uploads from a browser: TEST_CHROMIUM is not set');

const guide = 'browser-uploads.md';

/** What happened in the page is kept in `window.seen`. */
const pageScript = (base: string) => `
import { createUploads, errorOf } from './uploads.js';
const fetchToken = async () => (await fetch('/token', { method: 'POST' })).json();
window.seen = { progress: [], stored: [], failed: [] };
const uppy = createUploads({ base: ${JSON.stringify(base)}, fetchToken });
uppy.on('upload-progress', (file, { bytesUploaded }) => window.seen.progress.push(bytesUploaded));
uppy.on('upload-success', (file, { status, body }) => window.seen.stored.push({ status, file: body.file }));
uppy.on('upload-error', (file, error, xhr) => window.seen.failed.push({ status: xhr.status, error: errorOf(xhr) }));
document.querySelector('input').addEventListener('change', ({ target }) => {
  for (const data of target.files) uppy.addFile({ name: data.name, type: data.type, data, meta: { folder: 'inbox' } });
});`;

interface Seen {
  readonly progress: number[];
  readonly stored: { status: number; file: { id: string; folder: string; url: string; size: number } }[];
  readonly failed: { status: number; error: { code: string; message: string } | null }[];
}

describe.skipIf(!browserPath)('uploads from a browser', () => {
  let service: TestPakhus;
  let origin: string;
  let site: Site;
  let mint: (user: { id: string }) => Promise<{ token: string; userId: string }>;
  let minted = 0;
  let bundle = '';
  const serve: RequestListener = async (request, response) => {
    if (request.url === '/token') {
      minted += 1;
      return response.end(JSON.stringify(await mint({ id: 'anna' })));
    }
    if (request.url === '/page.js') return response.setHeader('content-type', 'text/javascript').end(bundle);
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><input type="file"><script type="module" src="/page.js"></script>');
  };
  let integration: { id: string; key: string };
  let key: string;

  beforeAll(async () => {
    service = await startTestPakhus();
    site = await startSite(serve);
    ({ origin } = site);
    ({ key } = await createTenant(service.api, await adminSession(service.api)));
    await createPlan(service.api, key, { maxFileSize: 8 << 20, isDefault: true });
    await createUser(service.api, key, 'anna');
    integration = await createIntegration(service.api, key, {
      scopes: ['users:read', 'files:read', 'files:write'],
      corsOrigins: [origin],
    });
    bundle = await bundlePage({
      'uploads.js': await codeOfGuide(guide, '// uploads.js'),
      'page.js': pageScript(service.baseUrl),
    });
    const code = `${await codeOfGuide(guide, 'function mintUploadToken')}; return mintUploadToken;`;
    mint = new Function('base', 'integrationKey', code)(service.baseUrl, integration.key);
  });
  afterAll(async () => {
    site.close();
    await service.stop();
  });

  test('a page of another origin stores a file, sees its progress, and can read why another is refused', () =>
    withPage(async (page) => {
      await page.goto(origin);
      const seen = (): Promise<Seen> => page.evaluate('window.seen');
      const choose = (name: string, buffer: Buffer) =>
        page.locator('input').setInputFiles({ name, mimeType: 'application/octet-stream', buffer });

      const bytes = bytesOf(7 << 20);
      await choose('good.bin', bytes);
      const [stored] = await until('the file is stored', async () => {
        const { stored } = await seen();
        return stored.length > 0 && stored;
      });
      expect(stored).toMatchObject({ status: 201, file: { folder: 'inbox', size: bytes.length } });
      const { progress } = await seen();
      expect(progress.at(-1)).toBe(bytes.length);
      expect(progress).toEqual(progress.toSorted((a, b) => a - b));
      const back = await fetch(stored?.file.url ?? '');
      expect(sha256(Buffer.from(await back.arrayBuffer()))).toBe(sha256(bytes));

      await choose('large.bin', bytesOf((8 << 20) + 1));
      const [failed, ...others] = await until('the refusal', async () => {
        const { failed } = await seen();
        return failed.length > 0 && failed;
      });
      expect(failed).toMatchObject({ status: 422, error: { code: 'FILE_TOO_LARGE' } });
      expect(failed?.error?.message).toMatch(/8388608/);
      expect(others).toEqual([]);
      expect(minted, 'one token served both').toBe(1);
    }));

  test('without the origin among the corsOrigins of the integration, its tokens answer no page', () =>
    withPage(async (page) => {
      await page.goto(origin);
      const change = { corsOrigins: ['https://other.example'] };
      expect((await service.api.put(`/project/integrations/${integration.id}`, key, change)).status).toBe(
        200,
      );
      await page
        .locator('input')
        .setInputFiles({ name: 'a.bin', mimeType: 'application/octet-stream', buffer: bytesOf(10) });
      const failed = await until('the failure', async () => {
        const { failed } = (await page.evaluate('window.seen')) as Seen;
        return failed.length > 0 && failed;
      });
      expect(failed).toEqual([{ status: 0, error: null }]);
      const { files } = (await service.api.get('/project/users/ext/anna/files', key)).body;
      expect(
        files.filter(({ name }: { name: string }) => name === 'a.bin'),
        'Uppy has sent it several times',
      ).toHaveLength(1);
    }));
});
