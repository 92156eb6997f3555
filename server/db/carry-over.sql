-- Brings a database with the history of development (migrations 0001 to 0016) to the baseline. Run once, in place of the
-- baseline, by a release that finds that history.

drop function store_file(files, text, uuid, text, text, text);
drop function store_file(new_file, text, uuid, text, text, text);
drop function delete_file(uuid, uuid, uuid, uuid, text, uuid, text, text, text);
drop function store_files(jsonb);
drop function record_uploads(jsonb, new_file[]);
alter type new_file rename attribute shelf to zone;
alter table files rename column shelf to zone;
alter table files rename constraint files_shelf_check to files_zone_check;

alter table compression_jobs drop constraint compression_jobs_file_id_fkey, drop constraint compression_jobs_file_id_key,
  drop constraint compression_jobs_pkey;
drop index compression_jobs_of_project;
alter table files drop constraint files_pkey, add primary key (project_id, id);
alter table compression_jobs add primary key (project_id, id), add unique (project_id, file_id),
  add foreign key (project_id, file_id) references files (project_id, id) on delete cascade;

create table objects (
  project_id uuid not null,
  file_id uuid not null,
  id uuid not null,
  zone text not null check (zone in ('private', 'public')),
  state text not null check (state in ('reserved', 'writing', 'stored', 'moving', 'rewriting', 'deleting')),
  holder uuid,
  held_until timestamptz(3),
  late_until timestamptz(3),
  attempts integer not null default 0,
  primary key (project_id, file_id, id, zone),
  constraint objects_held_unless_stored check (
    case state when 'stored' then held_until is null and holder is null else held_until is not null end)
);
create index objects_held on objects (held_until) where held_until is not null;

insert into objects (project_id, file_id, id, zone, state)
  select project_id, id, id, zone, 'stored' from files;
-- No process of the old release is running any more. What a file does not own is deleted when it was due: until then a
-- request that was sent to the store may still arrive.
insert into objects (project_id, file_id, id, zone, state, held_until, attempts)
  select split_part(storage_key, '/', 1)::uuid, file_id, file_id, shelf, 'deleting', due_at, attempts
  from doomed_objects
  on conflict do nothing;
drop table doomed_objects;

delete from migrations;
insert into migrations (name) values ('0001_baseline.sql');
