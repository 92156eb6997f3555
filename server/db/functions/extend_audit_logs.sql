-- Moves the start of audit_logs_later to the bound, and gives the time before it to partitions. It waits for the lock only
-- briefly: changes that record an audit row wait behind it.
--
-- Usually audit_logs_later is empty, and one month becomes a partition. If it has rows of the time before the bound, because
-- nobody has extended in time or the table is not partitioned yet, it becomes a partition itself, as it is. Rows beyond the
-- bound, from a clock that ran ahead, are put into the new audit_logs_later.
create or replace function extend_audit_logs() returns void language plpgsql set lock_timeout = '100ms' as $$
declare
  bound constant timestamptz := audit_bound();
  this_month constant timestamptz := date_trunc('month', now() at time zone 'UTC') at time zone 'UTC';
  start timestamptz;
  closed text;
begin
  lock table only audit_logs in access exclusive mode;
  select p.lower into start from audit_partitions() p where p.upper = 'infinity';
  if start >= bound then return; end if;
  alter table audit_logs detach partition audit_logs_later;

  if exists (select from audit_logs_later where created_at < bound) then
    create temporary table audit_ahead on commit drop as
      select id, project_id, actor_type, actor_id, actor_key_id, user_id, action, resource_type, resource_id, ip_address,
        user_agent, metadata, created_at
      from audit_logs_later where created_at >= bound;
    -- A table that is no partition has no trigger against it.
    delete from audit_logs_later where created_at >= bound;
    closed := 'audit_logs_until_' || to_char(bound at time zone 'UTC', 'YYYY_MM');
    execute format('alter table audit_logs_later rename to %I', closed);
    perform attach_audit_partition(closed, start, bound);
    execute format('alter table %I drop constraint if exists audit_logs_closing', closed);
    perform attach_audit_partition('audit_logs_later', bound, 'infinity');
    insert into audit_logs (id, project_id, actor_type, actor_id, actor_key_id, user_id, action, resource_type, resource_id, ip_address,
        user_agent, metadata, created_at)
      select id, project_id, actor_type, actor_id, actor_key_id, user_id, action, resource_type, resource_id, ip_address,
        user_agent, metadata, created_at
      from audit_ahead;
    drop table audit_ahead;
    return;
  end if;

  alter table audit_logs_later drop constraint if exists audit_logs_closing;
  if start = '-infinity' then
    perform attach_audit_partition('audit_logs_past', '-infinity', this_month);
    start := this_month;
  elsif start < this_month then
    perform attach_audit_partition('audit_logs_until_' || to_char(this_month at time zone 'UTC', 'YYYY_MM'), start, this_month);
    start := this_month;
  end if;
  while start < bound loop
    perform attach_audit_partition('audit_logs_' || to_char(start at time zone 'UTC', 'YYYY_MM'), start,
      (start at time zone 'UTC' + interval '1 month') at time zone 'UTC');
    start := (start at time zone 'UTC' + interval '1 month') at time zone 'UTC';
  end loop;
  perform attach_audit_partition('audit_logs_later', bound, 'infinity');
end $$;
