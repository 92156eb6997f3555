-- Events: one row for every change that integrators mirror, written in the transaction of the change. See ADR 22.

-- Events are recorded while this is in the future: for some days after a read of the feed, and for ever while there is a webhook.
alter table projects add column listens_until timestamptz;

-- Which history the positions in cursors belong to. A database that was restored elsewhere counts its transactions anew.
create table event_feed (
  only_row boolean primary key default true check (only_row),
  id uuid not null default gen_random_uuid(),
  system text not null
);

create function event_slot(at timestamptz) returns smallint language sql immutable parallel safe as $$
  select (floor(extract(epoch from at) / 86400)::bigint % 10)::smallint
$$;

-- The numbers order the events of one transaction, nothing else.
create sequence event_numbers cache 32;

-- A slot holds the events of one day in ten. Expired days are truncated as a whole, and none has to be created in time.
create table events (
  slot smallint not null default event_slot(now()),
  project_id uuid not null,
  xid xid8 not null default pg_current_xact_id(),
  number bigint not null default nextval('event_numbers'),
  id uuid not null default gen_random_uuid(),
  type text not null,
  user_id uuid,
  created_at timestamptz(3) not null default now(),
  data text not null
) partition by list (slot);
create table events_0 partition of events for values in (0);
create table events_1 partition of events for values in (1);
create table events_2 partition of events for values in (2);
create table events_3 partition of events for values in (3);
create table events_4 partition of events for values in (4);
create table events_5 partition of events for values in (5);
create table events_6 partition of events for values in (6);
create table events_7 partition of events for values in (7);
create table events_8 partition of events for values in (8);
create table events_9 partition of events for values in (9);
create index events_in_order on events (project_id, xid, number);
-- Costs an insert almost nothing, and finds what is left of ten days ago without reading all of today.
create index events_by_age on events using brin (created_at) with (autosummarize = on);

-- They get another parameter. The new ones have a default for it, so that the previous release can still call them.
drop function if exists store_file(new_file, text, text, uuid, text, text, text);
drop function if exists end_upload(uuid, uuid, integer, text, jsonb, text, text, uuid, text, text, text);
