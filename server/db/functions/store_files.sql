-- Stores many files in one transaction, each with its own outcome: uploads that end together share one commit.
--
-- It never waits for the lock of a row. A file whose project, user or space is locked or missing is 'passed over': the caller
-- stores it by itself with store_file, which waits or says what is wrong. Files of active users and spaces with room for
-- everything in the batch are stored by one statement for all of them; the others go through store_file one by one. If the
-- audit rows cannot be inserted, the whole batch fails, and the caller stores each file by itself, which needs no audit row.
--
-- `told`: the project listens and its event is recorded, but nobody is notified. The caller does that after the commit, for many
-- commits at once: transactions that notify commit one after the other in the whole database, each waiting for the disk.
--
-- Plans are cached, and objects may be empty when they are made and have millions of rows later: no sequential scans.
create or replace function store_files(batch jsonb, out number bigint, out outcome text, out stored_at timestamptz,
  out told boolean)
returns setof record language plpgsql set enable_seqscan = off set lock_timeout = '250ms' as $$
declare
  blank new_file;
  free_ids uuid[];
  stored_ids uuid[];
  told_projects uuid[];
  told_users uuid[];
  told_views text[];
  near_users uuid[];
  near_bytes bigint[];
  entry record;
begin
  blank.created_at := now();
  blank.updated_at := now();
  with asked as materialized (
    select f.id, f.project_id, f.user_id, f.space_id, f.name, f.size, f.mime_type, f.storage_key, f.folder,
      f.tags, f.classifier, f.metadata, f.visibility, f.zone, f.sha256, f.crc32, f.expires_at, f.retain_until,
      f.created_at, f.updated_at, e.value as entry
    from jsonb_array_elements(batch) e, jsonb_populate_record(blank, e.value -> 'file') f),
  free_projects as materialized (
    select p.id, p.listens_until from projects p where p.id = any(array(select a.project_id from asked a))
    for key share skip locked),
  free_users as materialized (
    select u.id, u.project_id, u.active, u.plan_id, u.used_bytes,
      u.used_bytes + u.reserved_bytes as taken_bytes, u.file_count from users u
    where u.id = any(array(select a.user_id from asked a)) for no key update skip locked),
  free_spaces as materialized (
    select s.id, s.user_id, s.active, s.limit_bytes, s.used_bytes + s.reserved_bytes as taken_bytes from spaces s
    where s.id = any(array(select a.space_id from asked a)) for no key update skip locked),
  users_with_room as materialized (
    select u.id, u.project_id, u.used_bytes, p.storage_limit
    from (select a.user_id, sum(a.size) as bytes, count(*) as files from asked a group by 1) wanted
    join free_users u on u.id = wanted.user_id
    left join plans p on p.id = coalesce(u.plan_id,
      (select d.id from plans d where d.project_id = u.project_id and d.is_default))
    where u.active and (p.storage_limit is null or u.taken_bytes + wanted.bytes <= p.storage_limit)
      and u.file_count + wanted.files <= files_allowed(p.max_files)),
  spaces_with_room as materialized (
    select s.id, s.user_id
    from (select a.space_id, sum(a.size) as bytes from asked a where a.space_id is not null group by 1) wanted
    join free_spaces s on s.id = wanted.space_id
    where s.active and (s.limit_bytes is null or s.taken_bytes + wanted.bytes <= s.limit_bytes)),
  kept as (
    update objects o set state = 'stored', holder = null, held_until = null
    from asked a
    join users_with_room u on u.id = a.user_id and u.project_id = a.project_id
    left join spaces_with_room s on s.id = a.space_id and s.user_id = a.user_id
    where a.project_id = any(array(select p.id from free_projects p)) and (a.space_id is null or s.id is not null)
      and o.project_id = a.project_id and o.file_id = a.id and o.id = a.id and o.zone = a.zone
      and o.state in ('reserved', 'writing')
    returning o.file_id),
  stored as materialized (
    select a.id, a.project_id, a.user_id, a.space_id, a.name, a.size, a.mime_type, a.storage_key, a.folder,
      a.tags, a.classifier, a.metadata, a.visibility, a.zone, a.sha256, a.crc32, a.expires_at, a.retain_until,
      a.created_at, a.updated_at, a.entry
    from kept k join asked a on a.id = k.file_id),
  charged_users as (
    update users u set used_bytes = u.used_bytes + added.bytes, file_count = u.file_count + added.files
    from (select s.user_id, sum(s.size)::bigint as bytes, count(*) as files from stored s group by 1) added
    where u.id = added.user_id),
  charged_spaces as (
    update spaces s set used_bytes = s.used_bytes + added.bytes, file_count = s.file_count + added.files
    from (select t.space_id, sum(t.size)::bigint as bytes, count(*) as files from stored t
      where t.space_id is not null group by 1) added
    where s.id = added.space_id),
  inserted as (
    insert into files (id, project_id, user_id, space_id, name, size, mime_type, storage_key, folder, tags, classifier,
      metadata, visibility, zone, sha256, crc32, expires_at, retain_until, created_at, updated_at)
    select f.id, f.project_id, f.user_id, f.space_id, f.name, f.size, f.mime_type, f.storage_key, f.folder, f.tags,
      f.classifier, f.metadata, f.visibility, f.zone, f.sha256, f.crc32, f.expires_at, f.retain_until,
      f.created_at, f.updated_at
    from stored f
    returning project_id, user_id, size, view),
  told as materialized (
    select i.project_id, i.user_id, i.size, i.view from inserted i
    where i.project_id = any(array(select p.id from free_projects p where p.listens_until > now()))),
  near as materialized (
    select u.id, added.bytes
    from (select t.user_id, sum(t.size)::bigint as bytes from told t group by 1) added
    join users_with_room u on u.id = added.user_id
    where is_over(80, u.used_bytes + added.bytes, u.storage_limit)),
  audited as (
    insert into audit_logs
      (project_id, actor_type, actor_id, actor_key_id, ip_address, user_agent, action, resource_type, resource_id, user_id,
        metadata)
    select f.project_id, f.entry ->> 'actor_type', (f.entry ->> 'actor_id')::uuid, f.entry ->> 'actor_key_id',
      f.entry ->> 'ip_address', f.entry ->> 'user_agent', f.entry ->> 'action', 'file', f.id::text, f.user_id,
      jsonb_build_object('new', jsonb_build_object('name', f.name, 'size', f.size, 'mimeType', f.mime_type,
        'folder', f.folder, 'visibility', f.visibility, 'space_id', f.space_id))
    from stored f)
  select array(select f.id from stored f),
    array(select a.id from asked a where a.project_id = any(array(select p.id from free_projects p))
      and a.user_id = any(array(select u.id from free_users u))
      and (a.space_id is null or a.space_id = any(array(select s.id from free_spaces s)))),
    array(select t.project_id from told t), array(select t.user_id from told t), array(select t.view from told t),
    array(select n.id from near n), array(select n.bytes from near n)
  into stored_ids, free_ids, told_projects, told_users, told_views, near_users, near_bytes;
  if told_projects <> '{}' then
    perform record_stored(told_projects, told_users, told_views, near_users, near_bytes);
  end if;

  for entry in
    select e.value, e.ordinality, (e.value -> 'file' ->> 'id')::uuid as file_id
    from jsonb_array_elements(batch) with ordinality e
  loop
    number := entry.ordinality;
    outcome := 'passed over';
    stored_at := null;
    told := false;
    if entry.file_id = any(stored_ids) then
      outcome := 'stored';
      stored_at := blank.created_at;
      told := (entry.value -> 'file' ->> 'project_id')::uuid = any(told_projects);
    elsif entry.file_id = any(free_ids) then
      select stored.outcome, stored.stored_at into outcome, stored_at
        from store_file(jsonb_populate_record(blank, entry.value -> 'file'), entry.value ->> 'action',
          entry.value ->> 'actor_type', (entry.value ->> 'actor_id')::uuid, entry.value ->> 'actor_key_id', entry.value ->> 'ip_address',
          entry.value ->> 'user_agent') stored;
    end if;
    return next;
  end loop;
end $$;
