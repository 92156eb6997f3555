// Uploads completed in one batch: each gets the outcome it would get alone, except that none waits for a lock.
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { UploadToComplete } from '../../src/contract/upload.ts';
import {
  completeUpload,
  completeUploads,
  createUpload,
  type NewUpload,
} from '../../src/features/uploads/uploads.sql.ts';
import { audit, RowsDatabase } from '../support/rows.ts';

const db = new RowsDatabase();

const digest = Buffer.from(`${'ab'.repeat(32)}01020304`, 'hex');

/** A direct upload: it has its object and its reservation from the beginning. */
async function newUpload(
  project: string,
  user: string,
  size: number,
  space: string | null = null,
): Promise<UploadToComplete> {
  const id = randomUUID();
  const upload: NewUpload = {
    id,
    project_id: project,
    user_id: user,
    space_id: space,
    mode: 'direct',
    token_hash: null,
    integration_id: null,
    key_id: null,
    jti: null,
    name: 'a "name" of \u{1f4e6}',
    mime_type: 'text/plain',
    folder: 'a/b',
    tags: ['x', 'y,{}'],
    classifier: null,
    metadata: { n: [1, null] },
    visibility: 'private',
    file_expires_at: null,
    file_retain_until: null,
    sha256: null,
    size,
    object_id: id,
    state: { kind: 'test' },
    zone: 'private',
  };
  const [created] = await db.run(createUpload(upload, audit, { perUser: 100, perProject: 1000 }, 3_600));
  expect(created.outcome).toBe('created');
  const complete = { ipAddress: '192.0.2.2', userAgent: 'completer' };
  return { project_id: project, user_id: user, space_id: space, id, epoch: 0, digest, client: complete };
}

const complete = async (uploads: readonly UploadToComplete[]): Promise<string[]> =>
  (await db.run(completeUploads(uploads))).map((row) => row.outcome);
const countsOf = async (table: 'users' | 'spaces', id: string) => {
  const counts = `used_bytes::int as used, reserved_bytes::int as reserved, file_count::int as files`;
  return (await db.query(`select ${counts} from ${table} where id = $1`, [id])).rows[0];
};
const rowOf = async (table: string, id: string) =>
  (await db.query(`select * from ${table} where id = $1`, [id])).rows[0];

test('complete_uploads: what many users and spaces have reserved becomes used, once for each of them', async () => {
  const [one, two] = [await db.newProject(), await db.newProject()];
  const [a, b] = [await db.newUser(one, await db.newPlan(one, 100)), await db.newUser(two)];
  const space = await db.newSpace(one, a, 40);
  const uploads = [
    await newUpload(one, a, 10),
    await newUpload(two, b, 1_000_000),
    await newUpload(one, a, 40, space),
    await newUpload(one, a, 50),
    await newUpload(one, a, 0, space),
  ];
  expect(await countsOf('users', a)).toEqual({ used: 0, reserved: 100, files: 0 });
  expect(await complete(uploads)).toEqual(Array(5).fill('stored'));
  expect(await countsOf('users', a)).toEqual({ used: 100, reserved: 0, files: 4 });
  expect(await countsOf('users', b)).toEqual({ used: 1_000_000, reserved: 0, files: 1 });
  expect(await countsOf('spaces', space)).toEqual({ used: 40, reserved: 0, files: 2 });
  for (const { id } of uploads) {
    const file = await rowOf('files', id);
    expect(file).toMatchObject({
      name: 'a "name" of \u{1f4e6}',
      folder: 'a/b',
      tags: ['x', 'y,{}'],
      metadata: { n: [1, null] },
      sha256: digest.subarray(0, 32),
      crc32: 0x01020304,
    });
    const done = { status: 'completed', file_id: id, reserved: 0, state: null };
    expect(await rowOf('uploads', id)).toMatchObject(done);
    expect(await rowOf('objects', id)).toMatchObject({ state: 'stored', held_until: null });
    const audited = `select actor_key_id, user_agent from audit_logs where resource_id = $1 and action = 'file.upload'`;
    expect((await db.query(audited, [id])).rows).toEqual([
      { actor_key_id: 'pk_12345678', user_agent: 'completer' },
    ]);
  }
  expect(await complete(uploads)).toEqual(Array(5).fill('passed over'));
});

test('complete_uploads: a tail and parts go with the upload, and a file without a digest waits for a worker', async () => {
  const project = await db.newProject();
  const upload = { ...(await newUpload(project, await db.newUser(project), 5)), digest: null };
  const other = await newUpload(project, upload.user_id, 5);
  const tail = randomUUID();
  await db.query('update uploads set tail_id = $2 where id = $1', [upload.id, tail]);
  await db.query(
    `insert into objects (project_id, file_id, id, zone, state, held_until) values ($1, $2, $2, 'private', 'writing', now())`,
    [project, tail],
  );
  await db.query(`insert into upload_parts (project_id, upload_id, number, etag) values ($1, $2, 1, 'e')`, [
    project,
    upload.id,
  ]);
  expect(await complete([upload, other])).toEqual(['stored', 'stored']);
  expect(await rowOf('files', upload.id)).toMatchObject({ sha256: null, crc32: null });
  expect(await rowOf('objects', tail)).toMatchObject({ state: 'deleting' });
  expect((await db.query('select from upload_parts where upload_id = $1', [upload.id])).rows).toEqual([]);
});

test('complete_uploads: a refused upload keeps its room, and one that is taken, locked or unknown is passed over', async () => {
  const project = await db.newProject();
  const [limited, inactive, locked, fine] = [
    await db.newUser(project, await db.newPlan(project, 100)),
    await db.newUser(project),
    await db.newUser(project),
    await db.newUser(project),
  ];
  const uploads = [
    await newUpload(project, limited, 60),
    await newUpload(project, limited, 40),
    await newUpload(project, inactive, 1),
    await newUpload(project, locked, 2),
    { ...(await newUpload(project, fine, 3)), epoch: 1 },
    { ...(await newUpload(project, fine, 4)), id: randomUUID() },
    await newUpload(project, fine, 5),
    await newUpload(project, fine, 6),
  ];
  const lost = uploads.at(-1);
  await db.query('update plans set storage_limit = 70 where project_id = $1', [project]);
  await db.query('update users set active = false where id = $1', [inactive]);
  await db.query(`update objects set state = 'deleting' where id = $1`, [lost?.id]);
  const other = await db.connect();
  try {
    await other.query('begin');
    await other.query('select from users where id = $1 for update', [locked]);
    const outcomes = [
      'stored',
      'user limit',
      'inactive user',
      'passed over',
      'passed over',
      'passed over',
      'stored',
    ];
    expect(await complete(uploads)).toEqual([...outcomes, 'object lost']);
  } finally {
    await other.end();
  }
  expect(await countsOf('users', limited)).toEqual({ used: 60, reserved: 40, files: 1 });
  expect(await countsOf('users', inactive)).toEqual({ used: 0, reserved: 1, files: 0 });
  expect(await countsOf('users', locked)).toEqual({ used: 0, reserved: 2, files: 0 });
  expect(await countsOf('users', fine)).toEqual({ used: 5, reserved: 13, files: 1 });
  const alone: string[] = [];
  for (const upload of uploads) alone.push((await db.run(completeUpload(upload)))[0].outcome);
  const decided = [
    'taken',
    'user limit',
    'inactive user',
    'stored',
    'taken',
    'taken',
    'taken',
    'object lost',
  ];
  expect(alone).toEqual(decided);
});

test('complete_uploads: of projects that listen, the events are recorded and their announcement is left to the caller', async () => {
  const [silent, listening] = [await db.newProject(), await db.newProject()];
  await db.query(`update projects set listens_until = 'infinity' where id = $1`, [listening]);
  const uploads = [
    await newUpload(silent, await db.newUser(silent), 1),
    await newUpload(listening, await db.newUser(listening, await db.newPlan(listening, 100)), 90),
  ];
  const results = await db.run(completeUploads(uploads));
  expect(results.map(({ told }) => told)).toEqual([false, true]);
  const events = `select type from events where project_id = any($1) order by type`;
  const { rows } = await db.query(events, [[silent, listening]]);
  expect(rows.map(({ type }) => type)).toEqual(['file.created', 'quota.threshold']);
});

test('complete_uploads: a single upload is completed, refused or passed over as in a batch', async () => {
  const project = await db.newProject();
  const user = await db.newUser(project, await db.newPlan(project, 100));
  const [fine, refused] = [await newUpload(project, user, 10), await newUpload(project, user, 90)];
  const other = await db.connect();
  try {
    await other.query('begin');
    await other.query('select from users where id = $1 for update', [user]);
    expect(await complete([fine])).toEqual(['passed over']);
  } finally {
    await other.end();
  }
  expect(await complete([fine])).toEqual(['stored']);
  expect(await complete([fine])).toEqual(['taken']);
  await db.query('update plans set storage_limit = 20 where project_id = $1', [project]);
  expect(await complete([refused])).toEqual(['user limit']);
  expect(await countsOf('users', user)).toEqual({ used: 10, reserved: 90, files: 1 });
});
