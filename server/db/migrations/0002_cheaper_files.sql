-- A file as the API shows it, written once with its row instead of anew for every list; functions/write_file_view.sql also
-- does it for the files that are there. Never compressed, so that its length is known without reading it.
alter table files add column view text;
alter table files alter column view set storage external;

-- Follows from the key to users, which refers to the project too, and cost 5 % of an upload.
alter table files drop constraint files_project_id_fkey;

-- Now a part of store_files, and two functions: one for new files, which runs once for each statement, and one for changes.
drop function if exists record_uploads;
drop function if exists note_file cascade;
delete from applied_functions where name in ('record_uploads.sql', 'note_file.sql');

-- The tags of files, so that a list of the files with a tag is found in the order of their time. The index over the arrays
-- held the tags of all tenants together and found them in no order.
create table file_tags (
  project_id uuid not null,
  user_id uuid not null,
  tag text collate "C" not null,
  created_at timestamptz(3) not null,
  -- The file's.
  id uuid not null,
  primary key (project_id, user_id, tag, created_at, id)
);
insert into file_tags
  select distinct project_id, user_id, tag, created_at, id from files, unnest(tags) tag;
drop index files_of_tags;
