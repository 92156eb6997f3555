-- Deletes the image jobs of files that are neither stored nor in the trash any more.
create or replace function drop_jobs() returns trigger language plpgsql as $$
begin
  delete from compression_jobs j using gone g
    where j.project_id = g.project_id and j.file_id = g.id and starts_with(g.mime_type, 'image/')
      and not exists (select from files f where f.project_id = g.project_id and f.id = g.id)
      and not exists (select from trashed_files t where t.project_id = g.project_id and t.id = g.id);
  return null;
end $$;
create or replace trigger files_drop_jobs after delete on files referencing old table as gone
  for each statement execute function drop_jobs();
create or replace trigger trashed_files_drop_jobs after delete on trashed_files referencing old table as gone
  for each statement execute function drop_jobs();
