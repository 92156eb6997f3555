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
