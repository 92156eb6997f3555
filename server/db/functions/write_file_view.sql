-- Writes the JSON of a file as the API shows it, up to the value of `compression`, which comes from the file's job and
-- changes with it. Must match `viewFile`. Built by hand because row_to_json looks up every column's type for every row. The
-- added 100 microseconds keep PostgreSQL from dropping trailing zeros of the milliseconds, and `left` cuts them off again.
create or replace function write_file_view() returns trigger language plpgsql as $$
begin
  new.view := '{"id":"' || new.id || '","user_id":"' || new.user_id
    || '","space_id":' || coalesce('"' || new.space_id || '"', 'null')
    || ',"name":' || to_json(new.name) || ',"size":' || new.size
    || ',"mimeType":' || to_json(new.mime_type) || ',"storageKey":' || to_json(new.storage_key)
    || ',"sha256":' || coalesce('"' || encode(new.sha256, 'hex') || '"', 'null') || ',"folder":' || to_json(new.folder)
    || ',"tags":' || to_json(new.tags) || ',"classifier":' || coalesce(to_json(new.classifier)::text, 'null')
    || ',"metadata":' || new.metadata::text || ',"visibility":"' || new.visibility
    || '","created_at":"' || left(replace((new.created_at at time zone 'utc' + '100 microseconds')::text, ' ', 'T'), 23)
    || 'Z","updated_at":"' || left(replace((new.updated_at at time zone 'utc' + '100 microseconds')::text, ' ', 'T'), 23)
    || 'Z",' || coalesce('"expires_at":"' || to_iso(new.expires_at) || '",', '')
    || coalesce('"retain_until":"' || to_iso(new.retain_until) || '",', '') || '"compression":';
  return new;
end $$;
create or replace trigger files_viewed before insert on files for each row execute function write_file_view();
-- A statement that writes the JSON itself is left alone: see view_moved_file.sql.
create or replace trigger files_reviewed before update on files for each row when (old.view is not distinct from new.view)
  execute function write_file_view();

-- For files that have none yet. A migration that changes what the API shows of files drops the column and adds it again.
update files set view = null where view is null;
