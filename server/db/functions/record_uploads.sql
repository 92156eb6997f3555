-- The audit rows of files that were stored together. Like record_audit, it fails nothing but itself.
create or replace function record_uploads(batch jsonb, stored new_file[]) returns boolean
language plpgsql set lock_timeout = '250ms' as $$
begin
  insert into audit_logs
    (project_id, actor_type, actor_id, actor_key_id, ip_address, user_agent, action, resource_type, resource_id, user_id, metadata)
  select f.project_id, e ->> 'actor_type', (e ->> 'actor_id')::uuid, e ->> 'actor_key_id', e ->> 'ip_address',
    e ->> 'user_agent', e ->> 'action', 'file', f.id::text, f.user_id,
    jsonb_build_object('new', jsonb_build_object('name', f.name, 'size', f.size, 'mimeType', f.mime_type,
      'folder', f.folder, 'visibility', f.visibility, 'space_id', f.space_id))
  from jsonb_array_elements(batch) e join unnest(stored) f on f.id = (e -> 'file' ->> 'id')::uuid;
  return true;
exception when others then
  raise warning 'audit rows of % files not recorded: %', cardinality(stored), sqlerrm;
  return false;
end $$;
