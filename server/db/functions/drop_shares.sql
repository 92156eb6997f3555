-- Deletes the shares of files that are neither stored nor in the trash any more.
create or replace function drop_shares() returns trigger language plpgsql as $$
begin
  delete from shares s using gone g
    where s.project_id = g.project_id and s.file_id = g.id
      and not exists (select from files f where f.project_id = g.project_id and f.id = g.id)
      and not exists (select from trashed_files t where t.project_id = g.project_id and t.id = g.id);
  return null;
end $$;
create or replace trigger files_drop_shares after delete on files referencing old table as gone
  for each statement execute function drop_shares();
create or replace trigger trashed_files_drop_shares after delete on trashed_files referencing old table as gone
  for each statement execute function drop_shares();
