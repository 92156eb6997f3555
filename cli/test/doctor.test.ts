// pakhus doctor, beside a running service and on parts that fail.
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ListObjectsV2Command, PutBucketCorsCommand } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { createDiskStore } from '../../server/src/platform/objects/disk/disk-store.ts';
import { dropDatabase, onServer, withDatabase } from '../../server/test/support/database.ts';
import { type MailServer, startMailServer } from '../../server/test/support/mail.ts';
import { startTestPakhus, type TestPakhus } from '../../server/test/support/pakhus.ts';
import { freePort } from '../../server/test/support/ports.ts';
import { makeBuckets, type S3Buckets, testS3Server } from '../../server/test/support/s3-server.ts';
import type { Finding } from '../src/server.ts';
import { pakhus, pakhusHere } from './support/command.ts';

let folder: string;
/** A port on which nobody listens. */
let free: number;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pakhus-doctor-'));
  free = await freePort();
});
afterEach(() => rm(folder, { recursive: true, force: true }));

interface Diagnosis {
  readonly code: number | null;
  readonly findings: readonly Finding[];
  readonly text: string;
  /** The findings of a part that are not simply fine. */
  concerns(part: string): string[];
}

/** True of the database that all tests share. */
const withoutFsync = 'fsync is off: a power cut can lose confirmed files';

async function examine(env: Record<string, string>, words = ''): Promise<Diagnosis> {
  const variables = { DATA_DIR: folder, PORT: String(free), ...env };
  const { code, out, err } = await pakhusHere(`doctor --json ${words}`, { env: variables });
  expect(err).toBe('');
  const findings = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Finding)
    .filter(({ message }) => message !== withoutFsync);
  return {
    code,
    findings,
    text: out,
    concerns: (part) =>
      findings
        .filter((finding) => finding.part === part && finding.status !== 'ok')
        .map(({ status, message, advice = '' }) => `${status}: ${message}: ${advice}`),
  };
}

const allFiles = async (root: string): Promise<string[]> =>
  (await readdir(root, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

describe('on the embedded defaults', () => {
  test('before the first start nothing fails, and nothing is created', async () => {
    const { code, findings } = await examine({ DATA_DIR: join(folder, 'none') });
    expect(code).toBe(0);
    expect(findings.filter(({ status }) => status === 'failed')).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
  });

  test('people get one line for each finding', async () => {
    const { code, out, err } = await pakhus('doctor', { env: { DATA_DIR: folder, PORT: String(free) } });
    expect(code).toBe(0);
    expect(out).toMatch(/^skipped {2}database {6} embedded, not created yet/m);
    expect(err).toMatch(/^0 failed, /);
  });

  test('the disk is used as the service does, and left as it was', async () => {
    const { findings } = await examine({});
    const store = findings.filter(({ part }) => part === 'store');
    expect(store.map(({ status }) => status)).toEqual(store.map(() => 'ok'));
    expect(store.map(({ message }) => message)).toContain('an object can be written in parts');
    expect(await allFiles(folder)).toEqual([]);
  });

  test('what a run that was killed has left behind is removed, but not what another run is using', async () => {
    const store = createDiskStore({
      root: join(folder, 'objects'),
      signingSecret: 'none',
      urlPath: '/',
      clock: Date.now,
    });
    const noProject = '00000000-0000-0000-0000-000000000000';
    const meta = { contentType: 'text/plain', contentDisposition: 'attachment' };
    for (const name of ['old', 'new', 'other'])
      await store.put(
        'private',
        `${name === 'other' ? 'a-project' : noProject}/${name}`,
        Buffer.from(name),
        meta,
      );
    const longAgo = new Date(Date.now() - 7_200_000);
    for (const path of await readdir(join(folder, 'objects/private'), { recursive: true }))
      if (/old|other/.test(path)) await utimes(join(folder, 'objects/private', path), longAgo, longAgo);
    expect((await examine({})).concerns('store')).toEqual([]);
    const left: string[] = [];
    for await (const key of store.list('private')) left.push(key);
    expect(left.sort()).toEqual([`${noProject}/new`, 'a-project/other']);
  });

  test('a disk that cannot be used fails', async () => {
    await writeFile(join(folder, 'objects'), '');
    const blocked = await examine({});
    expect(blocked.code).toBe(1);
    expect(blocked.concerns('store')).toEqual([expect.stringMatching(/^failed: .*DATA_DIR/)]);
    const full = await examine({ DISK_FREE_BYTES_MIN: String(2 ** 52) });
    expect(full.concerns('machine')).toEqual([expect.stringMatching(/^failed: .*uploads are refused/)]);
  });

  test('every mistake of the configuration is a finding', async () => {
    const { code, findings } = await examine({ PORT: 'x', JWT_SECRET: 'short' });
    expect(code).toBe(1);
    expect(findings.map(({ part, status }) => `${part} ${status}`)).toEqual(
      Array(2).fill('configuration failed'),
    );
  });
});

describe('beside a running service', () => {
  let service: TestPakhus;
  let mail: MailServer;
  beforeAll(async () => {
    service = await startTestPakhus();
    mail = await startMailServer();
  });
  afterAll(async () => {
    await service.stop();
    await mail.stop();
  });
  const settings = () => ({
    DATABASE_URL: service.databaseUrl,
    DATA_DIR: service.dataDir,
    PORT: new URL(service.baseUrl).port,
    PUBLIC_URL: new URL(service.baseUrl).origin,
    TRUST_PROXY_HOPS: '0',
    JWT_SECRET: 'a secret that only this test knows about',
    SMTP_URL: mail.url,
  });

  test('everything is fine, and a test mail is sent when asked for', async () => {
    const { code, findings, text } = await examine(settings(), '--mail-to anna@example.com');
    expect(findings.filter(({ status }) => status === 'failed' || status === 'warning')).toEqual([]);
    expect(code).toBe(0);
    expect(text).toContain('its schema is that of this release');
    expect(text).toContain(withoutFsync);
    expect(text).toContain('PUBLIC_URL leads to a Pakhus of version');
    expect(mail.mails.map(({ to }) => to?.[0]?.address)).toEqual(['anna@example.com']);
    await examine(settings());
    expect(mail.mails).toHaveLength(1);
  });

  test('a proxy that the variables do not mention is suspected', async () => {
    const { PUBLIC_URL } = settings();
    const unset = await examine({ ...settings(), TRUST_PROXY_HOPS: '' });
    expect(unset.concerns('service')).toEqual([expect.stringContaining('can forge their address')]);
    const needless = await examine({ ...settings(), TRUST_PROXY_HOPS: '1' });
    expect(needless.concerns('service')).toEqual([expect.stringContaining('set it to 0')]);
    const elsewhere = await examine({
      ...settings(),
      PUBLIC_URL: PUBLIC_URL.replace('127.0.0.1', 'localhost'),
    });
    expect(elsewhere.concerns('service').at(-1)).toContain('all clients would share its address');
  });

  test('a database of a newer release, and one that is behind, are told apart', async () => {
    const ask = async () => (await examine(settings())).concerns('database');
    await onServer(service.databaseUrl, `insert into migrations (name) values ('9999_future.sql')`);
    expect(await ask()).toEqual([expect.stringMatching(/^failed: a newer release .*9999_future/)]);
    await onServer(service.databaseUrl, `delete from migrations where name = '9999_future.sql'`);
    await onServer(
      service.databaseUrl,
      `update applied_functions set sha256 = 'x' where name = 'store_file.sql'`,
    );
    expect(await ask()).toEqual([expect.stringMatching(/^warning: 1 changes .*store_file\.sql/)]);
  });

  test('what does not answer fails, with what to do and without a password', async () => {
    const down = `127.0.0.1:${free}`;
    const { code, concerns, text } = await examine({
      ...settings(),
      DATABASE_URL: `postgres://anna:hunter2@${down}/x`,
      REDIS_URL: `redis://anna:hunter2@${down}`,
      SMTP_URL: `smtp://anna:hunter2@${down}`,
      PUBLIC_URL: `http://${down}`,
    });
    expect(code).toBe(1);
    expect(concerns('database')).toEqual([expect.stringMatching(/^failed: .*ECONNREFUSED.*DATABASE_URL/)]);
    expect(concerns('redis')).toEqual([expect.stringMatching(/^failed: .*ECONNREFUSED.*REDIS_URL/)]);
    expect(concerns('mail')).toEqual([expect.stringMatching(/^failed: .*ECONNREFUSED.*SMTP_URL/)]);
    expect(concerns('service')[0]).toMatch(/^failed: PUBLIC_URL does not lead to this service/);
    expect(text).not.toContain('hunter2');
  });

  test('a mail server that refuses everybody fails', async () => {
    const refusing = createServer((socket) => socket.end('554 hunter2 go away\r\n'));
    await new Promise<void>((resolve) => refusing.listen(free, '127.0.0.1', resolve));
    try {
      const url = `smtp://anna:hunter2@127.0.0.1:${free}`;
      const { concerns } = await examine({ ...settings(), SMTP_URL: url });
      expect(concerns('mail')).toEqual([expect.stringMatching(/^failed: .*554 \[cut\] go away/)]);
    } finally {
      await new Promise((resolve) => refusing.close(resolve));
    }
  });
});

test('a login that cannot create tables fails, with what to do', async () => {
  const server = inject('databaseServer');
  const database = `pakhus_doctor_${process.pid}`;
  await onServer(server, `create database ${database}`);
  await onServer(server, `alter database ${database} set search_path = nowhere`);
  try {
    const { concerns } = await examine({ DATABASE_URL: withDatabase(server, database) });
    expect(concerns('database')).toEqual([
      expect.stringMatching(/^failed: the login may not use any schema of the search_path.*owner/),
    ]);
  } finally {
    await dropDatabase(server, database);
  }
});

const s3 = testS3Server();
describe.skipIf(!s3)('on S3', () => {
  let buckets: S3Buckets;
  beforeAll(async () => {
    if (s3) buckets = await makeBuckets(s3);
  });
  afterAll(() => buckets.remove());
  const settings = () => ({
    S3_ENDPOINT: s3?.endpoint ?? '',
    S3_BUCKET: buckets.bucket,
    S3_PUBLIC_BUCKET: buckets.publicBucket,
    S3_ACCESS_KEY_ID: s3?.accessKeyId ?? '',
    S3_SECRET_ACCESS_KEY: s3?.secretAccessKey ?? '',
    S3_FORCE_PATH_STYLE: 'true',
  });

  test('every use of the buckets is checked, nothing stays, and a missing CORS rule is a warning', async () => {
    const { code, concerns, text } = await examine(settings());
    expect(code).toBe(0);
    expect(concerns('store')).toEqual([expect.stringMatching(/^warning: .*allow PUT from .*expose ETag/)]);
    for (const sentence of ['a download URL works', 'written in parts', 'can be copied', 'its clock agrees'])
      expect(text).toContain(sentence);
    for (const Bucket of [buckets.bucket, buckets.publicBucket])
      expect((await buckets.sdk.send(new ListObjectsV2Command({ Bucket }))).KeyCount).toBe(0);
    expect(await buckets.unfinishedUploads()).toBe(0);
  });

  test('a CORS rule that lets pages upload is recognised', async () => {
    const rule = {
      AllowedOrigins: ['https://app.example.com'],
      AllowedMethods: ['PUT'],
      AllowedHeaders: ['*'],
      ExposeHeaders: ['ETag'],
    };
    await buckets.sdk.send(
      new PutBucketCorsCommand({ Bucket: buckets.bucket, CORSConfiguration: { CORSRules: [rule] } }),
    );
    expect((await examine(settings())).concerns('store')).toEqual([]);
    const other = await examine(settings(), '--origin https://other.example.com');
    expect(other.concerns('store')).toEqual([
      expect.stringContaining('allow PUT from https://other.example.com'),
    ]);
  });

  test('a wrong secret and a missing bucket fail, each with its reason', async () => {
    const secret = await examine({ ...settings(), S3_SECRET_ACCESS_KEY: 'hunter2' });
    expect(secret.code).toBe(1);
    expect(secret.concerns('store')).toEqual([
      expect.stringMatching(/^failed: .*refused to these credentials/),
    ]);
    expect(secret.text).not.toContain('hunter2');
    const bucket = await examine({ ...settings(), S3_BUCKET: 'no-such-bucket' });
    expect(bucket.concerns('store')).toEqual([expect.stringMatching(/^failed: .*does not exist/)]);
  });
});

const redisUrl = process.env.TEST_REDIS_URL;
test.skipIf(!redisUrl)(
  'Redis is asked for its version, written to and judged by its eviction policy',
  async () => {
    const { findings } = await examine({ REDIS_URL: redisUrl ?? '' });
    const redis = findings.filter(({ part }) => part === 'redis');
    expect(redis.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok']);
    expect(redis[0]?.message).toMatch(/^Redis \d/);
  },
);
