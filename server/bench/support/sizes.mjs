// How much disk tables and their indexes take, partitions included.
import pg from 'pg';

/** Resolves to `{ table, index, bytes }` for each; `index` is null for a table without its indexes. */
export async function sizesOf({ url }, tables) {
  const { rows } = await query(
    url,
    `with relations as (
       select c.oid, t.oid as in_table, x.indexrelid is not null as is_index
       from pg_class c left join pg_index x on x.indexrelid = c.oid join pg_class t on t.oid = coalesce(x.indrelid, c.oid)
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'i')),
     named as (
       select r.*, coalesce((select inhparent from pg_inherits where inhrelid = r.oid), r.oid)::regclass::text as name,
         coalesce((select inhparent from pg_inherits where inhrelid = r.in_table), r.in_table)::regclass::text as of_table
       from relations r)
     select of_table as "table", case when is_index then name end as "index",
       sum(case when is_index then pg_relation_size(oid) else pg_table_size(oid) end)::float8 as bytes
     from named where of_table = any($1) group by 1, 2 order by 1, 2 nulls first`,
    [tables],
  );
  return rows;
}

/** Bytes per row, for a table and for each of its indexes. */
export async function bytesPerRow(database, tables) {
  const sizes = await sizesOf(database, tables);
  const counts = new Map();
  for (const table of tables) {
    const { rows } = await query(database.url, `select count(*)::float8 as count from ${table}`);
    counts.set(table, rows[0].count);
  }
  return sizes.map(({ table, index, bytes }) => ({ table, index, bytes: bytes / counts.get(table) }));
}

export async function query(url, text, values) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client.query(text, values).finally(() => client.end());
}
