-- Uploads that survive a cut connection: a file on its way, which several requests may carry. Its size is reserved for its
-- user and its space until it ends.
create table uploads (
  id uuid not null,
  project_id uuid not null references projects on delete cascade,
  user_id uuid not null,
  space_id uuid,
  mode text not null check (mode in ('resumable', 'direct')),
  status text not null default 'uploading'
    check (status in ('uploading', 'completed', 'failed', 'expired', 'cancelled')),
  -- sha256 of the secret in the URL. Null for a direct upload, which has no URL.
  token_hash bytea,
  -- The credential that created it, as far as it can be revoked: the URL dies with it.
  integration_id uuid,
  key_id uuid,
  jti uuid,
  -- Who created it, for the audit rows of requests that carry no credential.
  actor_type text not null,
  actor_id uuid,
  actor_key_id text,
  name text not null,
  mime_type text collate "C" not null,
  folder text collate "C" not null,
  tags text[] not null,
  classifier text,
  metadata jsonb not null,
  visibility text not null check (visibility in ('private', 'public')),
  -- What the client says it will be.
  sha256 bytea,
  -- Null until the client has said it.
  size bigint check (size >= 0),
  -- The offset: all bytes before it are durable.
  received bigint not null default 0 check (received >= 0),
  -- Its share of reserved_bytes of the user and the space.
  reserved bigint not null check (reserved >= 0),
  -- Incremented by every request that takes over: an older one can no longer move the offset.
  epoch integer not null default 0,
  -- A request is adding bytes, or its process died.
  receiving boolean not null default false,
  -- The file's object, and where its bytes are until it is complete. A new attempt at the first byte gets a new object.
  object_id uuid,
  zone text not null check (zone in ('private', 'public')),
  state jsonb,
  -- The object with bytes that do not fill a part yet.
  tail_id uuid,
  file_id uuid,
  -- Why it failed: code, message and details.
  error jsonb,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (project_id, id),
  foreign key (project_id, user_id) references users (project_id, id) on delete cascade
);
create unique index uploads_of_token on uploads (token_hash);
create index uploads_newest on uploads (project_id, user_id, created_at, id);
create index uploads_unfinished on uploads (project_id, user_id, space_id) where status = 'uploading';
create index uploads_expiry on uploads (expires_at) where status = 'uploading';
create index uploads_ended on uploads (updated_at) where status <> 'uploading';

-- The parts of an unfinished object in a store that knows parts.
create table upload_parts (
  project_id uuid not null,
  upload_id uuid not null,
  number integer not null,
  etag text not null,
  primary key (project_id, upload_id, number),
  foreign key (project_id, upload_id) references uploads (project_id, id) on delete cascade
);

-- Of a file that went past the service, until a worker has read it.
alter table files alter column sha256 drop not null;
create index files_to_hash on files (project_id, id) where sha256 is null;
