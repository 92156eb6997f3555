-- A file as the API shows it, written once with its row instead of anew for every list; functions/write_file_view.sql also
-- does it for the files that are there. Never compressed, so that its length is known without reading it.
alter table files add column view text;
alter table files alter column view set storage external;
