-- Prepares audit_logs for a new bound; 'covered' if the partitions by month reach far enough already. If rows of those months
-- are in audit_logs_later, that table is going to be closed at the bound: 'unchecked' means that its constraint is to be
-- validated first. Validating blocks nobody; attaching a table without the constraint would read all of it under a lock.
create or replace function announce_audit_bound() returns text language plpgsql set lock_timeout = '100ms'
set datestyle = 'ISO' as $$
begin
  if (select p.lower >= audit_bound() from audit_partitions() p where p.upper = 'infinity') then
    return 'covered';
  elsif not exists (select from audit_logs_later where created_at < audit_bound())
    or exists (select from audit_logs_later where created_at >= audit_bound()) then
    return 'ready';
  end if;
  alter table audit_logs_later drop constraint if exists audit_logs_closing;
  execute format('alter table audit_logs_later add constraint audit_logs_closing check (created_at < %L) not valid',
    audit_bound());
  return 'unchecked';
end $$;
