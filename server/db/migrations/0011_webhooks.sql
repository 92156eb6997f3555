-- Webhooks: events posted to a URL of the project, signed, repeated until they are received.
create table webhooks (
  project_id uuid not null references projects on delete cascade,
  id uuid not null,
  url text not null,
  -- Names or groups such as file.*; null for all.
  types text[],
  active boolean not null default true,
  -- Why the service has switched it off.
  disabled_reason text check (disabled_reason in ('gone', 'failing')),
  -- The first of the failed tries since the last success, and how many in a row.
  failing_since timestamptz(3),
  failures integer not null default 0,
  -- After several failures in a row, the feed waits until then.
  rest_until timestamptz(3),
  -- Events up to here have been tried. The feed is another one after a restore, and positions count anew.
  feed_id uuid not null,
  position_xid xid8 not null,
  position_number bigint not null,
  position_since text,
  -- The worker that delivers at present: only with this token may the position move.
  lease_token uuid,
  lease_until timestamptz,
  -- When a worker should look at it without being told: a retry, the end of a rest or of a lease.
  due_at timestamptz,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (project_id, id)
) with (fillfactor = 50);
create index webhooks_due on webhooks (due_at) where due_at is not null;

-- The secrets that sign: the current one, and replaced ones until they expire.
create table webhook_secrets (
  project_id uuid not null,
  webhook_id uuid not null,
  id uuid not null default gen_random_uuid(),
  key_id text not null,
  sealed_secret bytea not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  expires_at timestamptz(3),
  primary key (project_id, webhook_id, id),
  foreign key (project_id, webhook_id) references webhooks (project_id, id) on delete cascade
);
create unique index webhook_secrets_current on webhook_secrets (project_id, webhook_id) where expires_at is null;

create domain delivery_status as text check (value in ('pending', 'succeeded', 'retrying', 'failed'));

-- What became of each event. A slot holds one day in ten, as for events. Ids begin with the time, so they are in order.
create table webhook_deliveries (
  slot smallint not null,
  project_id uuid not null,
  webhook_id uuid not null,
  id uuid not null,
  event_id uuid not null,
  -- Where the event is; null for a test.
  event_xid xid8,
  event_number bigint,
  type text not null,
  status delivery_status not null,
  attempts integer not null,
  response_status integer,
  response_body text,
  duration_ms integer,
  error text,
  created_at timestamptz(3) not null,
  next_try_at timestamptz(3)
) partition by list (slot);
create table webhook_deliveries_0 partition of webhook_deliveries for values in (0);
create table webhook_deliveries_1 partition of webhook_deliveries for values in (1);
create table webhook_deliveries_2 partition of webhook_deliveries for values in (2);
create table webhook_deliveries_3 partition of webhook_deliveries for values in (3);
create table webhook_deliveries_4 partition of webhook_deliveries for values in (4);
create table webhook_deliveries_5 partition of webhook_deliveries for values in (5);
create table webhook_deliveries_6 partition of webhook_deliveries for values in (6);
create table webhook_deliveries_7 partition of webhook_deliveries for values in (7);
create table webhook_deliveries_8 partition of webhook_deliveries for values in (8);
create table webhook_deliveries_9 partition of webhook_deliveries for values in (9);
create index webhook_deliveries_newest on webhook_deliveries (project_id, webhook_id, id);
create index webhook_deliveries_troubled on webhook_deliveries (project_id, webhook_id, id)
  where status <> 'succeeded';
create index webhook_deliveries_due on webhook_deliveries (project_id, webhook_id, next_try_at)
  where next_try_at is not null;
