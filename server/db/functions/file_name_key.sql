-- What names are sorted and searched by: without case and accents, short enough for an index.
create or replace function file_name_key(name text) returns text language plpgsql stable as $$
begin
  if to_regprocedure('unaccent(text)') is null then return left(lower(normalize(name)), 400); end if;
  return left(lower(unaccent(normalize(name))), 400);
end $$;
