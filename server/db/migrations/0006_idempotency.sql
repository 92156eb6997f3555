-- The answers to requests with an Idempotency-Key, for a day. Written in the transaction of the change.
create table idempotency_keys (
  -- The project, or the nil UUID for the admin.
  owner_id uuid not null,
  -- Of the method, the path and the key.
  id bytea not null,
  -- sha256 of what was sent.
  content bytea not null,
  -- What the first caller could do: only a caller that can do as much gets the answer.
  authority jsonb not null,
  status smallint not null,
  -- The body, sealed: it may hold a secret.
  answer bytea not null,
  key_id text not null,
  created_at timestamptz(3) not null default now(),
  primary key (owner_id, id)
);
create index idempotency_keys_age on idempotency_keys (created_at);
