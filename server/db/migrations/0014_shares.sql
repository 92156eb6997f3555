-- Links to files that anybody may open. A row has no key to its file: a file in the trash has left `files`, and keeps its
-- shares for when it comes back. A trigger deletes them with their file (functions/drop_shares.sql).
create table shares (
  id uuid not null,
  project_id uuid not null references projects on delete cascade,
  user_id uuid not null,
  file_id uuid not null,
  -- Of the secret in the URL, which is not kept.
  token_hash bytea not null check (octet_length(token_hash) = 32),
  name text,
  password_hash text,
  expires_at timestamptz(3),
  max_downloads integer check (max_downloads >= 1),
  downloads integer not null default 0,
  last_used_at timestamptz(3),
  active boolean not null default true,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (project_id, id),
  foreign key (project_id, user_id) references users (project_id, id) on delete cascade
);
create unique index shares_of_token on shares (token_hash);
-- Ascending, because lists read them backwards: see ARCHITECTURE.md. No index has a column that a download changes.
create index shares_of_file on shares (project_id, file_id, created_at, id);
create index shares_of_user on shares (project_id, user_id, created_at, id);
