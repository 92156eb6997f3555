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
  add column file_count bigint not null default 0 check (file_count >= 0),
  add column usage_bucket integer not null generated always as (usage_bucket(used_bytes)) stored;
drop index users_of_plan;
create index users_of_plan on users (project_id, plan_id, usage_bucket);
alter table spaces add column file_count bigint not null default 0 check (file_count >= 0);

-- What there is already.
update users u set file_count = f.files
  from (select user_id, count(*) as files from files group by user_id) f where f.user_id = u.id;
update spaces s set file_count = f.files
  from (select space_id, count(*) as files from files where space_id is not null group by space_id) f
  where f.space_id = s.id;
insert into stat_totals
  select f.project_id, d.dimension, d.value, count(*), sum(f.size)
  from files f cross join lateral (values ('visibility', f.visibility), ('mime_type', f.mime_type),
    ('classifier', coalesce(f.classifier, ''))) d(dimension, value)
  group by 1, 2, 3;
insert into stat_totals select project_id, 'users', '', count(*), 0 from users group by project_id;
insert into stat_totals select project_id, 'jobs', status, count(*), 0 from compression_jobs group by 1, 3;

-- As before, and the number of files with the bytes.
create or replace function store_file(
  file files, actor_type text, actor_id uuid, actor_key_id text, ip_address text, user_agent text,
  out outcome text, out stored_at timestamptz(3)
) language plpgsql as $$
declare
  owner record;
  space_active boolean;
  space_wanted bigint;
  space_limit bigint;
begin
  -- Before the user: the file's row will refer to the project, whose deletion goes through its users.
  perform from projects p where p.id = file.project_id for key share;
  select u.active, u.used_bytes + file.size as wanted, p.storage_limit into owner
    from users u left join plans p on p.id = coalesce(u.plan_id,
      (select d.id from plans d where d.project_id = u.project_id and d.is_default))
    where u.project_id = file.project_id and u.id = file.user_id
    for no key update of u;
  if not found then outcome := 'no user'; return; end if;
  if not owner.active then outcome := 'inactive user'; return; end if;
  if file.space_id is not null then
    select s.active, s.used_bytes + file.size, s.limit_bytes into space_active, space_wanted, space_limit
      from spaces s where s.project_id = file.project_id and s.user_id = file.user_id and s.id = file.space_id
      for no key update;
    if not found then outcome := 'no space'; return; end if;
    if not space_active then outcome := 'inactive space'; return; end if;
  end if;
  if owner.wanted > owner.storage_limit then outcome := 'user limit'; return; end if;
  if space_wanted > space_limit then outcome := 'space limit'; return; end if;
  delete from doomed_objects d
    where d.storage_key = file.storage_key and d.shelf = file.shelf and d.claimed_until is null;
  if not found then outcome := 'object lost'; return; end if;

  update users set used_bytes = owner.wanted, file_count = file_count + 1
    where id = file.user_id and project_id = file.project_id;
  if file.space_id is not null then
    update spaces set used_bytes = space_wanted, file_count = file_count + 1
      where id = file.space_id and project_id = file.project_id;
  end if;
  insert into files select file.*;
  perform record_audit(file.project_id, actor_type, actor_id, actor_key_id, ip_address, user_agent,
    'file.upload', 'file', file.id::text, file.user_id,
    jsonb_build_object('new', jsonb_build_object('name', file.name, 'size', file.size, 'mimeType', file.mime_type,
      'folder', file.folder, 'visibility', file.visibility, 'space_id', file.space_id)));
  outcome := 'stored';
  stored_at := file.created_at;
end $$;

create or replace function delete_file(
  project_id uuid, user_id uuid, space_id uuid, file_id uuid,
  actor_type text, actor_id uuid, actor_key_id text, ip_address text, user_agent text
) returns setof files language plpgsql as $$
declare
  gone files;
begin
  perform from projects p where p.id = $1 for key share;
  perform from users u where u.project_id = $1 and u.id = $2 for no key update;
  -- The space before the file: the order of locks.
  perform from spaces s where s.project_id = $1
    and s.id = (select f.space_id from files f where f.id = $4 and f.project_id = $1) for no key update;
  delete from files f
    where f.project_id = $1 and f.user_id = $2 and f.id = $4 and ($3 is null or f.space_id = $3)
    returning * into gone;
  if gone.id is null then return; end if;
  update users u set used_bytes = used_bytes - gone.size, file_count = file_count - 1
    where u.id = gone.user_id and u.project_id = $1;
  update spaces s set used_bytes = used_bytes - gone.size, file_count = file_count - 1
    where s.id = gone.space_id and s.project_id = $1;
  insert into doomed_objects (shelf, storage_key, file_id, due_at)
    values (gone.shelf, gone.storage_key, gone.id, now()) on conflict do nothing;
  perform record_audit($1, $5, $6, $7, $8, $9, 'file.delete', 'file', gone.id::text, gone.user_id,
    jsonb_build_object('old', jsonb_build_object('name', gone.name, 'size', gone.size, 'mimeType', gone.mime_type)));
  return next gone;
end $$;
