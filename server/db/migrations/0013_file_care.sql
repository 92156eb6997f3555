-- How long files are kept: a time at which a file goes, a time until which it must stay, and a trash in between.
alter table files
  add column expires_at timestamptz(3),
  add column retain_until timestamptz(3),
  -- Of the bytes in the store, for zips. Null until somebody has read them.
  add column crc32 bigint;
alter type new_file add attribute expires_at timestamptz(3), add attribute retain_until timestamptz(3),
  add attribute crc32 bigint;
alter table uploads
  add column file_expires_at timestamptz(3),
  add column file_retain_until timestamptz(3);

-- A held file expires when its hold ends.
create index files_to_expire on files (greatest(expires_at, retain_until)) where expires_at is not null;
create index files_held on files (project_id, user_id, retain_until) where retain_until is not null;

-- 0: there is no trash, and a deletion is final.
create domain day_count as smallint;
alter table projects add column trash_days day_count not null default 0;
alter domain day_count add constraint day_count_check check (value between 0 and 365) not valid;

-- Files in the trash. A table of their own keeps them out of every list, index and URL of live files; users and spaces are still
-- charged for them. `view` is the one of the live file.
create table trashed_files (
  id uuid not null,
  project_id uuid not null,
  user_id uuid not null,
  space_id uuid,
  name text not null,
  size bigint not null,
  mime_type text collate "C" not null,
  storage_key text not null,
  folder text collate "C" not null,
  tags text[] not null,
  classifier text,
  metadata jsonb not null,
  visibility text not null,
  zone text not null,
  sha256 bytea,
  crc32 bigint,
  expires_at timestamptz(3),
  retain_until timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  view text not null,
  trashed_at timestamptz(3) not null default now(),
  primary key (project_id, id),
  foreign key (project_id, user_id) references users (project_id, id) on delete cascade,
  foreign key (project_id, user_id, space_id) references spaces (project_id, user_id, id)
);
create index trashed_files_newest on trashed_files (project_id, user_id, trashed_at, id);
create index trashed_files_of_space on trashed_files (space_id, trashed_at, id) where space_id is not null;
create index trashed_files_to_purge on trashed_files (project_id, trashed_at);
create index trashed_files_to_hide on trashed_files (id) where zone = 'public';

-- The job of an image outlives the row in files while the file is in the trash: triggers delete it (functions/drop_jobs.sql).
alter table compression_jobs drop constraint compression_jobs_project_id_file_id_fkey;

drop function if exists record_stored(uuid[], uuid[]);
