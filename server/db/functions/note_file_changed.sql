-- Keeps the statistics of changed files. They are changed one at a time, and most changes do not matter here: a row trigger
-- with a condition is cheapest.
create or replace function note_file_changed() returns trigger language plpgsql as $$
begin
  insert into stat_deltas values (old.project_id, 'visibility', old.visibility, -1, -old.size),
    (old.project_id, 'mime_type', old.mime_type, -1, -old.size),
    (old.project_id, 'classifier', coalesce(old.classifier, ''), -1, -old.size),
    (new.project_id, 'visibility', new.visibility, 1, new.size),
    (new.project_id, 'mime_type', new.mime_type, 1, new.size),
    (new.project_id, 'classifier', coalesce(new.classifier, ''), 1, new.size);
  return null;
end $$;
-- An update of other columns than these skips the comparison.
create or replace trigger files_changed after update of project_id, visibility, mime_type, classifier, size on files for each row
  when ((old.project_id, old.visibility, old.mime_type, old.classifier, old.size)
    is distinct from (new.project_id, new.visibility, new.mime_type, new.classifier, new.size))
  execute function note_file_changed();
