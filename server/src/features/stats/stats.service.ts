// Reads statistics. Every read first folds the counts of this process; those of other instances follow within seconds, or
// at once if they share a Redis.
import type { TenantActor } from '../../contract/actor.ts';
import type { Deps } from '../../contract/deps.ts';
import { userNotFound } from '../../contract/refusals.ts';
import type { Subject } from '../../contract/subject.ts';
import { counterNames, nothingCounted } from '../../platform/counters/counters.ts';
import { afterCursor, type PageRequest, toPage } from '../../platform/db/paging.ts';
import type { Database } from '../../platform/db/postgres.ts';
import { dayOf } from '../traffic/traffic.count.ts';
import { buildSnapshot } from '../users/users.wire.ts';
import {
  type CounterRow,
  countOverQuota,
  countProjects,
  type DayRow,
  deleteOldBatches,
  deleteOldDays,
  findSpaceUsage,
  findUserUsage,
  listDays,
  listDaysOfInstallation,
  listInstallationTotals,
  listLargest,
  listProjectStats,
  listTotals,
  type ProjectStatsRow,
  type TotalRow,
  type UsageRow,
} from './stats.sql.ts';
import type { CountersShown } from './stats.wire.ts';

/** Ignores failures: if the database is down, the read itself fails. */
const foldFirst = (deps: Deps): Promise<void> => deps.foldCounts().catch(() => undefined);

const today = (deps: Deps): string => dayOf(deps.clock());

export async function readOverview(deps: Deps, projectId: string) {
  const [days, storage] = await Promise.all([
    readDays(deps, projectId, projectId),
    readStorage(deps, projectId),
  ]);
  return { today: toCounters(days.at(-1) ?? nothingCounted), last_30_days: sumDays(days), storage };
}

export async function readDays(deps: Deps, projectId: string, subjectId: string): Promise<DayRow[]> {
  await foldFirst(deps);
  return deps.db.read<DayRow>(listDays(projectId, subjectId, today(deps)));
}

export async function readStorage({ db }: Deps, projectId: string) {
  const [totals, [over]] = await Promise.all([
    db.read<TotalRow>(listTotals(projectId)),
    db.read<{ users: number }>(countOverQuota(projectId)),
  ]);
  return { ...toStorage(totals), over_quota_users: over?.users ?? 0 };
}

/** Entries per distribution. */
const valuesMax = 1_000;

export async function readDistribution({ db }: Deps, projectId: string) {
  const [types, classifiers] = await Promise.all([
    db.read<TotalRow>(listLargest(projectId, 'mime_type', valuesMax)),
    db.read<TotalRow>(listLargest(projectId, 'classifier', valuesMax)),
  ]);
  return {
    by_mime: types.map(({ value, count, bytes }) => ({ mime_type: value, files: count, bytes })),
    by_classifier: classifiers.map(({ value, count, bytes }) => ({
      classifier: value === '' ? null : value,
      files: count,
      bytes,
    })),
  };
}

/** A space token sees the figures of its space only. */
export async function readUserStats(deps: Deps, actor: TenantActor, user: Subject) {
  const { projectId } = actor;
  const subjectId = actor.kind === 'space' ? actor.spaceId : user.id;
  const find = actor.kind === 'space' ? findSpaceUsage : findUserUsage;
  const [days, [usage]] = await Promise.all([
    readDays(deps, projectId, subjectId),
    deps.db.read<UsageRow>(find(projectId, subjectId)),
  ]);
  if (!usage) throw userNotFound();
  const plan = actor.kind === 'space' ? { storageLimit: usage.limit_bytes } : user.plan;
  return {
    user_id: user.id,
    files: usage.files,
    bytes: usage.bytes,
    storage: buildSnapshot({ usedBytes: usage.bytes, reservedBytes: usage.reserved_bytes, plan }),
    last_30_days: sumDays(days),
  };
}

export async function readInstallation(deps: Deps) {
  await foldFirst(deps);
  const [days, totals, [counted]] = await Promise.all([
    deps.db.read<DayRow>(listDaysOfInstallation(today(deps))),
    deps.db.read<TotalRow>(listInstallationTotals),
    deps.db.read<{ projects: number }>(countProjects),
  ]);
  return {
    last_30_days: sumDays(days),
    days,
    storage: toStorage(totals),
    projects: counted?.projects ?? 0,
    jobs: toJobCounts(totals),
  };
}

export async function readProjectStats(deps: Deps, page: PageRequest) {
  await foldFirst(deps);
  const list = 'stats.projects';
  const after = afterCursor(deps, list, page.cursor);
  const rows = await deps.db.read<ProjectStatsRow>(listProjectStats(after, page, today(deps)));
  const { rows: kept, next_cursor } = toPage(deps, list, rows, page.limit);
  return { projects: kept.map(({ created_at: _, ...shown }) => shown), next_cursor };
}

/** Image jobs of the whole installation by status. */
export async function readJobCounts(db: Database) {
  return toJobCounts(await db.read<TotalRow>(listInstallationTotals));
}

const purgeRows = 5_000;

/** Resolves to the number of deleted rows. */
export async function purgeStats({ db, clock }: Deps, signal: AbortSignal): Promise<number> {
  await db.query(deleteOldBatches);
  let purged = 0;
  while (!signal.aborted) {
    const gone = await db.query(deleteOldDays(dayOf(clock()), purgeRows));
    purged += gone.length;
    if (gone.length < purgeRows) break;
  }
  return purged;
}

const toCounters = (row: CounterRow): CountersShown => ({
  requests: row.requests,
  errors: row.errors,
  uploads: row.uploads,
  downloads: row.downloads,
  deletes: row.deletes,
  bytes_in: row.bytes_in,
});

function sumDays(days: readonly DayRow[]): CountersShown {
  const sum = { ...nothingCounted };
  for (const day of days) for (const name of counterNames) sum[name] += day[name];
  return sum;
}

const nothing = { count: 0, bytes: 0 };

function toStorage(totals: readonly TotalRow[]) {
  const find = (dimension: string, value: string) =>
    totals.find((total) => total.dimension === dimension && total.value === value) ?? nothing;
  const toAmount = ({ count, bytes }: { count: number; bytes: number }) => ({ files: count, bytes });
  const trashed = find('trash', '');
  const shown = {
    public: toAmount(find('visibility', 'public')),
    private: toAmount(find('visibility', 'private')),
  };
  return {
    users: find('users', '').count,
    files: shown.public.files + shown.private.files,
    bytes: shown.public.bytes + shown.private.bytes,
    ...shown,
    ...(trashed.count === 0 ? {} : { trashed: toAmount(trashed) }),
  };
}

function toJobCounts(totals: readonly TotalRow[]) {
  const count = (status: string) =>
    totals.find(({ dimension, value }) => dimension === 'jobs' && value === status)?.count ?? 0;
  return {
    pending: count('pending'),
    processing: count('processing'),
    done: count('done'),
    failed: count('failed'),
  };
}
