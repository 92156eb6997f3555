-- Files that are stored together are stored by a handful of statements, not by a handful for each of them: that
-- halves what they cost the database.

-- The audit of files that were stored together. Like record_audit, it fails nothing but itself.
create function record_uploads(batch jsonb, stored files[]) returns boolean
language plpgsql set lock_timeout = '250ms' as $$
begin
  insert into audit_logs
    (project_id, actor_type, actor_id, actor_key_id, ip_address, user_agent, action, resource_type, resource_id, user_id, metadata)
  select f.project_id, e ->> 'actor_type', (e ->> 'actor_id')::uuid, e ->> 'actor_key_id', e ->> 'ip_address',
    e ->> 'user_agent', 'file.upload', 'file', f.id::text, f.user_id,
    jsonb_build_object('new', jsonb_build_object('name', f.name, 'size', f.size, 'mimeType', f.mime_type,
      'folder', f.folder, 'visibility', f.visibility, 'space_id', f.space_id))
  from jsonb_array_elements(batch) e join unnest(stored) f on f.id = (e -> 'file' ->> 'id')::uuid;
  return true;
exception when others then
  raise warning 'audit rows of % files not recorded: %', cardinality(stored), sqlerrm;
  return false;
end $$;

-- Nobody's lock may hold up the others: a file whose project, user or space is locked by somebody else, or is not
-- there, is 'passed over', for store_file to wait or to say so. Of the rest, what is certain is stored at once: the
-- files of active users and spaces with room for all that the batch brings them. What may have to be refused is left
-- to store_file here and now, file by file. What is locked here is locked in the order that store_file keeps, and
-- never waited for, so that no two batches ever wait for each other.
--
-- Plans are kept, and doomed_objects may be empty when they are made and have a million rows a moment later: however
-- small a table is, it is read by its index.
create or replace function store_files(batch jsonb, out number bigint, out outcome text, out stored_at timestamptz)
returns setof record language plpgsql set enable_seqscan = off as $$
declare
  blank files;
  asked files[];
  free_projects uuid[];
  free_users uuid[];
  free_spaces uuid[];
  free files[];
  certain files[];
  kept text[];
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
      from (select project_id, user_id, sum(size) as bytes from unnest(free) group by 1, 2) wanted
      join users u on u.id = wanted.user_id and u.project_id = wanted.project_id
      left join plans p on p.id = coalesce(u.plan_id,
        (select d.id from plans d where d.project_id = u.project_id and d.is_default))
      where u.active and (p.storage_limit is null or u.used_bytes + wanted.bytes <= p.storage_limit)),
    spaces_with_room as (
      select s.id, s.user_id
      from (select space_id, sum(size) as bytes from unnest(free) where space_id is not null group by 1) wanted
      join spaces s on s.id = wanted.space_id
      where s.active and (s.limit_bytes is null or s.used_bytes + wanted.bytes <= s.limit_bytes))
    select f from unnest(free) f join users_with_room u on u.id = f.user_id and u.project_id = f.project_id
    where f.space_id is null
      or exists (select from spaces_with_room s where s.id = f.space_id and s.user_id = f.user_id));
  with reserved as (
    delete from doomed_objects d
    where d.storage_key = any(array(select f.storage_key from unnest(certain) f)) and d.claimed_until is null
      and (d.storage_key, d.shelf) in (select f.storage_key, f.shelf from unnest(certain) f)
    returning d.storage_key)
  select array_agg(storage_key) into kept from reserved;
  certain := array(select f from unnest(certain) f where f.storage_key = any(kept));

  update users u set used_bytes = u.used_bytes + added.bytes, file_count = u.file_count + added.files
    from (select user_id, sum(size)::bigint as bytes, count(*) as files from unnest(certain) group by 1) added
    where u.id = added.user_id;
  update spaces s set used_bytes = s.used_bytes + added.bytes, file_count = s.file_count + added.files
    from (select space_id, sum(size)::bigint as bytes, count(*) as files from unnest(certain) group by 1) added
    where s.id = added.space_id;
  insert into files select f.* from unnest(certain) f;
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
        from store_file(jsonb_populate_record(blank, entry.value -> 'file'), entry.value ->> 'actor_type',
          (entry.value ->> 'actor_id')::uuid, entry.value ->> 'actor_key_id', entry.value ->> 'ip_address',
          entry.value ->> 'user_agent') stored;
    end if;
    return next;
  end loop;
end $$;
