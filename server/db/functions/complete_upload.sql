-- Turns an upload whose object is in place into a file: what was reserved becomes used. The outcome is that of store_file,
-- or 'taken'. Unless it is 'stored', nothing has changed.
create or replace function complete_upload(
  project uuid, upload_id uuid, at_epoch integer, digest bytea, ip_address text, user_agent text,
  out outcome text, out stored_at timestamptz
) language plpgsql as $$
declare
  upload record;
  file new_file;
begin
  perform lock_upload_owner(project, upload_id);
  select u.user_id, u.space_id, u.name, u.size, u.mime_type, u.folder, u.tags, u.classifier, u.metadata, u.visibility, u.zone,
      u.file_expires_at, u.file_retain_until, u.object_id, u.tail_id, u.reserved, u.actor_type, u.actor_id, u.actor_key_id
    into upload from uploads u
    where u.project_id = project and u.id = upload_id and u.epoch = at_epoch and u.status = 'uploading' for update;
  if not found then outcome := 'taken'; return; end if;

  file.id := upload.object_id;
  file.project_id := project;
  file.user_id := upload.user_id;
  file.space_id := upload.space_id;
  file.name := upload.name;
  file.size := upload.size;
  file.mime_type := upload.mime_type;
  file.storage_key := project || '/' || upload.object_id;
  file.folder := upload.folder;
  file.tags := upload.tags;
  file.classifier := upload.classifier;
  file.metadata := upload.metadata;
  file.visibility := upload.visibility;
  file.zone := upload.zone;
  -- The sha256, and behind it the crc32.
  file.sha256 := substr(digest, 1, 32);
  if length(digest) = 36 then file.crc32 := ('x' || encode(substr(digest, 33), 'hex'))::bit(32)::bigint; end if;
  file.expires_at := upload.file_expires_at;
  file.retain_until := upload.file_retain_until;
  file.created_at := now();
  file.updated_at := now();
  -- Given back first, so that store_file finds exactly this room.
  perform reserve_bytes(project, upload.user_id, upload.space_id, -upload.reserved);
  select stored.outcome, stored.stored_at into outcome, stored_at
    from store_file(file, 'file.upload', upload.actor_type, upload.actor_id, upload.actor_key_id, ip_address, user_agent) stored;
  if outcome <> 'stored' then
    perform reserve_bytes(project, upload.user_id, upload.space_id, upload.reserved);
    return;
  end if;
  perform drop_upload_objects(project, upload.tail_id);
  delete from upload_parts p where p.project_id = project and p.upload_id = complete_upload.upload_id;
  update uploads u set status = 'completed', file_id = file.id, reserved = 0, receiving = false, state = null,
      tail_id = null, updated_at = now()
    where u.project_id = project and u.id = complete_upload.upload_id;
end $$;
