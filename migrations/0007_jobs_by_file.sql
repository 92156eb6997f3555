-- A file's job is looked for by project and file: whichever index is taken for it, it finds one row, also while
-- PostgreSQL does not know yet how many jobs a project has.
create index compression_jobs_of_file on compression_jobs (project_id, file_id);
drop index compression_jobs_of_project;
