-- What the previous release calls while this one is being rolled out. No row where there is no such file, or where it is held.
create or replace function delete_file(
  project_id uuid, user_id uuid, space_id uuid, file_id uuid,
  action text, actor_type text, actor_id uuid, actor_key_id text, ip_address text, user_agent text
) returns table (zone text) language plpgsql as $$
begin
  return query select r.zone from remove_files($1, $2, $3, array[$4], false, jsonb_build_object('action', $5, 'actor_type', $6,
    'actor_id', $7, 'actor_key_id', $8, 'ip_address', $9, 'user_agent', $10)) r;
end $$;
