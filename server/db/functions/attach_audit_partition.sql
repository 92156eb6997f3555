-- Makes a table a partition of audit_logs, and makes the table first if there is none.
create or replace function attach_audit_partition(name text, lower timestamptz, upper timestamptz) returns void
language plpgsql set datestyle = 'ISO' as $$
begin
  if to_regclass(quote_ident(name)) is null then
    execute format('create table %I (like audit_logs including defaults including constraints including storage)', name);
    -- Triggers for rows come with the partitioned table, those for statements do not.
    execute format('create trigger audit_logs_not_truncated before truncate on %I
      for each statement execute function refuse_audit_change()', name);
  end if;
  execute format('alter table audit_logs attach partition %I for values from (%s) to (%s)', name,
    case when lower = '-infinity' then 'minvalue' else quote_literal(lower) end,
    case when upper = 'infinity' then 'maxvalue' else quote_literal(upper) end);
end $$;
