-- Moves the offset of an upload to what is durable. The outcome is 'moved'; 'taken' when another request has taken over or
-- the upload has ended; or, for an upload of unknown length that has to reserve more, the limit that is in the way.
--
-- `tail` is the object that this request may write, `state_tail` the one that the new state refers to, if any: others go.
create or replace function advance_upload(
  project uuid, upload_id uuid, at_epoch integer, bytes bigint, whole_size bigint, new_state jsonb, etags text[], last_part integer,
  tail uuid, state_tail uuid, is_last boolean, seconds double precision,
  out outcome text, out expires_at timestamptz
) language plpgsql as $$
declare
  upload record;
  more bigint;
  owner record;
  space record;
begin
  select u.user_id, u.space_id, u.size, u.reserved into upload
    from uploads u where u.project_id = project and u.id = upload_id;
  more := coalesce(upload.size, whole_size, bytes) - upload.reserved;
  if more > 0 then
    -- The user before the upload: see the order of locks in the baseline.
    perform from users u where u.project_id = project and u.id = upload.user_id for no key update;
    select u.used_bytes + u.reserved_bytes + more as wanted, p.storage_limit into owner
      from users u left join plans p on p.id = coalesce(u.plan_id,
        (select d.id from plans d where d.project_id = u.project_id and d.is_default))
      where u.project_id = project and u.id = upload.user_id;
    select s.used_bytes + s.reserved_bytes + more as wanted, s.limit_bytes into space
      from spaces s where s.project_id = project and s.id = upload.space_id for no key update;
  end if;
  select u.user_id, u.space_id, u.object_id, u.tail_id into upload from uploads u
    where u.project_id = project and u.id = upload_id and u.epoch = at_epoch and u.status = 'uploading' for no key update;
  if not found then
    perform drop_upload_objects(project, tail);
    outcome := 'taken';
    return;
  end if;
  if more > 0 then
    if owner.wanted > owner.storage_limit then outcome := 'user limit'; end if;
    if space.wanted > space.limit_bytes then outcome := 'space limit'; end if;
    if outcome is not null then
      if is_last then perform drop_upload_objects(project, tail); end if;
      return;
    end if;
    perform reserve_bytes(project, upload.user_id, upload.space_id, more);
  end if;
  insert into upload_parts (project_id, upload_id, number, etag)
    select project, advance_upload.upload_id, last_part - cardinality(etags) + part.number, part.etag
    from unnest(etags) with ordinality part(etag, number)
    on conflict on constraint upload_parts_pkey do update set etag = excluded.etag;
  if upload.tail_id is distinct from state_tail then perform drop_upload_objects(project, upload.tail_id); end if;
  if is_last and tail is distinct from state_tail then perform drop_upload_objects(project, tail); end if;
  expires_at := now() + make_interval(secs => seconds);
  update uploads u set received = bytes, size = coalesce(u.size, whole_size), reserved = u.reserved + greatest(more, 0),
      state = new_state, tail_id = state_tail, receiving = not is_last,
      expires_at = advance_upload.expires_at, updated_at = now()
    where u.project_id = project and u.id = advance_upload.upload_id;
  -- Rarely: the hold outlives the upload by an hour.
  update objects o set held_until = advance_upload.expires_at + interval '2 hours'
    where o.project_id = project and o.id = o.file_id and o.file_id in (upload.object_id, tail, state_tail)
      and o.state = 'writing' and o.held_until < advance_upload.expires_at + interval '1 hour';
  outcome := 'moved';
end $$;
