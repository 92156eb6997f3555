-- Keeps the number of users.
create or replace function note_users() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into stat_deltas select project_id, 'users', '', count(*), 0 from added group by project_id;
  else
    insert into stat_deltas select project_id, 'users', '', -count(*), 0 from gone group by project_id;
  end if;
  return null;
end $$;
create or replace trigger users_added after insert on users referencing new table as added
  for each statement execute function note_users();
create or replace trigger users_gone after delete on users referencing old table as gone
  for each statement execute function note_users();
