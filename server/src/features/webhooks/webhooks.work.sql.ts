// Statements of the workers that deliver. A worker holds a lease on each webhook that it delivers to; everything that it
// records is fenced by the token of that lease.
import { constantSql, type Sql, sql } from '../../platform/db/sql.ts';
import type { DeliveryRow, DeliveryStatus } from './webhooks.sql.ts';

export interface ClaimedSecret {
  readonly id: string;
  readonly key_id: string;
  readonly sealed: string;
  readonly expires_ms: number | null;
}

export interface ClaimedRow {
  readonly project_id: string;
  readonly id: string;
  readonly url: string;
  readonly types: string[] | null;
  readonly active: boolean;
  readonly failing_since: string | null;
  readonly failures: number;
  readonly rest_until: string | null;
  readonly xid: string;
  readonly number: string;
  readonly since: string | null;
  /** The earliest delivery that waits for a try. */
  readonly retry_at: string | null;
  /** Some may expire while they are used. */
  readonly secrets: readonly ClaimedSecret[];
}

/** Who claims, until when, and how many at most. `now` is the clock that retries go by. */
export interface Claim {
  readonly token: string;
  readonly leaseSeconds: number;
  readonly limit: number;
  readonly now: string;
}

const claimThose = (candidates: Sql, { token, leaseSeconds, limit }: Claim): Sql => sql`
  with free as (
    ${candidates} and (w.lease_until is null or w.lease_until < now())
      and exists (select from projects p where p.id = w.project_id and p.active)
    order by w.due_at nulls last limit ${limit} for no key update of w skip locked)
  update webhooks w set lease_token = ${token}, lease_until = now() + make_interval(secs => ${leaseSeconds}),
    due_at = now() + make_interval(secs => ${leaseSeconds}), feed_id = f.id,
    position_xid = case when w.feed_id = f.id then w.position_xid else '0'::xid8 end,
    position_number = case when w.feed_id = f.id then w.position_number else 0 end,
    position_since = case when w.feed_id = f.id then w.position_since end
  from free, event_feed f where w.project_id = free.project_id and w.id = free.id
  returning w.project_id, w.id, w.url, w.types, w.active, w.failing_since, w.failures, w.rest_until,
    w.position_xid::text as xid, w.position_number::text as number, w.position_since as since,
    (select min(d.next_try_at) from webhook_deliveries d where d.project_id = w.project_id and d.webhook_id = w.id
      and d.next_try_at is not null and (w.active or d.status = 'pending')) as retry_at,
    (select json_agg(json_build_object('id', s.id, 'key_id', s.key_id, 'sealed', encode(s.sealed_secret, 'base64'),
        'expires_ms', extract(epoch from s.expires_at) * 1000) order by s.created_at desc)
      from webhook_secrets s where s.project_id = w.project_id and s.webhook_id = w.id) as secrets`;

const isReady = (now: string): Sql =>
  sql`w.active and (w.rest_until is null or w.rest_until <= ${now}::timestamptz)`;

/** Those of projects with new events. */
export const claimWoken = (projectIds: readonly string[], claim: Claim): Sql =>
  claimThose(
    sql`select w.project_id, w.id from webhooks w where w.project_id = any(${projectIds}::uuid[])
      and (w.due_at <= ${claim.now}::timestamptz or (${isReady(claim.now)}))`,
    claim,
  );

/** Those with something to try again, and those whose worker has died. */
export const claimDue = (claim: Claim): Sql =>
  claimThose(
    sql`select w.project_id, w.id from webhooks w where w.due_at <= ${claim.now}::timestamptz`,
    claim,
  );

/** Those with events that nobody was told about. */
export const claimBehind = (claim: Claim): Sql =>
  claimThose(
    sql`select w.project_id, w.id from webhooks w where ${isReady(claim.now)} and exists (
      select from events e where e.project_id = w.project_id
        and (w.position_xid, w.position_number) < (e.xid, e.number))`,
    claim,
  );

export interface Leased {
  readonly project_id: string;
  readonly id: string;
  readonly token: string;
}

/** Returns those whose lease still holds. A due date before the lease's end is a request to look again. */
export const renewLeases = (leases: readonly Leased[], leaseSeconds: number): Sql => sql`
  update webhooks w set lease_until = now() + make_interval(secs => ${leaseSeconds}),
    due_at = case when w.due_at < w.lease_until then w.due_at
      else now() + make_interval(secs => ${leaseSeconds}) end
  from json_to_recordset(${JSON.stringify(leases)}::json) as g(project_id uuid, id uuid, token uuid)
  where w.project_id = g.project_id and w.id = g.id and w.lease_token = g.token
  returning w.id, w.lease_token as token`;

/** No row if it was taken away. */
export const findLease = ({ project_id, id, token }: Leased): Sql => sql`
  select from webhooks w where w.project_id = ${project_id} and w.id = ${id} and w.lease_token = ${token}`;

export interface ReleasedRow {
  /** Minus infinity for at once. */
  readonly due_ms: number | null;
}

/** Ends a lease, and sets when the webhook is due again. */
export const releaseLease = ({ project_id, id, token }: Leased): Sql => sql`
  update webhooks w set lease_token = null, lease_until = null,
    due_at = least(case when w.due_at < w.lease_until then w.due_at end, w.rest_until,
      (select min(d.next_try_at) from webhook_deliveries d where d.project_id = w.project_id and d.webhook_id = w.id
        and d.next_try_at is not null and (w.active or d.status = 'pending')))
  where w.project_id = ${project_id} and w.id = ${id} and w.lease_token = ${token}
  returning (extract(epoch from due_at) * 1000)::float8 as due_ms`;

export interface DueRow extends Pick<DeliveryRow, 'id' | 'event_id' | 'type' | 'attempts' | 'created_at'> {
  readonly slot: number;
  readonly event_xid: string | null;
  readonly event_number: string | null;
  readonly next_try_at: string;
}

/** The next ones to try, the first of which may be due later. */
export const listWaiting = (
  { project_id, id, active }: Pick<ClaimedRow, 'project_id' | 'id' | 'active'>,
  limit: number,
): Sql => sql`
  select slot, id, event_id, event_xid::text, event_number::text, type, attempts, created_at, next_try_at
  from webhook_deliveries
  where project_id = ${project_id} and webhook_id = ${id} and next_try_at is not null
    and (${active} or status = 'pending')
  order by next_try_at limit ${limit}`;

/** A webhook as its tries have left it. The position stays where it is if `xid` is null. */
export interface Progress extends Leased {
  readonly xid: string | null;
  readonly number: string | null;
  readonly since: string | null;
  readonly failing_since: string | null;
  readonly failures: number;
  readonly rest_until: string | null;
}

export interface Tried {
  readonly webhook_id: string;
  readonly token: string;
  readonly id: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly response_status: number | null;
  readonly response_body: string | null;
  readonly duration_ms: number;
  readonly error: string | null;
  readonly next_try_at: string | null;
}

export interface FirstTry extends Tried {
  readonly event_id: string;
  readonly event_xid: string;
  readonly event_number: string;
  readonly type: string;
  readonly created_at: string;
}

export interface LaterTry extends Tried {
  readonly slot: number;
}

/** Records tries of many webhooks at once, all or nothing of each. Returns those whose lease still holds. */
export const recordTries = (
  progress: readonly Progress[],
  first: readonly FirstTry[],
  later: readonly LaterTry[],
): Sql => sql`
  with fenced as (
    update webhooks w set position_xid = coalesce(g.xid::xid8, w.position_xid),
      position_number = coalesce(g.number, w.position_number),
      position_since = case when g.xid is null then w.position_since else g.since end,
      failing_since = g.failing_since, failures = g.failures, rest_until = g.rest_until
    from json_to_recordset(${JSON.stringify(progress)}::json) as g(project_id uuid, id uuid, token uuid, xid text,
      number bigint, since text, failing_since timestamptz, failures integer, rest_until timestamptz)
    where w.project_id = g.project_id and w.id = g.id and w.lease_token = g.token
    returning w.project_id, w.id, w.lease_token
  ), added as (
    insert into webhook_deliveries (slot, project_id, webhook_id, id, event_id, event_xid, event_number, type, status,
      attempts, response_status, response_body, duration_ms, error, created_at, next_try_at)
    select event_slot(t.created_at), f.project_id, f.id, t.id, t.event_id, t.event_xid::xid8, t.event_number, t.type,
      t.status, t.attempts, t.response_status, t.response_body, t.duration_ms, t.error, t.created_at, t.next_try_at
    from json_to_recordset(${JSON.stringify(first)}::json) as t(webhook_id uuid, token uuid, id uuid, event_id uuid, event_xid text,
      event_number bigint, type text, status text, attempts integer, response_status integer, response_body text,
      duration_ms integer, error text, created_at timestamptz, next_try_at timestamptz)
      join fenced f on f.id = t.webhook_id and f.lease_token = t.token
  ), changed as (
    update webhook_deliveries d set status = t.status, attempts = t.attempts, response_status = t.response_status,
      response_body = t.response_body, duration_ms = t.duration_ms, error = t.error, next_try_at = t.next_try_at
    from json_to_recordset(${JSON.stringify(later)}::json) as t(webhook_id uuid, token uuid, id uuid, slot smallint, status text,
      attempts integer, response_status integer, response_body text, duration_ms integer, error text,
      next_try_at timestamptz)
      join fenced f on f.id = t.webhook_id and f.lease_token = t.token
    where d.slot = t.slot and d.project_id = f.project_id and d.webhook_id = f.id and d.id = t.id
  )
  select id, lease_token as token from fenced`;

export interface SwitchedOffRow {
  readonly url: string;
  readonly name: string;
  readonly email: string;
}

/** Switches it off, if the lease still holds, and returns whom to tell. */
export const switchOff = ({ project_id, id, token }: Leased, reason: 'gone' | 'failing'): Sql => sql`
  update webhooks w set active = false, disabled_reason = ${reason}, updated_at = now()
  from projects p join accounts a on a.project_id = p.id
  where w.project_id = ${project_id} and w.id = ${id} and w.lease_token = ${token} and w.active
    and p.id = w.project_id
  returning w.url, p.name, a.email`;

/** Stops counting at a number that says enough. */
export const countWaiting = sql`
  select count(*) as waiting from (
    select from webhook_deliveries where next_try_at is not null and status = 'retrying' limit 100000) waiting`;

export interface SlotRow {
  readonly slot: number;
}

/** The slots of 8 and 9 days ago, which get nothing new before they are emptied. */
export const listOldSlots = sql`
  select old.slot from (select event_slot(now() - make_interval(days => days)) as slot
    from generate_series(8, 9) ago(days)) old
  where exists (select from webhook_deliveries d where d.slot = old.slot)`;

export const truncateSlot = (slot: number): Sql => sql`truncate webhook_deliveries_${constantSql(slot)}`;
