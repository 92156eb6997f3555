-- Audit rows are immutable. Only the retention job deletes old ones, and says so in a setting of its transaction.
create or replace function refuse_audit_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('pakhus.audit_purge', true) = 'on' then
    return old;
  end if;
  raise exception 'audit rows are immutable' using errcode = 'restrict_violation';
end $$;
create or replace trigger audit_logs_immutable before update or delete on audit_logs
  for each row execute function refuse_audit_change();
create or replace trigger audit_logs_not_truncated before truncate on audit_logs
  for each statement execute function refuse_audit_change();
