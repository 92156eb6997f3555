-- Keeps file_names as the files of projects that search are.
create or replace function keep_file_names() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into file_names (project_id, user_id, space_id, file_id, folder_hash, name_key, size, sha256, created_at)
      select f.project_id, f.user_id, f.space_id, f.id, md5(f.folder)::uuid, file_name_key(f.name), f.size, f.sha256, f.created_at
      from changed f join projects p on p.id = f.project_id and p.searches_since is not null
      on conflict do nothing;
  elsif tg_op = 'DELETE' then
    -- Arrays force the index: the plan is kept, and made while there may be few rows.
    delete from file_names n where n.project_id = any(array(
        select p.id from projects p where p.searches_since is not null and p.id = any(array(select f.project_id from changed f))))
      and n.file_id = any(array(select f.id from changed f));
  else
    update file_names n set user_id = new.user_id, space_id = new.space_id, folder_hash = md5(new.folder)::uuid,
      name_key = file_name_key(new.name), size = new.size, sha256 = new.sha256
      where n.project_id = new.project_id and n.file_id = new.id;
  end if;
  return null;
end $$;
create or replace trigger files_named after insert on files referencing new table as changed
  for each statement execute function keep_file_names();
create or replace trigger files_unnamed after delete on files referencing old table as changed
  for each statement execute function keep_file_names();
-- Whoever moves a folder of a project that does not search says so, and is spared a call for every file.
create or replace trigger files_renamed after update of user_id, space_id, folder, name, size, sha256 on files for each row
  when ((old.user_id, old.space_id, old.folder, old.name, old.size, old.sha256) is distinct from
      (new.user_id, new.space_id, new.folder, new.name, new.size, new.sha256)
    and current_setting('pakhus.names_unsearched', true) is distinct from 'yes')
  execute function keep_file_names();
