-- The keys of these indexes end in the id of the file, so no two live rows share one. PostgreSQL would still look for duplicates
-- whenever a page is full, and find none but the rows that a running transaction has just replaced: an eighth of the time that
-- moving a large folder takes.
do $$
declare
  index_name text;
begin
  for index_name in
    select i.indexrelid::regclass from pg_index i join pg_class c on c.oid = i.indexrelid
    join pg_am m on m.oid = c.relam and m.amname = 'btree'
    join pg_attribute a on a.attrelid = i.indexrelid and a.attnum = i.indnkeyatts
    where i.indrelid in ('files'::regclass, 'file_names'::regclass) and a.attname in ('id', 'file_id')
  loop
    execute format('alter index %s set (deduplicate_items = off)', index_name);
  end loop;
end $$;
