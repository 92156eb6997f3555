// Waits for a service, uploads a file as a tenant would, and reads it back.
//   node .ci/image-upload.mjs http://127.0.0.1:3000/api/v1 ADMIN-PASSWORD
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';

const [base, password] = process.argv.slice(2);

async function untilHealthy() {
  const giveUpAt = Date.now() + 60_000;
  for (;;) {
    const answer = await fetch(`${base}/health`).catch(() => null);
    if (answer?.ok) return;
    if (Date.now() > giveUpAt) throw new Error('The service did not become healthy within 60 s');
    await pause(200);
  }
}

async function post(path, token, body) {
  const isForm = body instanceof FormData;
  const answer = await fetch(`${base}${path}`, {
    method: 'POST',
    headers: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(isForm ? {} : { 'content-type': 'application/json' }),
    },
    body: isForm ? body : JSON.stringify(body),
  });
  const text = await answer.text();
  assert.ok(answer.ok, `POST ${path}: ${answer.status} ${text}`);
  return JSON.parse(text);
}

await untilHealthy();
const { token } = await post('/auth/login', null, { email: 'admin@pakhus.local', password });
const tenant = { name: 'Harbour', email: 'owner@example.com', password: 'correct horse' };
const { api_key: key } = await post('/admin/projects', token, tenant);
await post('/project/users', key, { externalId: 'anna' });
const bytes = Buffer.alloc(1_000_000, 'pakhus');
const form = new FormData();
form.set('file', new Blob([bytes]), 'a.bin');
const { file } = await post('/project/users/ext/anna/files', key, form);
const back = await fetch(file.url);
assert.deepEqual(Buffer.from(await back.arrayBuffer()), bytes);
const page = await (await fetch(new URL('/console/', base))).text();
assert.match(page, /console\/assets\//, 'The image serves no console');
