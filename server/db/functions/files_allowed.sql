-- How many files a user may have: the plan's limit, or the default where the plan has none.
create or replace function files_allowed(max_files bigint) returns bigint
language sql immutable parallel safe as $$select coalesce(max_files, 10000000)$$;
