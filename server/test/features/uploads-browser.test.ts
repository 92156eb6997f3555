// Resumable and direct uploads from a page of another origin in a real browser, over connections that are cut: with the code
// of docs/browser-uploads.md (Uppy), and with tus-js-client.
import { randomInt } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browserPath, withPage } from '../support/browser.ts';
import { sha256 } from '../support/bytes.ts';
import { rowsOf } from '../support/database.ts';
import { bundlePage, codeOfGuide, type Site, startSite } from '../support/pages.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { until } from '../support/processes.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import {
  adminSession,
  createIntegration,
  createPlan,
  createTenant,
  createUser,
  mintToken,
} from '../support/tenants.ts';
import { startTus, tusVersion } from '../support/tus.ts';

if (!browserPath) console.log('SKIPPED resumable uploads from a browser: TEST_CHROMIUM is not set');

const guide = 'browser-uploads.md';
const size = 9 << 20;

/** The same bytes here and in the page. */
function fill(length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  for (let at = 0, state = 1; at < length; at += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}

/** Functions for the tests in `window`. */
const pageScript = (base: string) => `
import * as tus from 'tus-js-client';
import { createResumableUploads, fileIdOf } from './resumable.js';
import { uploadDirect } from './direct.js';
const base = ${JSON.stringify(base)};
const fetchToken = async () => (await fetch('/token', { method: 'POST' })).json();
${fill}
const makeFile = () => new File([fill(${size})], 'träumen.bin', { type: 'application/x-dream', lastModified: 1 });

window.uploadWithUppy = async () => {
  const uppy = await createResumableUploads({ base, fetchToken });
  return new Promise((resolve, reject) => {
    uppy.on('upload-success', (file, response) => resolve(fileIdOf(response)));
    uppy.on('upload-error', (file, error) => reject(error));
    const data = makeFile();
    uppy.addFile({ name: data.name, type: data.type, data, meta: { folder: 'inbox' } });
  });
};

/** Ends with what the page could read of the answers. Stops at the first chunk if it should be terminated. */
window.uploadWithTus = async ({ terminate = false, uploadUrl = null } = {}) => {
  const { token, userId } = await fetchToken();
  const answers = [];
  return new Promise((resolve, reject) => {
    const upload = new tus.Upload(makeFile(), {
      endpoint: base + '/project/users/' + userId + '/uploads',
      uploadUrl,
      retryDelays: [0, 100, 1000],
      chunkSize: 4 << 20,
      metadata: { filename: 'träumen.bin', filetype: 'application/x-dream', folder: 'inbox' },
      onBeforeRequest: (request) =>
        request.getMethod() === 'POST' && request.setHeader('Authorization', 'Bearer ' + token),
      onAfterResponse: (request, response) => void answers.push({
        method: request.getMethod(), status: response.getStatus(), location: response.getHeader('Location'),
        offset: response.getHeader('Upload-Offset'), fileId: response.getHeader('Pakhus-File-Id'),
      }),
      onChunkComplete: () => terminate && upload.abort(true).then(() => resolve(answers), reject),
      onSuccess: () => resolve(answers),
      onError: reject,
    });
    upload.start();
  });
};

window.uploadDirect = async () =>
  (await uploadDirect({ base, session: await fetchToken(), file: makeFile(), folder: 'inbox' })).id;

/** What a page can read of a request to an upload: its status and error, or that the browser hides it. */
window.ask = async (method, url) => {
  const headers = { 'tus-resumable': '1.0.0', 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' };
  try {
    const answer = await fetch(url, { method, headers, ...(method === 'PATCH' ? { body: 'x' } : {}) });
    return { status: answer.status, code: method === 'HEAD' ? undefined : (await answer.json()).error.code };
  } catch {
    return 'hidden';
  }
};
window.isReady = true;`;

interface Answer {
  readonly method: string;
  readonly status: number;
  readonly location: string | null;
  readonly offset: string | null;
  readonly fileId: string | null;
}

describe.skipIf(!browserPath)('resumable uploads from a browser', () => {
  const content = Buffer.from(fill(size));
  let service: TestPakhus;
  let proxy: TcpProxy;
  let site: Site;
  let stranger: Site;
  let key: string;
  let integration: { id: string; key: string };
  let user: { id: string };
  let spoiled = 0;
  let bundle = '';

  beforeAll(async () => {
    service = await startTestPakhus();
    proxy = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(service.baseUrl).port) });
    const serve = async (path: string | undefined): Promise<[type: string, text: string]> => {
      if (path === '/page.js') return ['text/javascript', bundle];
      if (path !== '/token')
        return ['text/html', '<!doctype html><script type="module" src="/page.js"></script>'];
      const minted = await mintToken(service.api, integration.key, user.id, ['files:write']);
      if (spoiled > 0) {
        spoiled -= 1;
        await revoke(minted.jti);
      }
      return ['application/json', JSON.stringify({ token: minted.token, userId: user.id })];
    };
    const listener: Parameters<typeof startSite>[0] = async (request, response) => {
      const [type, text] = await serve(request.url);
      response.setHeader('content-type', type).end(text);
    };
    site = await startSite(listener);
    stranger = await startSite(listener);
    ({ key } = await createTenant(service.api, await adminSession(service.api)));
    await createPlan(service.api, key, { maxFileSize: 2 * size, isDefault: true });
    integration = await createIntegration(service.api, key, {
      scopes: ['users:read', 'files:write'],
      corsOrigins: [site.origin],
    });
    bundle = await bundlePage({
      'resumable.js': await codeOfGuide(guide, '// resumable.js'),
      'direct.js': await codeOfGuide(guide, '// direct.js'),
      'page.js': pageScript(`http://127.0.0.1:${proxy.port}/api/v1`),
    });
  });
  afterAll(async () => {
    site.close();
    stranger.close();
    await proxy.close();
    await service.stop();
  });

  const withUserAndPage = (origin: () => string, work: (page: Page) => Promise<void>) => async () => {
    user = await createUser(service.api, key);
    await withPage(async (page) => {
      await page.goto(origin());
      await page.waitForFunction('window.isReady');
      await work(page);
    });
  };
  const revoke = async (jti: string) => {
    const { status, text } = await service.api.post(`/project/users/${user.id}/tokens/revoke`, key, { jti });
    expect(status, text).toBeLessThan(300);
  };
  const run = <Result>(page: Page, code: string): Promise<Result> => page.evaluate(`window.${code}`);
  const own = () => site.origin;

  async function expectStored(fileId: string, hash: string | null = sha256(content)): Promise<void> {
    const { files } = (await service.api.get(`/project/users/${user.id}/files`, key)).body;
    expect(files.map(({ id }: { id: string }) => id)).toEqual([fileId]);
    const { file } = (await service.api.get(`/project/users/${user.id}/files/${fileId}`, key)).body;
    expect(file).toMatchObject({
      name: 'träumen.bin',
      mimeType: 'application/x-dream',
      folder: 'inbox',
      size,
    });
    if (hash !== null) expect(file.sha256).toBe(hash);
    expect(sha256(Buffer.from(await (await fetch(file.url)).arrayBuffer()))).toBe(sha256(content));
    await expectNothingReserved(size);
  }
  const expectNothingReserved = async (used: number) =>
    expect(
      await rowsOf(
        service.databaseUrl,
        `select used_bytes, reserved_bytes from users where id = '${user.id}'`,
      ),
    ).toEqual([{ used_bytes: used, reserved_bytes: 0 }]);
  const cutPoints = () => Array.from({ length: 3 }, () => randomInt(100_000, 2 << 20));

  test(
    "the guide's Uppy stores a file although the connection is cut three times, and sends its token once",
    withUserAndPage(own, async (page) => {
      const authorized: string[] = [];
      page.on('request', (request) => {
        if (request.headers().authorization) authorized.push(request.method());
      });
      const cuts = cutPoints();
      const left = proxy.cutAfter(...cuts);
      await expectStored(await run(page, 'uploadWithUppy()'));
      expect(left(), `cut after ${cuts}`).toBe(0);
      expect(authorized).toEqual(['POST']);
    }),
  );

  test(
    "the guide's Uppy gets a new token when its token is no longer valid",
    withUserAndPage(own, async (page) => {
      spoiled = 1;
      await expectStored(await run(page, 'uploadWithUppy()'));
      expect(spoiled).toBe(0);
    }),
  );

  test(
    "the guide's Uppy goes on after a reload of the page",
    withUserAndPage(own, async (page) => {
      // After the first cut, nothing gets through any more.
      const left = proxy.cutAfter(3 << 20, ...Array<number>(1_000).fill(1));
      await page.evaluate('void window.uploadWithUppy()');
      await until('the first cut', async () => left() <= 1_000);
      await page.reload();
      await page.waitForFunction('window.isReady');
      proxy.cutAfter();
      const methods: string[] = [];
      page.on('request', (request) => request.url().includes('/uploads') && methods.push(request.method()));
      await expectStored(await run(page, 'uploadWithUppy()'));
      expect(methods.filter((method) => method !== 'OPTIONS')).toEqual(['HEAD', 'PATCH']);
    }),
  );

  test(
    'tus-js-client reads all it needs from the answers, also after cuts',
    withUserAndPage(own, async (page) => {
      // First after a whole chunk, of which something is kept for sure.
      const left = proxy.cutAfter(
        5 << 20,
        ...cutPoints()
          .slice(1)
          .map((bytes) => bytes >> 1),
      );
      const answers = await run<Answer[]>(page, 'uploadWithTus()');
      expect(left()).toBe(0);
      const [created] = answers;
      expect(created).toMatchObject({ method: 'POST', status: 201 });
      expect(created?.location).toMatch(/\/api\/v1\/uploads\/[\w-]{43}$/);
      expect(answers.some(({ method, offset }) => method === 'HEAD' && Number(offset) > 0)).toBe(true);
      const last = answers.at(-1);
      expect(last?.offset).toBe(String(size));
      await expectStored(last?.fileId ?? '');
    }),
  );

  test(
    'a page terminates an upload',
    withUserAndPage(own, async (page) => {
      const answers = await run<Answer[]>(page, 'uploadWithTus({ terminate: true })');
      expect(answers.at(-1)).toMatchObject({ method: 'DELETE', status: 204 });
      await expectNothingReserved(0);
    }),
  );

  test(
    "a token's revocation ends its uploads: the page can read the 404, and tus-js-client begins anew",
    withUserAndPage(own, async (page) => {
      const { token, jti } = await mintToken(service.api, integration.key, user.id, ['files:write']);
      const path = await startTus(service.api, token, user.id, { size: 10 });
      const url = `http://127.0.0.1:${proxy.port}/api/v1${path}`;
      expect(await run(page, `ask('HEAD', '${url}')`)).toMatchObject({ status: 200 });
      await revoke(jti);
      expect(await run(page, `ask('HEAD', '${url}')`)).toMatchObject({ status: 404 });
      for (const method of ['PATCH', 'DELETE'])
        expect(await run(page, `ask('${method}', '${url}')`)).toEqual({ status: 404, code: 'NOT_FOUND' });
      const answers = await run<Answer[]>(page, `uploadWithTus({ uploadUrl: '${url}' })`);
      expect(answers.slice(0, 2)).toMatchObject([
        { method: 'HEAD', status: 404 },
        { method: 'POST', status: 201 },
      ]);
    }),
  );

  test(
    'a page of an origin that the integration does not list reads nothing',
    withUserAndPage(
      () => stranger.origin,
      async (page) => {
        const { token } = await mintToken(service.api, integration.key, user.id, ['files:write']);
        const path = await startTus(service.api, token, user.id, { size: 10 });
        const url = `http://127.0.0.1:${proxy.port}/api/v1${path}`;
        for (const method of ['HEAD', 'PATCH'])
          expect(await run(page, `ask('${method}', '${url}')`)).toBe('hidden');
        const allowed = async (origin: string) =>
          (await service.api.call('HEAD', path, { headers: { ...tusVersion, origin } })).headers[
            'access-control-allow-origin'
          ];
        expect(await allowed(stranger.origin)).toBeUndefined();
        expect(await allowed(site.origin)).toBe(site.origin);
      },
    ),
  );

  test(
    "the guide's direct upload stores a file in two parts",
    withUserAndPage(own, async (page) => {
      await expectStored(await run(page, 'uploadDirect()'), null);
    }),
  );
});
