-- Validates the constraint that announce_audit_bound has added, unless another instance is done with it.
create or replace function check_audit_bound() returns void language plpgsql as $$
begin
  lock table audit_logs_later in share update exclusive mode;
  if exists (select from pg_constraint
      where conrelid = 'audit_logs_later'::regclass and conname = 'audit_logs_closing' and not convalidated) then
    alter table audit_logs_later validate constraint audit_logs_closing;
  end if;
end $$;
