-- The partitions of audit_logs with their bounds, oldest first.
create or replace function audit_partitions() returns table (name text, lower timestamptz, upper timestamptz)
language sql stable set datestyle = 'ISO' as $$
  select c.relname::text, coalesce(substring(bounds from 'FROM \(''([^'']*)''\)')::timestamptz, '-infinity'),
    coalesce(substring(bounds from 'TO \(''([^'']*)''\)')::timestamptz, 'infinity')
  from pg_inherits i join pg_class c on c.oid = i.inhrelid, pg_get_expr(c.relpartbound, c.oid) bounds
  where i.inhparent = 'audit_logs'::regclass
  order by 2
$$;
