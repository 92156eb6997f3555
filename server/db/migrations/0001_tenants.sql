-- Who there is: projects and their accounts, keys, integrations, plans, users and spaces,
-- what has been revoked, the settings, and the audit log.

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
  updated_at timestamptz(3) not null default now()
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

-- Project keys and integration keys: one look-up by hash tells them apart.
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
  unique (project_id, id)
);
create unique index plans_one_default on plans (project_id) where is_default;
create index plans_newest on plans (project_id, created_at desc, id desc);

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
  constraint users_external_id_unique unique (project_id, external_id),
  unique (project_id, id),
  constraint users_plan foreign key (project_id, plan_id) references plans (project_id, id)
);
create index users_newest on users (project_id, created_at desc, id desc);
create index users_of_plan on users (project_id, plan_id);

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
  -- The one live session: a token with another id is dead.
  session_jti uuid,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
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

-- Not bound to projects by a foreign key: rows outlive their project, and readers see a null project_id then.
create table audit_logs (
  id uuid primary key default gen_random_uuid(),
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
  created_at timestamptz(3) not null default clock_timestamp()
);
create index audit_logs_newest on audit_logs (created_at desc, id desc);
create index audit_logs_of_project on audit_logs (project_id, created_at desc, id desc);
create index audit_logs_of_action on audit_logs (project_id, action, created_at desc, id desc);
create index audit_logs_of_user on audit_logs (user_id, created_at desc, id desc) where user_id is not null;

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('pakhus.audit_purge', true) = 'on' then
    return old;
  end if;
  raise exception 'audit rows are immutable' using errcode = 'restrict_violation';
end $$;
create trigger audit_logs_immutable before update or delete on audit_logs
  for each row execute function refuse_audit_change();
create trigger audit_logs_not_truncated before truncate on audit_logs
  for each statement execute function refuse_audit_change();

-- Records one row inside the caller's transaction. It catches every failure of its own and waits for no
-- lock longer than a quarter of a second, so that recording can never fail or stall what is recorded.
create function record_audit(
  project_id uuid, actor_type text, actor_id uuid, actor_key_id text, ip_address text, user_agent text,
  action text, resource_type text, resource_id text, user_id uuid, metadata jsonb
) returns boolean language plpgsql set lock_timeout = '250ms' as $$
begin
  insert into audit_logs
    (project_id, actor_type, actor_id, actor_key_id, ip_address, user_agent, action, resource_type, resource_id, user_id, metadata)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, coalesce($11, '{}'));
  return true;
exception when others then
  raise warning 'audit row for % not recorded: %', action, sqlerrm;
  return false;
end $$;

-- When each periodic task is next due: whoever moves the date does the task.
create table schedules (
  name text primary key,
  due_at timestamptz not null
);
