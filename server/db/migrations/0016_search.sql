-- Files that a worker has yet to read for their digests: those that went past the service, and those stored before it computed
-- the crc32. Uploads through the service have both, so they never enter this index.
create index files_to_read on files (project_id, id) where sha256 is null or crc32 is null;
drop index files_to_hash;

-- Search by a part of the name, with the help of three extensions that come with PostgreSQL. Without them the rest works, and such a
-- search is refused.
do $$ begin
  create extension if not exists unaccent;
  create extension if not exists pg_trgm;
  create extension if not exists btree_gin;
exception when others then
  raise notice 'files cannot be searched by a part of their name: %', sqlerrm;
end $$;

-- A project whose users have many files and search or sort them is indexed from then on. Others pay nothing for it.
alter table projects
  add column searches_since timestamptz,
  -- How far its older files are indexed.
  add column search_position uuid not null default '00000000-0000-0000-0000-000000000000',
  add column searchable boolean not null default false;
create index projects_to_index on projects (id) where searches_since is not null and not searchable;

create table file_names (
  project_id uuid not null,
  user_id uuid not null,
  space_id uuid,
  file_id uuid not null,
  -- Only ever compared; a folder itself could be too long for an index.
  folder_hash uuid not null,
  name_key text collate "C" not null,
  size bigint not null,
  sha256 bytea,
  created_at timestamptz(3) not null,
  primary key (project_id, file_id)
);
create index file_names_by_name on file_names (user_id, name_key, file_id);
create index file_names_by_size on file_names (user_id, size, file_id) include (name_key);
create index file_names_by_time on file_names (user_id, created_at, file_id) include (name_key, size);
create index file_names_by_sha256 on file_names (user_id, sha256, file_id);
create index file_names_in_folder_by_name on file_names (user_id, folder_hash, name_key, file_id);
create index file_names_in_folder_by_size on file_names (user_id, folder_hash, size, file_id) include (name_key);
create index file_names_in_folder_by_time on file_names (user_id, folder_hash, created_at, file_id) include (name_key);
create index file_names_in_space_by_name on file_names (space_id, name_key, file_id) where space_id is not null;
create index file_names_in_space_by_size on file_names (space_id, size, file_id) where space_id is not null;
create index file_names_in_space_by_time on file_names (space_id, created_at, file_id) where space_id is not null;
do $$ begin
  create index file_names_by_text on file_names using gin (user_id, name_key gin_trgm_ops);
exception when undefined_object then
  null;
end $$;
