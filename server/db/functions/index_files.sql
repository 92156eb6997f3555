-- Indexes the next files of a project that has begun to search; false when all of them are. New files come by a trigger, which every
-- transaction knows of that began some seconds after the project did.
create or replace function index_files(project uuid, files_max integer) returns boolean language plpgsql as $$
declare
  position uuid;
  last_id uuid;
begin
  select p.search_position into position from projects p
    where p.id = project and p.searches_since < now() - interval '15 seconds' and not p.searchable for no key update skip locked;
  if not found then return false; end if;
  -- Locked, so that none of them changes or goes before it is indexed.
  with next_files as materialized (
    select f.id, f.project_id, f.user_id, f.space_id, f.folder, f.name, f.size, f.sha256, f.created_at from files f
    where f.project_id = project and f.id > position order by f.id limit files_max for share),
  indexed as (
    insert into file_names (project_id, user_id, space_id, file_id, folder_hash, name_key, size, sha256, created_at)
    select f.project_id, f.user_id, f.space_id, f.id, md5(f.folder)::uuid, file_name_key(f.name), f.size, f.sha256, f.created_at
    from next_files f on conflict do nothing)
  select f.id into last_id from next_files f order by f.id desc limit 1;
  update projects p set search_position = coalesce(last_id, position), searchable = last_id is null where p.id = project;
  return last_id is not null;
end $$;
