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

-- Nobody's lock may hold up the others, and nothing is refused here. A file is 'passed over', for store_file to wait
-- or to say why not, if its project, user or space is locked by somebody else or is not there, if all that the batch
-- holds for its user or its space does not fit, or if its object is lost. What is locked here is locked in the order
-- that store_file keeps, and never waited for, so that no two batches ever wait for each other.
create or replace function store_files(batch jsonb, out number bigint, out outcome text, out stored_at timestamptz)
returns setof record language plpgsql as $$
declare
  blank files;
  candidates files[];
  free_projects uuid[];
  free_users uuid[];
  free_spaces uuid[];
  reserved text[];
  stored files[];
  stored_ids uuid[];
begin
  blank.created_at := now();
  blank.updated_at := now();
  candidates := array(select jsonb_populate_record(blank, e -> 'file') from jsonb_array_elements(batch) e);
  free_projects := array(select p.id from projects p
    where p.id = any(array(select f.project_id from unnest(candidates) f)) for key share skip locked);
  free_users := array(select u.id from users u
    where u.id = any(array(select f.user_id from unnest(candidates) f)) for no key update skip locked);
  free_spaces := array(select s.id from spaces s
    where s.id = any(array(select f.space_id from unnest(candidates) f)) for no key update skip locked);

  candidates := array(
    with free as (
      select f from unnest(candidates) f
      where f.project_id = any(free_projects) and f.user_id = any(free_users)
        and (f.space_id is null or f.space_id = any(free_spaces))),
    users_with_room as (
      select u.id, u.project_id
      from (select (f).project_id, (f).user_id, sum((f).size) as bytes from free group by 1, 2) asked
      join users u on u.id = asked.user_id and u.project_id = asked.project_id
      left join plans p on p.id = coalesce(u.plan_id,
        (select d.id from plans d where d.project_id = u.project_id and d.is_default))
      where u.active and (p.storage_limit is null or u.used_bytes + asked.bytes <= p.storage_limit)),
    spaces_with_room as (
      select s.id, s.user_id
      from (select (f).space_id, sum((f).size) as bytes from free where (f).space_id is not null group by 1) asked
      join spaces s on s.id = asked.space_id
      where s.active and (s.limit_bytes is null or s.used_bytes + asked.bytes <= s.limit_bytes))
    select f from free join users_with_room u on u.id = (f).user_id and u.project_id = (f).project_id
    where (f).space_id is null
      or exists (select from spaces_with_room s where s.id = (f).space_id and s.user_id = (f).user_id));

  with kept as (
    delete from doomed_objects d using unnest(candidates) f
    where d.storage_key = f.storage_key and d.shelf = f.shelf and d.claimed_until is null
    returning d.storage_key)
  select array_agg(storage_key) into reserved from kept;
  stored := array(select f from unnest(candidates) f where f.storage_key = any(reserved));

  update users u set used_bytes = u.used_bytes + added.bytes, file_count = u.file_count + added.files
    from (select user_id, sum(size)::bigint as bytes, count(*) as files from unnest(stored) group by 1) added
    where u.id = added.user_id and u.id = any(free_users);
  update spaces s set used_bytes = s.used_bytes + added.bytes, file_count = s.file_count + added.files
    from (select space_id, sum(size)::bigint as bytes, count(*) as files from unnest(stored) group by 1) added
    where s.id = added.space_id and s.id = any(free_spaces);
  insert into files select f.* from unnest(stored) f;
  perform record_uploads(batch, stored);

  stored_ids := array(select f.id from unnest(stored) f);
  return query
    select e.ordinality, case when is_stored then 'stored' else 'passed over' end,
      case when is_stored then blank.created_at end
    from jsonb_array_elements(batch) with ordinality e
    cross join lateral (select (e.value -> 'file' ->> 'id')::uuid = any(stored_ids) as is_stored) known;
end $$;
