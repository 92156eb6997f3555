// The console on an S3 server: bytes come from the store's own origin, as the page's policy allows.
import { PutBucketCorsCommand } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { makeBuckets, type S3Buckets, testS3Server } from '../../server/test/support/s3-server.ts';
import { sendFile } from '../../server/test/support/send-file.ts';
import { adminSession, createTenant, createUser } from '../../server/test/support/tenants.ts';
import { browserPath, logInAs, type OpenConsole, openConsole } from './support/console.ts';

const server = testS3Server();
if (!server || !browserPath)
  console.log('SKIPPED the console on S3: TEST_S3_ENDPOINT or TEST_CHROMIUM is not set');

/** One pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe.skipIf(!server || !browserPath)('the console on S3', () => {
  let opened: OpenConsole;
  let buckets: S3Buckets;
  beforeAll(async () => {
    if (!server) return;
    buckets = await makeBuckets(server);
    opened = await openConsole(undefined, {
      storeOrigin: server.endpoint,
      environment: {
        S3_ENDPOINT: server.endpoint,
        S3_BUCKET: buckets.bucket,
        S3_ACCESS_KEY_ID: server.accessKeyId,
        S3_SECRET_ACCESS_KEY: server.secretAccessKey,
        S3_FORCE_PATH_STYLE: 'true',
      },
    });
  });
  afterAll(async () => {
    await opened?.close();
    await buckets?.remove();
  });

  test('pictures come straight from the store; text too, once the bucket allows this page to read it', async () => {
    const { api } = opened.service;
    const tenant = await createTenant(api, await adminSession(api));
    const user = await createUser(api, tenant.key, 'anna');
    const picture = await sendFile(api, tenant.key, user.id, { bytes: png, type: 'image/png' });
    const text = await sendFile(api, tenant.key, user.id, { bytes: Buffer.from('words in the store') });
    const page = await opened.newPage();
    await logInAs(page, `${opened.url}/users/${user.id}/files`, tenant.email, tenant.password);
    await page.locator('.layout h1').waitFor();
    await page.goto(`${opened.url}/users/${user.id}/files?file=${picture}`);
    const image = page.getByRole('dialog').getByRole('img');
    await expect.poll(() => image.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBe(1);
    expect(await image.getAttribute('src')).toContain(server?.endpoint);

    await page.goto(`${opened.url}/users/${user.id}/files?file=${text}`);
    await page.getByRole('dialog').getByText('CORS').waitFor();
    // The browser reports the refusal, which is what this is about.
    opened.takeErrors();
    const rule = {
      AllowedOrigins: [new URL(opened.url).origin],
      AllowedMethods: ['GET'],
      AllowedHeaders: ['*'],
    };
    await buckets.sdk.send(
      new PutBucketCorsCommand({ Bucket: buckets.bucket, CORSConfiguration: { CORSRules: [rule] } }),
    );
    await page.reload();
    await page.getByText('words in the store').waitFor();
  });

  afterEach(() => expect(opened.takeErrors()).toEqual([]));
});
