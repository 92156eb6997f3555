import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { sendFile } from '../support/send-file.ts';
import { adminSession, createTenant, createUser, mintToken, type Tenant } from '../support/tenants.ts';

let service: TestPakhus;
let api: Api;
let tenant: Tenant;
let userId: string;

beforeAll(async () => {
  service = await startTestPakhus();
  ({ api } = service);
  tenant = await createTenant(api, await adminSession(api));
  ({ id: userId } = await createUser(api, tenant.key));
});
afterAll(() => service.stop());

const newFile = async () => {
  const fileId = await sendFile(api, tenant.key, userId);
  const path = `/project/users/${userId}/files/${fileId}`;
  const change = (body: object, etag: string, as = tenant.key) =>
    api.call('PUT', path, { as, body, headers: { 'if-match': etag } });
  const remove = (etag: string, as = tenant.key) =>
    api.call('DELETE', path, { as, headers: { 'if-match': etag } });
  const etag = async () => String((await api.get(path, tenant.key)).headers.etag);
  return { path, change, remove, etag };
};

test('files.read: the ETag is strong, stays while the file stays, and changes with every change', async () => {
  const { path, etag } = await newFile();
  const first = await etag();
  expect(first).toMatch(/^"[\w-]{22}"$/);
  expect(await etag()).toBe(first);
  const changed = await api.put(path, tenant.key, { metadata: { note: '"compression":' } });
  expect(changed.headers.etag).not.toBe(first);
  expect(await etag()).toBe(changed.headers.etag);
});

test('files.update: If-Match changes the version that was read and no other', async () => {
  const { path, change, etag } = await newFile();
  const first = await etag();
  const changed = await change({ folder: 'one' }, first);
  expect(changed.status, changed.text).toBe(200);
  const refused = await change({ folder: 'two' }, first);
  expect([refused.status, refused.body.error.code]).toEqual([412, 'PRECONDITION_FAILED']);
  expect(refused.body.error.details.etag).toBe(changed.headers.etag);
  expect((await api.get(path, tenant.key)).body.file.folder).toBe('one');
  expect((await change({ folder: 'two' }, `"other", ${await etag()}`)).status).toBe(200);
  expect((await change({ folder: 'three' }, '*')).status).toBe(200);
  expect((await change({ folder: 'four' }, `W/${await etag()}`)).status).toBe(412);
});

test('files.update: of 20 concurrent changes of the same version, one is made', async () => {
  const { change, etag } = await newFile();
  const read = await etag();
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, nth) => change({ folder: `folder-${nth}` }, read)),
  );
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(replies.filter(({ status }) => status === 412)).toHaveLength(19);
});

test('files.delete: If-Match deletes the version that was read and no other', async () => {
  const { path, change, remove, etag } = await newFile();
  const first = await etag();
  await change({ folder: 'changed' }, first);
  expect((await remove(first)).status).toBe(412);
  expect((await api.get(path, tenant.key)).status).toBe(200);
  expect((await remove(await etag())).status).toBe(204);
  expect((await remove('*')).status).toBe(404);
});

test('files.update, files.delete: what the caller may not see is 404, whatever If-Match says', async () => {
  const { change, remove } = await newFile();
  const other = await createTenant(api, await adminSession(api));
  expect((await change({ folder: 'x' }, '"wrong"', other.key)).status).toBe(404);
  expect((await remove('"wrong"', other.key)).status).toBe(404);
  const { token } = await mintToken(api, tenant.key, (await createUser(api, tenant.key)).id);
  expect((await change({ folder: 'x' }, '"wrong"', token)).status).toBe(404);
});
