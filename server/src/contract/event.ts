// Events: their types, and the feed as the rest of the service sees it.

export const eventTypes = [
  'file.created',
  'file.updated',
  'file.deleted',
  'file.trashed',
  'file.restored',
  'file.expired',
  'image.done',
  'image.failed',
  'upload.expired',
  'user.created',
  'user.updated',
  'user.deleted',
  'space.created',
  'space.updated',
  'space.deleted',
  'quota.threshold',
  'share.created',
  'share.revoked',
] as const;

export type EventType = (typeof eventTypes)[number];

/** A place in a project's feed, after the event with this transaction and number. Both are too large for a JavaScript number. */
export interface EventPosition {
  readonly xid: string;
  readonly number: string;
  /** A snapshot of the database: events of transactions that it shows as committed are skipped. Null where there are none. */
  readonly since: string | null;
}

export interface FeedEvent {
  readonly xid: string;
  readonly number: string;
  readonly id: string;
  readonly type: string;
  readonly created_at: string;
  /** The whole event as JSON. */
  readonly json: string;
}

export interface EventPage {
  readonly events: readonly FeedEvent[];
  /** Where the next page begins. */
  readonly position: EventPosition;
  /** Another page follows at once. */
  readonly more: boolean;
  /** Events are committed that wait for an older transaction to end. */
  readonly pending: boolean;
}

/** The feed of every project, on one listening connection for the whole process. */
export interface EventHub {
  /** One page. Those who ask for the same one at the same time share a statement. */
  read(projectId: string, after: EventPosition, limit: number): Promise<EventPage>;
  /**
   * Calls `wake` soon after events of the project were committed, and now and then without any: a notification can be lost.
   * Returns a function that ends it.
   */
  subscribe(projectId: string, wake: () => void): () => void;
  /** The same for all projects. `projectId` is null where any of them may have new events. */
  subscribeToAll(wake: (projectId: string | null) => void): () => void;
  /**
   * Events of the project were committed without a notification: sends one, soon, to the hubs of all processes. If this process
   * dies before, they find the events when they look by themselves.
   */
  announce(projectId: string): void;
  /** The service stops: readers end their requests. */
  readonly isClosing: boolean;
  /** Wakes everybody once more. */
  close(): Promise<void>;
}

export interface EventReaders {
  /** Throws a 503 if there are too many. Returns the function that ends the wait. */
  enter(projectId: string): () => void;
  readonly size: number;
}
