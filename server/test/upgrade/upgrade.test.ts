// A database that an earlier release has filled is carried over: its files, keys, quotas and unfinished business.
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { schemaText } from '../../scripts/schema.mjs';
import { sha256 } from '../support/bytes.ts';
import { dropDatabase, onServer, rowsOf, withDatabase } from '../support/database.ts';
import { expectBalanced, objectsOf, reapAll } from '../support/ledger.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { until } from '../support/processes.ts';
import { adminSession, sessionOf } from '../support/tenants.ts';
import { upload } from '../support/uploads.ts';

const inFolder = (name: string) => fileURLToPath(new URL(`0.1.0-dev/${name}`, import.meta.url));
const schemaFile = fileURLToPath(new URL('../../db/schema.sql', import.meta.url));

const facts = JSON.parse(await readFile(inFolder('facts.json'), 'utf8'));
const name = `pakhus_upgrade_${randomBytes(6).toString('hex')}`;
const url = withDatabase(inject('databaseServer'), name);
let dataDir: string;
let service: TestPakhus;

beforeAll(async () => {
  await onServer(inject('databaseServer'), `create database ${name} template template0`);
  await onServer(url, `${await readFile(inFolder('database.sql'), 'utf8')}; reset search_path`);
  dataDir = await mkdtemp(join(tmpdir(), 'pakhus-upgrade-'));
  await writeObjects();
  service = { ...(await startTestPakhus({ DATABASE_URL: url, DATA_DIR: dataDir })), databaseUrl: url };
});
afterAll(async () => {
  await service.stop();
  await dropDatabase(inject('databaseServer'), name);
  await rm(dataDir, { recursive: true, force: true });
});

async function writeObjects(): Promise<void> {
  const write = async (path: string, bytes: Buffer) => {
    const file = join(dataDir, 'objects', path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, bytes);
  };
  for (const [path, bytes] of Object.entries<string>(facts.objects))
    await write(path, Buffer.from(bytes, 'base64'));
  await write(facts.largeObject, Buffer.alloc(300_000, 'pakhus '));
  await write(facts.unfinished, Buffer.alloc(524_288, 'x'));
}

test('the schema is the one that a new installation gets', async () => {
  const made = await schemaText((statement) => rowsOf(url, statement));
  expect(made).toBe(await readFile(schemaFile, 'utf8'));
});

test('every file keeps its metadata and its bytes', async () => {
  for (const [what, file] of Object.entries<Record<string, string>>(facts.files)) {
    const key = what === 'other' ? facts.otherKey : facts.key;
    const { body } = await service.api.get(`/project/users/${file.user_id}/files/${file.id}`, key);
    expect(body.file, what).toMatchObject(file);
    const bytes = Buffer.from(await (await fetch(body.file.url)).arrayBuffer());
    if (!body.file.compression) expect(sha256(bytes), what).toBe(file.sha256);
  }
});

test('an image that was waiting is compressed', async () => {
  const { id, user_id } = facts.files.waiting;
  await until('the image is compressed', async () => {
    const { body } = await service.api.get(`/project/users/${user_id}/files/${id}`, facts.key);
    return body.file.compression?.status === 'done';
  });
});

test('keys, accounts, spaces and quotas work as before', async () => {
  await adminSession(service.api);
  await sessionOf(service.api, 'owner@example.com', 'a password of a tenant');
  const at = `/project/users/${facts.annaId}`;
  expect((await service.api.get(`${at}/files`, facts.integrationKey)).status).toBe(200);
  expect((await service.api.get(`${at}/files`, facts.otherKey)).status).toBe(404);
  const made = await upload(service.api, facts.key, at, 'after the upgrade', {
    meta: { space_id: facts.spaceId },
  });
  expect(made.status, made.text).toBe(201);
  expect((await service.api.delete(`${at}/files/${facts.files.text.id}`, facts.key)).status).toBe(204);
  const shown = await service.api.put(`${at}/files/${facts.files.large.id}`, facts.key, {
    visibility: 'public',
  });
  expect(shown.status).toBe(200);
});

test('unfinished deletions and uploads are settled, and no other object is touched', async () => {
  await reapAll(service);
  await expectBalanced(service, facts.projectId);
  expect((await objectsOf(service)).join()).not.toContain(facts.goneId);
});
