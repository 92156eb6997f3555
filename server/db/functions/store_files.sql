-- Stores many files in one transaction, each with its own outcome: uploads that end together share one commit.
--
-- It never waits for a lock. A file whose project, user or space is locked or missing is 'passed over': the caller stores it
-- by itself with store_file, which waits or says what is wrong. Files of active users and spaces with room for everything
-- in the batch are stored by a few statements for all of them; the others go through store_file one by one. Locks are taken
-- in the same order as there, and two batches never wait for each other.
--
-- Plans are cached, and objects may be empty when they are made and have millions of rows later: no sequential scans.
create or replace function store_files(batch jsonb, out number bigint, out outcome text, out stored_at timestamptz)
returns setof record language plpgsql set enable_seqscan = off as $$
declare
  blank new_file;
  asked new_file[];
  free_projects uuid[];
  free_users uuid[];
  free_spaces uuid[];
  free new_file[];
  certain new_file[];
  kept_ids uuid[];
  free_ids uuid[];
  stored_ids uuid[];
  entry record;
begin
  blank.created_at := now();
  blank.updated_at := now();
  asked := array(select jsonb_populate_record(blank, e -> 'file') from jsonb_array_elements(batch) e);
  free_projects := array(select p.id from projects p
    where p.id = any(array(select f.project_id from unnest(asked) f)) for key share skip locked);
  free_users := array(select u.id from users u
    where u.id = any(array(select f.user_id from unnest(asked) f)) for no key update skip locked);
  free_spaces := array(select s.id from spaces s
    where s.id = any(array(select f.space_id from unnest(asked) f)) for no key update skip locked);
  free := array(select f from unnest(asked) f
    where f.project_id = any(free_projects) and f.user_id = any(free_users)
      and (f.space_id is null or f.space_id = any(free_spaces)));

  certain := array(
    with users_with_room as (
      select u.id, u.project_id
      from (select project_id, user_id, sum(size) as bytes, count(*) as files from unnest(free) group by 1, 2) wanted
      join users u on u.id = wanted.user_id and u.project_id = wanted.project_id
      left join plans p on p.id = coalesce(u.plan_id,
        (select d.id from plans d where d.project_id = u.project_id and d.is_default))
      where u.active and (p.storage_limit is null or u.used_bytes + wanted.bytes <= p.storage_limit)
        and u.file_count + wanted.files <= files_allowed(p.max_files)),
    spaces_with_room as (
      select s.id, s.user_id
      from (select space_id, sum(size) as bytes from unnest(free) where space_id is not null group by 1) wanted
      join spaces s on s.id = wanted.space_id
      where s.active and (s.limit_bytes is null or s.used_bytes + wanted.bytes <= s.limit_bytes))
    select f from unnest(free) f join users_with_room u on u.id = f.user_id and u.project_id = f.project_id
    where f.space_id is null
      or exists (select from spaces_with_room s where s.id = f.space_id and s.user_id = f.user_id));
  with kept as (
    update objects o set state = 'stored', holder = null, held_until = null
    where o.project_id = any(array(select f.project_id from unnest(certain) f))
      and o.file_id = any(array(select f.id from unnest(certain) f)) and o.id = o.file_id
      and (o.file_id, o.zone) in (select f.id, f.zone from unnest(certain) f) and o.state in ('reserved', 'writing')
    returning o.file_id)
  select array_agg(file_id) into kept_ids from kept;
  certain := array(select f from unnest(certain) f where f.id = any(kept_ids));

  update users u set used_bytes = u.used_bytes + added.bytes, file_count = u.file_count + added.files
    from (select user_id, sum(size)::bigint as bytes, count(*) as files from unnest(certain) group by 1) added
    where u.id = added.user_id;
  update spaces s set used_bytes = s.used_bytes + added.bytes, file_count = s.file_count + added.files
    from (select space_id, sum(size)::bigint as bytes, count(*) as files from unnest(certain) group by 1) added
    where s.id = added.space_id;
  insert into files (id, project_id, user_id, space_id, name, size, mime_type, storage_key, folder, tags, classifier,
      metadata, visibility, zone, sha256, created_at, updated_at)
    select f.id, f.project_id, f.user_id, f.space_id, f.name, f.size, f.mime_type, f.storage_key, f.folder, f.tags,
      f.classifier, f.metadata, f.visibility, f.zone, f.sha256, f.created_at, f.updated_at
    from unnest(certain) f;
  perform record_uploads(batch, certain);

  free_ids := array(select f.id from unnest(free) f);
  stored_ids := array(select f.id from unnest(certain) f);
  for entry in
    select e.value, e.ordinality, (e.value -> 'file' ->> 'id')::uuid as file_id
    from jsonb_array_elements(batch) with ordinality e
  loop
    number := entry.ordinality;
    outcome := 'passed over';
    stored_at := null;
    if entry.file_id = any(stored_ids) then
      outcome := 'stored';
      stored_at := blank.created_at;
    elsif entry.file_id = any(free_ids) then
      select stored.outcome, stored.stored_at into outcome, stored_at
        from store_file(jsonb_populate_record(blank, entry.value -> 'file'), entry.value ->> 'action',
          entry.value ->> 'actor_type', (entry.value ->> 'actor_id')::uuid, entry.value ->> 'actor_key_id', entry.value ->> 'ip_address',
          entry.value ->> 'user_agent') stored;
    end if;
    return next;
  end loop;
end $$;
