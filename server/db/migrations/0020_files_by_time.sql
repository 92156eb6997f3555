-- One index for what two did: files of a user in the order of time, those outside its spaces apart from those within. A list of all
-- merges the two. Every file is then in one index less.
create index files_by_time on files (project_id, user_id, ((space_id is null)::int), created_at, id) with (deduplicate_items = off);
drop index files_newest, files_of_level;
-- How many files there are of each kind.
analyze files;
