import { setTimeout as pause } from 'node:timers/promises';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AuditStamp } from '../../src/contract/audit.ts';
import { moveMisplaced } from '../../src/features/files/files.move.ts';
import { compressImage } from '../../src/features/images/images.compress.ts';
import { markDone } from '../../src/features/images/images.sql.ts';
import { sha256 } from '../../src/kernel/crypto/secret.ts';
import type { ImageRecipe } from '../../src/kernel/media/image-recipe.ts';
import type { Api, Reply } from '../support/api.ts';
import { repetitions } from '../support/bounds.ts';
import { rowsOf } from '../support/database.ts';
import { hostileImages } from '../support/hostile-images.ts';
import { picture } from '../support/image-files.ts';
import { expectBalanced, never, reapAll } from '../support/ledger.ts';
import { startTestPakhus, type TestPakhus, testSecrets } from '../support/pakhus.ts';
import { startProcess } from '../support/process.ts';
import { childrenOf, isGone, until } from '../support/processes.ts';
import {
  adminSession,
  createPlan,
  createTenant,
  createUser,
  mintToken,
  type Tenant,
} from '../support/tenants.ts';
import { contentTypeOf, formOf, partsOf } from '../support/uploads.ts';

let service: TestPakhus;
let admin: string;
let tenant: Tenant;
let user: { id: string; externalId: string };

beforeAll(async () => {
  service = await startTestPakhus({ IMAGE_TIMEOUT_SECONDS: '8' });
  admin = await adminSession(service.api);
  tenant = await createTenant(service.api, admin);
  user = await createUser(service.api, tenant.key);
});
afterAll(() => service.stop());

function send(
  api: Api,
  as: string,
  path: string,
  bytes: Buffer,
  fields: Record<string, string> = {},
  type = 'image/jpeg',
): Promise<Reply> {
  return api.call('POST', path, {
    as,
    raw: formOf(partsOf(bytes, { name: 'photo.jpg', type, fields, fileField: 'image' })),
    headers: { 'content-type': contentTypeOf() },
  });
}

const imagesOf = (userId: string) => `/project/users/${userId}/images`;

async function settled(api: Api, as: string, jobId: string): Promise<Reply['body']> {
  return until(`job ${jobId} to end`, async () => {
    const { body } = await api.get(`/project/jobs/${jobId}`, as);
    return ['done', 'failed'].includes(body.status) ? body : undefined;
  });
}

async function delivered(fileId: string): Promise<{ bytes: Buffer; type: string | null }> {
  const { body } = await service.api.get(`/project/users/${user.id}/files/${fileId}`, tenant.key);
  const response = await fetch(body.file.url);
  return { bytes: Buffer.from(await response.arrayBuffer()), type: response.headers.get('content-type') };
}

const photo = (width: number, height: number) => picture(width, height).jpeg().toBuffer();

describe('images.upload', () => {
  const cases = [
    { fields: {}, format: 'webp', width: 1200, height: 800 },
    { fields: { preset: 'thumbnail' }, format: 'webp', width: 150, height: 100 },
    { fields: { preset: 'medium' }, format: 'webp', width: 800, height: 533 },
    { fields: { preset: 'large' }, format: 'webp', width: 1200, height: 800 },
    { fields: { preset: 'original', format: 'png' }, format: 'png', width: 1200, height: 800 },
    { fields: { preset: 'thumbnail', width: '300' }, format: 'webp', width: 225, height: 150 },
    { fields: { format: 'jpeg', quality: '40', height: '80' }, format: 'jpeg', width: 120, height: 80 },
    { fields: { format: 'avif', width: '60' }, format: 'avif', width: 60, height: 40 },
    { fields: { width: '5000' }, format: 'webp', width: 1200, height: 800 },
  ];
  test.each(cases)('$fields gives $format of $width × $height', async ({ fields, format, width, height }) => {
    const original = await photo(1200, 800);
    const accepted = await send(service.api, tenant.key, imagesOf(user.id), original, fields);
    expect(accepted.status, accepted.text).toBe(202);
    const job = await settled(service.api, tenant.key, accepted.body.job_id);
    expect(job).toMatchObject({
      status: 'done',
      file_id: accepted.body.file_id,
      original_size: original.length,
      format,
      width,
      height,
    });
    const { bytes, type } = await delivered(accepted.body.file_id);
    expect(bytes.length).toBe(job.compressed_size);
    expect(job.compression_ratio).toBeCloseTo(original.length / bytes.length, 1);
    expect(type).toBe(`image/${format}`);
    const metadata = await sharp(bytes).metadata();
    expect(metadata).toMatchObject({ width, height, format: format === 'avif' ? 'heif' : format });
  });

  test('a URL issued before the compression delivers the new bytes with the new type', async () => {
    const sent = await send(service.api, tenant.key, imagesOf(user.id), await photo(300, 200), {
      format: 'png',
    });
    const at = `/project/users/${user.id}/files/${sent.body.file_id}`;
    const { url } = (await service.api.get(at, tenant.key)).body.file;
    await settled(service.api, tenant.key, sent.body.job_id);
    const response = await fetch(url);
    const { format } = await sharp(Buffer.from(await response.arrayBuffer())).metadata();
    expect([format, response.headers.get('content-type')]).toEqual(['png', 'image/png']);
    expect(response.headers.get('content-disposition')).toContain('photo.png');
  });

  test('the row keeps the size of the upload, and the quota is charged for it', async () => {
    const one = await createUser(service.api, tenant.key);
    const original = await photo(400, 300);
    const { body } = await send(service.api, tenant.key, imagesOf(one.id), original, {
      folder: 'photos',
      tags: 'a,b',
    });
    await settled(service.api, tenant.key, body.job_id);
    const { file } = (await service.api.get(`/project/users/${one.id}/files/${body.file_id}`, tenant.key))
      .body;
    expect(file).toMatchObject({
      name: 'photo.jpg',
      size: original.length,
      mimeType: 'image/jpeg',
      folder: 'photos',
      tags: ['a', 'b'],
    });
    expect(file.compression).toMatchObject({ job_id: body.job_id, status: 'done' });
    const snapshot = (await service.api.get(`/project/users/${one.id}/storage`, tenant.key)).body;
    expect(snapshot.storageUsed).toBe(original.length);
  });

  test.each([
    [{ preset: 'huge' }, 'preset'],
    [{ format: 'tiff' }, 'format'],
    [{ quality: '0' }, 'quality'],
    [{ quality: '101' }, 'quality'],
    [{ width: '-1' }, 'width'],
    [{ height: 'wide' }, 'height'],
  ])('%j is refused by name, and nothing is kept', async (fields, path) => {
    const one = await createUser(service.api, tenant.key);
    const reply = await send(service.api, tenant.key, imagesOf(one.id), await photo(10, 10), fields);
    expect(reply.status).toBe(422);
    expect(reply.body.error.details.issues[0].path).toBe(path);
    expect((await service.api.get(`/project/users/${one.id}/storage`, tenant.key)).body.storageUsed).toBe(0);
  });

  test('an upload without an image type is MIME_NOT_ALLOWED; the plan limits the original', async () => {
    const other = await createTenant(service.api, admin);
    await createPlan(service.api, other.key, { maxFileSize: 500, allowedMimes: ['image/png'] });
    const one = await createUser(service.api, other.key);
    const small = await picture(4, 4).png().toBuffer();
    const codeOf = async (bytes: Buffer, type: string) =>
      (await send(service.api, other.key, imagesOf(one.id), bytes, {}, type)).body.error?.code;
    expect(
      (await send(service.api, tenant.key, imagesOf(user.id), small, {}, 'text/plain')).body.error.code,
    ).toBe('MIME_NOT_ALLOWED');
    const pdf = await send(
      service.api,
      tenant.key,
      imagesOf(user.id),
      Buffer.from('%PDF-1.7\n'),
      {},
      'application/pdf',
    );
    expect(pdf.body.error.details, 'both types are said').toEqual({
      declared: 'application/pdf',
      detected: 'application/pdf',
      allowed: ['image/*'],
    });
    expect(await codeOf(await photo(4, 4), 'image/jpeg')).toBe('MIME_NOT_ALLOWED');
    expect(await codeOf(await photo(4, 4), 'image/png')).toBe('MIME_NOT_ALLOWED');
    expect(await codeOf(await picture(200, 200).png().toBuffer(), 'image/png')).toBe('FILE_TOO_LARGE');
    expect(await codeOf(small, 'image/png')).toBeUndefined();
  });
});

describe('images.job', () => {
  test('is visible to its project and its user only', async () => {
    const { body } = await send(service.api, tenant.key, imagesOf(user.id), await photo(20, 20));
    const own = await mintToken(service.api, tenant.key, user.id, ['files:read']);
    const stranger = await createUser(service.api, tenant.key);
    const strangers = await mintToken(service.api, tenant.key, stranger.id, ['files:read']);
    const other = await createTenant(service.api, admin);
    const statusFor = async (as: string) =>
      (await service.api.get(`/project/jobs/${body.job_id}`, as)).status;
    expect(await statusFor(own.token)).toBe(200);
    expect(await statusFor(strangers.token)).toBe(404);
    expect(await statusFor(other.key)).toBe(404);
  });
});

const fieldsOf = (recipe: ImageRecipe = { format: 'webp', quality: 80 }) =>
  Object.fromEntries(Object.entries(recipe).map(([name, value]) => [name, `${value}`]));

test('images: every hostile image ends as expected in one attempt, and the service keeps answering', async () => {
  expect(hostileImages.length).toBeGreaterThanOrEqual(40);
  const jobs: { name: string; id: string; ends: 'done' | 'refused' }[] = [];
  for (const { name, make, ends, recipe } of hostileImages) {
    const bytes = await make();
    const reply = await send(
      service.api,
      tenant.key,
      imagesOf(user.id),
      bytes,
      fieldsOf(recipe),
      'image/png',
    );
    expect(reply.status, `${name}: ${reply.text}`).toBe(202);
    jobs.push({ name, id: reply.body.job_id, ends });
    expect((await service.api.get('/health')).status).toBe(200);
  }
  for (const { name, id, ends } of jobs) {
    const job = await settled(service.api, tenant.key, id);
    expect(job.status, `${name}: ${job.error}`).toBe(ends === 'done' ? 'done' : 'failed');
    if (job.status === 'failed') expect(job.error, name).toMatch(/\w/);
  }
  const rows = await rowsOf<{ id: string; attempts: number; failures: number }>(
    service.databaseUrl,
    `select id, attempts, (select count(*)::int from audit_logs
       where action = 'job.failed' and resource_id = compression_jobs.id::text) as failures from compression_jobs`,
  );
  for (const { name, id, ends } of jobs)
    expect(rows, name).toContainEqual({ id, attempts: 1, failures: ends === 'done' ? 0 : 1 });
  const good = await send(service.api, tenant.key, imagesOf(user.id), await photo(300, 200));
  expect((await settled(service.api, tenant.key, good.body.job_id)).status).toBe('done');
});

test('images: a job that fails for a temporary reason is retried up to the maximum, and then fails', async () => {
  const apart = await startTestPakhus({ ROLE: 'api', IMAGE_MAX_ATTEMPTS: '2' });
  try {
    const { id: projectId, key } = await createTenant(apart.api, await adminSession(apart.api));
    const { id: userId } = await createUser(apart.api, key);
    const { body } = await send(apart.api, key, imagesOf(userId), await photo(30, 20));
    await apart.pakhus.deps.objects.delete('private', `${projectId}/${body.file_id}`);
    const worker = await apart.another({ ROLE: 'worker' });
    try {
      const job = await settled(apart.api, key, body.job_id);
      expect(job).toMatchObject({ status: 'failed', error: expect.stringContaining('could not be read') });
    } finally {
      await worker.stop();
    }
    const tries = await rowsOf(apart.databaseUrl, 'select attempts from compression_jobs');
    expect(tries).toEqual([{ attempts: 2 }]);
    const audited = await rowsOf(
      apart.databaseUrl,
      `select resource_id from audit_logs where action = 'job.failed'`,
    );
    expect(audited).toEqual([{ resource_id: body.job_id }]);
  } finally {
    await apart.stop();
  }
});

test('images: a file deleted during its compression leaves no object', async () => {
  const one = await createUser(service.api, tenant.key);
  const original = await photo(2000, 1500);
  const uploads = await Promise.all(
    Array.from({ length: 8 }, () => send(service.api, tenant.key, imagesOf(one.id), original)),
  );
  await Promise.all(
    uploads.map(async ({ body }, at) => {
      if (at % 2)
        await until(
          'the job to begin',
          async () =>
            (await service.api.get(`/project/jobs/${body.job_id}`, tenant.key)).body.status !== 'pending',
        );
      expect(
        (await service.api.delete(`/project/users/${one.id}/files/${body.file_id}`, tenant.key)).status,
      ).toBe(204);
    }),
  );
  await until(
    'no work to be left',
    async () =>
      (
        await rowsOf(
          service.databaseUrl,
          "select 1 from pgboss.job where state in ('created', 'active', 'retry')",
        )
      ).length === 0,
  );
  await reapAll(service);
  const ids = new Set(uploads.map(({ body }) => body.file_id));
  for await (const key of service.pakhus.deps.objects.list('private'))
    expect(ids.has(key.split('/')[1])).toBe(false);
  expect((await service.api.get(`/project/users/${one.id}/storage`, tenant.key)).body.storageUsed).toBe(0);
});

test('images: a change of visibility during the compression ends with one compressed object, in the right zone', async () => {
  const apart = await createTenant(service.api, admin);
  const one = await createUser(service.api, apart.key);
  const original = await photo(500, 400);
  const changing = async (nth: number) => {
    const visibility = nth % 2 ? 'public' : 'private';
    const sent = await send(service.api, apart.key, imagesOf(one.id), original, { visibility });
    expect(sent.status, sent.text).toBe(202);
    const at = `/project/users/${one.id}/files/${sent.body.file_id}`;
    // At a different point of the job each time, until after its end.
    await pause((nth * 7) % 300);
    const other = nth % 2 ? 'private' : 'public';
    expect((await service.api.put(at, apart.key, { visibility: other })).status).toBe(200);
    const job = await settled(service.api, apart.key, sent.body.job_id);
    expect(job.status).toBe('done');
    return at;
  };
  for (let round = 0; round < repetitions(10, 2); round += 1) {
    const paths = await Promise.all(Array.from({ length: 10 }, (_, nth) => changing(round * 10 + nth)));
    await until('every file is in its place', async () => {
      await moveMisplaced(service.pakhus.deps, never);
      const misplaced = await rowsOf(service.databaseUrl, 'select from files where visibility <> zone');
      return misplaced.length === 0;
    });
    for (const at of paths) {
      const { file } = (await service.api.get(at, apart.key)).body;
      const response = await fetch(file.url);
      const { format } = await sharp(Buffer.from(await response.arrayBuffer())).metadata();
      expect([format, response.headers.get('content-type')]).toEqual(['webp', 'image/webp']);
    }
  }
  // A worker that lost its object may leave it to the reaper.
  await reapAll(service);
  await expectBalanced(service, apart.id);
});

test('images: a job without attempts left fails only if the original is still stored', async () => {
  const apart = await startTestPakhus({ ROLE: 'api' });
  try {
    const { id: projectId, key } = await createTenant(apart.api, await adminSession(apart.api));
    const { id: userId } = await createUser(apart.api, key);
    const original = await photo(300, 200);
    const result = await sharp(original).webp().toBuffer();
    const { deps } = apart.pakhus;
    for (const { stored, ends } of [
      { stored: result, ends: { status: 'done', compressed_size: result.length, width: 300 } },
      { stored: original, ends: { status: 'failed', error: 'the store was away' } },
    ]) {
      const { body } = await send(apart.api, key, imagesOf(userId), original);
      const { job_id: jobId, file_id: fileId } = body;
      // As after a last attempt whose write was not confirmed.
      await rowsOf(
        apart.databaseUrl,
        `update compression_jobs set attempts = 3, result_sha256 = '\\x${sha256(result).toString('hex')}',
           compressed_size = ${result.length}, format = 'webp', width = 300, height = 200, error = 'the store was away'
         where id = '${jobId}'`,
      );
      await deps.objects.put('private', `${projectId}/${fileId}`, stored, {
        contentType: 'image/webp',
        contentDisposition: 'attachment',
      });
      await compressImage(deps, { jobId, projectId, uploader: nobody }, never);
      const { body: job } = await apart.api.get(`/project/jobs/${jobId}`, key);
      expect(job).toMatchObject(ends);
      // An attempt that was given up reports late: it must change nothing.
      const late = await deps.db.query(markDone(projectId, { id: jobId, claim: 0 }));
      expect(late).toEqual([]);
      expect((await apart.api.get(`/project/jobs/${jobId}`, key)).body).toEqual(job);
    }
  } finally {
    await apart.stop();
  }
});

test('images: a process that dies costs no attempt, unless the image, running alone, killed it twice in a row', async () => {
  const apart = await startTestPakhus({ ROLE: 'api', IMAGE_MAX_ATTEMPTS: '1' });
  try {
    const { id: projectId, key } = await createTenant(apart.api, await adminSession(apart.api));
    const { id: userId } = await createUser(apart.api, key);
    const original = await photo(300, 200);
    for (const { left, ends } of [
      { left: 'alone = false, deaths_alone = 0', ends: 'done' },
      { left: 'alone = true, deaths_alone = 0', ends: 'done' },
      // Not in a row: another image caused the last death.
      { left: 'alone = false, deaths_alone = 1', ends: 'done' },
      { left: 'alone = true, deaths_alone = 1', ends: 'failed' },
    ]) {
      const { body } = await send(apart.api, key, imagesOf(userId), original);
      const { job_id: jobId } = body;
      // The state after a process was killed in its first attempt.
      await rowsOf(
        apart.databaseUrl,
        `update compression_jobs set status = 'processing', attempts = 1, claim = 1, ${left} where id = '${jobId}'`,
      );
      await compressImage(apart.pakhus.deps, { jobId, projectId, uploader: nobody }, never);
      const { body: job } = await apart.api.get(`/project/jobs/${jobId}`, key);
      expect(job.status, `${left}: ${job.error}`).toBe(ends);
      if (ends === 'failed') expect(job.error).toContain('was killed');
      const [row] = await rowsOf(
        apart.databaseUrl,
        `select attempts, alone from compression_jobs where id = '${jobId}'`,
      );
      expect(row, left).toEqual({ attempts: 1, alone: false });
    }
  } finally {
    await apart.stop();
  }
});

test('images: a store that returns wrong bytes is read again, and the image is done', async () => {
  const apart = await startTestPakhus({ ROLE: 'api', IMAGE_MAX_ATTEMPTS: '20' });
  try {
    const { id: projectId, key } = await createTenant(apart.api, await adminSession(apart.api));
    const { id: userId } = await createUser(apart.api, key);
    const original = await photo(300, 200);
    const { body } = await send(apart.api, key, imagesOf(userId), original);
    const { objects } = apart.pakhus.deps;
    const meta = { contentType: 'image/jpeg', contentDisposition: 'inline' };
    const store = (bytes: Buffer) => objects.put('private', `${projectId}/${body.file_id}`, bytes, meta);
    await store(original.subarray(0, 1000));
    const worker = await apart.another({ ROLE: 'worker' });
    try {
      await until('a try has failed', async () => {
        const [row] = await rowsOf<{ error: string | null }>(
          apart.databaseUrl,
          'select error from compression_jobs',
        );
        return row?.error?.includes('not the image that was uploaded');
      });
      await store(original);
      expect(await settled(apart.api, key, body.job_id)).toMatchObject({ status: 'done', width: 300 });
    } finally {
      await worker.stop();
    }
  } finally {
    await apart.stop();
  }
});

test.runIf(process.platform === 'linux')(
  'images: an image that gets no CPU loses no attempt',
  async () => {
    const known = new Set(await childrenOf(process.pid, 'image-child'));
    const apart = await startTestPakhus({ IMAGE_TIMEOUT_SECONDS: '1', IMAGE_MAX_ATTEMPTS: '1' });
    try {
      const { key } = await createTenant(apart.api, await adminSession(apart.api));
      const { id: userId } = await createUser(apart.api, key);
      const { body } = await send(apart.api, key, imagesOf(userId), await photo(300, 200));
      const child = await until('the image is in the works', async () =>
        (await childrenOf(process.pid, 'image-child')).find((pid) => !known.has(pid)),
      );
      // It gets no CPU until it is given up.
      process.kill(child, 'SIGSTOP');
      expect(await settled(apart.api, key, body.job_id)).toMatchObject({ status: 'done', width: 300 });
      expect(await isGone(child)).toBe(true);
      expect(await rowsOf(apart.databaseUrl, 'select attempts from compression_jobs')).toEqual([
        { attempts: 1 },
      ]);
    } finally {
      await apart.stop();
    }
  },
  60_000,
);

test('images: a single image overtakes the backlog of another project', async () => {
  const apart = await startTestPakhus({ ROLE: 'api' });
  try {
    const session = await adminSession(apart.api);
    const original = await photo(30, 20);
    const sendFor = async (images: number): Promise<string[]> => {
      const { key } = await createTenant(apart.api, session);
      const { id } = await createUser(apart.api, key);
      const jobs: string[] = [];
      for (let nth = 0; nth < images; nth += 1)
        jobs.push((await send(apart.api, key, imagesOf(id), original)).body.job_id);
      return jobs;
    };
    const many = await sendFor(12);
    const [single] = await sendFor(1);
    const queued = await rowsOf<{ id: string }>(
      apart.databaseUrl,
      `select id from pgboss.job where name = 'images.compress' order by priority desc, created_on, id`,
    );
    const order = queued.map(({ id }) => id);
    expect(order.indexOf(single ?? '')).toBe(1);
    expect(order.filter((id) => id !== single)).toEqual(many);
  } finally {
    await apart.stop();
  }
});

const nobody: AuditStamp = {
  action: 'job.failed',
  projectId: null,
  actorType: 'project',
  actorId: null,
  actorKeyId: null,
  ipAddress: null,
  userAgent: null,
};

test('images: kill -9 of the worker at any point ends in done, once, with the sizes of the first original', async () => {
  const apart = await startTestPakhus({ ROLE: 'api', IMAGE_TIMEOUT_SECONDS: '3' });
  const environment = {
    ROLE: 'worker',
    DATABASE_URL: apart.databaseUrl,
    DATA_DIR: apart.dataDir,
    ...testSecrets,
    IMAGE_TIMEOUT_SECONDS: '3',
    IMAGE_MAX_ATTEMPTS: '1',
    IMAGE_CONCURRENCY: '2',
  };
  let last: Awaited<ReturnType<typeof startProcess>> | undefined;
  try {
    const owner = await createTenant(apart.api, await adminSession(apart.api));
    const one = await createUser(apart.api, owner.key);
    const original = await photo(900, 700);
    const jobs = await Promise.all(
      Array.from(
        { length: 12 },
        async () => (await send(apart.api, owner.key, imagesOf(one.id), original)).body,
      ),
    );
    for (let round = 0; round < 4; round += 1) {
      const worker = await startProcess(environment);
      await new Promise((resolve) => setTimeout(resolve, 150 + round * 120));
      await worker.kill();
    }
    last = await startProcess(environment);
    for (const { job_id, file_id } of jobs) {
      const job = await settled(apart.api, owner.key, job_id);
      expect(job).toMatchObject({ status: 'done', original_size: original.length, width: 900, height: 700 });
      const { body } = await apart.api.get(`/project/users/${one.id}/files/${file_id}`, owner.key);
      const bytes = Buffer.from(await (await fetch(body.file.url)).arrayBuffer());
      expect(bytes.length).toBe(job.compressed_size);
      expect((await sharp(bytes).metadata()).format).toBe('webp');
    }
    expect(await last.stop()).toBe(0);
    last = undefined;
    const objects = [];
    for await (const key of apart.pakhus.deps.objects.list('private')) objects.push(key);
    expect(objects).toHaveLength(jobs.length);
  } finally {
    await last?.kill();
    await apart.stop();
  }
});
