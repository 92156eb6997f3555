// Object names reserved ahead of the uploads that use them: only for concurrent uploads, never the same name twice,
// and no longer than needed.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bytesOf } from '../support/bytes.ts';
import { expectBalanced, unsettledOf } from '../support/ledger.ts';
import { type PakhusOnStore, startOn, storesFor } from '../support/stores.ts';
import { adminSession, createTenant, createUser, type Tenant } from '../support/tenants.ts';
import { upload } from '../support/uploads.ts';

for (const store of storesFor('reservations')) describe(`on ${store.name}`, suite.bind(null, store));

function suite(store: Parameters<typeof startOn>[0]): void {
  let service: PakhusOnStore;

  beforeAll(async () => {
    service = await startOn(store);
  });
  afterAll(() => service.stop());

  const tenantWithUser = async (of = service): Promise<Tenant & { path: string }> => {
    const tenant = await createTenant(of.api, await adminSession(of.api));
    return { ...tenant, path: `/project/users/${(await createUser(of.api, tenant.key)).id}` };
  };
  const burst = (of: PakhusOnStore, { key, path }: { key: string; path: string }, count = 60) =>
    Promise.all(Array.from({ length: count }, (_, nth) => upload(of.api, key, path, bytesOf(1000, nth))));

  test('files.upload: sequential uploads reserve no names ahead', async () => {
    const at = await tenantWithUser();
    for (let nth = 0; nth < 5; nth += 1) {
      expect((await upload(service.api, at.key, at.path, bytesOf(1000, nth))).status).toBe(201);
      expect(await unsettledOf(service, at.id)).toBe(0);
    }
  });

  test('files.upload: concurrent uploads reserve names ahead, which are released when the uploads end', async () => {
    const at = await tenantWithUser();
    const replies = [...(await burst(service, at)), ...(await burst(service, at))];
    const ahead = await unsettledOf(service, at.id);
    expect(ahead).toBeGreaterThan(0);
    expect(ahead).toBeLessThanOrEqual(64);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(replies.map(({ body }) => body.file.id)).size).toBe(120);
    for (const [nth, { body }] of replies.slice(60).entries()) {
      const stored = Buffer.from(await (await fetch(body.file.url)).arrayBuffer());
      expect(stored.equals(bytesOf(1000, nth))).toBe(true);
    }
    await expectBalanced(service, at.id);
    // After a pause, nothing is reserved ahead again.
    expect((await upload(service.api, at.key, at.path, 'after')).status).toBe(201);
    expect(await unsettledOf(service, at.id)).toBe(0);
  });

  test('files.upload: a name reserved for one project is never used by another', async () => {
    const tenants = await Promise.all([tenantWithUser(), tenantWithUser(), tenantWithUser()]);
    const all = await Promise.all(tenants.map((at) => burst(service, at, 40)));
    for (const [nth, { id }] of tenants.entries()) {
      for (const { body } of all[nth] ?? []) expect(body.file.storageKey).toBe(`${id}/${body.file.id}`);
      await expectBalanced(service, id);
    }
  });

  test('files.upload: public files and large files are recorded in the ledger as well', async () => {
    const at = await tenantWithUser();
    await burst(service, at);
    const open = { meta: { visibility: 'public' } };
    for (const size of [1000, 700 << 10]) {
      const replies = await Promise.all(
        [open, {}, open, {}].map((options) => upload(service.api, at.key, at.path, bytesOf(size), options)),
      );
      expect(replies.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
      expect(replies.map(({ body }) => body.file.visibility)).toEqual([
        'public',
        'private',
        'public',
        'private',
      ]);
    }
    await expectBalanced(service, at.id);
  });

  test('a stop releases the reserved names', async () => {
    const short = await startOn(store);
    const at = await tenantWithUser(short);
    // On a busy machine uploads may come one by one, or the names may be released already.
    const reservedByBurst = async () => {
      await burst(short, at);
      return unsettledOf(short, at.id);
    };
    await expect.poll(reservedByBurst).toBeGreaterThan(0);
    await short.pakhus.stop();
    expect(await unsettledOf(short, at.id)).toBe(0);
    await short.stop();
  });
}
