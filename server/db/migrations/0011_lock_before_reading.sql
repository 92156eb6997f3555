-- The user is locked by a statement of its own. One that joins and locks at once looks again at the user alone after it
-- has waited, beside the plan that it had found before: of a user whose plan was changed meanwhile there was none, and
-- so no limit.
create or replace function store_file(
  file files, actor_type text, actor_id uuid, actor_key_id text, ip_address text, user_agent text,
  out outcome text, out stored_at timestamptz
) language plpgsql as $$
declare
  owner record;
  space_active boolean;
  space_wanted bigint;
  space_limit bigint;
begin
  -- Before the user: the file's row will refer to the project, whose deletion goes through its users.
  perform from projects p where p.id = file.project_id for key share;
  perform from users u where u.project_id = file.project_id and u.id = file.user_id for no key update;
  select u.active, u.used_bytes + file.size as wanted, p.storage_limit into owner
    from users u left join plans p on p.id = coalesce(u.plan_id,
      (select d.id from plans d where d.project_id = u.project_id and d.is_default))
    where u.project_id = file.project_id and u.id = file.user_id;
  if not found then outcome := 'no user'; return; end if;
  if not owner.active then outcome := 'inactive user'; return; end if;
  if file.space_id is not null then
    select s.active, s.used_bytes + file.size, s.limit_bytes into space_active, space_wanted, space_limit
      from spaces s where s.project_id = file.project_id and s.user_id = file.user_id and s.id = file.space_id
      for no key update;
    if not found then outcome := 'no space'; return; end if;
    if not space_active then outcome := 'inactive space'; return; end if;
  end if;
  if owner.wanted > owner.storage_limit then outcome := 'user limit'; return; end if;
  if space_wanted > space_limit then outcome := 'space limit'; return; end if;
  delete from doomed_objects d
    where d.storage_key = file.storage_key and d.shelf = file.shelf and d.claimed_until is null;
  if not found then outcome := 'object lost'; return; end if;

  update users set used_bytes = owner.wanted, file_count = file_count + 1
    where id = file.user_id and project_id = file.project_id;
  if file.space_id is not null then
    update spaces set used_bytes = space_wanted, file_count = file_count + 1
      where id = file.space_id and project_id = file.project_id;
  end if;
  insert into files select file.*;
  perform record_audit(file.project_id, actor_type, actor_id, actor_key_id, ip_address, user_agent,
    'file.upload', 'file', file.id::text, file.user_id,
    jsonb_build_object('new', jsonb_build_object('name', file.name, 'size', file.size, 'mimeType', file.mime_type,
      'folder', file.folder, 'visibility', file.visibility, 'space_id', file.space_id)));
  outcome := 'stored';
  stored_at := file.created_at;
end $$;
