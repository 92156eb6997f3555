// Users, spaces and projects that are deleted while their uploads are sent: no request fails by our fault, and nothing is left.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bytesOf } from '../support/bytes.ts';
import { rowsOf } from '../support/database.ts';
import { expireUploads, objectsOf, placesOf, reapUntilDone, wrongCounters } from '../support/ledger.ts';
import { nobodyWrites } from '../support/s3-server.ts';
import { type PakhusOnStore, startOn, storesFor } from '../support/stores.ts';
import { adminSession, createTenant, createUser, unique } from '../support/tenants.ts';
import { createTus, headTus, offsetOf, patchTus, pathOf } from '../support/tus.ts';

const rounds = Number(process.env.TEST_UPLOADS ?? 60) / 20;

for (const store of storesFor('owners of uploads')) {
  describe(`on ${store.name}`, () => {
    let service: PakhusOnStore;
    let admin: string;

    beforeAll(async () => {
      service = await startOn(store);
      admin = await adminSession(service.api);
    });
    afterAll(() => service.stop());

    test.each(['user', 'space', 'project'] as const)('a %s is deleted under its uploads', async (what) => {
      const { api } = service;
      const file = bytesOf(40_000);
      for (let round = 0; round < rounds; round += 1) {
        const { id: projectId, key } = await createTenant(api, admin);
        const { id: userId } = await createUser(api, key);
        const made = await api.post(`/project/users/${userId}/spaces`, key, {
          external_id: unique('s'),
          name: 's',
        });
        const spaceId = made.body.space.id as string;
        const statuses = new Map<number, string>();
        let isGone = false;
        const work = async () => {
          const metadata = { filename: 'a.bin', space_id: spaceId };
          while (!isGone) {
            const created = await createTus(api, key, userId, { size: file.length, metadata });
            statuses.set(created.status, created.text);
            if (created.status !== 201) continue;
            const path = pathOf(created);
            for (let at = 0; at < file.length && !Number.isNaN(at); ) {
              const reply = await patchTus(api, path, at, file.subarray(at, at + 13_000));
              statuses.set(reply.status, reply.text);
              const head = await headTus(api, path);
              statuses.set(head.status, 'HEAD');
              at = offsetOf(head);
            }
          }
        };
        const working = Array.from({ length: 6 }, work);
        const path = {
          user: `/project/users/${userId}`,
          space: `/project/users/${userId}/spaces/${spaceId}`,
          project: `/admin/projects/${projectId}`,
        }[what];
        while (!statuses.has(204)) await new Promise((resolve) => setImmediate(resolve));
        const deleted = await api.delete(path, what === 'project' ? admin : key);
        isGone = true;
        await Promise.all(working);
        // A space that has files may not be deleted.
        expect(what === 'space' ? [204, 409] : [204], deleted.text).toContain(deleted.status);
        for (const [status, text] of statuses)
          expect([200, 201, 204, 401, 403, 404, 409, 422, 503], text).toContain(status);
        expect(await wrongCounters(service)).toEqual([]);
      }
    });

    test('nothing is left over', async () => {
      await expireUploads(service);
      await reapUntilDone(service);
      await service.pakhus.deps.objects.sweepUnfinished(new Date(Date.now() + 3_600_000), nobodyWrites);
      expect(await objectsOf(service)).toEqual(await placesOf(service));
      expect(await rowsOf(service.databaseUrl, 'select from users where reserved_bytes <> 0')).toEqual([]);
      if (service.buckets) expect(await service.buckets.unfinishedUploads()).toBe(0);
    });
  });
}
