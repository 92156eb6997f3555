-- Completes many uploads in one transaction, each with its own outcome: those that end together share one commit, and a user with
-- many of them is charged once.
--
-- It never waits long for a lock. An upload that is locked, or whose project, user or space is locked or missing, is 'passed over':
-- the caller completes it by itself with complete_upload, which waits or says what is wrong. `told` is that of store_files.
--
-- Plans are cached while tables may still be small: no sequential scans.
create or replace function complete_uploads(batch jsonb, out number bigint, out outcome text, out stored_at timestamptz,
  out told boolean)
returns setof record language plpgsql set enable_seqscan = off set lock_timeout = '250ms' as $$
declare
  free_projects uuid[];
  free_users uuid[];
  free_spaces uuid[];
  single record;
  -- Of the uploads that are not passed over, in one order.
  numbers bigint[];
  projects uuid[];
  ids uuid[];
  files jsonb;
  outcomes text[];
  times timestamptz[];
  tellings boolean[];
  stored_ids uuid[];
  at integer;
begin
  free_projects := array(select p.id from projects p
    where p.id = any(array(select (e.value ->> 'project_id')::uuid from jsonb_array_elements(batch) e))
    for key share skip locked);
  free_users := array(select u.id from users u
    where u.id = any(array(select (e.value ->> 'user_id')::uuid from jsonb_array_elements(batch) e))
    for no key update skip locked);
  free_spaces := array(select s.id from spaces s
    where s.id = any(array(select (e.value ->> 'space_id')::uuid from jsonb_array_elements(batch) e))
    for no key update skip locked);

  if jsonb_array_length(batch) = 1 then
    -- Cheaper than a batch of one.
    select f.project_id, f.user_id, f.space_id, f.id, f.epoch, f.digest, f.ip_address, f.user_agent into single
      from jsonb_to_record(batch -> 0) f(project_id uuid, user_id uuid, space_id uuid, id uuid, epoch integer, digest bytea,
        ip_address text, user_agent text);
    number := 1;
    outcome := 'passed over';
    told := false;
    if single.project_id = any(free_projects) and single.user_id = any(free_users)
      and (single.space_id is null or single.space_id = any(free_spaces)) then
      select done.outcome, done.stored_at into outcome, stored_at from complete_upload(single.project_id, single.id,
        single.epoch, single.digest, single.ip_address, single.user_agent) done;
    end if;
    return next;
    return;
  end if;

  with asked as materialized (
    select e.ordinality, e.value as entry, f.project_id, f.id, f.epoch, f.digest
    from jsonb_array_elements(batch) with ordinality e,
      jsonb_to_record(e.value) f(project_id uuid, id uuid, epoch integer, digest bytea)),
  ready as materialized (
    select a.ordinality, a.entry, a.digest, u.project_id, u.id, u.user_id, u.space_id, u.name, u.size, u.mime_type, u.folder, u.tags,
      u.classifier, u.metadata, u.visibility, u.zone, u.file_expires_at, u.file_retain_until, u.object_id, u.reserved,
      u.actor_type, u.actor_id, u.actor_key_id
    from asked a join uploads u on u.project_id = a.project_id and u.id = a.id
    where u.epoch = a.epoch and u.status = 'uploading' and u.project_id = any(free_projects) and u.user_id = any(free_users)
      and (u.space_id is null or u.space_id = any(free_spaces))
    for update of u skip locked),
  -- Given back first, so that store_files finds exactly this room.
  given_back as (
    update users u set reserved_bytes = u.reserved_bytes - r.bytes
    from (select user_id, sum(reserved)::bigint as bytes from ready group by 1) r where u.id = r.user_id and r.bytes > 0),
  given_back_to_spaces as (
    update spaces s set reserved_bytes = s.reserved_bytes - r.bytes
    from (select space_id, sum(reserved)::bigint as bytes from ready where space_id is not null group by 1) r
    where s.id = r.space_id and r.bytes > 0)
  select array_agg(r.ordinality order by r.ordinality), array_agg(r.project_id order by r.ordinality),
    array_agg(r.id order by r.ordinality),
    jsonb_agg(jsonb_build_object('action', 'file.upload', 'actor_type', r.actor_type, 'actor_id', r.actor_id,
      'actor_key_id', r.actor_key_id, 'ip_address', r.entry -> 'ip_address', 'user_agent', r.entry -> 'user_agent',
      'file', jsonb_build_object('id', r.object_id, 'project_id', r.project_id, 'user_id', r.user_id, 'space_id', r.space_id,
        'name', r.name, 'size', r.size, 'mime_type', r.mime_type, 'storage_key', r.project_id || '/' || r.object_id,
        'folder', r.folder, 'tags', r.tags, 'classifier', r.classifier, 'metadata', r.metadata, 'visibility', r.visibility,
        -- The sha256, and behind it the crc32.
        'zone', r.zone, 'sha256', substr(r.digest, 1, 32), 'crc32', case when length(r.digest) = 36
          then ('x' || encode(substr(r.digest, 33), 'hex'))::bit(32)::bigint end,
        'expires_at', r.file_expires_at, 'retain_until', r.file_retain_until)) order by r.ordinality)
    into numbers, projects, ids, files from ready r;

  if numbers is not null then
    select array_agg(s.outcome order by s.number), array_agg(s.stored_at order by s.number), array_agg(s.told order by s.number)
      into outcomes, times, tellings from store_files(files) s;
    stored_ids := array(select d.id from unnest(ids, outcomes) d(id, outcome) where d.outcome = 'stored');
    perform drop_upload_objects(u.project_id, u.tail_id) from uploads u
      where u.project_id = any(projects) and u.id = any(stored_ids) and u.tail_id is not null;
    delete from upload_parts p where p.project_id = any(projects) and p.upload_id = any(stored_ids);
    update uploads u set status = 'completed', file_id = u.object_id, reserved = 0, receiving = false, state = null,
        tail_id = null, updated_at = now()
      where u.project_id = any(projects) and u.id = any(stored_ids);
    -- A refused upload keeps its room until its caller ends it.
    perform reserve_bytes(u.project_id, u.user_id, u.space_id, u.reserved) from uploads u
      where u.project_id = any(projects) and u.id = any(ids) and u.id <> all(stored_ids);
  end if;

  for number in select generate_series(1, jsonb_array_length(batch)) loop
    at := array_position(numbers, number);
    outcome := coalesce(outcomes[at], 'passed over');
    stored_at := times[at];
    told := coalesce(tellings[at], false);
    return next;
  end loop;
end $$;
