-- A timestamp as the API shows it, rounded as columns round it. The added 100 microseconds keep PostgreSQL from dropping trailing
-- zeros of the milliseconds, and `left` cuts them off again.
create or replace function to_iso(at timestamptz) returns text language sql stable as $$
  select left(replace((at::timestamptz(3) at time zone 'utc' + '100 microseconds')::text, ' ', 'T'), 23) || 'Z'
$$;
