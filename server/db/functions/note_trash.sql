-- Keeps the statistics of the trash.
create or replace function note_trash() returns trigger language plpgsql as $$
begin
  insert into stat_deltas
    select c.project_id, 'trash', '', case tg_op when 'INSERT' then count(*) else -count(*) end,
      case tg_op when 'INSERT' then sum(c.size) else -sum(c.size) end
    from changed c group by 1;
  return null;
end $$;
create or replace trigger files_trashed after insert on trashed_files referencing new table as changed
  for each statement execute function note_trash();
create or replace trigger files_untrashed after delete on trashed_files referencing old table as changed
  for each statement execute function note_trash();
