// What a search and an order mean, on files themselves and on their index.
import type { Position } from '../../kernel/cursor.ts';
import { noSql, type Sql, sql } from '../../platform/db/sql.ts';

export interface FileSearch {
  /** A part of the name. */
  readonly q?: string | undefined;
  readonly createdFrom?: string | undefined;
  readonly createdTo?: string | undefined;
  readonly sizeMin?: number | undefined;
  readonly sizeMax?: number | undefined;
  /** Hex. */
  readonly sha256?: string | undefined;
  readonly sort: 'name' | 'size' | 'created_at';
  readonly order: 'asc' | 'desc';
}

/** The names of the columns differ between files and their index. */
export interface SearchColumns {
  readonly id: Sql;
  readonly nameKey: Sql;
}

export const columnsOfFiles: SearchColumns = { id: sql`id`, nameKey: sql`file_name_key(name) collate "C"` };
export const columnsOfIndex: SearchColumns = { id: sql`file_id`, nameKey: sql`name_key` };

/** The files of a period in the order of time need no index but that of every list. */
export const isPeriod = ({ q, sizeMin, sizeMax, sha256, sort }: FileSearch): boolean =>
  sort === 'created_at' && [q, sizeMin, sizeMax, sha256].every((value) => value === undefined);

export function sortKey({ sort }: FileSearch, { nameKey }: SearchColumns): Sql {
  if (sort === 'name') return nameKey;
  return sort === 'size' ? sql`size` : sql`created_at`;
}

export const inOrder = ({ order }: FileSearch, key: Sql, id: Sql): Sql =>
  order === 'asc' ? sql`${key}, ${id}` : sql`${key} desc, ${id} desc`;

/** A name as a file has it, and not as the index has it. */
const rawName = 'name';

export const positionOfFile = (
  { sort }: FileSearch,
  file: { readonly id: string; readonly name: string; readonly size: number; readonly created_at: string },
): string[] => (sort === 'name' ? [file.name, file.id, rawName] : [String(file[sort]), file.id]);

/** The condition that continues after a file. */
export function afterSearched(search: FileSearch, columns: SearchColumns, position: Position): Sql {
  const [value = '', id = '', kind] = position;
  const key = sortKey(search, columns);
  const last = toKey(search, value, kind === rawName);
  return search.order === 'asc'
    ? sql` and (${key}, ${columns.id}) > (${last}, ${id}::uuid)`
    : sql` and (${key}, ${columns.id}) < (${last}, ${id}::uuid)`;
}

function toKey({ sort }: FileSearch, value: string, isRaw: boolean): Sql {
  if (sort === 'size') return sql`${value}::bigint`;
  if (sort === 'created_at') return sql`${value}::timestamptz`;
  return isRaw ? sql`file_name_key(${value}) collate "C"` : sql`${value}::text collate "C"`;
}

/** Everything that is asked for. The subselect makes the pattern once, and not for every file. */
export const searched = (search: FileSearch, columns: SearchColumns): Sql => {
  const { q, sha256 } = search;
  const named = q === undefined ? noSql : sql` and ${columns.nameKey} like (select file_name_pattern(${q}))`;
  const hashed = sha256 === undefined ? noSql : sql` and sha256 = ${Buffer.from(sha256, 'hex')}`;
  return sql`${named}${hashed}${ofSize(search)}${ofPeriod(search)}`;
};

/** What bounds the order itself, so that the index begins and ends there. */
export const withinOrder = (search: FileSearch): Sql => {
  if (search.sort === 'size') return ofSize(search);
  return search.sort === 'created_at' ? ofPeriod(search) : noSql;
};

function ofSize({ sizeMin, sizeMax }: FileSearch): Sql {
  const from = sizeMin === undefined ? noSql : sql` and size >= ${sizeMin}::bigint`;
  return sizeMax === undefined ? from : sql`${from} and size <= ${sizeMax}::bigint`;
}

function ofPeriod({ createdFrom, createdTo }: FileSearch): Sql {
  const from = createdFrom === undefined ? noSql : sql` and created_at >= ${createdFrom}::timestamptz`;
  return createdTo === undefined ? from : sql`${from} and created_at <= ${createdTo}::timestamptz`;
}
