// A run that never ends by itself and starts every kind of process, for interrupted.test.ts.
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { test } from 'vitest';
import { slowImage } from '../support/hostile-images.ts';
import { startTestPakhus, testSecrets } from '../support/pakhus.ts';
import { postgresBin, startPostgresPair } from '../support/postgres-pair.ts';
import { startProcess } from '../support/process.ts';
import { childrenOf, until } from '../support/processes.ts';
import { hasRedisServer, startRedisServer } from '../support/redis-server.ts';
import { sendFile } from '../support/send-file.ts';
import { adminSession, createPlan, createTenant, createUser } from '../support/tenants.ts';

test('starts one of everything and hangs', async () => {
  const service = await startTestPakhus();
  const folder = await mkdtemp(join(tmpdir(), 'pakhus-interrupted-'));
  await startProcess({ ...testSecrets, DATA_DIR: folder });
  if (hasRedisServer) (await startRedisServer()).pause();
  if (postgresBin) await (await startPostgresPair()).primary.pause();
  if (process.env.TEST_CHROMIUM)
    await chromium.launchPersistentContext(join(folder, 'browser'), {
      executablePath: process.env.TEST_CHROMIUM,
      args: ['--no-sandbox', '--disable-gpu'],
    });
  const tenant = await createTenant(service.api, await adminSession(service.api));
  await createPlan(service.api, tenant.key, { maxFileSize: 1 << 30, storageLimit: 1 << 30 });
  const user = await createUser(service.api, tenant.key);
  await sendFile(service.api, tenant.key, user.id, {
    bytes: await slowImage(),
    type: 'image/png',
    as: 'image',
  });
  await until('an image is worked on', async () => (await childrenOf(process.pid, 'image-child')).length > 0);
  process.stderr.write('everything runs\n');
  await new Promise(() => undefined);
});
