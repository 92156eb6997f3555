// Reads the feed of events as an integrator does.
import { expect } from 'vitest';
import type { Api } from './api.ts';
import { rowsOf } from './database.ts';

export interface ShownEvent {
  readonly id: string;
  readonly type: string;
  readonly created_at: string;
  readonly project_id: string;
  readonly user_id: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: the resource of the event; tests compare it with a detail read.
  readonly data: any;
}

export interface FeedReader {
  /** Everything since the last call; waits until there are at least this many. */
  next(countMin: number): Promise<ShownEvent[]>;
  readonly cursor: string;
}

/** Begins now, or after a cursor. */
export async function readFeed(api: Api, key: string, query = '', start?: string): Promise<FeedReader> {
  let cursor = start;
  const read = async (wait: number) => {
    const after = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { status, body, text } = await api.get(`/project/events?wait=${wait}${query}${after}`, key);
    expect(status, text).toBe(200);
    cursor = body.next_cursor as string;
    return body.events as ShownEvent[];
  };
  if (cursor === undefined) await read(0);
  return {
    async next(countMin) {
      const found: ShownEvent[] = [];
      while (found.length < countMin) found.push(...(await read(10)));
      return found;
    },
    get cursor() {
      return cursor as string;
    },
  };
}

/** The events that an audited mutation makes. */
const typeOfAction = {
  'file.upload': 'file.created',
  'file.update': 'file.updated',
  'file.copy': 'file.created',
  'file.delete': 'file.deleted',
  'file.trash': 'file.trashed',
  'file.restore': 'file.restored',
  'file.expire': 'file.expired',
  'file.purge': 'file.deleted',
  'job.failed': 'image.failed',
  'share.create': 'share.created',
  'share.delete': 'share.revoked',
  'upload.expire': 'upload.expired',
  'user.create': 'user.created',
  'user.update': 'user.updated',
  'user.plan_change': 'user.updated',
  'user.delete': 'user.deleted',
  'space.create': 'space.created',
  'space.update': 'space.updated',
  'space.credentials': 'space.updated',
  'space.delete': 'space.deleted',
} as const;

/** The events that the audit log of a project demands, each as its type and the id of its resource, sorted. */
export async function eventsOfAudit(databaseUrl: string, projectId: string): Promise<string[]> {
  const rows = await rowsOf<{ action: keyof typeof typeOfAction; resource_id: string }>(
    databaseUrl,
    `select action, resource_id from audit_logs where project_id = '${projectId}'
     and action in (${Object.keys(typeOfAction).map((action) => `'${action}'`)})`,
  );
  return rows.map(({ action, resource_id }) => `${typeOfAction[action]} ${resource_id}`).sort();
}

/** The same of events. Those that no audited mutation makes are left out. */
export const auditedEvents = (events: readonly ShownEvent[]): string[] =>
  events
    .filter(({ type }) => type !== 'image.done' && type !== 'quota.threshold')
    .map(({ type, data }) => `${type} ${data.id ?? data.job_id}`)
    .sort();
