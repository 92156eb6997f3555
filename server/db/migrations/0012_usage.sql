-- What each user stores, by UTC day, for bills. The current day is in the user's row, where store_file and delete_file keep it without
-- a statement of its own (functions/keep_usage.sql); days that are over are in usage_days.
--
-- No index has these columns, and the defaults are constants for the rows that are there: their first day is today, and no row is
-- rewritten.
alter table users
  -- The day of the last change of used_bytes or file_count.
  add column usage_day date not null default (now() at time zone 'UTC')::date,
  -- The most bytes before a deletion of that day. The largest of this and used_bytes is the day's maximum.
  add column day_peak_bytes bigint,
  -- used_bytes and file_count at the start of that day, less what was deleted on it: the difference to the present values is what was
  -- stored on it. Null if nothing has been stored or deleted since then.
  add column day_base_bytes bigint,
  add column day_base_files bigint;

-- One row for each day on which a user stored or deleted something. It also stands for the days up to the next such day, on which the
-- user kept bytes_end. There is no key to users, because bills outlive them.
create table usage_days (
  project_id uuid not null references projects on delete cascade,
  user_id uuid not null,
  date date not null,
  until date not null,
  bytes_max bigint not null,
  bytes_end bigint not null,
  uploads bigint not null,
  bytes_in bigint not null,
  -- The user was deleted on this day.
  is_last boolean not null default false,
  primary key (project_id, user_id, date)
);
create index usage_days_of_deleted on usage_days (project_id, user_id) where is_last;
create index usage_days_until on usage_days (until);

-- The downloads that daily_stats keeps no longer.
create table usage_downloads (
  project_id uuid not null references projects on delete cascade,
  user_id uuid not null,
  date date not null,
  downloads bigint not null,
  primary key (project_id, user_id, date)
);
create index usage_downloads_date on usage_downloads (date);
