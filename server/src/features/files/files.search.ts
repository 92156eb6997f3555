// Lists files that are searched for, or in another order. The files of a user who has few are simply read. For users with many, the
// project gets an index of its own, from the first search on: see docs/adr/0028-search.md.
import type { TenantActor } from '../../contract/actor.ts';
import type { Deps } from '../../contract/deps.ts';
import type { Serialized } from '../../contract/serialized.ts';
import type { Position } from '../../kernel/cursor.ts';
import { invalid } from '../../kernel/error.ts';
import { toEndUtc, toUtc } from '../../kernel/text/timestamp.ts';
import { isStatementTimeout } from '../../platform/db/outage.ts';
import type { PageRequest } from '../../platform/db/paging.ts';
import { projectTransaction, search as runSearch } from '../../platform/db/project-work.ts';
import { noSql, type Sql } from '../../platform/db/sql.ts';
import {
  allowMatchesOnly,
  beginIndex,
  type FoundRow,
  findMatches,
  findSearchState,
  indexFiles,
  listToIndex,
  lockToIndex,
  type SearchState,
  type WalkRow,
  walkFiles,
} from './files.index.sql.ts';
import type { FileFilter } from './files.list.sql.ts';
import {
  afterSearched,
  columnsOfFiles,
  columnsOfIndex,
  type FileSearch,
  isPeriod,
  positionOfFile,
} from './files.search.sql.ts';
import { lastFile, listName, readFilePage, toFileList } from './files.service.ts';

/** As the query of a list has it. */
export interface SearchQuery {
  readonly q?: string;
  readonly created_from?: string;
  readonly created_to?: string;
  readonly size_min?: number;
  readonly size_max?: number;
  readonly sha256?: string;
  readonly sort?: FileSearch['sort'];
  readonly order?: FileSearch['order'];
}

/** Only what is about searching and sorting. */
export const searchIn = (query: SearchQuery): SearchQuery => {
  const { q, created_from, created_to, size_min, size_max, sha256, sort, order } = query;
  const given = { q, created_from, created_to, size_min, size_max, sha256, sort, order };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
};

/** Null if nothing is searched or sorted. */
export function parseSearch(query: SearchQuery): FileSearch | null {
  const given = searchIn(query);
  if (Object.keys(given).length === 0) return null;
  const { q, created_from, created_to, size_min, size_max, sha256, sort = 'created_at' } = given;
  return {
    q,
    createdFrom: created_from === undefined ? undefined : toUtc(created_from),
    createdTo: created_to === undefined ? undefined : toEndUtc(created_to),
    sizeMin: size_min,
    sizeMax: size_max,
    sha256,
    sort,
    order: given.order ?? (sort === 'name' ? 'asc' : 'desc'),
  };
}

type SearchFilter = FileFilter & { readonly search: FileSearch };

/** So many files are read and sorted in a few milliseconds. */
const fewFiles = 5_000;

export async function searchFiles(
  deps: Deps,
  actor: TenantActor,
  userId: string,
  filter: SearchFilter,
  page: PageRequest,
): Promise<Serialized> {
  const { search } = filter;
  const list = `${listName('files', actor, userId)}:${search.sort}:${search.order}`;
  const position = page.cursor === undefined ? null : deps.cursors.decode(list, page.cursor);
  const index = isPeriod(search) ? null : await findIndex(deps, actor.projectId, userId, search);
  const { files, next } = index
    ? await readIndexed(deps, actor.projectId, userId, filter, position, page, index.has_most)
    : await readDirectly(deps, actor.projectId, userId, filter, position, page);
  return toFileList(files, next && deps.cursors.encode(list, next));
}

/** Null if the files are read without one. */
async function findIndex(
  deps: Deps,
  projectId: string,
  userId: string,
  { q }: FileSearch,
): Promise<SearchState | null> {
  const [state] = await deps.db.read<SearchState>(findSearchState(projectId, userId));
  if (q !== undefined && !state?.finds_text) throw noTextSearch();
  if (!state || state.file_count <= fewFiles) return null;
  if (!state.begun) await startIndex(deps, projectId);
  return state.searchable ? state : null;
}

const noTextSearch = () =>
  invalid(422, [
    {
      path: 'q',
      message: 'is not available: the database lacks the extensions unaccent and pg_trgm',
      code: 'unavailable',
    },
  ]);

/** The caller is answered all the same, if the database is too busy now. */
async function startIndex(deps: Deps, projectId: string): Promise<void> {
  const begin = projectTransaction(deps, projectId, async (tx) => {
    const [unbegun] = await tx.query(lockToIndex(projectId));
    if (unbegun) await tx.query(beginIndex(projectId));
  });
  await begin.catch((error: unknown) => {
    deps.log.warn({ err: error, project_id: projectId }, 'failed to begin an index of files, later again');
  });
}

interface SearchPage {
  readonly files: string;
  readonly next: Position | null;
}

async function readDirectly(
  deps: Deps,
  projectId: string,
  userId: string,
  filter: SearchFilter,
  position: Position | null,
  page: PageRequest,
): Promise<SearchPage> {
  const { search } = filter;
  const after = position ? afterSearched(search, columnsOfFiles, position) : noSql;
  const { files, more } = await readFilePage(deps, { projectId, userId, filter, after, page });
  return { files, next: more ? positionOfFile(search, lastFile(files)) : null };
}

interface Matches {
  readonly ids: readonly string[];
  /** Where the search goes on behind the last of them, if it knows better; null if there are no more. */
  readonly next: Position | null;
}

async function readIndexed(
  deps: Deps,
  projectId: string,
  userId: string,
  filter: SearchFilter,
  position: Position | null,
  page: PageRequest,
  hasMost: boolean,
): Promise<SearchPage> {
  const { ids, next } = await findPage(deps, projectId, userId, filter, position, page.limit, hasMost);
  if (ids.length === 0) return { files: '', next };
  const shown = { ...page, limit: ids.length };
  const { files, more } = await readFilePage(deps, {
    projectId,
    userId,
    filter: { ...filter, found: ids },
    after: noSql,
    page: shown,
  });
  return { files, next: more ? positionOfFile(filter.search, lastFile(files)) : next };
}

/** So many take some milliseconds. */
const walkedMax = 2_000;
/** How long a look-up may take. After a walk that found something there are probably too many matches for one. */
const lookUpMs = { afterNone: 24, afterSome: 8 };
/** Shorter text is in no index. */
const lookUpLengthMin = 3;

/**
 * What matches often is found by following the order for a while. What does not is rare, so all of it is found and sorted. If that
 * takes too long, because all matches are far away, the page ends where the walk did.
 */
async function findPage(
  deps: Deps,
  projectId: string,
  userId: string,
  filter: SearchFilter,
  position: Position | null,
  limit: number,
  hasMost: boolean,
): Promise<Matches> {
  const { search } = filter;
  const after = position ? afterSearched(search, columnsOfIndex, position) : noSql;
  const walk = walkFiles(projectId, userId, filter, search, after, walkedMax, limit + 1);
  const [found] = await runSearch<WalkRow>(deps, projectId, walk);
  const { last, ids, keys } = found as WalkRow;
  if (last === null) return cutPage(ids, keys, limit);
  const matches = findMatches(projectId, userId, filter, search, after, limit + 1, hasMost);
  const msMax = ids.length === 0 ? lookUpMs.afterNone : lookUpMs.afterSome;
  const rows = canLookUp(search) ? await lookUp(deps, projectId, matches, msMax) : null;
  if (!rows) return { ids, next: last };
  return cutPage(
    rows.map(({ id }) => id),
    rows.map(({ key }) => key),
    limit,
  );
}

/** Whether an index may tell what matches. Without conditions, nothing is rare. */
const canLookUp = ({ q, sizeMin, sizeMax, sha256, createdFrom, createdTo }: FileSearch): boolean =>
  (q !== undefined && [...q].length >= lookUpLengthMin) ||
  [sizeMin, sizeMax, sha256, createdFrom, createdTo].some((value) => value !== undefined);

const cutPage = (ids: readonly string[], keys: readonly string[], limit: number): Matches => ({
  ids: ids.slice(0, limit),
  next: ids.length > limit ? [keys[limit - 1] ?? '', ids[limit - 1] ?? ''] : null,
});

/** Null if that takes too long. */
async function lookUp(
  deps: Deps,
  projectId: string,
  matches: Sql,
  msMax: number,
): Promise<FoundRow[] | null> {
  try {
    return await deps.projectGates.searches.during(projectId, () =>
      deps.db.transaction(async (tx) => {
        await tx.query(allowMatchesOnly(msMax));
        return tx.query<FoundRow>(matches);
      }),
    );
  } catch (error) {
    if (isStatementTimeout(error)) return null;
    throw error;
  }
}

const chunkFiles = 1_000;
const turnMs = 10_000;

/** Indexes older files of projects that have begun to search. Resolves to how many chunks. */
export async function indexOlderFiles(deps: Deps, signal: AbortSignal): Promise<number> {
  const endsAt = performance.now() + turnMs;
  let chunks = 0;
  for (const { id } of await deps.db.query<{ id: string }>(listToIndex())) {
    for (let more = true; more; chunks += 1) {
      if (signal.aborted || performance.now() > endsAt) return chunks;
      const [row] = await deps.bulkWork.run(() =>
        deps.db.query<{ more: boolean }>(indexFiles(id, chunkFiles)),
      );
      more = row?.more ?? false;
    }
  }
  return chunks;
}
