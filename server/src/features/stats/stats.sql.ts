// Statements on statistics. They never scan files, and users only near their limits: counts are kept as totals, plus deltas
// that are not folded into the totals yet.

import type { Batch, CounterName } from '../../platform/counters/counters.ts';
import { newestFirst, type PageRequest } from '../../platform/db/paging.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';

export type CounterRow = Readonly<Record<CounterName, number>>;

export interface DayRow extends CounterRow {
  readonly date: string;
}

export interface TotalRow {
  readonly dimension: string;
  readonly value: string;
  readonly count: number;
  readonly bytes: number;
}

/**
 * Adds a batch to the daily counts, unless it was added before. Counts of deleted projects are dropped. Counts that an outage has kept
 * until a quarter of an hour after their day count for the present one: days that are over stay as they are, because bills show them.
 */
export const applyBatch = ({ id, rows }: Batch): Sql => sql`
  with fresh as (insert into folded_batches (id) values (${id}) on conflict do nothing returning id)
  insert into daily_stats as s
    (project_id, subject_id, day, requests, errors, uploads, downloads, deletes, bytes_in)
  select r."projectId", r."subjectId", greatest(r.day, ((now() - interval '15 minutes') at time zone 'UTC')::date),
    sum(r.requests), sum(r.errors), sum(r.uploads), sum(r.downloads), sum(r.deletes), sum(r.bytes_in)
  from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r("projectId" uuid, "subjectId" uuid, day date,
    requests bigint, errors bigint, uploads bigint, downloads bigint, deletes bigint, bytes_in bigint)
  where exists (select from fresh) and exists (select from projects p where p.id = r."projectId")
  group by 1, 2, 3 order by 1, 2, 3
  on conflict (project_id, subject_id, day) do update set requests = s.requests + excluded.requests,
    errors = s.errors + excluded.errors, uploads = s.uploads + excluded.uploads,
    downloads = s.downloads + excluded.downloads, deletes = s.deletes + excluded.deletes,
    bytes_in = s.bytes_in + excluded.bytes_in`;

export const hasDeltas: Sql = sql`select exists (select from stat_deltas) as any`;

/** Held until the transaction ends; false while another instance folds. */
export const lockFolding: Sql = sql`select pg_try_advisory_xact_lock(7075110) as mine`;

/** Moves deltas into the totals in one statement, so that every reader sees each delta exactly once. */
export const foldDeltas = (rowsMax: number): Sql => sql`
  with taken as (
    delete from stat_deltas where ctid = any(array(select ctid from stat_deltas limit ${rowsMax} for update skip locked))
    returning project_id, dimension, value, count, bytes),
  folded as (
    insert into stat_totals as t (project_id, dimension, value, count, bytes)
    select project_id, dimension, value, sum(count), sum(bytes) from taken
    group by 1, 2, 3 having sum(count) <> 0 or sum(bytes) <> 0 order by 1, 2, 3
    on conflict (project_id, dimension, value)
      do update set count = t.count + excluded.count, bytes = t.bytes + excluded.bytes)
  select count(*) as folded from taken`;

export const deleteEmptyTotals: Sql = sql`delete from stat_totals where count = 0 and bytes = 0`;

const sums = sql`coalesce(sum(requests), 0)::bigint as requests, coalesce(sum(errors), 0)::bigint as errors,
  coalesce(sum(uploads), 0)::bigint as uploads, coalesce(sum(downloads), 0)::bigint as downloads,
  coalesce(sum(deletes), 0)::bigint as deletes, coalesce(sum(bytes_in), 0)::bigint as bytes_in`;

/** The 30 days up to `today`, one row each, without gaps. */
export const listDays = (projectId: string, subjectId: string, today: string): Sql => sql`
  select to_char(d, 'YYYY-MM-DD') as date, ${sums}
  from (select ${today}::date - 29 + n as d from generate_series(0, 29) n) days
  left join daily_stats s on s.project_id = ${projectId} and s.subject_id = ${subjectId} and s.day = d
  group by d order by d`;

/** The same over all projects, for the admin. Grouped before the join, so that the index by day finds the rows. */
export const listDaysOfInstallation = (today: string): Sql => sql`
  select to_char(d, 'YYYY-MM-DD') as date, ${sums}
  from (select ${today}::date - 29 + n as d from generate_series(0, 29) n) days
  left join (select day, ${sums} from daily_stats
    where subject_id = project_id and day between ${today}::date - 29 and ${today}::date group by day) s on s.day = d
  group by d order by d`;

export const listTotals = (projectId: string): Sql => sql`
  select dimension, value, sum(count)::bigint as count, sum(bytes)::bigint as bytes from (
    select dimension, value, count, bytes from stat_totals
      where project_id = ${projectId} and dimension in ('users', 'visibility', 'trash')
    union all
    select dimension, value, count, bytes from stat_deltas
      where project_id = ${projectId} and dimension in ('users', 'visibility', 'trash')) known
  group by dimension, value`;

/** All projects, for the admin. */
export const listInstallationTotals: Sql = sql`
  select dimension, value, sum(count)::bigint as count, sum(bytes)::bigint as bytes from (
    select dimension, value, count, bytes from stat_totals where dimension in ('users', 'visibility', 'jobs')
    union all
    select dimension, value, count, bytes from stat_deltas where dimension in ('users', 'visibility', 'jobs')) known
  group by dimension, value`;

/**
 * The most frequent values of a dimension. Tenants choose these values, maybe a new one for every file: so the largest
 * totals come from an index, corrected by the deltas.
 */
export const listLargest = (
  projectId: string,
  dimension: 'mime_type' | 'classifier',
  rowsMax: number,
): Sql => sql`
  with largest as (select value, count, bytes from stat_totals
    where project_id = ${projectId} and dimension = ${dimension} order by count desc, value limit ${rowsMax}),
  recent as (select value, sum(count) as count, sum(bytes) as bytes from stat_deltas
    where project_id = ${projectId} and dimension = ${dimension} group by value),
  touched as (select t.value, t.count, t.bytes from recent r join stat_totals t
    on t.project_id = ${projectId} and t.dimension = ${dimension} and t.value = r.value)
  select value, sum(count)::bigint as count, sum(bytes)::bigint as bytes from (
    select value, count, bytes from largest union select value, count, bytes from touched
    union all select value, count, bytes from recent) known
  group by value having sum(count) > 0 order by 2 desc, 1 limit ${rowsMax}`;

/**
 * Users over their limit, by one index range per plan: users in that range are over the limit or within a sixteenth of a
 * doubling of it. One extra bucket allows for the rounding of logarithms.
 */
export const countOverQuota = (projectId: string): Sql => sql`
  select coalesce(sum(found.users), 0)::bigint as users
  from plans p cross join lateral (
    select count(*) as users from users u
      where u.project_id = ${projectId} and u.plan_id = p.id
        and u.usage_bucket >= usage_bucket(p.storage_limit) - 1 and u.used_bytes > p.storage_limit
    union all
    select count(*) from users u
      where p.is_default and u.project_id = ${projectId} and u.plan_id is null
        and u.usage_bucket >= usage_bucket(p.storage_limit) - 1 and u.used_bytes > p.storage_limit) found
  where p.project_id = ${projectId} and p.storage_limit is not null`;

export interface UsageRow {
  readonly files: number;
  readonly bytes: number;
  readonly reserved_bytes: number;
  readonly limit_bytes: number | null;
}

export const findUserUsage = (projectId: string, userId: string): Sql => sql`
  select file_count as files, used_bytes as bytes, reserved_bytes, null::bigint as limit_bytes from users
  where project_id = ${projectId} and id = ${userId}`;

export const findSpaceUsage = (projectId: string, spaceId: string): Sql => sql`
  select file_count as files, used_bytes as bytes, reserved_bytes, limit_bytes from spaces
  where project_id = ${projectId} and id = ${spaceId}`;

export const countProjects: Sql = sql`select count(*) as projects from projects`;

export interface ProjectStatsRow {
  readonly id: string;
  readonly name: string;
  readonly active: boolean;
  readonly users: number;
  readonly files: number;
  readonly bytes: number;
  readonly requests_30d: number;
  readonly created_at: string;
}

/** A page of projects, each with its totals and the requests of the last 30 days. */
export const listProjectStats = (after: Sql, page: PageRequest, today: string): Sql => sql`
  with page as (${newestFirst(sql`select id, name, active, created_at from projects where true${after}`, page)})
  select page.id, page.name, page.active, page.created_at, coalesce(total.users, 0)::bigint as users,
    coalesce(total.files, 0)::bigint as files, coalesce(total.bytes, 0)::bigint as bytes,
    coalesce(traffic.requests, 0)::bigint as requests_30d
  from page
  cross join lateral (
    select sum(count) filter (where dimension = 'users') as users,
      sum(count) filter (where dimension = 'visibility') as files, sum(bytes) as bytes
    from (select dimension, count, bytes from stat_totals
        where project_id = page.id and dimension in ('users', 'visibility')
      union all select dimension, count, bytes from stat_deltas
        where project_id = page.id and dimension in ('users', 'visibility')) known) total
  cross join lateral (
    select sum(requests) as requests from daily_stats
    where project_id = page.id and subject_id = page.id
      and day between ${today}::date - 29 and ${today}::date) traffic
  order by page.created_at desc, page.id desc`;

/** Old days of users and spaces; those of projects are kept, and so are the downloads of users, for bills. */
export const deleteOldDays = (today: string, rowsMax: number): Sql => sql`
  with gone as (delete from daily_stats where ctid = any(array(
      select ctid from daily_stats where subject_id <> project_id and day < ${today}::date - 31 limit ${rowsMax}))
    returning project_id, subject_id, day, downloads),
  kept as (insert into usage_downloads (project_id, user_id, date, downloads)
    select project_id, subject_id, day, downloads from gone g where downloads > 0
      and (exists (select from users u where u.project_id = g.project_id and u.id = g.subject_id)
        or exists (select from usage_days d where d.project_id = g.project_id and d.user_id = g.subject_id))
    on conflict do nothing)
  select day from gone`;

/** No batch is folded this late. */
export const deleteOldBatches: Sql = sql`delete from folded_batches where folded_at < now() - interval '7 days'`;

export const findInstallation: Sql = sql`
  select (select value #>> '{}' from settings where key = 'installation') || '-' ||
    (select oid::text from pg_database where datname = current_database()) as installation`;
