// Files stored in one batch: each gets the outcome it would get alone, except that none waits for a lock.

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { NewFile } from '../../src/contract/file.ts';
import { storeFile, storeFiles } from '../../src/features/files/files.sql.ts';
import { isSomebodyWaiting } from '../support/database.ts';
import { until } from '../support/processes.ts';
import { audit, RowsDatabase } from '../support/rows.ts';

const db = new RowsDatabase();

/** With its object reserved in the ledger, as before the commit of an upload. */
async function newFile(project: string, user: string, size: number, space: string | null = null) {
  const id = randomUUID();
  const file: NewFile = {
    id,
    project_id: project,
    user_id: user,
    space_id: space,
    name: 'a "name" \\ of \u{1f4e6}',
    size,
    mime_type: 'text/plain',
    storage_key: `${project}/${id}`,
    zone: 'private',
    sha256: 'ab'.repeat(32),
    folder: 'a/b',
    tags: ['x', 'y,{}'],
    classifier: null,
    metadata: { n: [1, null] },
    visibility: 'private',
    expires_at: null,
    retain_until: null,
  };
  await db.query(
    `insert into objects (project_id, file_id, id, zone, state, held_until)
     values ($1, $2, $2, 'private', 'reserved', now() + interval '1 hour')`,
    [project, id],
  );
  return file;
}

const outcomesOf = async (files: readonly NewFile[]): Promise<string[]> =>
  (await db.run(storeFiles(files.map((file) => ({ file, audit }))))).map((row) => row.outcome);
const reservedAmong = async (files: readonly NewFile[]): Promise<number> =>
  (
    await db.query(`select from objects where state = 'reserved' and file_id = any($1)`, [
      files.map((file) => file.id),
    ])
  ).rows.length;
const usedBy = async (table: 'users' | 'spaces', id: string) =>
  (
    await db.query(`select used_bytes::int as bytes, file_count::int as files from ${table} where id = $1`, [
      id,
    ])
  ).rows[0];

test('store_files: a batch of many users and spaces is charged to each of them', async () => {
  const [one, two] = [await db.newProject(), await db.newProject()];
  const [a, b] = [await db.newUser(one, await db.newPlan(one, 100)), await db.newUser(two)];
  const space = await db.newSpace(one, a, 50);
  const files = [
    await newFile(one, a, 10),
    await newFile(two, b, 1_000_000),
    await newFile(one, a, 40, space),
    await newFile(one, a, 50),
    await newFile(one, a, 0, space),
  ];
  expect(await outcomesOf(files)).toEqual(Array(5).fill('stored'));
  expect(await usedBy('users', a)).toEqual({ bytes: 100, files: 4 });
  expect(await usedBy('users', b)).toEqual({ bytes: 1_000_000, files: 1 });
  expect(await usedBy('spaces', space)).toEqual({ bytes: 40, files: 2 });
  const reserved = await reservedAmong(files);
  expect(reserved).toBe(0);
});

test('store_files: a file over a limit, of an inactive or foreign owner, or without its object is refused; unknown ids are skipped', async () => {
  const [project, foreign] = [await db.newProject(), await db.newProject()];
  const small = await db.newUser(project, await db.newPlan(project, 100));
  const inactive = await db.newUser(project, null, false);
  const fine = await db.newUser(project);
  const stranger = await db.newUser(foreign);
  const full = await db.newSpace(project, fine, 30);
  const closed = await db.newSpace(project, fine, null, false);
  const lost = await newFile(project, fine, 5);
  const claimed = await newFile(project, fine, 5);
  await db.query('delete from objects where file_id = $1', [lost.id]);
  await db.query(`update objects set state = 'deleting' where file_id = $1`, [claimed.id]);
  const files = [
    await newFile(project, small, 60),
    await newFile(project, small, 41),
    await newFile(project, inactive, 1),
    await newFile(project, fine, 16, full),
    await newFile(project, fine, 15, full),
    await newFile(project, fine, 1, closed),
    await newFile(project, fine, 1, randomUUID()),
    await newFile(project, small, 1, full),
    await newFile(project, stranger, 1),
    await newFile(project, randomUUID(), 1),
    await newFile(randomUUID(), fine, 1),
    lost,
    claimed,
    await newFile(project, fine, 7),
  ];
  expect(await outcomesOf(files)).toEqual([
    'stored',
    'user limit',
    'inactive user',
    'stored',
    'space limit',
    'inactive space',
    'passed over',
    'no space',
    'no user',
    'passed over',
    'passed over',
    'object lost',
    'object lost',
    'stored',
  ]);
  expect(await usedBy('users', small)).toEqual({ bytes: 60, files: 1 });
  expect(await usedBy('users', fine)).toEqual({ bytes: 23, files: 2 });
  expect(await usedBy('users', stranger)).toEqual({ bytes: 0, files: 0 });
  expect(await usedBy('spaces', full)).toEqual({ bytes: 16, files: 1 });
  const reserved = await reservedAmong(files);
  expect(reserved).toBe(9);
});

test('store_files: a batch that fits only without the reserved bytes is stored in part', async () => {
  const project = await db.newProject();
  const user = await db.newUser(project, await db.newPlan(project, 100));
  const owner = await db.newUser(project);
  const space = await db.newSpace(project, owner, 100);
  await db.query('update users set reserved_bytes = 70 where id = $1', [user]);
  await db.query('update spaces set reserved_bytes = 70 where id = $1', [space]);
  const files = [
    await newFile(project, user, 20),
    await newFile(project, user, 11),
    await newFile(project, user, 10),
    await newFile(project, owner, 20, space),
    await newFile(project, owner, 11, space),
    await newFile(project, owner, 10, space),
  ];
  const expected = ['stored', 'user limit', 'stored', 'stored', 'space limit', 'stored'];
  expect(await outcomesOf(files)).toEqual(expected);
  expect(await usedBy('users', user)).toEqual({ bytes: 30, files: 2 });
  expect(await usedBy('spaces', space)).toEqual({ bytes: 30, files: 2 });
});

test('store_files: a file whose user or space is locked is skipped and delays no other', async () => {
  const project = await db.newProject();
  const [held, free] = [await db.newUser(project), await db.newUser(project)];
  const heldSpace = await db.newSpace(project, free);
  const other = await db.connect();
  try {
    await other.query('begin');
    await other.query('select from users where id = $1 for no key update', [held]);
    await other.query('select from spaces where id = $1 for no key update', [heldSpace]);
    const files = [
      await newFile(project, held, 1),
      await newFile(project, free, 1),
      await newFile(project, free, 1, heldSpace),
    ];
    expect(await outcomesOf(files)).toEqual(['passed over', 'stored', 'passed over']);
  } finally {
    await other.end();
  }
});

test.each([
  ['another plan', 'update users set plan_id = $2 where id = $1'],
  [
    'a lower limit',
    'update plans set storage_limit = 10 where id = $2 and exists (select from users where id = $1)',
  ],
])(
  'store_file: an upload that waited for its user, who got %s meanwhile, is checked against the new one',
  async (_what, change) => {
    const project = await db.newProject();
    const [before, after] = [await db.newPlan(project, 100), await db.newPlan(project, 10)];
    const user = await db.newUser(project, before);
    const file = await newFile(project, user, 50);
    const other = await db.connect();
    await other.query('begin');
    await other.query('select from users where id = $1 for no key update', [user]);
    const storing = db.run(storeFile(file, audit));
    await until('it waits', () => isSomebodyWaiting(db.url));
    await other.query(change, [user, change.startsWith('update users') ? after : before]);
    await other.query('commit');
    expect(await storing).toMatchObject([{ outcome: 'user limit' }]);
    await other.end();
  },
);

test('store_files: the cost of a batch does not grow after many objects were added at once', async () => {
  const project = await db.newProject();
  const user = await db.newUser(project);
  await db.query('vacuum analyze objects');
  for (let time = 0; time < 8; time += 1) await outcomesOf([await newFile(project, user, 1)]);
  await db.query(
    `insert into objects (project_id, file_id, id, zone, state)
     select $1, id, id, 'private', 'stored' from (select gen_random_uuid() as id from generate_series(1, 50000)) made`,
    [project],
  );
  const scansBefore = await scannedRows();
  await outcomesOf([await newFile(project, user, 1)]);
  expect((await scannedRows()) - scansBefore).toBeLessThan(100);
});

/** Rows of objects read by sequential scans, of any statement. */
async function scannedRows(): Promise<number> {
  await db.query('select pg_stat_force_next_flush()');
  const { rows } = await db.query(
    `select seq_tup_read::int as rows from pg_stat_all_tables where relname = 'objects'`,
  );
  return rows[0].rows;
}

test('store_files: a batch writes the same row and audit as the statement for one file', async () => {
  const project = await db.newProject();
  const user = await db.newUser(project);
  const [alone, together] = [await newFile(project, user, 3), await newFile(project, user, 3)];
  const [single] = await db.run(storeFile(alone, audit));
  const [batched] = await db.run(storeFiles([{ file: together, audit }]));
  expect(single.outcome).toBe('stored');
  for (const [file, { stored_at }] of [
    [alone, single],
    [together, batched],
  ] as const) {
    const { rows } = await db.query('select created_at, updated_at from files where id = $1', [file.id]);
    expect(rows).toEqual([{ created_at: stored_at, updated_at: stored_at }]);
  }
  const without = (id: string) => (value: unknown) =>
    JSON.parse(
      JSON.stringify(value)
        .replaceAll(id, 'its own id')
        .replace(/\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)/g, 'a time'),
    );
  for (const statement of [
    'select * from files where id = $1',
    `select to_jsonb(a) - 'id' as row from audit_logs a where resource_id = $1::text`,
  ]) {
    const [one] = (await db.query(statement, [alone.id])).rows.map(without(alone.id));
    const [other] = (await db.query(statement, [together.id])).rows.map(without(together.id));
    expect(one).toBeDefined();
    expect(other).toEqual(one);
  }
});
