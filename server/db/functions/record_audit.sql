-- Records one row in the caller's transaction. It catches all of its own errors and waits at most a quarter of a second
-- for a lock, so that it can neither fail nor stall the change it records.
create or replace function record_audit(
  project_id uuid, actor_type text, actor_id uuid, actor_key_id text, ip_address text, user_agent text,
  action text, resource_type text, resource_id text, user_id uuid, metadata jsonb
) returns boolean language plpgsql set lock_timeout = '250ms' as $$
begin
  insert into audit_logs
    (project_id, actor_type, actor_id, actor_key_id, ip_address, user_agent, action, resource_type, resource_id, user_id, metadata)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, coalesce($11, '{}'));
  return true;
exception when others then
  raise warning 'audit row for % not recorded: %', action, sqlerrm;
  return false;
end $$;
