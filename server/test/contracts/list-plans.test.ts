// Lists of files follow an index from its newest file on, however many files a user has. Those without a tag do so whatever the
// statistics know of the user.
import { beforeAll, expect, test } from 'vitest';
import type { SpaceFilter } from '../../src/contract/file.ts';
import {
  type FileFilter,
  listChildFolders,
  listFiles,
  walkTag,
} from '../../src/features/files/files.list.sql.ts';
import { noSql, type Sql } from '../../src/platform/db/sql.ts';
import { RowsDatabase } from '../support/rows.ts';

const db = new RowsDatabase();
let project: string;
let user: string;
let space: SpaceFilter;
let tagger: string;

beforeAll(async () => {
  project = await db.newProject();
  for (let nth = 0; nth < 10; nth += 1) await fill(await db.newUser(project), 100);
  tagger = await db.newUser(project);
  await fill(tagger, 30_000, ['common', 'other']);
  await db.query('analyze files, file_tags');
  user = await db.newUser(project);
  await fill(user, 2_000);
  space = { spaceId: await db.newSpace(project, user) };
});

const fill = (owner: string, files: number, tags: string[] = []) =>
  db.query(
    `insert into files (id, project_id, user_id, name, size, mime_type, storage_key, folder, sha256, tags, created_at)
     select gen_random_uuid(), $1, $2, 'a', 1, 'text/plain', gen_random_uuid(), 'folder-' || n, '', $4,
       now() - make_interval(secs => n)
     from generate_series(1, $3::int) n`,
    [project, owner, files, tags],
  );

async function planOf({ text, values }: Sql): Promise<string> {
  const { rows } = await db.query(`explain (costs off) ${text}`, [...values]);
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

const period = { createdFrom: '2026-01-01', sort: 'created_at' } as const;
const lists: [string, FileFilter][] = [
  ['everything', { space: 'all' }],
  ['outside the spaces', { space: 'none' }],
  ['everything private', { space: 'all', visibility: 'private' }],
  ['everything private outside the spaces', { space: 'none', visibility: 'private' }],
  ['a family of types that is private', { space: 'all', mimeType: 'text/*', visibility: 'private' }],
  ['a period, oldest first', { space: 'all', search: { ...period, order: 'asc' } }],
  ['a period outside the spaces, newest first', { space: 'none', search: { ...period, order: 'desc' } }],
];

// Of partitions, those without a row are scanned.
test.skipIf(process.env.TEST_PARTITIONED).each(lists)('%s: in the order of time', async (_, filter) => {
  const plan = await planOf(
    listFiles({ projectId: project, userId: user, filter, after: noSql, page: { limit: 20 } }),
  );
  expect(plan).toContain('files_by_time');
  expect(plan).not.toMatch(/Sort$|Sort {2}|Seq Scan/m);
});

const tagged: [string, FileFilter][] = [
  ['a common tag', { space: 'all', tags: ['common'] }],
  ['two tags', { space: 'all', tags: ['common', 'other'] }],
  ['a tag and a type', { space: 'all', tags: ['common'], mimeType: 'text/plain' }],
  ['a tag and a folder', { space: 'all', tags: ['common'], folder: 'folder-1' }],
  ['a tag and a classifier', { space: 'none', tags: ['common'], classifier: 'none' }],
];

test.skipIf(process.env.TEST_PARTITIONED).each(tagged)(
  '%s: follows the tag in the order of time',
  async (_, filter) => {
    const plan = await planOf(
      walkTag({ projectId: project, userId: tagger, filter, after: noSql, page: { limit: 20 } }),
    );
    expect(plan).toMatch(/Index Only Scan Backward using file_tags_pkey/);
    expect(plan).toMatch(/Index Scan using files_pkey/);
    expect(plan).not.toMatch(/Sort$|Sort {2}|Hash|Seq Scan on files/m);
  },
);

test.skipIf(process.env.TEST_PARTITIONED)(
  'a common tag and a rare one: begins with the rare one',
  async () => {
    await fill(tagger, 10, ['common', 'rare']);
    await db.query('analyze file_tags');
    const plan = await planOf(
      listFiles({
        projectId: project,
        userId: tagger,
        filter: { space: 'all', tags: ['common', 'rare'] },
        after: noSql,
        page: { limit: 20 },
      }),
    );
    expect(plan).toMatch(/Nested Loop/);
    expect(plan).not.toMatch(/Hash Join|Merge|Seq Scan on file/);
  },
);

test.skipIf(process.env.TEST_PARTITIONED)('folders: each step in the order of names', async () => {
  for (const where of ['all', 'none', space] as const) {
    const plan = await planOf(listChildFolders(project, user, where, '', null, 100));
    expect(plan).toMatch(/files_of_(space_)?folder/);
    expect(plan).not.toMatch(/Sort|files_by_time|Seq Scan/);
  }
});
