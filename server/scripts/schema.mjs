// Prints the schema of a migrated database as readable SQL: `npm run schema` writes it to db/schema.sql, and a
// test fails when the file differs from the result of the migrations.

const tables = `
  select c.relname as name, coalesce(' partition by ' || pg_get_partkeydef(c.oid), '') as partitioned,
    (select string_agg('  ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
        || case when a.attstorage <> t.typstorage then ' storage ' || case a.attstorage when 'e' then 'external' when 'm' then 'main' when 'p' then 'plain' else 'extended' end else '' end
        || case when a.attcollation <> t.typcollation then ' collate ' || quote_ident(l.collname) else '' end
        || case when a.attnotnull then ' not null' else '' end
        || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), ''), E',\\n' order by a.attnum)
      from pg_attribute a join pg_type t on t.oid = a.atttypid
      left join pg_collation l on l.oid = a.attcollation
      left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
    (select string_agg('alter table ' || c.relname || ' add constraint ' || k.conname || ' ' || pg_get_constraintdef(k.oid) || ';',
        E'\\n' order by k.conname)
      from pg_constraint k where k.conrelid = c.oid and k.contype <> 'n') as constraints,
    (select string_agg(pg_get_indexdef(i.indexrelid) || ';', E'\\n' order by i.indexrelid::regclass::text collate "C")
      from pg_index i where i.indrelid = c.oid
        and not exists (select from pg_constraint k where k.conindid = i.indexrelid)) as indexes,
    (select string_agg(pg_get_triggerdef(g.oid) || ';', E'\\n' order by g.tgname)
      from pg_trigger g where g.tgrelid = c.oid and not g.tgisinternal) as triggers
  from pg_class c where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace order by c.relname collate "C"`;

const types = `
  select 'create type ' || c.relname || E' as (\\n' || string_agg('  ' || a.attname || ' '
    || format_type(a.atttypid, a.atttypmod), E',\\n' order by a.attnum) || E'\\n)' as definition
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where c.relkind = 'c' and c.relnamespace = 'public'::regnamespace group by c.relname order by c.relname collate "C"`;

const domains = `
  select 'create domain ' || t.typname || ' as ' || format_type(t.typbasetype, t.typtypmod)
    || coalesce((select string_agg(' ' || pg_get_constraintdef(k.oid), '') from pg_constraint k where k.contypid = t.oid), '')
    as definition
  from pg_type t where t.typtype = 'd' and t.typnamespace = 'public'::regnamespace order by t.typname collate "C"`;

const functions = `
  select pg_get_functiondef(p.oid) as definition from pg_proc p
  where p.pronamespace = 'public'::regnamespace order by p.proname collate "C", pg_get_function_identity_arguments(p.oid) collate "C"`;

/** `query` runs a statement and resolves to its rows. */
export async function schemaText(query) {
  const parts = ['-- Made by `npm run schema` from the migrations; not applied by anything.'];
  for (const { name, partitioned, columns, constraints, indexes, triggers } of await query(tables)) {
    parts.push(
      [`create table ${name} (\n${columns}\n)${partitioned};`, constraints, indexes, triggers]
        .filter(Boolean)
        .join('\n'),
    );
  }
  for (const { definition } of [
    ...(await query(types)),
    ...(await query(domains)),
    ...(await query(functions)),
  ])
    parts.push(`${definition.trim()};`);
  return `${parts.join('\n\n')}\n`;
}
