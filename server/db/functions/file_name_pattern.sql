-- The pattern that finds a part of a name among the keys.
create or replace function file_name_pattern(part text) returns text language sql stable as $$
  select '%' || regexp_replace(file_name_key(part), '([\\%_])', '\\\1', 'g') || '%'
$$;
