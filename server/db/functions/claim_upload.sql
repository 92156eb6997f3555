-- Lets a request add bytes to an upload and fences off an older one that still does. The outcome is 'claimed', or why not:
-- 'absent', 'ended', 'offset' or 'too long'. Without an offset it only fences, so that the offset stays where it is.
--
-- It is found by the secret of its URL, or by its id.
--
-- `object` is for the file if this is the first byte, `tail` for bytes that do not fill a part (null where a store has
-- none). Both are entered into the ledger before anything is written.
create or replace function claim_upload(
  token bytea, by_project uuid, by_id uuid, at bigint, adding bigint, object uuid, tail uuid, holder uuid, seconds double precision,
  out outcome text, out upload uploads, out took_over boolean, out room bigint, out allowed_mimes text[], out max_file_size bigint,
  out cors_origins text[], out dev_mode boolean
) language plpgsql as $$
declare
  held_until timestamptz := now() + make_interval(secs => seconds);
begin
  if token is not null then
    select u.* into upload from uploads u where u.token_hash = token for no key update;
  else
    select u.* into upload from uploads u where u.project_id = by_project and u.id = by_id for no key update;
  end if;
  if not found then outcome := 'absent'; return; end if;
  select i.cors_origins, i.dev_mode into cors_origins, dev_mode from integrations i
    where i.project_id = upload.project_id and i.id = upload.integration_id;
  if upload.status not in ('uploading', 'completed') or not upload_is_alive(upload) then outcome := 'absent'; return; end if;
  if upload.status <> 'uploading' then outcome := 'ended'; return; end if;
  if at <> upload.received then outcome := 'offset'; return; end if;
  if at + adding > upload.size then outcome := 'too long'; return; end if;

  select p.allowed_mimes, p.max_file_size,
      least(p.storage_limit - u.used_bytes - u.reserved_bytes, s.limit_bytes - s.used_bytes - s.reserved_bytes)
    into allowed_mimes, max_file_size, room
    from users u left join plans p on p.id = coalesce(u.plan_id,
      (select d.id from plans d where d.project_id = u.project_id and d.is_default))
    left join spaces s on s.project_id = u.project_id and s.id = upload.space_id
    where u.project_id = upload.project_id and u.id = upload.user_id;
  took_over := upload.receiving;
  if took_over then perform pg_notify('pakhus_uploads', upload.id || ' ' || upload.epoch + 1); end if;
  if at is not null and upload.received = 0 and upload.mode = 'resumable' then
    perform drop_upload_objects(upload.project_id, upload.object_id, upload.tail_id);
    insert into objects (project_id, file_id, id, zone, state, holder, held_until)
      values (upload.project_id, object, object, upload.zone, 'writing', holder, held_until);
    upload.object_id := object;
    upload.state := null;
    upload.tail_id := null;
  end if;
  if at is not null and tail is not null then
    insert into objects (project_id, file_id, id, zone, state, holder, held_until)
      values (upload.project_id, tail, tail, 'private', 'writing', holder, held_until);
  end if;
  upload.epoch := upload.epoch + 1;
  upload.receiving := at is not null;
  update uploads u set epoch = upload.epoch, receiving = upload.receiving, object_id = upload.object_id,
      state = upload.state, tail_id = upload.tail_id
    where u.project_id = upload.project_id and u.id = upload.id;
  outcome := 'claimed';
end $$;
