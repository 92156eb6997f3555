-- The whole schema of the first release. Functions and their triggers are in ../functions, one file each.
--
-- Tenants: projects, accounts, keys, integrations, plans, users and spaces; settings and the audit log.

create table projects (
  id uuid primary key default gen_random_uuid(),
  name text not null,
  active boolean not null default true,
  rate_limit_max bigint check (rate_limit_max >= 1),
  rate_limit_window bigint check (rate_limit_window >= 1000),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index projects_newest on projects (created_at desc, id desc);

-- Admin and project accounts share one table, so that one unique index makes one e-mail namespace.
create table accounts (
  id uuid primary key default gen_random_uuid(),
  -- Null: an admin.
  project_id uuid unique references projects on delete cascade,
  email text not null,
  -- The address as it is compared: trimmed and in lower case.
  email_key text not null constraint accounts_email_unique unique,
  password_hash text not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  -- Browsers that have logged in carry this number in a cookie. A password reset increments it.
  device_generation integer not null default 0
);

-- A session lives as long as its row: logout, a password change and a reset delete rows.
create table sessions (
  jti uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null default now()
);
create index sessions_of_account on sessions (account_id);
create index sessions_expiry on sessions (expires_at);

create table integrations (
  id uuid primary key default gen_random_uuid(),
  project_id uuid not null references projects on delete cascade,
  name text,
  scopes text[] not null default '{}',
  cors_origins text[] not null default '{}',
  dev_mode boolean not null default false,
  rate_limit_max bigint check (rate_limit_max >= 1),
  rate_limit_window bigint check (rate_limit_window >= 1000),
  active boolean not null default true,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  unique (project_id, id)
);
create index integrations_newest on integrations (project_id, created_at desc, id desc);

-- Project keys and integration keys: one lookup by hash finds either.
create table api_keys (
  id uuid primary key default gen_random_uuid(),
  project_id uuid not null references projects on delete cascade,
  integration_id uuid,
  name text,
  key_hash bytea not null unique,
  key_prefix text not null,
  active boolean not null default true,
  last_used_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  foreign key (project_id, integration_id) references integrations (project_id, id) on delete cascade
);
create index api_keys_newest on api_keys (project_id, created_at desc, id desc) where integration_id is null;
create unique index api_keys_one_of_integration on api_keys (integration_id) where integration_id is not null;

create table plans (
  id uuid primary key default gen_random_uuid(),
  project_id uuid not null references projects on delete cascade,
  name text not null,
  description text,
  storage_limit bigint check (storage_limit >= 0),
  max_file_size bigint not null check (max_file_size >= 0),
  allowed_mimes text[] not null default '{}',
  is_default boolean not null default false,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  -- Null: the default limit.
  max_files bigint check (max_files >= 0),
  max_spaces bigint check (max_spaces >= 0),
  unique (project_id, id)
);
create unique index plans_one_default on plans (project_id) where is_default;
create index plans_newest on plans (project_id, created_at desc, id desc);

-- Sixteen buckets per doubling. Users over their plan's limit are adjacent in the index users_of_plan, and most uploads
-- leave the bucket, and so every index of the row, unchanged. Part of the table: a generated column depends on it.
create function usage_bucket(bytes bigint) returns integer language sql immutable parallel safe as $$
  select case when bytes < 16 then bytes::integer
    else floor(16 * ln(bytes::float8) / ln(2::float8))::integer - 48 end
$$;

create table users (
  id uuid primary key default gen_random_uuid(),
  project_id uuid not null references projects on delete cascade,
  external_id text not null,
  plan_id uuid,
  active boolean not null default true,
  used_bytes bigint not null default 0 check (used_bytes >= 0),
  file_count bigint not null default 0 check (file_count >= 0),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  usage_bucket integer not null generated always as (usage_bucket(used_bytes)) stored,
  constraint users_external_id_unique unique (project_id, external_id),
  unique (project_id, id),
  constraint users_plan foreign key (project_id, plan_id) references plans (project_id, id)
);
create index users_newest on users (project_id, created_at desc, id desc);
create index users_of_plan on users (project_id, plan_id, usage_bucket);

create table spaces (
  id uuid primary key default gen_random_uuid(),
  project_id uuid not null references projects on delete cascade,
  user_id uuid not null,
  external_id text not null,
  name text not null,
  scopes text[] not null default '{}',
  limit_bytes bigint check (limit_bytes >= 0),
  used_bytes bigint not null default 0 check (used_bytes >= 0),
  file_count bigint not null default 0 check (file_count >= 0),
  active boolean not null default true,
  password_hash text,
  -- The only valid session: tokens with another id are refused.
  session_jti uuid,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  -- The scopes that the caller who set the password had, '*' for all. The space cannot get more without a new password.
  password_scopes text[],
  constraint spaces_external_id_unique unique (project_id, external_id),
  unique (project_id, user_id, id),
  foreign key (project_id, user_id) references users (project_id, id) on delete cascade
);
create index spaces_newest on spaces (project_id, user_id, created_at desc, id desc);
create unique index spaces_of_session on spaces (session_jti) where session_jti is not null;

-- Revoked user tokens. The subject is part of the key, so that nobody can revoke a stranger's token.
create table revoked_tokens (
  jti uuid not null,
  subject_id uuid not null,
  expires_at timestamptz(3) not null,
  primary key (jti, subject_id)
);
create index revoked_tokens_expiry on revoked_tokens (expires_at);

create table settings (
  key text primary key,
  value jsonb not null,
  updated_at timestamptz(3) not null default now()
);

-- No foreign key to projects: rows outlive their project, and readers then see a null project_id.
create table audit_logs (
  id uuid not null default gen_random_uuid(),
  project_id uuid,
  actor_type text not null check (actor_type in ('admin', 'project', 'integration')),
  actor_id uuid,
  actor_key_id text,
  user_id uuid,
  action text not null,
  resource_type text,
  resource_id text,
  ip_address text,
  user_agent text,
  metadata jsonb not null default '{}',
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (created_at, id)
);
create index audit_logs_of_project on audit_logs (project_id, created_at, id);
create index audit_logs_of_action on audit_logs (project_id, action, created_at, id);
create index audit_logs_of_user on audit_logs (user_id, created_at, id) where user_id is not null;

-- When each periodic task is due next. The instance that moves the date runs the task.
create table schedules (
  name text primary key,
  due_at timestamptz not null
);

-- Accounts: second factors, pending logins and password resets.
--
-- Transactions that change an account lock its row first: a login, a new password and a second factor never interleave.

create table two_factors (
  account_id uuid primary key references accounts on delete cascade,
  -- The key that the secret is sealed with: keys are replaced, secrets stay.
  key_id text not null,
  sealed_secret bytea not null,
  -- Null: enrolled, but not active yet.
  activated_at timestamptz(3),
  created_at timestamptz(3) not null default now()
);
create index two_factors_of_key on two_factors (key_id);

-- Each code works once: of concurrent logins with the same code, the first to insert this row wins.
create table used_totp_steps (
  account_id uuid not null references two_factors on delete cascade,
  step bigint not null,
  primary key (account_id, step)
);
create index used_totp_steps_age on used_totp_steps (step);

-- Used codes are deleted.
create table recovery_codes (
  account_id uuid not null references two_factors on delete cascade,
  code_hash bytea not null,
  primary key (account_id, code_hash)
);

-- Logins with the right password that wait for the second factor. A challenge is valid while its row exists.
create table login_challenges (
  jti uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  failures smallint not null default 0,
  expires_at timestamptz(3) not null
);
create index login_challenges_of_account on login_challenges (account_id);
create index login_challenges_expiry on login_challenges (expires_at);

create table password_resets (
  token_hash bytea primary key,
  account_id uuid not null references accounts on delete cascade,
  expires_at timestamptz(3) not null
);
create index password_resets_of_account on password_resets (account_id);
create index password_resets_expiry on password_resets (expires_at);

-- Files and their objects.
--
-- Transactions that lock several rows lock them in this order: project, user, space, file, object.

-- The tenant comes first in the key: the table can be split into hash partitions by project as it is.
create table files (
  id uuid not null,
  project_id uuid not null references projects on delete cascade,
  user_id uuid not null,
  space_id uuid,
  name text not null,
  size bigint not null check (size >= 0),
  mime_type text collate "C" not null,
  storage_key text not null,
  folder text collate "C" not null default '',
  -- Not compressed: a page of files ends by the stored size of what it shows, and is read without decompressing.
  tags text[] not null default '{}',
  classifier text,
  metadata jsonb not null default '{}',
  visibility text not null default 'private' check (visibility in ('private', 'public')),
  -- The zone of the file's object. It follows a change of visibility once the object has been moved.
  zone text not null default 'private' check (zone in ('private', 'public')),
  sha256 bytea not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (project_id, id),
  foreign key (project_id, user_id) references users (project_id, id) on delete cascade,
  foreign key (project_id, user_id, space_id) references spaces (project_id, user_id, id)
);
alter table files alter column tags set storage external, alter column metadata set storage external;

-- Lists are newest first and read these indexes backwards. In ascending order new rows go to the right end of their range,
-- where PostgreSQL fills pages instead of splitting them in half.
create index files_newest on files (project_id, user_id, created_at, id);
create index files_of_level on files (user_id, created_at, id) where space_id is null;
create index files_of_space on files (space_id, created_at, id) where space_id is not null;
-- With the slash as the lowest character, a folder and everything below it are adjacent.
create index files_of_folder on files (user_id, translate(folder, '/', E'\x01'), created_at, id);
create index files_of_space_folder on files (space_id, translate(folder, '/', E'\x01'), created_at, id)
  where space_id is not null;
create index files_of_mime_type on files (user_id, mime_type, created_at, id);
create index files_of_classifier on files (user_id, classifier, created_at, id) where classifier is not null;
create index files_public on files (user_id, created_at, id) where visibility = 'public';
create index files_of_tags on files using gin (tags) where tags <> '{}';
create index files_to_move on files (id) where visibility <> zone;
-- Made private, but still at their public address: few, and moved before all others.
create index files_to_hide on files (id) where visibility = 'private' and zone = 'public';

-- The object ledger: one row for every object that is, or may be, in the store. Its key there is project_id/id.
-- ARCHITECTURE.md draws the states and the transitions between them. No foreign keys: a row outlives its file and its
-- project until the object is gone.
create table objects (
  project_id uuid not null,
  -- The file that owns the object, or will own it once its upload commits.
  file_id uuid not null,
  -- The same as file_id for the file's own content.
  id uuid not null,
  zone text not null check (zone in ('private', 'public')),
  state text not null check (state in ('reserved', 'writing', 'stored', 'moving', 'rewriting', 'deleting')),
  -- Who may touch the object now: one token per operation. Null while nobody does.
  holder uuid,
  -- When the reaper settles the object according to its state. Null only for stored objects.
  held_until timestamptz(3),
  -- Until then a request that an earlier holder has sent may still reach the store.
  late_until timestamptz(3),
  -- How often its deletion was tried.
  attempts integer not null default 0,
  primary key (project_id, file_id, id, zone),
  constraint objects_held_unless_stored check (
    case state when 'stored' then held_until is null and holder is null else held_until is not null end)
);
create index objects_held on objects (held_until) where held_until is not null;

-- A file to be stored. The functions that take it name the columns they write: a later migration can add a column to the
-- table while processes of this release still run.
create type new_file as (
  id uuid, project_id uuid, user_id uuid, space_id uuid, name text, size bigint, mime_type text, storage_key text,
  folder text, tags text[], classifier text, metadata jsonb, visibility text, zone text, sha256 bytea,
  created_at timestamptz(3), updated_at timestamptz(3)
);

-- Image compression: one job per image.
create table compression_jobs (
  id uuid not null,
  project_id uuid not null references projects on delete cascade,
  user_id uuid not null,
  file_id uuid not null,
  status text not null default 'pending' check (status in ('pending', 'processing', 'done', 'failed')),
  recipe jsonb not null,
  attempts integer not null default 0,
  original_size bigint not null,
  -- The digest of the result, recorded before the result replaces the original: a later attempt that finds this object
  -- in the store only has to mark the job as done.
  result_sha256 bytea,
  compressed_size bigint,
  format text,
  width integer,
  height integer,
  error text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  -- Incremented by every attempt: an attempt that was given up for lost can no longer change the job.
  claim integer not null default 0,
  -- True while the current attempt decodes this image and nothing else.
  alone boolean not null default false,
  -- How many attempts in a row died with their process while alone.
  deaths_alone integer not null default 0,
  primary key (project_id, id),
  unique (project_id, file_id),
  foreign key (project_id, file_id) references files (project_id, id) on delete cascade
);
create index compression_jobs_of_status on compression_jobs (status) where status in ('pending', 'processing', 'failed');
-- The number of waiting jobs of a project decides on the priority of its next one.
create index compression_jobs_waiting on compression_jobs (project_id) where status in ('pending', 'processing');

-- Statistics.

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

-- Batches that were added to daily_stats: applying one again changes nothing.
create table folded_batches (
  id text primary key,
  folded_at timestamptz(3) not null default now()
);
create index folded_batches_age on folded_batches (folded_at);

-- Keeps the keys of installations that share a Redis apart.
insert into settings (key, value) values ('installation', to_jsonb(gen_random_uuid()));

-- How much a project has, by dimension: 'users', and files by 'visibility', 'mime_type' and 'classifier' ('' for
-- none), and image 'jobs' by status. The exact value is stat_totals plus stat_deltas, read in one statement. Writers only
-- append deltas and so never wait for each other; a background task folds deltas into the totals. No foreign keys: deleting a
-- project appends negative deltas like any other deletion.
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
