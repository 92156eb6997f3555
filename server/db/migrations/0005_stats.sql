-- The numbers: traffic by day, and how much there is of everything, kept rather than counted when asked for.

-- Traffic of a project, and within it of a user or a space, by UTC day.
create table daily_stats (
  project_id uuid not null references projects on delete cascade,
  -- The project itself, one of its users, or one of its spaces.
  subject_id uuid not null,
  day date not null,
  requests bigint not null default 0,
  errors bigint not null default 0,
  uploads bigint not null default 0,
  downloads bigint not null default 0,
  deletes bigint not null default 0,
  bytes_in bigint not null default 0,
  primary key (project_id, subject_id, day)
);
create index daily_stats_of_projects on daily_stats (day) where subject_id = project_id;
create index daily_stats_to_purge on daily_stats (day) where subject_id <> project_id;

-- Batches of counts that are in daily_stats already: applying one again changes nothing.
create table folded_batches (
  id text primary key,
  folded_at timestamptz(3) not null default now()
);
create index folded_batches_age on folded_batches (folded_at);

-- Tells installations apart that share a Redis.
insert into settings (key, value) values ('installation', to_jsonb(gen_random_uuid()));

-- How much a project has, by dimension: 'users', and files by 'visibility', 'mime_type' and 'classifier' ('' for
-- none), and image 'jobs' by status. What is true at a commit is stat_totals plus stat_deltas, read in one
-- statement. Writers only append deltas, so that no two of them ever wait for the same row; whoever folds
-- moves deltas into the totals. Without foreign keys: what a deleted project had is taken off like all else.
create table stat_totals (
  project_id uuid not null,
  dimension text not null,
  value text collate "C" not null default '',
  count bigint not null,
  bytes bigint not null,
  primary key (project_id, dimension, value)
);
create index stat_totals_of_installation on stat_totals (dimension) where dimension in ('users', 'visibility', 'jobs');
create index stat_totals_largest on stat_totals (project_id, dimension, count desc, value);
create index stat_totals_empty on stat_totals (project_id) where count = 0 and bytes = 0;

create table stat_deltas (
  project_id uuid not null,
  dimension text not null,
  value text collate "C" not null default '',
  count bigint not null,
  bytes bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index stat_deltas_of_project on stat_deltas (project_id, dimension);

-- Files come and change one at a time, and most changes are of no interest here: a row's own trigger is the
-- cheapest. They go by the million as well, with a user or a project, and then leave a handful of deltas.
create function note_file() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    insert into stat_deltas values (old.project_id, 'visibility', old.visibility, -1, -old.size),
      (old.project_id, 'mime_type', old.mime_type, -1, -old.size),
      (old.project_id, 'classifier', coalesce(old.classifier, ''), -1, -old.size);
  end if;
  insert into stat_deltas values (new.project_id, 'visibility', new.visibility, 1, new.size),
    (new.project_id, 'mime_type', new.mime_type, 1, new.size),
    (new.project_id, 'classifier', coalesce(new.classifier, ''), 1, new.size);
  return null;
end $$;
create trigger files_added after insert on files for each row execute function note_file();
create trigger files_changed after update on files for each row
  when ((old.project_id, old.visibility, old.mime_type, old.classifier, old.size)
    is distinct from (new.project_id, new.visibility, new.mime_type, new.classifier, new.size))
  execute function note_file();

create function note_files_gone() returns trigger language plpgsql as $$
begin
  insert into stat_deltas
    select f.project_id, d.dimension, d.value, -count(*), -sum(f.size)
    from gone f cross join lateral (values ('visibility', f.visibility), ('mime_type', f.mime_type),
      ('classifier', coalesce(f.classifier, ''))) d(dimension, value)
    group by 1, 2, 3;
  return null;
end $$;
create trigger files_gone after delete on files referencing old table as gone
  for each statement execute function note_files_gone();

create function note_users() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into stat_deltas select project_id, 'users', '', count(*), 0 from added group by project_id;
  else
    insert into stat_deltas select project_id, 'users', '', -count(*), 0 from gone group by project_id;
  end if;
  return null;
end $$;
create trigger users_added after insert on users referencing new table as added
  for each statement execute function note_users();
create trigger users_gone after delete on users referencing old table as gone
  for each statement execute function note_users();

-- Of a row: a file without a job, which is most of them, must not pay for it when it is deleted.
create function note_job() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    insert into stat_deltas values (old.project_id, 'jobs', old.status, -1, 0);
  end if;
  if tg_op <> 'DELETE' then
    insert into stat_deltas values (new.project_id, 'jobs', new.status, 1, 0);
  end if;
  return null;
end $$;
create trigger jobs_added_or_gone after insert or delete on compression_jobs
  for each row execute function note_job();
create trigger jobs_changed after update of status on compression_jobs
  for each row when (old.status is distinct from new.status) execute function note_job();

-- Sixteen buckets for every doubling. Users that are over their plan's limit stand together in an index on it,
-- while most uploads leave it, and so every index of the row, as it is.
create function usage_bucket(bytes bigint) returns integer language sql immutable parallel safe as $$
  select case when bytes < 16 then bytes::integer
    else floor(16 * ln(bytes::float8) / ln(2::float8))::integer - 48 end
$$;
alter table users
  add column usage_bucket integer not null generated always as (usage_bucket(used_bytes)) stored;
drop index users_of_plan;
create index users_of_plan on users (project_id, plan_id, usage_bucket);
