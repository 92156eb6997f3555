// Workers that are killed without warning while they make variants: every image is made in the end, once, and nothing else stays.
import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { repetitions } from '../support/bounds.ts';
import { onServer, rowsOf } from '../support/database.ts';
import { picture } from '../support/image-files.ts';
import { expectBalanced, objectsOf, reapUntilDone } from '../support/ledger.ts';
import { startTestPakhus, type TestPakhus, testSecrets } from '../support/pakhus.ts';
import { startProcess } from '../support/process.ts';
import { until } from '../support/processes.ts';
import { sendFile } from '../support/send-file.ts';
import { adminSession, createTenant, createUser } from '../support/tenants.ts';

const kills = repetitions(40, 2);
const images = 4;

let service: TestPakhus;

beforeAll(async () => {
  service = await startTestPakhus({ ROLE: 'api' }, undefined, { variantWaitMsMax: 50 });
});
afterAll(() => service.stop());

const startWorker = () =>
  startProcess({
    ...testSecrets,
    ROLE: 'worker',
    DATABASE_URL: service.databaseUrl,
    DATA_DIR: service.dataDir,
    IMAGE_MAX_ATTEMPTS: '100',
  });

/** As if the time after which a job counts as lost had passed. */
const giveUpJobs = () =>
  onServer(
    service.databaseUrl,
    `update pgboss.job set state = 'retry', start_after = now() where name = 'variants.make' and state = 'active'`,
  );

test(`after ${kills} kills of the worker, every variant is made, and a deleted file leaves none behind`, async () => {
  const { api, databaseUrl } = service;
  const { id, key } = await createTenant(api, await adminSession(api));
  const user = await createUser(api, key);
  for (const width of [40, 60])
    await api.post('/project/variants', key, { name: `w-${width}`, format: 'webp', width });
  const bytes = await picture(900, 700).png().toBuffer();
  const files = await Promise.all(
    Array.from({ length: images }, () => sendFile(api, key, user.id, { bytes, type: 'image/png' })),
  );
  const ask = (fileId: string, width: number) =>
    api.get(`/project/users/${user.id}/files/${fileId}/variants/w-${width}`, key);
  const askAll = (list: readonly string[]) =>
    Promise.all(list.flatMap((fileId) => [40, 60].map((width) => ask(fileId, width))));
  for (let kill = 0; kill < kills; kill += 1) {
    // Made anew in each round: workers have something to do whenever they are killed.
    for (const width of [40, 60]) await api.put(`/project/variants/w-${width}`, key, { quality: 1 + kill });
    await askAll(files);
    const worker = await startWorker();
    await until('the worker is at work', async () => {
      const [row] = await rowsOf(databaseUrl, `select from variant_images where state <> 'pending' limit 1`);
      return row;
    });
    await pause(randomInt(150));
    await worker.kill();
    await giveUpJobs();
  }
  const [doomed = '', ...kept] = files;
  expect((await api.delete(`/project/users/${user.id}/files/${doomed}`, key)).status).toBe(204);
  const worker = await startWorker();
  await until('everything is made', async () => (await askAll(kept)).every(({ status }) => status === 200));
  expect(await worker.stop()).toBe(0);
  const left = await rowsOf<{ file_id: string }>(databaseUrl, 'select distinct file_id from variant_images');
  expect(left.map(({ file_id }) => file_id).sort()).toEqual([...kept].sort());
  await reapUntilDone(service);
  await expectBalanced(service, id);
  const { length } = await rowsOf(databaseUrl, 'select from variant_images where object_id is not null');
  expect(await objectsOf(service, id)).toHaveLength(kept.length + length);
});
