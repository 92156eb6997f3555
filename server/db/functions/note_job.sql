-- Keeps the number of image jobs by status. A row trigger: deleting a file without a job costs nothing.
create or replace function note_job() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    insert into stat_deltas values (old.project_id, 'jobs', old.status, -1, 0);
  end if;
  if tg_op <> 'DELETE' then
    insert into stat_deltas values (new.project_id, 'jobs', new.status, 1, 0);
  end if;
  return null;
end $$;
create or replace trigger jobs_added_or_gone after insert or delete on compression_jobs
  for each row execute function note_job();
create or replace trigger jobs_changed after update of status on compression_jobs
  for each row when (old.status is distinct from new.status) execute function note_job();
