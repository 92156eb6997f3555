-- Creates an upload and reserves its size for the user and the space, or says why not. An upload of unknown length reserves
-- its bytes as they arrive.
create or replace function create_upload(
  upload uploads, per_user bigint, per_project bigint, ip_address text, user_agent text,
  out outcome text, out created_at timestamptz
) language plpgsql as $$
declare
  owner record;
  space record;
  unfinished bigint;
begin
  perform from projects p where p.id = upload.project_id for key share;
  -- In a separate statement, as in store_file.
  perform from users u where u.project_id = upload.project_id and u.id = upload.user_id for no key update;
  select u.active, u.used_bytes + u.reserved_bytes + upload.reserved as wanted, u.file_count, p.storage_limit, p.max_files
    into owner
    from users u left join plans p on p.id = coalesce(u.plan_id,
      (select d.id from plans d where d.project_id = u.project_id and d.is_default))
    where u.project_id = upload.project_id and u.id = upload.user_id;
  if not found then outcome := 'no user'; return; end if;
  if not owner.active then outcome := 'inactive user'; return; end if;
  if upload.space_id is not null then
    select s.active, s.used_bytes + s.reserved_bytes + upload.reserved as wanted, s.limit_bytes into space
      from spaces s where s.project_id = upload.project_id and s.user_id = upload.user_id and s.id = upload.space_id
      for no key update;
    if not found then outcome := 'no space'; return; end if;
    if not space.active then outcome := 'inactive space'; return; end if;
    if space.wanted > space.limit_bytes then outcome := 'space limit'; end if;
  end if;
  if owner.wanted > owner.storage_limit then outcome := 'user limit'; end if;
  if outcome is not null then return; end if;

  select count(*) into unfinished from uploads u
    where u.project_id = upload.project_id and u.user_id = upload.user_id and u.status = 'uploading';
  if unfinished >= per_user then outcome := 'too many of user'; return; end if;
  if owner.file_count + unfinished >= files_allowed(owner.max_files) then outcome := 'file count'; return; end if;
  -- The last lock, so that nobody waits behind a user that is locked for long.
  perform pg_advisory_xact_lock(hashtextextended('uploads of ' || upload.project_id, 0));
  select count(*) into unfinished from uploads u where u.project_id = upload.project_id and u.status = 'uploading';
  if unfinished >= per_project then outcome := 'too many of project'; return; end if;

  created_at := now();
  insert into uploads (id, project_id, user_id, space_id, mode, token_hash, integration_id, key_id, jti, actor_type,
      actor_id, actor_key_id, name, mime_type, folder, tags, classifier, metadata, visibility, sha256, size, reserved,
      object_id, zone, state, expires_at, file_expires_at, file_retain_until)
    values (upload.id, upload.project_id, upload.user_id, upload.space_id, upload.mode, upload.token_hash,
      upload.integration_id, upload.key_id, upload.jti, upload.actor_type, upload.actor_id, upload.actor_key_id,
      upload.name, upload.mime_type, upload.folder, upload.tags, upload.classifier, upload.metadata, upload.visibility,
      upload.sha256, upload.size, upload.reserved, upload.object_id, upload.zone, upload.state, upload.expires_at,
      upload.file_expires_at, upload.file_retain_until);
  -- Only a direct upload has its object from the beginning: clients send its parts at any time.
  insert into objects (project_id, file_id, id, zone, state, held_until)
    select upload.project_id, upload.object_id, upload.object_id, upload.zone, 'writing', upload.expires_at + interval '2 hours'
    where upload.object_id is not null;
  perform reserve_bytes(upload.project_id, upload.user_id, upload.space_id, upload.reserved);
  perform record_audit(upload.project_id, upload.actor_type, upload.actor_id, upload.actor_key_id, ip_address, user_agent,
    'upload.create', 'upload', upload.id::text, upload.user_id,
    jsonb_build_object('new', jsonb_build_object('name', upload.name, 'size', upload.size, 'mimeType', upload.mime_type,
      'mode', upload.mode, 'folder', upload.folder, 'visibility', upload.visibility, 'space_id', upload.space_id)));
  outcome := 'created';
end $$;
