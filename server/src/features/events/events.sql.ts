// Statements on events. They are inserted by functions of the database: record_event and record_stored.
import type { EventPosition } from '../../contract/event.ts';
import { constantSql, type Sql, sql } from '../../platform/db/sql.ts';

export interface EventRow {
  readonly xid: string;
  readonly number: string;
  readonly id: string;
  readonly type: string;
  readonly user_id: string | null;
  readonly created_at: string;
  readonly data: string;
  /** Older than every running transaction, so that no event can be committed before it any more. */
  readonly settled: boolean;
  /** How many events the page would have, had it not ended because of its size. */
  readonly found: number;
}

/** A page ends early when its data is larger than this. */
const pageBytesMax = 1 << 20;

/** The events after a position, ordered by transaction. The ones that are not settled come last. */
export const listEvents = (
  projectId: string,
  { xid, number, since }: EventPosition,
  limit: number,
): Sql => sql`
  select xid::text, number::text, id, type, user_id, created_at, data,
    xid < pg_snapshot_xmin(pg_current_snapshot()) as settled, found
  from (
    select page.xid, page.number, page.id, page.type, page.user_id, page.created_at, page.data,
      sum(octet_length(page.data)) over (order by page.xid, page.number) - octet_length(page.data) as bytes_before,
      count(*) over () as found
    from (
      select e.xid, e.number, e.id, e.type, e.user_id, e.created_at, e.data from events e
      where e.project_id = ${projectId} and (e.xid, e.number) > (${xid}::text::xid8, ${number}::bigint)
        and (${since}::text is null or not pg_visible_in_snapshot(e.xid, ${since}::text::pg_snapshot))
      order by e.xid, e.number limit ${limit}) page) measured
  where bytes_before < ${pageBytesMax}
  order by measured.xid, measured.number`;

/** Tells all processes that these projects have new events. */
export const notifyOf = (projectIds: readonly string[]): Sql => sql`
  select pg_notify('pakhus_events', id) from unnest(${projectIds}::text[]) told(id)`;

/** The feed now: where a reader without a cursor begins, and what decides whether a cursor still holds. */
export interface FeedRow {
  readonly feed: string;
  readonly snapshot: string;
  readonly now: string;
  /** The project records events. */
  readonly listens: boolean;
  /** It will stop soon, or has stopped: this read prolongs it. */
  readonly renew: boolean;
}

export const findFeed = (projectId: string, renewSeconds: number): Sql => sql`
  select f.id as feed, pg_current_snapshot()::text as snapshot, now() as now,
    coalesce(p.listens_until > now(), false) as listens,
    coalesce(p.listens_until < now() + make_interval(secs => ${renewSeconds}), true) as renew
  from event_feed f, projects p where p.id = ${projectId}`;

export const openHistory = sql`select open_feed()`;

/** Never shortens. */
export const listenFor = (projectId: string, seconds: number): Sql => sql`
  update projects set listens_until = greatest(listens_until, now() + make_interval(secs => ${seconds}))
  where id = ${projectId} returning pg_current_xact_id()::text as xid`;

/** Whether this transaction and all older ones have ended. */
export const haveEnded = (xid: string): Sql => sql`
  select pg_snapshot_xmin(pg_current_snapshot()) > ${xid}::text::xid8 as ended`;

export const countRecorded = sql`
  select coalesce(sum(n_tup_ins), 0)::bigint as events from pg_stat_user_tables where relname ~ '^events_[0-9]$'`;

/** How long the oldest transaction has been running that later events wait for. */
export const findDelay = sql`
  select coalesce(max(extract(epoch from now() - xact_start)), 0)::float8 as seconds
  from pg_stat_activity where backend_xid is not null`;

export interface SlotRow {
  readonly slot: number;
  /** Events of today go there, beside those of ten days ago if nothing was dropped since. */
  readonly current: boolean;
}

/** The slots with expired events: those of 8 and 9 days ago, which get no new ones, and today's if it has old ones. */
export const listOldSlots = (keptSeconds: number): Sql => sql`
  select old.slot, false as current from (
    select event_slot(now() - make_interval(days => days)) as slot from generate_series(8, 9) ago(days)) old
  where exists (select from events e where e.slot = old.slot)
  union all
  select event_slot(now()), true where exists (select from events e where e.slot = event_slot(now())
    and e.created_at < now() - make_interval(secs => ${keptSeconds}))`;

export const truncateSlot = (slot: number): Sql => sql`truncate events_${constantSql(slot)}`;

/** Only needed if the task did not run for days, and a slot has events of two rounds. */
export const deleteExpired = (slot: number, keptSeconds: number, rowsMax: number): Sql => sql`
  delete from events where slot = ${slot}::smallint and ctid = any(array(
    select e.ctid from events e where e.slot = ${slot}::smallint
      and e.created_at < now() - make_interval(secs => ${keptSeconds}) limit ${rowsMax}))
  returning 1`;

export const deleteEvents = (projectId: string): Sql => sql`
  delete from events where project_id = ${projectId}`;
