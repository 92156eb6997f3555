-- Audit rows are immutable. Only the retention job deletes old ones: a setting of its transaction says how old. An earlier
-- release, which knows nothing of partitions, sets another one and is refused.
create or replace function refuse_audit_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    if old.created_at < nullif(current_setting('pakhus.audit_purge_before', true), '')::timestamptz then
      return old;
    end if;
  end if;
  raise exception 'audit rows are immutable' using errcode = 'restrict_violation';
end $$;
create or replace trigger audit_logs_immutable before update or delete on audit_logs
  for each row execute function refuse_audit_change();
create or replace trigger audit_logs_not_truncated before truncate on audit_logs
  for each statement execute function refuse_audit_change();
-- The first partition, which the migration makes.
create or replace trigger audit_logs_not_truncated before truncate on audit_logs_later
  for each statement execute function refuse_audit_change();
