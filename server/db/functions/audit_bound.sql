-- Where the partitions by month should end by now: after the month, in UTC, in which it will be in two weeks.
create or replace function audit_bound() returns timestamptz language sql stable as $$
  select (date_trunc('month', (now() + interval '14 days') at time zone 'UTC') + interval '1 month') at time zone 'UTC'
$$;
