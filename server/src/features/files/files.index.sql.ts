// Statements on the index of files that projects get whose users have many of them and search.
import { inSpace } from '../../contract/file-conditions.ts';
import { constantSql, type Sql, sql } from '../../platform/db/sql.ts';
import { type FileFilter, isNarrowed, narrowed } from './files.list.sql.ts';
import {
  columnsOfIndex,
  type FileSearch,
  inOrder,
  searched,
  sortKey,
  withinOrder,
} from './files.search.sql.ts';

/** What is known of the index before a search. */
export interface SearchState {
  readonly file_count: number;
  readonly begun: boolean;
  readonly searchable: boolean;
  /** The extensions are there that a search by name needs. */
  readonly finds_text: boolean;
  /** The user has many files, and a good part of all that are indexed. */
  readonly has_most: boolean;
}

const mostFilesMin = 500_000;
const mostShareMin = 0.25;

export const findSearchState = (projectId: string, userId: string): Sql => sql`
  select u.file_count, p.searches_since is not null as begun, p.searchable,
    to_regprocedure('unaccent(text)') is not null and to_regclass('file_names_by_text') is not null as finds_text,
    u.file_count > ${constantSql(mostFilesMin)} and u.file_count > ${constantSql(mostShareMin)} * (
      select reltuples from pg_class where oid = 'file_names'::regclass) as has_most
  from projects p join users u on u.project_id = p.id and u.id = ${userId} where p.id = ${projectId}`;

/** Waits for the uploads that are being committed, which cannot know of it. */
export const lockToIndex = (projectId: string): Sql =>
  sql`select from projects where id = ${projectId} and searches_since is null for update`;

export const beginIndex = (projectId: string): Sql =>
  sql`update projects set searches_since = now() where id = ${projectId} and searches_since is null`;

/** Of all projects. */
export const listToIndex = (): Sql => sql`
  select id from projects where searches_since is not null and not searchable order by id`;

export const indexFiles = (projectId: string, filesMax: number): Sql =>
  sql`select index_files(${projectId}, ${filesMax}) as more`;

export interface WalkRow {
  readonly ids: string[];
  readonly keys: string[];
  /** Where the walk ended. Null if the page was filled before, or if there are no more files. */
  readonly last: [key: string, id: string] | null;
}

export interface FoundRow {
  readonly id: string;
  readonly key: string;
}

/**
 * Follows the order until the page is full, for so many files and no more. Needs nothing but the index, as long as that has the columns
 * which are searched: so the project is checked once, and not for every file.
 */
export function walkFiles(
  projectId: string,
  userId: string,
  filter: FileFilter,
  search: FileSearch,
  after: Sql,
  filesMax: number,
  limit: number,
): Sql {
  const key = sortKey(search, columnsOfIndex);
  const sorted = inOrder(search, sql`key`, sql`file_id`);
  const inTurn = sql`
    from file_names where ${ofProject(projectId, userId, filter)} and ${held(userId, filter)}${withinOrder(search)}${after}
    order by ${inOrder(search, key, sql`file_id`)}`;
  return sql`
    with found as materialized (
      select file_id, key
      from (select file_id, space_id, name_key, size, sha256, created_at, ${key} as key ${inTurn} limit ${constantSql(filesMax)}) walked
      where true${searched(search, columnsOfIndex)}${others(projectId, filter)} order by ${sorted} limit ${limit})
    select array(select file_id::text as id from found order by ${sorted}) as ids,
      array(select key::text as shown from found order by ${sorted}) as keys,
      case when (select count(*) from found) < ${limit} then
        (select json_build_array(${key}::text, file_id) ${inTurn} offset ${constantSql(filesMax - 1)} limit 1) end as last`;
}

/** Finds all that match and sorts them: for searches that match little. */
export function findMatches(
  projectId: string,
  userId: string,
  filter: FileFilter,
  search: FileSearch,
  after: Sql,
  limit: number,
  hasMost = false,
): Sql {
  const key = sortKey(search, columnsOfIndex);
  const owned = hasMost && isByNameOnly(search) ? ownedBy(userId, filter) : held(userId, filter);
  const conditions = sql`${searched(search, columnsOfIndex)}${others(projectId, filter)}`;
  return sql`
    select file_id::text as id, ${key}::text as key from file_names
    where project_id = ${projectId} and ${owned}${conditions}${after}
    order by ${inOrder(search, key, sql`file_id`)} limit ${limit}`;
}

/** For this transaction: no walk along an order, and an end if that takes too long. */
export const allowMatchesOnly = (millisecondsMax: number): Sql => sql`
  select set_config('statement_timeout', ${String(millisecondsMax)}, true), set_config('enable_indexscan', 'off', true),
    set_config('enable_indexonlyscan', 'off', true), set_config('enable_seqscan', 'off', true)`;

/** The files that an index has next to each other. */
function held(userId: string, { folder, space }: FileFilter): Sql {
  if (folder !== undefined) return sql`user_id = ${userId} and folder_hash = md5(${folder})::uuid`;
  return typeof space === 'object' ? sql`space_id = ${space.spaceId}` : sql`user_id = ${userId}`;
}

const isByNameOnly = ({ q, sizeMin, sizeMax, sha256 }: FileSearch): boolean =>
  q !== undefined && [sizeMin, sizeMax, sha256].every((value) => value === undefined);

/**
 * The same, but the index of names is not asked who owns them. If most are the user's, it takes longer to read there which ones
 * than to check the few that match.
 */
function ownedBy(userId: string, filter: FileFilter): Sql {
  const owned = sql`user_id is not distinct from ${userId}`;
  if (filter.folder !== undefined) return sql`${owned} and folder_hash = md5(${filter.folder})::uuid`;
  return typeof filter.space === 'object' ? held(userId, filter) : owned;
}

/** Whether the user, or the space that is asked for, is one of the project. */
function ofProject(projectId: string, userId: string, { folder, space }: FileFilter): Sql {
  const isOwned = sql`project_id = ${projectId}`;
  return folder === undefined && typeof space === 'object'
    ? sql`exists (select from spaces where id = ${space.spaceId} and user_id = ${userId} and ${isOwned})`
    : sql`exists (select from users where id = ${userId} and ${isOwned})`;
}

/** The rest of the filter. Only files themselves have tags, types and visibility. */
function others(projectId: string, filter: FileFilter): Sql {
  const within = inSpace(filter.space);
  if (!isNarrowed(filter)) return within;
  return sql`${within} and exists (
    select from files where files.project_id = ${projectId} and files.id = file_id${narrowed(filter)})`;
}
