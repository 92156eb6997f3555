-- The JSON of a file that gets another folder, cut from the old one: a fourth of what write_file_view takes. What is searched for
-- cannot be part of a name or of metadata: `to_json` escapes quotes, and jsonb has a space after each colon. PostgreSQL inlines it
-- into the statement that uses it.
create or replace function view_moved_file(
  view text, old_folder text, new_folder text, old_updated_at timestamptz, new_updated_at timestamptz
) returns text language sql stable as $$
  select replace(replace(view, ',"folder":' || to_json(old_folder), ',"folder":' || to_json(new_folder)),
    ',"updated_at":"' || to_iso(old_updated_at), ',"updated_at":"' || to_iso(new_updated_at))
$$;
