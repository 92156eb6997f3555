// What each user stored, uploaded and downloaded, by UTC day. The database keeps it with every change, so that it is exact at every
// commit; downloads are counted with the traffic.
import { Readable } from 'node:stream';
import type { Deps } from '../../contract/deps.ts';
import { Serialized } from '../../contract/serialized.ts';
import { invalid } from '../../kernel/error.ts';
import { quoted } from '../../kernel/text/json.ts';
import { search } from '../../platform/db/project-work.ts';
import { dayOf } from '../traffic/traffic.count.ts';
import {
  deleteOldDownloads,
  deleteOldUsage,
  readUsagePage,
  type UsagePageRow,
  type UsageRange,
} from './usage.sql.ts';

export const keptDays = 400;
export const rangeDaysMax = 366;
const defaultDays = 30;
const dayMs = 86_400_000;

/** How long counts of downloads may take to arrive after midnight. Later ones count for the day they arrive on: see applyBatch. */
export const settlingMs = 15 * 60_000;

export interface UsageQuery {
  readonly from?: string;
  readonly to?: string;
  readonly user_id?: string;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export async function listUsage(deps: Deps, projectId: string, query: UsageQuery): Promise<Serialized> {
  // The range as it was asked for: a cursor of the default range still works after midnight.
  const list = `usage:${projectId}:${query.from ?? ''}:${query.to ?? ''}:${query.user_id ?? ''}`;
  const range = resolveRange(deps, query);
  const [from = range.from, afterUser = null, to = range.to] =
    query.cursor === undefined ? [] : deps.cursors.decode(list, query.cursor);
  await foldFirst(deps);
  const page = await readPart(deps, projectId, { ...range, from, to, afterUser }, 'json', query.limit);
  const next =
    page.next_day === null ? null : deps.cursors.encode(list, [page.next_day, page.next_user ?? '', to]);
  return new Serialized(
    `{"days":[${page.rows}],"final_until":"${lastFinalDay(deps)}","next_cursor":${next === null ? 'null' : quoted(next)}}`,
  );
}

const csvHeader = 'date,user_id,bytes_max,bytes_end,uploads,downloads,bytes_in\r\n';
/** Small enough that a slow reader keeps little of it waiting. */
const csvRowsAtOnce = 2_000;

/** The whole range, page by page as it is read: neither the rows nor a connection are held for it. */
export async function streamUsage(
  deps: Deps,
  projectId: string,
  query: Omit<UsageQuery, 'limit' | 'cursor'>,
): Promise<Readable> {
  const range = resolveRange(deps, query);
  const read = (from: string, afterUser: string | null) =>
    readPart(deps, projectId, { ...range, from, afterUser }, 'csv', csvRowsAtOnce);
  await foldFirst(deps);
  // Before the answer begins, so that an outage still gets its own status.
  const first = await read(range.from, null);
  async function* lines() {
    yield csvHeader;
    for (let page = first; ; page = await read(page.next_day, page.next_user)) {
      if (page.rows !== '') yield page.rows;
      if (page.next_day === null) return;
    }
  }
  return Readable.from(lines());
}

async function readPart(
  deps: Deps,
  projectId: string,
  range: UsageRange,
  format: 'json' | 'csv',
  rowsMax: number,
): Promise<UsagePageRow> {
  const statement = readUsagePage(projectId, range, format, rowsMax);
  const [page] = await search<UsagePageRow>(deps, projectId, statement);
  return page as UsagePageRow;
}

/** Ignores failures: if the database is down, the read itself fails. */
const foldFirst = (deps: Deps): Promise<void> => deps.foldCounts().catch(() => undefined);

const daysBefore = (ms: number, days: number): number => ms - days * dayMs;

function resolveRange({ clock }: Deps, query: Omit<UsageQuery, 'limit'>): UsageRange {
  const to = query.to === undefined ? clock() : Date.parse(query.to);
  const from = query.from === undefined ? daysBefore(to, defaultDays - 1) : Date.parse(query.from);
  const days = Math.floor(to / dayMs) - Math.floor(from / dayMs) + 1;
  const last = query.to ?? dayOf(to);
  if (days < 1) throw wrongRange(`must not be after to (${last}): swap them, or leave one out`);
  if (days > rangeDaysMax)
    throw wrongRange(
      `must be less than ${rangeDaysMax} days before to (${last}): ask for one year at a time`,
    );
  // Older days are not kept. It also leaves out years that PostgreSQL does not know.
  const oldest = daysBefore(clock(), keptDays);
  return {
    from: dayOf(Math.max(from, oldest)),
    to: dayOf(Math.max(to, daysBefore(oldest, 1))),
    afterUser: null,
    userId: query.user_id ?? null,
  };
}

const wrongRange = (message: string) => invalid(400, [{ path: 'from', message, code: 'range' }]);

/** The last day whose figures do not change any more. */
const lastFinalDay = ({ clock }: Deps): string => dayOf(daysBefore(clock() - settlingMs, 1));

const purgeRows = 5_000;

/** Resolves to the number of deleted rows. */
export async function purgeUsage({ db, clock }: Deps, signal: AbortSignal): Promise<number> {
  const before = dayOf(daysBefore(clock(), keptDays));
  let purged = 0;
  for (const deleteOld of [deleteOldUsage, deleteOldDownloads])
    while (!signal.aborted) {
      const gone = await db.query(deleteOld(before, purgeRows), 'background');
      purged += gone.length;
      if (gone.length < purgeRows) break;
    }
  return purged;
}
