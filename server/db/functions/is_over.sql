-- Whether this usage is at or above a percentage of the limit. Nothing is above no limit, and using nothing is never too much.
create or replace function is_over(percent integer, used bigint, storage_limit bigint) returns boolean
language sql immutable parallel safe as $$
  select coalesce(used > 0 and used::numeric * 100 >= storage_limit::numeric * percent, false)
$$;
