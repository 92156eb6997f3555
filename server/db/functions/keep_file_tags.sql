-- Keeps file_tags as the tags of files are. No foreign key: deleting a million files would ask about each of them.
create or replace function keep_file_tags() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into file_tags select distinct f.project_id, f.user_id, tag, f.created_at, f.id from changed f, unnest(f.tags) tag;
  elsif tg_op = 'DELETE' then
    -- `offset 0` forces one index probe per tag: PostgreSQL would rather look for each file among all tags of its user.
    delete from file_tags where ctid = any(array(
      select kept.row from changed f, unnest(f.tags) as of_file(tag), lateral (
        select t.ctid as row from file_tags t
        where t.project_id = f.project_id and t.user_id = f.user_id and t.tag = of_file.tag
          and t.created_at = f.created_at and t.id = f.id
        offset 0) kept));
  else
    delete from file_tags t where t.project_id = old.project_id and t.user_id = old.user_id and t.tag = any(old.tags)
      and t.created_at = old.created_at and t.id = old.id;
    insert into file_tags select distinct new.project_id, new.user_id, tag, new.created_at, new.id from unnest(new.tags) tag;
  end if;
  return null;
end $$;
create or replace trigger files_tagged after insert on files referencing new table as changed
  for each statement execute function keep_file_tags();
create or replace trigger files_untagged after delete on files referencing old table as changed
  for each statement execute function keep_file_tags();
create or replace trigger files_retagged after update of project_id, user_id, tags, created_at on files for each row
  when ((old.project_id, old.user_id, old.tags, old.created_at) is distinct from
    (new.project_id, new.user_id, new.tags, new.created_at))
  execute function keep_file_tags();
