-- Drops the oldest partition if all of its time is before the given one, and returns its name. audit_logs_past then covers that
-- time: an old row may still arrive, from a clock that is behind.
create or replace function drop_audit_partition(expired timestamptz) returns text
language plpgsql set lock_timeout = '100ms' as $$
declare
  oldest record;
begin
  if not exists (select from audit_partitions() p where p.upper <= expired and p.name <> 'audit_logs_past') then
    return null;
  end if;
  lock table only audit_logs in access exclusive mode;
  select p.name, p.upper into oldest from audit_partitions() p
    where p.upper <= expired and p.name <> 'audit_logs_past' order by p.upper limit 1;
  if not found then return null; end if;
  if to_regclass('audit_logs_past') is not null then
    alter table audit_logs detach partition audit_logs_past;
  end if;
  execute format('drop table %I', oldest.name);
  perform attach_audit_partition('audit_logs_past', '-infinity', oldest.upper);
  return oldest.name;
end $$;
