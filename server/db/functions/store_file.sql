-- Stores one file: charges the user and the space, marks the object as stored, inserts the row and records the audit and the
-- event, all or nothing. The outcome is 'stored', or the reason why not. `compression` is the JSON of the job that the caller
-- is about to add.
create or replace function store_file(
  file new_file, action text, actor_type text, actor_id uuid, actor_key_id text, ip_address text, user_agent text,
  compression text default 'null', out outcome text, out stored_at timestamptz
) language plpgsql as $$
declare
  listens boolean;
  event_data text;
  owner record;
  space_active boolean;
  space_wanted bigint;
  space_reserved bigint;
  space_limit bigint;
begin
  -- Before the user, because the file's row refers to the project, and deleting a project locks it before its users.
  select p.listens_until > now() into listens from projects p where p.id = file.project_id for key share;
  -- In a separate statement: one that joins and locks re-reads only the locked row after a wait, and would pair the new
  -- user with the old plan.
  perform from users u where u.project_id = file.project_id and u.id = file.user_id for no key update;
  select u.active, u.used_bytes + file.size as wanted, u.reserved_bytes, u.file_count, p.storage_limit, p.max_files
    into owner
    from users u left join plans p on p.id = coalesce(u.plan_id,
      (select d.id from plans d where d.project_id = u.project_id and d.is_default))
    where u.project_id = file.project_id and u.id = file.user_id;
  if not found then outcome := 'no user'; return; end if;
  if not owner.active then outcome := 'inactive user'; return; end if;
  if file.space_id is not null then
    select s.active, s.used_bytes + file.size, s.reserved_bytes, s.limit_bytes
      into space_active, space_wanted, space_reserved, space_limit
      from spaces s where s.project_id = file.project_id and s.user_id = file.user_id and s.id = file.space_id
      for no key update;
    if not found then outcome := 'no space'; return; end if;
    if not space_active then outcome := 'inactive space'; return; end if;
  end if;
  if owner.wanted + owner.reserved_bytes > owner.storage_limit then outcome := 'user limit'; return; end if;
  if space_wanted + space_reserved > space_limit then outcome := 'space limit'; return; end if;
  if owner.file_count >= files_allowed(owner.max_files) then outcome := 'file count'; return; end if;
  update objects o set state = 'stored', holder = null, held_until = null
    where o.project_id = file.project_id and o.file_id = file.id and o.id = file.id and o.zone = file.zone
      and o.state in ('reserved', 'writing');
  if not found then outcome := 'object lost'; return; end if;

  update users set used_bytes = owner.wanted, file_count = users.file_count + 1
    where id = file.user_id and project_id = file.project_id;
  if file.space_id is not null then
    update spaces set used_bytes = space_wanted, file_count = spaces.file_count + 1
      where id = file.space_id and project_id = file.project_id;
  end if;
  insert into files (id, project_id, user_id, space_id, name, size, mime_type, storage_key, folder, tags, classifier,
      metadata, visibility, zone, sha256, crc32, expires_at, retain_until, created_at, updated_at)
    values (file.id, file.project_id, file.user_id, file.space_id, file.name, file.size, file.mime_type,
      file.storage_key, file.folder, file.tags, file.classifier, file.metadata, file.visibility, file.zone,
      file.sha256, file.crc32, file.expires_at, file.retain_until, file.created_at, file.updated_at)
    returning view || compression || '}' into event_data;
  perform record_audit(file.project_id, actor_type, actor_id, actor_key_id, ip_address, user_agent,
    action, 'file', file.id::text, file.user_id,
    jsonb_build_object('new', jsonb_build_object('name', file.name, 'size', file.size, 'mimeType', file.mime_type,
      'folder', file.folder, 'visibility', file.visibility, 'space_id', file.space_id)));
  if listens then
    perform insert_event(file.project_id, 'file.created', file.user_id, event_data);
    perform record_thresholds(file.project_id, file.user_id, owner.wanted - file.size, owner.storage_limit,
      owner.wanted, owner.storage_limit);
  end if;
  outcome := 'stored';
  stored_at := file.created_at;
end $$;
