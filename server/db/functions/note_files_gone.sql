-- Keeps the statistics of deleted files. A user or a project may take millions of them along: one statement leaves a
-- handful of deltas.
create or replace function note_files_gone() returns trigger language plpgsql as $$
begin
  insert into stat_deltas
    select f.project_id, d.dimension, d.value, -count(*), -sum(f.size)
    from gone f cross join lateral (values ('visibility', f.visibility), ('mime_type', f.mime_type),
      ('classifier', coalesce(f.classifier, ''))) d(dimension, value)
    group by 1, 2, 3;
  return null;
end $$;
create or replace trigger files_gone after delete on files referencing old table as gone
  for each statement execute function note_files_gone();
