-- Keeps the statistics of new files. Uploads that are stored together leave three deltas, not three each.
create or replace function note_files_added() returns trigger language plpgsql as $$
begin
  insert into stat_deltas
    select project_id, 'visibility', visibility, count(*), sum(size) from added group by 1, 3
    union all
    select project_id, 'mime_type', mime_type, count(*), sum(size) from added group by 1, 3
    union all
    select project_id, 'classifier', coalesce(classifier, ''), count(*), sum(size) from added group by 1, 3;
  return null;
end $$;
create or replace trigger files_added after insert on files referencing new table as added
  for each statement execute function note_files_added();
