// The feed of a project: where a reader begins, what a cursor means, and what makes a project listen.
import { setTimeout as delay } from 'node:timers/promises';
import type { Deps } from '../../contract/deps.ts';
import { type EventPage, type EventPosition, eventTypes, type FeedEvent } from '../../contract/event.ts';
import { invalid, PakhusError } from '../../kernel/error.ts';
import type { Queryable, Transaction } from '../../platform/db/postgres.ts';
import {
  deleteEvents,
  type FeedRow,
  findFeed,
  haveEnded,
  listenFor,
  notifyOf,
  openHistory,
} from './events.sql.ts';

type FeedDeps = Pick<Deps, 'db' | 'cursors' | 'eventHub'>;

const daySeconds = 86_400;
/** How long events are kept, and cursors are valid. */
export const keptSeconds = 7 * daySeconds;
/** Longer than a cursor is valid, so that no event is missing between two reads with the same cursor. */
const listenSeconds = keptSeconds + daySeconds;
const renewSeconds = listenSeconds - daySeconds / 2;

/** A reader's place in the feed. */
export interface FeedPlace {
  readonly projectId: string;
  readonly feed: string;
  readonly position: EventPosition;
  /** When the events after this place began: the cursor is valid for as long as they are kept. */
  readonly at: string;
}

const beginning = { xid: '0', number: '0', since: null };

/** Finds the place where a reader begins. From then on the project records events. */
export async function openFeed(
  deps: FeedDeps,
  projectId: string,
  { cursor, from }: { readonly cursor?: string | undefined; readonly from?: 'oldest' | undefined },
): Promise<FeedPlace> {
  const decoded = cursor === undefined ? null : decodeCursor(deps, projectId, cursor);
  const row = await startListening(deps, projectId);
  const { feed, now } = row;
  if (decoded) {
    refuseGone(decoded, row);
    return decoded;
  }
  return { projectId, feed, position: from === 'oldest' ? beginning : startNow(row.snapshot), at: now };
}

/** Everything that this snapshot does not show as committed. */
const startNow = (snapshot: string): EventPosition => ({
  xid: snapshot.split(':')[0] as string,
  number: '0',
  since: snapshot,
});

/** When it resolves, whatever commits from then on is recorded. */
export async function startListening(deps: FeedDeps, projectId: string): Promise<FeedRow> {
  const find = async () => (await deps.db.read<FeedRow>(findFeed(projectId, renewSeconds)))[0] as FeedRow;
  const found = await find();
  if (!found.renew) return found;
  const [listening] = await deps.db.query<{ xid: string }>(listenFor(projectId, listenSeconds));
  if (found.listens || !listening) return found;
  await waitForOlder(deps.db, listening.xid);
  return find();
}

/** Wakes everybody who waits for the project's events, webhook workers too, when the transaction commits. */
export const notifyReaders = async (tx: Transaction, projectId: string): Promise<void> => {
  await tx.query(notifyOf([projectId]));
};

const olderMsMax = 1_000;
const olderRetryMs = 20;

/**
 * Waits for transactions that may have looked before the project listened, and commit after it. Such a look is followed by the
 * commit at once; a transaction that runs longer has not looked yet.
 */
async function waitForOlder(db: Queryable, xid: string): Promise<void> {
  const deadline = Date.now() + olderMsMax;
  while (Date.now() < deadline) {
    const [row] = await db.query<{ ended: boolean }>(haveEnded(xid));
    if (row?.ended) return;
    await delay(olderRetryMs);
  }
}

const listName = (projectId: string): string => `events:${projectId}`;

/** Throws a 400 for a cursor of another list or project. */
function decodeCursor({ cursors }: FeedDeps, projectId: string, cursor: string): FeedPlace {
  const [feed = '', xid = '', number = '', at = '', since] = cursors.decode(listName(projectId), cursor);
  return { projectId, feed, position: { xid, number, since: since ?? null }, at };
}

export function cursorOf({ cursors }: FeedDeps, { projectId, feed, position, at }: FeedPlace): string {
  const { xid, number, since } = position;
  return cursors.encode(listName(projectId), [feed, xid, number, at, ...(since === null ? [] : [since])]);
}

/** The cursor after one event. */
export const cursorAfter = (
  deps: FeedDeps,
  place: FeedPlace,
  { xid, number, created_at }: FeedEvent,
): string =>
  cursorOf(deps, { ...place, position: { xid, number, since: place.position.since }, at: created_at });

function refuseGone(place: FeedPlace, { feed, snapshot, now }: FeedRow): void {
  const isOld = Date.parse(place.at) < Date.parse(now) - keptSeconds * 1000;
  // A restored database counts its transactions anew.
  const isAhead = BigInt(place.position.xid) > BigInt(snapshot.split(':')[1] ?? '0');
  if (!isOld && !isAhead && place.feed === feed) return;
  throw new PakhusError(
    'GONE',
    'The events after this cursor are not kept any more: read your resources again, and follow the feed from now on or from=oldest',
  );
}

/** The next page, and the place after it. */
export async function readOn(
  { eventHub }: FeedDeps,
  place: FeedPlace,
  limit: number,
): Promise<EventPage & { readonly place: FeedPlace }> {
  const askedAt = new Date().toISOString();
  const page = await eventHub.read(place.projectId, place.position, limit);
  const at = page.more ? (page.events.at(-1)?.created_at ?? place.at) : askedAt;
  return { ...page, place: { ...place, position: page.position, at } };
}

/** Whether a type is wanted; `types` as the query has it. Throws a 400 for a type that does not exist. */
export function parseTypes(types: string | undefined): (event: Pick<FeedEvent, 'type'>) => boolean {
  if (types === undefined) return () => true;
  const wanted = expandTypes(types.split(',').map((type) => type.trim()));
  if (wanted instanceof UnknownType)
    throw invalid(400, [{ path: 'types', message: wanted.message, code: 'enum' }]);
  return ({ type }) => wanted.has(type);
}

/** A pattern that matches no type of event. */
export class UnknownType extends Error {
  constructor(pattern: string) {
    super(`has no type "${pattern.slice(0, 60)}": use ${eventTypes.join(', ')}, or a group such as file.*`);
  }
}

/** The types that patterns such as `file.*` stand for. */
export function expandTypes(patterns: readonly string[]): ReadonlySet<string> | UnknownType {
  const wanted = new Set<string>();
  for (const pattern of patterns) {
    const matching = eventTypes.filter((type) => matches(pattern, type));
    if (matching.length === 0) return new UnknownType(pattern);
    for (const type of matching) wanted.add(type);
  }
  return wanted;
}

const matches = (pattern: string, type: string): boolean =>
  pattern === '*' || pattern === type || (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1)));

/** At every start, before anything is recorded. */
export async function openEventFeed(db: Queryable): Promise<void> {
  await db.query(openHistory);
}

/** Part of deleting a project. */
export async function dropEvents(tx: Transaction, projectId: string): Promise<void> {
  await tx.query(deleteEvents(projectId));
}
