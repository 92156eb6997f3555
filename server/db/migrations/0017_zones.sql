-- The zone of an object: private or public.
alter table files rename column shelf to zone;
alter table doomed_objects rename column shelf to zone;
alter type new_file rename attribute shelf to zone cascade;
drop function store_file(files, text, uuid, text, text, text);
drop function delete_file(uuid, uuid, uuid, uuid, text, uuid, text, text, text);
CREATE OR REPLACE FUNCTION delete_file(project_id uuid, user_id uuid, space_id uuid, file_id uuid, actor_type text, actor_id uuid, actor_key_id text, ip_address text, user_agent text)
 RETURNS TABLE(storage_key text, zone text)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
declare
  gone record;
begin
  perform from projects p where p.id = $1 for key share;
  perform from users u where u.project_id = $1 and u.id = $2 for no key update;
  -- The space before the file: the order of locks.
  perform from spaces s where s.project_id = $1
    and s.id = (select f.space_id from files f where f.id = $4 and f.project_id = $1) for no key update;
  delete from files f
    where f.project_id = $1 and f.user_id = $2 and f.id = $4 and ($3 is null or f.space_id = $3)
    returning f.id, f.user_id, f.space_id, f.name, f.size, f.mime_type, f.storage_key, f.zone into gone;
  if not found then return; end if;
  update users u set used_bytes = u.used_bytes - gone.size, file_count = u.file_count - 1
    where u.id = gone.user_id and u.project_id = $1;
  update spaces s set used_bytes = s.used_bytes - gone.size, file_count = s.file_count - 1
    where s.id = gone.space_id and s.project_id = $1;
  insert into doomed_objects (zone, storage_key, file_id, due_at)
    values (gone.zone, gone.storage_key, gone.id, now()) on conflict do nothing;
  perform record_audit($1, $5, $6, $7, $8, $9, 'file.delete', 'file', gone.id::text, gone.user_id,
    jsonb_build_object('old', jsonb_build_object('name', gone.name, 'size', gone.size, 'mimeType', gone.mime_type)));
  return query select gone.storage_key, gone.zone;
end $function$;
CREATE OR REPLACE FUNCTION store_file(file new_file, actor_type text, actor_id uuid, actor_key_id text, ip_address text, user_agent text, OUT outcome text, OUT stored_at timestamp with time zone)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  owner record;
  space_active boolean;
  space_wanted bigint;
  space_limit bigint;
begin
  -- Before the user: the file's row will refer to the project, whose deletion goes through its users.
  perform from projects p where p.id = file.project_id for key share;
  -- By a statement of its own: one that joins and locks at once looks again at the user alone after it has waited,
  -- beside the plan that it had found before.
  perform from users u where u.project_id = file.project_id and u.id = file.user_id for no key update;
  select u.active, u.used_bytes + file.size as wanted, u.file_count, p.storage_limit, p.max_files into owner
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
  if owner.file_count >= files_allowed(owner.max_files) then outcome := 'file count'; return; end if;
  delete from doomed_objects d
    where d.storage_key = file.storage_key and d.zone = file.zone and d.claimed_until is null;
  if not found then outcome := 'object lost'; return; end if;

  update users set used_bytes = owner.wanted, file_count = users.file_count + 1
    where id = file.user_id and project_id = file.project_id;
  if file.space_id is not null then
    update spaces set used_bytes = space_wanted, file_count = spaces.file_count + 1
      where id = file.space_id and project_id = file.project_id;
  end if;
  insert into files (id, project_id, user_id, space_id, name, size, mime_type, storage_key, folder, tags, classifier,
      metadata, visibility, zone, sha256, created_at, updated_at)
    values (file.id, file.project_id, file.user_id, file.space_id, file.name, file.size, file.mime_type,
      file.storage_key, file.folder, file.tags, file.classifier, file.metadata, file.visibility, file.zone,
      file.sha256, file.created_at, file.updated_at);
  perform record_audit(file.project_id, actor_type, actor_id, actor_key_id, ip_address, user_agent,
    'file.upload', 'file', file.id::text, file.user_id,
    jsonb_build_object('new', jsonb_build_object('name', file.name, 'size', file.size, 'mimeType', file.mime_type,
      'folder', file.folder, 'visibility', file.visibility, 'space_id', file.space_id)));
  outcome := 'stored';
  stored_at := file.created_at;
end $function$;
CREATE OR REPLACE FUNCTION store_files(batch jsonb, OUT number bigint, OUT outcome text, OUT stored_at timestamp with time zone)
 RETURNS SETOF record
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
declare
  blank new_file;
  asked new_file[];
  free_projects uuid[];
  free_users uuid[];
  free_spaces uuid[];
  free new_file[];
  certain new_file[];
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
  with reserved as (
    delete from doomed_objects d
    where d.storage_key = any(array(select f.storage_key from unnest(certain) f)) and d.claimed_until is null
      and (d.storage_key, d.zone) in (select f.storage_key, f.zone from unnest(certain) f)
    returning d.storage_key)
  select array_agg(storage_key) into kept from reserved;
  certain := array(select f from unnest(certain) f where f.storage_key = any(kept));

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
        from store_file(jsonb_populate_record(blank, entry.value -> 'file'), entry.value ->> 'actor_type',
          (entry.value ->> 'actor_id')::uuid, entry.value ->> 'actor_key_id', entry.value ->> 'ip_address',
          entry.value ->> 'user_agent') stored;
    end if;
    return next;
  end loop;
end $function$;
