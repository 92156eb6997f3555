// How long a single request can block the event loop that all callers share: requests built to be expensive, by every
// kind of caller, and the CPU time of the main thread for each. Shows the ten most expensive.
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { mainThreadMsOf } from './support/cpu.mjs';
import { call } from './support/tenant.mjs';

export const name = 'dearest-request';
/** Lets every request claim its own client address, so that no rate limit applies. */
export const environment = { TRUST_PROXY_HOPS: '1' };

const repetitions = 5;
const shown = 10;
const msMax = 50;
/** Includes work that a request leaves for after its reply. */
const settleMs = 60;
const kib = 1024;
const mib = 1024 * 1024;

export async function run({ pakhus, tenant }) {
  const path = `/project/users/${tenant.userId}`;
  const { file } = await uploadOne(pakhus, tenant, path);
  await fillHeavyFiles(pakhus, tenant, path);
  const requests = { ...anonymous(), ...ofTenants(tenant, path, file), ...forms(tenant, path) };
  const measures = [];
  for (const [what, request] of Object.entries(requests)) {
    const bytes = bytesOf(pakhus, request);
    const costs = [];
    for (let n = 0; n <= repetitions; n++) costs.push(await costOf(pakhus, bytes));
    // A warm-up: the first request compiles code that the others use.
    const { ms, status } = costs.slice(1).sort((a, b) => a.ms - b.ms)[Math.floor(repetitions / 2)];
    measures.push({
      name: `${what} (${status})`,
      figure: ms,
      unit: 'ms of main thread',
      target: { atMost: msMax },
    });
  }
  return measures.sort((a, b) => b.figure - a.figure).slice(0, shown);
}

const json = (body) => ({ headers: { 'content-type': 'application/json' }, body });
const post = (path, body, as) => ({ method: 'POST', path, as, ...json(body) });
const put = (path, body, as) => ({ method: 'PUT', path, as, ...json(body) });
const get = (path, as, headers = {}) => ({ method: 'GET', path, as, headers, body: '' });

const names = (count, length) =>
  `{${Array.from({ length: count }, (_, n) => `"${String(n).padEnd(length, 'n')}":1`).join()}}`;
const nested = (levels) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

function anonymous() {
  const login = '/auth/login';
  return {
    'stranger: 16 KiB of names': post(login, names(1_000, 12)),
    'stranger: 16 KiB of brackets': post(login, nested(8_000)),
    'stranger: 1 MiB, too large': post(login, `{"email":"${'x'.repeat(mib)}"}`),
    'stranger: an e-mail of 16 KiB': post(login, `{"email":"${'a.'.repeat(8_000)}@","password":"x"}`),
    'stranger: 1 MB byte by byte': { ...post(login, 'x'.repeat(1_000_000)), chunkBytes: 1 },
    'stranger: 1 MB byte by byte, refused at once': {
      ...post('/project/users', 'x'.repeat(1_000_000)),
      chunkBytes: 1,
    },
    'stranger: 1 MiB in chunks of 256 bytes': { ...post(login, 'x'.repeat(mib)), chunkBytes: 256 },
    'stranger: 1,900 headers': {
      ...get('/health'),
      headers: Object.fromEntries(Array.from({ length: 1_900 }, (_, n) => [`x${n}`, '1'])),
    },
    'stranger: a cookie of 15 KiB': get('/auth/me', null, { cookie: 'a=b;'.repeat(3_800) }),
    'stranger: a path of 15 KiB': get(`/${'a/'.repeat(7_000)}`),
    'stranger: the OpenAPI document': get('/openapi.json'),
  };
}

function ofTenants({ key, admin }, path, file) {
  const at = `${path}/files/${file.id}`;
  const metadata = (text) => put(at, `{"metadata":${text}}`, key);
  const pieces = (text, bytes = mib - 200) => text.repeat(Math.floor(bytes / text.length));
  return {
    'metadata: one text of 1 MiB': metadata(`{"a":"${'x'.repeat(mib - 100)}"}`),
    'metadata: escapes of 1 MiB': metadata(`{"a":"${pieces('\\u00e9')}"}`),
    'metadata: 9,900 names in 1 MiB': metadata(names(9_900, 90)),
    'metadata: 1 MiB of distinct names': metadata(names(80_000, 8)),
    'metadata: 16 KiB of numbers': metadata(`[${pieces('1,', 16 * kib)}1]`),
    'metadata: exponents': metadata(`{"a":[${pieces('1e9,', 16 * kib)}1]}`),
    'metadata: 9,900 objects': metadata(`{"a":[${pieces('{"b":1},', 40_000)}1]}`),
    'metadata: both spellings': put(
      `${path}/plan`,
      `{"planId":${names(4_900, 90)},"plan_id":${names(4_900, 90)}}`,
      key,
    ),
    'tags: 9,900 of them': put(at, JSON.stringify({ tags: Array(9_900).fill('t') }), key),
    'spaces: 9,900 scopes': post(
      `${path}/spaces`,
      JSON.stringify({ external_id: 'x', name: 'x', scopes: Array(9_900).fill('x') }),
      key,
    ),
    'spaces: a name of 1 MiB': post(
      `${path}/spaces`,
      JSON.stringify({ external_id: 'x', name: `${'a'.repeat(mib - 100)}\u0001` }),
      key,
    ),
    'users: an external id of 1 MiB': post(
      '/project/users',
      `{"externalId":"${'.'.repeat(mib - 100)}"}`,
      key,
    ),
    'integrations: 9,900 origins': post(
      '/project/integrations',
      JSON.stringify({ corsOrigins: Array(9_900).fill('https://a.example/x') }),
      key,
    ),
    'plans: 9,900 types': post(
      '/project/plans',
      JSON.stringify({ name: 'x', maxFileSize: 1, allowedMimes: Array(9_900).fill('image/x y') }),
      key,
    ),
    'projects: an e-mail of 1 MiB': post(
      '/admin/projects',
      JSON.stringify({ name: 'x', email: `${pieces('a.', mib - 200)}@`, password: 'long enough' }),
      admin,
    ),
    'list: 100 files with 16 KiB of metadata each': get(`${path}/files?limit=100`, key),
    'list: 14 KiB of tags': get(`${path}/files?tags=${'a,'.repeat(7_000)}`, key),
    'list: 14 KiB of parameters': get(`${path}/files?${'tags=a&'.repeat(2_000)}`, key),
    'audit: a page of 100': get('/project/audit?limit=100', key),
  };
}

const boundary = 'dearest';
const part = (head, value) => `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`;
const filePart = (bytes, type = 'text/plain') =>
  Buffer.concat([
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="f"\r\nContent-Type: ${type}\r\n\r\n`,
    ),
    Buffer.from(bytes),
    Buffer.from('\r\n'),
  ]);
const formEnd = Buffer.from(`--${boundary}--\r\n`);

function forms({ key }, path) {
  const form = (...parts) => ({
    method: 'POST',
    path: `${path}/files`,
    as: key,
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat([...parts.map((one) => Buffer.from(one)), formEnd]),
  });
  const times = (count, make) => Array.from({ length: count }, (_, n) => make(n));
  const tags = (bytes) => part('name="tags"', `[${'"t",'.repeat(bytes / 4)}"t"]`);
  return {
    'form: 64 fields of 64 KiB of tags': form(...times(64, () => tags(60 * kib)), filePart('x')),
    'form: four fields of tags': form(...times(4, () => tags(39_000)), filePart('x')),
    'form: 9,900 names of metadata': form(part('name="metadata"', names(6_000, 5)), filePart('x')),
    'form: 64 heads of 15 KiB': form(
      ...times(64, () => part(`name="x"; ${'a="\\"; '.repeat(2_100)}`, 'v')),
      filePart('x'),
    ),
    'form: heads full of blanks': form(
      ...times(64, () => part(`name="x";${' '.repeat(15_000)}`, 'v')),
      filePart('x'),
    ),
    'form: 8 MiB of tiny parts': form(part('name="x"', 'v').repeat(130_000), filePart('x')),
    'form: 4 MiB before the first part': form(
      Buffer.alloc(4 * mib, `\r\n--${boundary.slice(0, -1)}`),
      filePart('x'),
    ),
    'form: 4 MiB of almost boundaries': form(
      filePart(Buffer.alloc(4 * mib, `\r\n--${boundary.slice(0, -1)}`)),
    ),
    'form: 250 KiB that look like a zip': form(
      filePart(Buffer.alloc(250 * kib, 'PK\x03\x04'), 'application/zip'),
    ),
    'form: 250 KiB of XML': form(filePart(Buffer.alloc(250 * kib, '<a>'), 'image/svg+xml')),
    'form: 250 KiB of blanks': form(filePart(Buffer.alloc(250 * kib, ' '), 'text/html')),
  };
}

async function uploadOne(server, { key }, path) {
  const body = new FormData();
  body.set('file', new Blob(['x'], { type: 'text/plain' }), 'x.txt');
  const headers = { authorization: `Bearer ${key}` };
  return (await fetch(`${server.url}${path}/files`, { method: 'POST', headers, body })).json();
}

async function fillHeavyFiles(server, tenant, path) {
  const metadata = { list: Array.from({ length: 2_000 }, (_, n) => `item ${n}`).slice(0, 1_100) };
  for (let n = 0; n < 100; n++) {
    const { file } = await uploadOne(server, tenant, path);
    await call(server, 'PUT', `${path}/files/${file.id}`, { as: tenant.key, body: { metadata } });
  }
}

/** A request as bytes, with a length or in chunks of a given size. */
function bytesOf(server, { method, path, as, headers = {}, body, chunkBytes }) {
  const { host, pathname } = new URL(server.url);
  const content = Buffer.from(body);
  const lines = [
    `${method} ${pathname}${path} HTTP/1.1`,
    `Host: ${host}`,
    'Connection: close',
    `X-Forwarded-For: ${[0, 0, 0, 0].map(() => Math.floor(Math.random() * 256)).join('.')}`,
    ...(as ? [`Authorization: Bearer ${as}`] : []),
    ...Object.entries(headers).map(([field, value]) => `${field}: ${value}`),
    chunkBytes ? 'Transfer-Encoding: chunked' : `Content-Length: ${content.length}`,
  ];
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
  return Buffer.concat([head, chunkBytes ? chunked(content, chunkBytes) : content]);
}

function chunked(content, chunkBytes) {
  const text = content.toString('latin1');
  const pieces = text.match(new RegExp(`[^]{1,${chunkBytes}}`, 'g')) ?? [];
  const chunks = pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`);
  return Buffer.from(`${chunks.join('')}0\r\n\r\n`, 'latin1');
}

/** The cost of one request, from the first byte until all its work is done. */
async function costOf(server, bytes) {
  const { hostname, port } = new URL(server.url);
  await delay(settleMs);
  const before = mainThreadMsOf(server.pid);
  const status = await new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.on('data', (chunk) => {
      text += text.length < 100 ? chunk.toString('latin1') : '';
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(/^HTTP\/1.1 (\d+)/.exec(text)?.[1] ?? 'cut off'));
    socket.write(bytes);
  });
  await delay(settleMs);
  return { ms: mainThreadMsOf(server.pid) - before, status };
}
