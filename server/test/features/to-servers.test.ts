// Moves from the embedded defaults to a PostgreSQL server and an S3 store, as docs/from-embedded-to-servers.md
// describes it: with the commands of the built product and psql, while the service runs.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { type Api, apiOf } from '../support/api.ts';
import { bytesOf, sha256 } from '../support/bytes.ts';
import { dropDatabase, onServer, rowsOf, withDatabase } from '../support/database.ts';
import { dist } from '../support/dist.ts';
import { picture } from '../support/image-files.ts';
import { adminPassword } from '../support/pakhus.ts';
import { type PakhusProcess, startProcess } from '../support/process.ts';
import { until } from '../support/processes.ts';
import { makeBuckets, testS3Server } from '../support/s3-server.ts';
import { adminSession, createTenant, createUser, mintToken, sessionOf } from '../support/tenants.ts';
import { contentTypeOf, formOf, partsOf, upload } from '../support/uploads.ts';

const server = process.env.TEST_POSTGRES_URL ?? '';
const s3 = testS3Server();
if (!server || !s3)
  console.log('SKIPPED from embedded to servers: TEST_POSTGRES_URL or TEST_S3_ENDPOINT is not set');

const run = promisify(execFile);
const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'pakhus-move-'));
  cleanUps.push(() => rm(made, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 }));
  return made;
}

async function started(environment: Record<string, string>): Promise<PakhusProcess & { api: Api }> {
  const started = await startProcess({ ADMIN_PASSWORD: adminPassword, ...environment });
  cleanUps.push(() => started.kill());
  return { ...started, api: apiOf(started.baseUrl) };
}

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const outcomeOf = (running: Promise<{ stdout: string; stderr: string }>): Promise<Outcome> =>
  running.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );

const pakhus = (words: readonly string[], environment: Record<string, string>): Promise<Outcome> =>
  outcomeOf(
    run(process.execPath, [join(dist, 'main.js'), ...words], {
      env: { PATH: process.env.PATH ?? '', LOG_LEVEL: 'silent', ...environment },
      maxBuffer: 1 << 28,
    }),
  );

async function exported(environment: Record<string, string>): Promise<string> {
  const file = join(await folder(), 'pakhus.sql');
  const { code, stderr } = await pakhus(['admin', 'export-database', '--file', file], environment);
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^Exported \d+ rows of \d+ tables\.\n$/)]);
  return file;
}

async function emptyDatabase(): Promise<string> {
  const name = `pakhus_move_${randomBytes(6).toString('hex')}`;
  await onServer(server, `create database ${name} template template0`);
  cleanUps.push(() => dropDatabase(server, name));
  return withDatabase(server, name);
}

const load = (file: string, url: string): Promise<Outcome> =>
  outcomeOf(run('psql', ['--no-psqlrc', `--file=${file}`, url]));

async function bucketsOf(): Promise<Record<string, string>> {
  if (!s3) throw new Error('no S3 server');
  const buckets = await makeBuckets(s3);
  cleanUps.push(() => buckets.remove());
  return {
    S3_ENDPOINT: s3.endpoint,
    S3_BUCKET: buckets.bucket,
    S3_PUBLIC_BUCKET: buckets.publicBucket,
    S3_ACCESS_KEY_ID: s3.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    S3_FORCE_PATH_STYLE: 'true',
  };
}

interface Download {
  readonly digest: string;
  readonly type: string | null;
}

async function download(api: Api, at: string, key: string): Promise<Download> {
  const { file } = (await api.get(at, key)).body;
  const response = await fetch(file.url);
  expect(response.status, file.url).toBe(200);
  return {
    digest: sha256(Buffer.from(await response.arrayBuffer())),
    type: response.headers.get('content-type'),
  };
}

async function sendImage(api: Api, key: string, path: string, width: number): Promise<string> {
  const bytes = await picture(width, 200).jpeg().toBuffer();
  const reply = await api.call('POST', `${path}/images`, {
    as: key,
    raw: formOf(partsOf(bytes, { name: 'photo.jpg', type: 'image/jpeg', fileField: 'image' })),
    headers: { 'content-type': contentTypeOf() },
  });
  expect(reply.status, reply.text).toBe(202);
  return reply.body.job_id;
}

const isDone = (api: Api, key: string, job: string) =>
  until(`job ${job} is done`, async () => {
    const { body } = await api.get(`/project/jobs/${job}`, key);
    return body.status === 'done' && (body.file_id as string);
  });

/** The rows that COPY loads, in any order. */
const dataIn = async (file: string): Promise<string[]> =>
  (await readFile(file, 'utf8'))
    .split('\n')
    .filter((line) => line.includes('\t'))
    .sort();

/** A text that needs every escape of COPY. */
const notes = ['plain.txt', 'tab\there.txt', 'back\\slash \\N \\. .txt', 'quote\'s "é" 漢字 🚢.txt'];

describe.skipIf(!server || !s3)('from embedded to servers', () => {
  test('an export made while the service runs brings every file, session, token and waiting job to the servers', async () => {
    const dataDir = await folder();
    const embedded = { DATA_DIR: dataDir };
    const first = await started(embedded);
    const admin = await adminSession(first.api);
    const tenant = await createTenant(first.api, admin);
    const { key } = tenant;
    const path = `/project/users/${(await createUser(first.api, key)).id}`;
    const session = await sessionOf(first.api, tenant.email, tenant.password);
    const { token } = await mintToken(first.api, key, path.slice('/project/users/'.length));
    const ids: string[] = [];
    for (const [nth, note] of notes.entries()) {
      const visibility = nth % 2 === 0 ? 'private' : 'public';
      const meta = {
        folder: 'a/b',
        tags: ['x', 'y z'],
        metadata: { note: `line\n${note}\r\n\t\\` },
        visibility,
      };
      const reply = await upload(first.api, key, path, bytesOf(1000 + nth, nth), {
        name: `${nth}.txt`,
        meta,
      });
      expect(reply.status, reply.text).toBe(201);
      ids.push(reply.body.file.id);
    }
    const large = await upload(first.api, key, path, bytesOf(12 << 20, 7));
    ids.push(large.body.file.id, await isDone(first.api, key, await sendImage(first.api, key, path, 640)));
    const doomed = (await upload(first.api, key, path, 'will be deleted')).body.file.id;
    expect(await first.stop()).toBe(0);

    // Without a worker, so that one job is still waiting.
    const second = await started({ ...embedded, ROLE: 'api' });
    const job = await sendImage(second.api, key, path, 500);
    const before = new Map<string, Download>();
    for (const id of ids) before.set(id, await download(second.api, `${path}/files/${id}`, key));
    const s3Settings = await bucketsOf();
    const early = await pakhus(['admin', 'copy-objects'], { ...embedded, ...s3Settings });
    expect(early).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('8 objects copied') });
    expect((await second.api.delete(`${path}/files/${doomed}`, key)).status).toBe(204);
    const late = (await upload(second.api, key, path, bytesOf(77, 9))).body.file.id;
    before.set(late, await download(second.api, `${path}/files/${late}`, key));
    const listed = async (api: Api) =>
      (await api.get(`${path}/files?limit=100`, key)).body.files.map((one: { url: string }) => ({
        ...one,
        url: '',
        url_expires_at: '',
        // The worker on the servers may have started already.
        compression: '',
      }));
    const listedBefore = await listed(second.api);
    const file = await exported(embedded);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const printed = await pakhus(['admin', 'export-database'], embedded);
    expect(printed.code, printed.stderr).toBe(0);
    expect(printed.stdout.endsWith('tables.\n')).toBe(true);
    const again = await pakhus(['admin', 'copy-objects'], { ...embedded, ...s3Settings });
    expect(again.stdout).toContain('1 objects copied and read back, 7 were there already');
    expect(await second.stop()).toBe(0);

    const url = await emptyDatabase();
    expect(await load(file, url)).toMatchObject({ code: 0, stderr: '' });
    // An export of the new server has the same rows as the export that was loaded.
    expect(await dataIn(await exported({ DATABASE_URL: url }))).toEqual(await dataIn(file));
    expect((await load(file, url)).stderr).toContain('the database is not empty');

    const JWT_SECRET = (await readFile(join(dataDir, 'secrets', 'jwt'), 'utf8')).trim();
    const moved = await started({ DATABASE_URL: url, DATA_DIR: await folder(), JWT_SECRET, ...s3Settings });
    for (const [id, expected] of before)
      expect(await download(moved.api, `${path}/files/${id}`, key), id).toEqual(expected);
    expect(await listed(moved.api)).toEqual(listedBefore);
    expect((await moved.api.get('/auth/me', session)).status).toBe(200);
    expect((await moved.api.get(`${path}/files`, token)).status).toBe(200);
    await isDone(moved.api, key, job);
    expect((await upload(moved.api, key, path, 'one more')).status).toBe(201);
    const [counted] = await rowsOf(
      url,
      `select u.file_count = count(f.id) as files, u.used_bytes = sum(f.size) as bytes
       from users u join files f on f.user_id = u.id group by u.id`,
    );
    expect(counted).toEqual({ files: true, bytes: true });
  });

  test('an export under load is a consistent snapshot', async () => {
    const embedded = { DATA_DIR: await folder() };
    const service = await started(embedded);
    const { key } = await createTenant(service.api, await adminSession(service.api));
    const path = `/project/users/${(await createUser(service.api, key)).id}`;
    let [stored, over] = [0, false];
    const client = async () => {
      while (!over) {
        expect((await upload(service.api, key, path, bytesOf(100 + stored))).status).toBe(201);
        stored += 1;
      }
    };
    const working = Promise.all([client(), client(), client()]);
    await until('some files', async () => stored > 20);
    const confirmed = stored;
    const file = await exported(embedded);
    over = true;
    await working;
    const url = await emptyDatabase();
    expect(await load(file, url)).toMatchObject({ code: 0, stderr: '' });
    const [row] = await rowsOf<{ n: number; files: boolean; bytes: boolean; audited: boolean }>(
      url,
      `select count(f.id)::int as n, u.file_count = count(f.id) as files, u.used_bytes = sum(f.size) as bytes,
         (select count(*) from audit_logs where action = 'file.upload') = count(f.id) as audited
       from users u join files f on f.user_id = u.id group by u.id`,
    );
    expect(row).toMatchObject({ files: true, bytes: true, audited: true });
    expect(row?.n).toBeGreaterThanOrEqual(confirmed);
  });

  test('missing or damaged objects on disk are reported, and the others are copied', async () => {
    const dataDir = await folder();
    const service = await started({ DATA_DIR: dataDir });
    const { id: project, key } = await createTenant(service.api, await adminSession(service.api));
    const path = `/project/users/${(await createUser(service.api, key)).id}`;
    const ids: string[] = [];
    for (const text of ['good', 'damaged', 'missing'])
      ids.push((await upload(service.api, key, path, text)).body.file.id);
    expect(await service.stop()).toBe(0);
    const shards = await readdir(join(dataDir, 'objects/private'), { recursive: true });
    const pathOf = (id = '') =>
      join(dataDir, 'objects/private', shards.find((name) => name.endsWith(`${project}+${id}`)) ?? 'none');
    await writeFile(pathOf(ids[1]), 'DAMAGED');
    await unlink(pathOf(ids[2]));
    const settings = { DATA_DIR: dataDir, ...(await bucketsOf()) };
    const { code, stdout, stderr } = await pakhus(['admin', 'copy-objects'], settings);
    expect([code, stdout]).toEqual([
      1,
      'Done: 1 objects copied and read back, 0 were there already, 0 deleted meanwhile, 2 failed\n',
    ]);
    expect(stderr).toContain(`The file ${ids[1]} was not copied: its object on the disk is damaged`);
    expect(stderr).toContain(`The file ${ids[2]} was not copied: its object is not on the disk`);
    // A copy with wrong bytes is written again.
    await writeFile(pathOf(ids[1]), 'damaged');
    await writeFile(pathOf(ids[2]), 'missing');
    const mended = await pakhus(['admin', 'copy-objects'], settings);
    expect([mended.code, mended.stdout]).toEqual([0, expect.stringContaining('2 objects copied')]);
  });
});

test('export-database: an existing file is never overwritten, and a failed export leaves no file', async () => {
  const dataDir = await folder();
  const file = join(dataDir, 'there.sql');
  const service = await started({ DATA_DIR: dataDir });
  await writeFile(file, 'mine');
  const kept = await pakhus(['admin', 'export-database', '--file', file], { DATA_DIR: dataDir });
  expect([kept.code, kept.stderr]).toEqual([1, `${file} exists already: name another file\n`]);
  expect(await readFile(file, 'utf8')).toBe('mine');
  const nowhere = join(dataDir, 'no/folder/x.sql');
  const failed = await pakhus(['admin', 'export-database', '--file', nowhere], { DATA_DIR: dataDir });
  expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining('ENOENT')]);
  const noStore = await pakhus(['admin', 'copy-objects'], { DATA_DIR: dataDir });
  expect([noStore.code, noStore.stderr]).toEqual([1, expect.stringContaining('S3_BUCKET is not set')]);
  const stray = await pakhus(['admin', 'copy-objects', '--file', 'x'], { DATA_DIR: dataDir });
  expect([stray.code, stray.stderr]).toEqual([2, expect.stringContaining('has no option --file')]);
  expect(await service.stop()).toBe(0);
  // While the service is stopped, the command starts and stops the database itself.
  const cold = await pakhus(['admin', 'export-database'], { DATA_DIR: dataDir });
  expect([cold.code, cold.stdout.includes('commit;\n')]).toEqual([0, true]);
  await started({ DATA_DIR: dataDir });
});
