// Statements that list files and folders, a page at a time.
import type { SpaceFilter } from '../../contract/file.ts';
import { inSpace, isUnexpired } from '../../contract/file-conditions.ts';
import { largestPage, newestFirst, type PageRequest } from '../../platform/db/paging.ts';
import { arrayOfIds, constantSql, noSql, type Sql, sql, unprepared } from '../../platform/db/sql.ts';
import { columnsOfFiles, type FileSearch, inOrder, isPeriod, searched, sortKey } from './files.search.sql.ts';
import { folderKey, level, toFolderKey, viewJson } from './files.sql.ts';

/** Between files in `PageRow.files`. JSON has no line breaks except between values. */
export const fileSeparator = ',\n';
const separator = sql`E',\\n'`;

export interface PageRow {
  /** The JSON of the files, separated; null if there are none. */
  readonly files: string | null;
  /** At most one more than the page holds. */
  readonly found: number;
  /** Some are too large for this statement and missing in `files`. */
  readonly has_large: boolean;
}

export interface LargePageRow {
  readonly files: string | null;
  readonly more: boolean;
}

export interface FileFilter {
  readonly space: SpaceFilter;
  readonly folder?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly classifier?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly visibility?: string | undefined;
  readonly search?: FileSearch | undefined;
  /** Only these, in this order: a search has found them. */
  readonly found?: readonly string[] | undefined;
}

/** A page of a user's files. */
export interface ListedPage {
  readonly projectId: string;
  readonly userId: string;
  readonly filter: FileFilter;
  /** The condition on where the page before ended. */
  readonly after: Sql;
  readonly page: PageRequest;
}

/**
 * Returns the page as one row: receiving a hundred rows costs more than finding them. One file more than the page holds
 * shows whether another page follows. The aggregates need no `order by`: they see the rows in the order of the inner query.
 */
export function listFiles(list: ListedPage): Sql {
  const statement = toPageRow(selectFiles(list));
  return isWalked(list.filter) ? unprepared(statement) : statement;
}

const toPageRow = (files: Sql): Sql => sql`
  select string_agg(${viewJson}, ${separator}) filter (where ${isSmall}) as files, count(*)::int as found,
    coalesce(bool_or(not ${isSmall}), false) as has_large
  from (${files}) files`;

/**
 * For a page with large files. It ends early, and only the files it shows are read, because all lists share the
 * connections. Limiting the bytes costs as much as finding the files: pages of small files cannot get that large.
 */
export const listLargeFiles = (list: ListedPage): Sql => cutLarge(selectFiles(list), list.page);

const cutLarge = (files: Sql, { limit }: PageRequest): Sql => sql`
  select string_agg(${viewJson}, ${separator}) filter (where shown) as files, coalesce(bool_or(not shown), false) as more
  from (
    select *, row_number() over earlier <= ${limit}::int
      and coalesce(sum(octet_length(view)) over earlier, 0) < ${pageBytesMax} as shown
    from (${files}) found
    window earlier as (rows between unbounded preceding and 1 preceding)) files`;

export interface WalkedPageRow extends PageRow {
  /** The page may lack files, because the tag has more than were looked at. */
  readonly is_cut: boolean;
}

/** Lists by tag are tried this way first. */
export const isWalked = ({ tags, search, found }: FileFilter): boolean =>
  (tags?.length ?? 0) > 0 && search === undefined && found === undefined;

/** Finds the page among the newest files of the first tag. */
export const walkTag = (list: ListedPage): Sql => sql`
  select files, found, has_large, found <= ${list.page.limit}::int
    and (select count(*) from (${newestTagged(list)}) tagged) = ${walkedMax} as is_cut
  from (${toPageRow(selectWalked(list))}) page`;

export const walkTagOfLarge = (list: ListedPage): Sql => cutLarge(selectWalked(list), list.page);

const isSmall = sql`octet_length(view) <= 1024`;
const pageBytesMax = constantSql(256 * 1024);

/** By what only files themselves have. */
export const isNarrowed = ({ tags, classifier, mimeType, visibility }: FileFilter): boolean =>
  [tags, classifier, mimeType, visibility].some((value) => value !== undefined);

/** Whether the list may scan many more files than it shows, because no index covers this filter. */
export const isSearch = (filter: FileFilter): boolean =>
  isNarrowed(filter) ||
  (filter.search !== undefined && !isPeriod(filter.search)) ||
  (filter.folder !== undefined && filter.space !== 'all');

/** The columns that lists show, and those that they are ordered and checked by. */
const listedColumns = sql`project_id, user_id, id, mime_type, created_at, view`;

/**
 * Lists of one space or folder are found without the full owner condition, which is checked on the result: all files
 * there have the same owner. With it inside, PostgreSQL may scan all of the owner's files: it assumes that user and
 * project are independent, and so underestimates how many files a user has.
 */
function selectFiles(list: ListedPage): Sql {
  const { projectId, userId, filter, after, page } = list;
  const { space } = filter;
  const owned = sql`project_id = ${projectId} and user_id = ${userId}`;
  if (filter.found) return selectFound(owned, filter, filter.found);
  if (filter.search) return selectSearched(owned, filter, filter.search, after, page);
  const found = sql`${buildConditions(filter)}${after}`;
  if (filter.tags?.length) return selectTagged(list);
  if (isFamilyOnly(filter)) return selectFamily(list, filter.mimeType);
  const ownedFiles = sql`select ${listedColumns} from files where ${owned}${found}`;
  if (isNarrowed(filter)) return selectByTime(ownedFiles, filter, newestOrder, page);
  if (space === 'all' && filter.folder === undefined)
    return mergeLevels(ownedFiles, newestOrder, largestPage, page);
  if (space === 'none' && filter.folder === undefined) return newestFirst(ownedFiles, page);
  const within = sql`select ${listedColumns} from files where ${holderCondition(userId, space)}${found}`;
  return sql`select * from (${newestFirst(within, page)}) found where ${owned}`;
}

const newestOrder = sql`created_at desc, id desc`;

/** The levels are merged only where no other index may have the files in the order of time. */
function selectByTime(files: Sql, filter: FileFilter, order: Sql, page: PageRequest): Sql {
  const { space, folder, classifier, mimeType, visibility } = filter;
  const isOrderedOtherwise = [
    space !== 'all',
    folder !== undefined,
    classifier !== undefined,
    mimeType !== undefined && !mimeType.endsWith(familySuffix),
    visibility === 'public',
  ].some(Boolean);
  if (isOrderedOtherwise) return selectFirst(files, order, page, hasOneIndex(filter));
  return mergeLevels(files, order, hasOneIndex(filter) ? largestPage : sql`${page.limit + 1}::int`, page);
}

/**
 * By a single value, one index is right for all values, and the plan is reused: planning costs more than reading the page. Otherwise the
 * best index depends on the values.
 */
const hasOneIndex = ({ space, folder, classifier, mimeType, visibility, search }: FileFilter): boolean =>
  space === 'all' &&
  folder === undefined &&
  search === undefined &&
  [classifier, mimeType, visibility].filter((value) => value !== undefined).length === 1;

/** See `newestFirst` for what the constant limit does. */
const selectFirst = (files: Sql, order: Sql, { limit }: PageRequest, isReused = false): Sql =>
  isReused
    ? sql`select * from (${files} order by ${order} limit ${largestPage}) first limit ${limit + 1}`
    : sql`${files} order by ${order} limit ${limit + 1}`;

/** Merges the files of the user itself with those in its spaces. */
const mergeLevels = (files: Sql, order: Sql, rowsOfEach: Sql, { limit }: PageRequest): Sql => sql`
  select * from (
    (${files} and ${level} = 1 order by ${order} limit ${rowsOfEach})
    union all
    (${files} and ${level} = 0 order by ${order} limit ${rowsOfEach})) merged
  order by ${order} limit ${limit + 1}`;

/** Checks everything again that may have changed since. */
const selectFound = (owned: Sql, filter: FileFilter, ids: readonly string[]): Sql => sql`
  select ${listedColumns} from unnest(${arrayOfIds(ids)}::uuid[]) with ordinality as found (found_id, number)
  join files on id = found_id and ${owned}${buildConditions(filter)} order by number`;

/** Reads all files that the rest of the filter leaves, unless the order of time is asked for. */
const selectSearched = (
  owned: Sql,
  filter: FileFilter,
  search: FileSearch,
  after: Sql,
  page: PageRequest,
): Sql => {
  const conditions = sql`${buildConditions(filter)}${searched(search, columnsOfFiles)}${after}`;
  const found = sql`select ${listedColumns} from files where ${owned}${conditions}`;
  const order = inOrder(search, sortKey(search, columnsOfFiles), columnsOfFiles.id);
  return search.sort === 'created_at'
    ? selectByTime(found, filter, order, page)
    : selectFirst(found, order, page);
};

/** Enough to fill a page if the rest of the filter leaves more than a few in a hundred, and read within milliseconds. */
const walkedMax = constantSql(1_000);

const tagsOf = ({ projectId, userId }: ListedPage, tag: string | undefined): Sql =>
  sql`file_tags where project_id = ${projectId} and user_id = ${userId} and tag = ${tag}`;

const newestTagged = (list: ListedPage): Sql => sql`
  select created_at as tagged_at, id as tagged_id from ${tagsOf(list, list.filter.tags?.[0])}${list.after}
  order by created_at desc, id desc limit ${walkedMax}`;

/**
 * Looks up file by file and checks the filter afterwards, which the inner `limit 1` forces: PostgreSQL takes the tag, the user and the
 * filter for independent, so it expects to find next to nothing, and would join all that the user has.
 */
const selectWalked = (list: ListedPage): Sql => sql`
  select * from (
    select ${listedColumns} from (${newestTagged(list)}) tagged
    cross join lateral (select * from files where project_id = ${list.projectId} and id = tagged_id limit 1) files
    where user_id = ${list.userId}${buildConditions(list.filter)}
    order by tagged_at desc, tagged_id desc limit ${largestPage}) newest
  limit ${list.page.limit + 1}`;

/**
 * For what the walk along the first tag does not find: the rest of the filter is rare, and its indexes lead to the files. Two comparisons
 * stand for `created_at = tagged_at`: PostgreSQL takes equal times and equal ids for independent, so it would expect a single row.
 */
const selectTagged = (list: ListedPage): Sql => {
  const { projectId, userId, filter, page } = list;
  const [first, ...others] = filter.tags ?? [];
  const alsoTagged = others.reduce(
    (before, tag) => sql`${before} and (created_at, id) in (select created_at, id from ${tagsOf(list, tag)})`,
    noSql,
  );
  return sql`
    select ${listedColumns} from (
      select created_at as tagged_at, id as tagged_id from ${tagsOf(list, first)}${alsoTagged}${list.after}) tagged
    join files on id = tagged_id and project_id = ${projectId} and user_id = ${userId}
    where tagged_at between created_at and created_at${buildConditions(filter)} order by tagged_at desc, tagged_id desc
    limit ${page.limit + 1}`;
};

const familySuffix = '/*';

/** Only a family of types, such as `image/*`. */
const isFamilyOnly = (filter: FileFilter): filter is FileFilter & { readonly mimeType: string } =>
  filter.mimeType?.endsWith(familySuffix) === true &&
  filter.space === 'all' &&
  [filter.folder, filter.tags, filter.classifier, filter.visibility].every((value) => value === undefined);

/**
 * The newest files of each type in the family, merged: the index orders by time within one type only, and sorting all
 * files of a family would cost more the more there are. Skips through the index from one type to the next.
 */
function selectFamily({ projectId, userId, after, page }: ListedPage, mimeType: string): Sql {
  const [from, to] = familyRange(mimeType);
  const firstType = (bound: Sql) => sql`(select mime_type from files
    where user_id = ${userId} and ${bound} and mime_type < ${to} order by mime_type limit 1)`;
  const newest = newestFirst(
    sql`select ${listedColumns} from files where user_id = ${userId} and mime_type = types.mime_type${after}`,
    page,
  );
  return sql`
    with recursive types as (
      select ${firstType(sql`mime_type >= ${from}`)} as mime_type
      union all
      select ${firstType(sql`mime_type > types.mime_type`)} from types where types.mime_type is not null)
    select newest.* from types cross join lateral (${newest}) newest
    where newest.project_id = ${projectId}
    order by newest.created_at desc, newest.id desc limit ${page.limit + 1}`;
}

/** The shortest condition that selects the owner's files; for a single space, the one on the space does. */
const holderCondition = (userId: string, space: SpaceFilter): Sql =>
  space === 'all' || space === 'none' ? sql`user_id = ${userId}` : sql`true`;

function buildConditions(filter: FileFilter): Sql {
  const { space, folder } = filter;
  const inFolder = folder === undefined ? noSql : sql` and ${folderKey} = ${toFolderKey(folder)}`;
  // An expression of the index `files_by_time`.
  const within = space === 'none' ? sql` and ${level} = 1` : inSpace(space);
  return sql`${within}${inFolder}${narrowed(filter)}`;
}

/** What only files themselves have. */
export function narrowed({ tags, classifier, mimeType, visibility }: FileFilter): Sql {
  const tagged = tags?.length ? sql` and tags @> ${tags}::text[]` : noSql;
  const classified = classifier === undefined ? noSql : sql` and classifier = ${classifier}`;
  const typed = mimeType === undefined ? noSql : hasType(mimeType);
  return sql`${tagged}${classified}${typed}${hasVisibility(visibility)} and ${isUnexpired()}`;
}

/** Literals, not parameters: PostgreSQL uses the partial index on public files only if it sees the value. */
function hasVisibility(visibility: string | undefined): Sql {
  if (visibility === 'public') return sql` and visibility = 'public'`;
  return visibility === 'private' ? sql` and visibility = 'private'` : noSql;
}

function hasType(mimeType: string): Sql {
  if (!mimeType.endsWith(familySuffix)) return sql` and mime_type = ${mimeType}`;
  const [from, to] = familyRange(mimeType);
  return sql` and mime_type >= ${from} and mime_type < ${to}`;
}

/** A family is an index range: `image/*` begins at `image/` and ends before `image0`. */
function familyRange(mimeType: string): [from: string, to: string] {
  const family = mimeType.slice(0, -familySuffix.length);
  return [`${family}/`, `${family}0`];
}

/**
 * The direct subfolders of a prefix, in order. Skips through the index from one name to the next, so that a folder with
 * a hundred thousand files costs one step, like any other.
 */
export function listChildFolders(
  projectId: string,
  userId: string,
  space: SpaceFilter,
  prefix: string,
  afterName: string | null,
  limit: number,
): Sql {
  const start = prefix === '' ? '' : `${toFolderKey(prefix)}\x01`;
  const within = prefix === '' ? noSql : sql` and ${folderKey} < ${`${toFolderKey(prefix)}\x02`}`;
  const firstAfter = (bound: Sql) => sql`(select key from (
      select project_id, user_id, ${folderKey} as key from files
      where ${holderCondition(userId, space)}${inSpace(space)} and ${folderKey} > ${bound}${within}
      order by ${folderKey} limit 1) first
    where project_id = ${projectId} and user_id = ${userId}) found`;
  const childName = sql`split_part(substr(found.key, ${[...start].length + 1}::int), E'\\x01', 1)`;
  const from = afterName === null ? start : `${start}${afterName}\x02`;
  return sql`
    with recursive hop as (
      select ${childName} as name, 1 as hops from ${firstAfter(sql`${from}::text`)}
      union all
      select ${childName}, hops + 1 from hop, lateral ${firstAfter(sql`${start}::text || hop.name || E'\\x02'`)}
      where hops < ${limit}::int)
    select name from hop`;
}
