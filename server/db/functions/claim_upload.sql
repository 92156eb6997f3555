-- Lets a request add bytes to an upload and fences off an older one that still does. The outcome is 'claimed', or why not:
-- 'absent', 'ended', 'offset' or 'too long'. Without an offset it only fences, so that the offset stays where it is.
--
-- It is found by the secret of its URL, or by its id.
--
-- `object` is for the file if this is the first byte, `tail` for bytes that do not fill a part (null where a store has
-- none). Both are entered into the ledger before anything is written.
create or replace function claim_upload(
  token bytea, by_project uuid, by_id uuid, at bigint, adding bigint, object uuid, tail uuid, holder uuid, seconds double precision
) returns table (
  outcome text, took_over boolean, room bigint, allowed_mimes text[], max_file_size bigint, cors_origins text[], dev_mode boolean,
  id uuid, project_id uuid, user_id uuid, space_id uuid, status text, mode text, name text, mime_type text, size bigint,
  received bigint, file_id uuid, error jsonb, expires_at timestamptz, created_at timestamptz, updated_at timestamptz,
  epoch integer, receiving boolean, object_id uuid, zone text, state jsonb, tail_id uuid, sha256 bytea
) language plpgsql as $$
#variable_conflict use_column
declare
  upload record;
  policy record;
  owner record;
  held_until timestamptz := now() + make_interval(secs => seconds);
begin
  if token is not null then
    select u.project_id, u.id into by_project, by_id from uploads u where u.token_hash = token;
  end if;
  select u.id, u.project_id, u.user_id, u.space_id, u.status, u.mode, u.name, u.mime_type, u.size, u.received, u.file_id, u.error,
      u.expires_at, u.created_at, u.updated_at, u.epoch, u.receiving, u.object_id, u.zone, u.state, u.tail_id, u.sha256,
      u.integration_id, upload_is_alive(u) as alive
    into upload from uploads u
    where u.project_id = by_project and u.id = by_id for no key update;
  select i.cors_origins, i.dev_mode into policy from integrations i
    where i.project_id = upload.project_id and i.id = upload.integration_id;
  select p.allowed_mimes, p.max_file_size,
      least(p.storage_limit - u.used_bytes - u.reserved_bytes, s.limit_bytes - s.used_bytes - s.reserved_bytes) as room
    into owner
    from users u left join plans p on p.id = coalesce(u.plan_id,
      (select d.id from plans d where d.project_id = u.project_id and d.is_default))
    left join spaces s on s.project_id = u.project_id and s.id = upload.space_id
    where u.project_id = upload.project_id and u.id = upload.user_id;
  outcome := case
    when upload.status not in ('uploading', 'completed') or upload.alive is not true then 'absent'
    when upload.status <> 'uploading' then 'ended'
    when at <> upload.received then 'offset'
    when at + adding > upload.size then 'too long'
    else 'claimed' end;
  took_over := outcome = 'claimed' and upload.receiving;

  if outcome = 'claimed' then
    if took_over then perform pg_notify('pakhus_uploads', upload.id || ' ' || upload.epoch + 1); end if;
    if at is not null and upload.received = 0 and upload.mode = 'resumable' then
      perform drop_upload_objects(upload.project_id, upload.object_id, upload.tail_id);
      insert into objects (project_id, file_id, id, zone, state, holder, held_until)
        values (upload.project_id, object, object, upload.zone, 'writing', claim_upload.holder, held_until);
      upload.object_id := object;
      upload.state := null;
      upload.tail_id := null;
    end if;
    if at is not null and tail is not null then
      insert into objects (project_id, file_id, id, zone, state, holder, held_until)
        values (upload.project_id, tail, tail, 'private', 'writing', claim_upload.holder, held_until);
    end if;
    upload.epoch := upload.epoch + 1;
    upload.receiving := at is not null;
    update uploads u set epoch = upload.epoch, receiving = upload.receiving, object_id = upload.object_id,
        state = upload.state, tail_id = upload.tail_id
      where u.project_id = upload.project_id and u.id = upload.id;
  end if;
  return query select outcome, took_over, owner.room, owner.allowed_mimes, owner.max_file_size, policy.cors_origins,
    policy.dev_mode, upload.id, upload.project_id, upload.user_id, upload.space_id, upload.status, upload.mode, upload.name,
    upload.mime_type, upload.size, upload.received, upload.file_id, upload.error, upload.expires_at, upload.created_at,
    upload.updated_at, upload.epoch, upload.receiving, upload.object_id, upload.zone, upload.state, upload.tail_id, upload.sha256;
end $$;
