// What the URL of an upload refuses, and what ends it. The model-based test meets these cases too, but rarely.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { adminSession, createTenant, createUser, type Tenant } from '../support/tenants.ts';
import { headTus, offsetOf, patchTus, startTus } from '../support/tus.ts';

let service: TestPakhus;
let api: Api;
let tenant: Tenant;

beforeAll(async () => {
  service = await startTestPakhus();
  ({ api } = service);
  tenant = await createTenant(api, await adminSession(api));
});
afterAll(() => service.stop());

const reservedOf = async (userId: string) => {
  const { body } = await api.get(`/project/users/${userId}/storage`, tenant.key);
  return body.storageReserved;
};

test('a length that is refused is not kept', async () => {
  const user = await createUser(api, tenant.key);
  const path = await startTus(api, tenant.key, user.id, { size: null });
  const refused = await patchTus(api, path, 0, Buffer.from('longer'), { 'upload-length': '3' });
  expect([refused.status, refused.body.error.code]).toEqual([413, 'VALIDATION_ERROR']);
  expect((await headTus(api, path)).headers).toMatchObject({
    'upload-offset': '0',
    'upload-defer-length': '1',
  });
  expect(await reservedOf(user.id)).toBe(0);
  const whole = await patchTus(api, path, 0, Buffer.from('longer'), { 'upload-length': '6' });
  expect([whole.status, offsetOf(whole)]).toEqual([204, 6]);
});

test('a length cannot change, and a refused one reserves nothing', async () => {
  const user = await createUser(api, tenant.key);
  const path = await startTus(api, tenant.key, user.id, { size: 100 });
  const refused = await patchTus(api, path, 0, Buffer.alloc(10), { 'upload-length': '1000' });
  expect([refused.status, refused.body.error.details.issues[0].path]).toEqual([400, 'upload-length']);
  expect(await reservedOf(user.id)).toBe(100);
  const repeated = await patchTus(api, path, 0, Buffer.alloc(10), { 'upload-length': '100' });
  expect([repeated.status, offsetOf(repeated)]).toEqual([204, 10]);
});

test('an empty direct upload has no parts, and is completed without any', async () => {
  const user = await createUser(api, tenant.key);
  const fields = { name: 'empty', mimeType: 'text/plain', size: 0, mode: 'direct' };
  const created = await api.post(`/project/users/${user.id}/uploads`, tenant.key, fields);
  const at = `/project/users/${user.id}/uploads/${created.body.upload.id}`;
  expect((await api.post(`${at}/parts`, tenant.key, { numbers: [1] })).status).toBe(422);
  const completed = await api.post(`${at}/complete`, tenant.key, { parts: [] });
  expect([completed.status, completed.body.file.size]).toEqual([201, 0]);
});

test('the next login into a space ends the URLs of its previous token', async () => {
  const user = await createUser(api, tenant.key);
  const space = { external_id: 'urls', name: 'urls', password: 'a password', scopes: ['files:write'] };
  await api.post(`/project/users/${user.id}/spaces`, tenant.key, space);
  const logIn = async (): Promise<string> => {
    const { external_id, password } = space;
    const reply = await api.post('/project/spaces/login', tenant.key, { external_id, password });
    expect(reply.status, reply.text).toBe(201);
    return reply.body.token;
  };
  const path = await startTus(api, await logIn(), user.id, { size: 10 });
  expect((await headTus(api, path)).status).toBe(200);
  const next = await startTus(api, await logIn(), user.id, { size: 10 });
  expect((await headTus(api, path)).status).toBe(404);
  expect((await headTus(api, next)).status).toBe(200);
});
