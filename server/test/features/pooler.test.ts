// PgBouncer between Pakhus and its database.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { apiOf } from '../support/api.ts';
import { freshDatabase } from '../support/database.ts';
import { testSecrets } from '../support/pakhus.ts';
import { hasPgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { startProcess } from '../support/process.ts';
import { sendFile } from '../support/send-file.ts';
import { adminSession, createPlan, createTenant, createUser } from '../support/tenants.ts';

if (!hasPgBouncer) console.log('SKIPPED behind PgBouncer: it is not installed');

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function startBehind(...settings: string[]) {
  const database = await freshDatabase();
  cleanUps.push(database.drop);
  const pooler = await startPgBouncer(database.url, ...settings);
  cleanUps.push(pooler.stop);
  const folder = await mkdtemp(join(tmpdir(), 'pakhus-pooler-'));
  cleanUps.push(() => rm(folder, { recursive: true, force: true }));
  const service = await startProcess({ ...testSecrets, DATABASE_URL: pooler.url, DATA_DIR: folder });
  cleanUps.push(service.kill);
  return apiOf(service.baseUrl);
}

describe.skipIf(!hasPgBouncer)('behind PgBouncer', () => {
  test.each([
    ['transaction', 'pool_mode = transaction'],
    ['transaction', 'pool_mode = transaction', 'server_round_robin = 1'],
    ['transaction', 'pool_mode = transaction', 'default_pool_size = 1'],
    ['statement', 'pool_mode = statement'],
  ])('%s mode is refused at startup, and the error says what to change (%s, %s)', async (_, ...settings) => {
    await expect(startBehind(...settings.filter(Boolean))).rejects.toThrow(
      /ended with 1: .*not in session mode: set pool_mode = session/,
    );
  });

  test('session mode serves uploads and lists on every connection', async () => {
    const api = await startBehind('pool_mode = session');
    const { key } = await createTenant(api, await adminSession(api));
    await createPlan(api, key, {});
    const user = await createUser(api, key);
    const sent = await Promise.all(Array.from({ length: 40 }, () => sendFile(api, key, user.id)));
    const lists = await Promise.all(
      Array.from({ length: 40 }, () => api.get(`/project/users/${user.id}/files?limit=100`, key)),
    );
    for (const { status, body } of lists) {
      expect(status).toBe(200);
      expect(body.files.map(({ id }: { id: string }) => id).sort()).toEqual(sent.toSorted());
    }
  });

  test('session mode with too few connections is refused, and the error says what to change', async () => {
    await expect(startBehind('pool_mode = session', 'default_pool_size = 2')).rejects.toThrow(
      /ended with 1: .*default_pool_size/,
    );
  });
});
