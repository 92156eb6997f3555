// Reads of one tenant must not hold up the others: neither their authentication nor their lists.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitMsMax } from '../support/bounds.ts';
import { inTransaction, waitersIn } from '../support/database.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { until } from '../support/processes.ts';
import { adminSession, createTenant, createUser } from '../support/tenants.ts';

let service: TestPakhus;
beforeAll(async () => {
  // However slow the machine is, no list gives up before the test lets it go on.
  const databaseTiming = { readMs: waitMsMax, slowMs: waitMsMax, suspiciousMs: waitMsMax };
  service = await startTestPakhus({}, undefined, { databaseTiming });
});
afterAll(() => service.stop());

interface Neighbours {
  /** What has been answered, in order. */
  readonly answered: string[];
  /** Asks for a list that waits for as long as the table of files is locked. */
  list(who: 'busy' | 'neighbour'): Promise<void>;
  readonly neighbourKey: string;
  readonly neighbourPath: string;
}

async function neighbours(): Promise<Neighbours> {
  const admin = await adminSession(service.api);
  const [busy, neighbour] = [await createTenant(service.api, admin), await createTenant(service.api, admin)];
  const paths = {
    busy: `/project/users/${(await createUser(service.api, busy.key)).id}`,
    neighbour: `/project/users/${(await createUser(service.api, neighbour.key)).id}`,
  };
  const answered: string[] = [];
  return {
    answered,
    neighbourKey: neighbour.key,
    neighbourPath: paths.neighbour,
    list: async (who) => {
      await service.api.get(`${paths[who]}/files`, who === 'busy' ? busy.key : neighbour.key);
      answered.push(who);
    },
  };
}

const lockFiles = 'lock table files in access exclusive mode';

test('authentication does not wait for the lists of others', async () => {
  const { answered, list, neighbourKey, neighbourPath } = await neighbours();
  let lists: Promise<void>[] = [];
  await inTransaction(service.databaseUrl, async (query) => {
    await query(lockFiles);
    lists = Array.from({ length: 40 }, () => list('busy'));
    await until('the lists wait', async () => (await waitersIn(service.databaseUrl)) > 0);
    // Often enough to meet every connection that lists use.
    for (let nth = 0; nth < 12; nth += 1)
      expect((await service.api.get(neighbourPath, neighbourKey)).status).toBe(200);
    expect(answered).toEqual([]);
    await query('commit');
  });
  await Promise.all(lists);
});

test('lists take turns by project: one list does not wait for all lists of a busy neighbour', async () => {
  const { answered, list, neighbourKey, neighbourPath } = await neighbours();
  let lists: Promise<void>[] = [];
  await inTransaction(service.databaseUrl, async (query) => {
    await query(lockFiles);
    lists = Array.from({ length: 80 }, () => list('busy'));
    await until('the lists wait', async () => (await waitersIn(service.databaseUrl)) > 0);
    lists.push(list('neighbour'));
    // Once this one is answered, the list that was sent before it has arrived as well.
    await service.api.get(neighbourPath, neighbourKey);
    await query('commit');
  });
  await Promise.all(lists);
  expect(answered).toHaveLength(81);
  expect(answered.indexOf('neighbour')).toBeLessThan(50);
});
