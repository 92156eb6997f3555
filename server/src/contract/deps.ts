// What the world gives to features. Built once, in app.ts; handed on explicitly, never imported.
import type { Clock } from '../kernel/clock.ts';
import type { DeviceCookies } from '../kernel/crypto/device-cookie.ts';
import type { Sealer } from '../kernel/crypto/sealed.ts';
import type { CursorCodec } from '../kernel/cursor.ts';
import type { InFlight } from '../platform/concurrency/bytes-in-flight.ts';
import type { EvictingSemaphore } from '../platform/concurrency/evicting-semaphore.ts';
import type { Counters } from '../platform/counters/counters.ts';
import type { Database } from '../platform/db/postgres.ts';
import type { ImageEngine } from '../platform/images/image-engine.ts';
import type { Limiter } from '../platform/limits/limiter.ts';
import type { Logger } from '../platform/log.ts';
import type { Mailer } from '../platform/mail/mailer.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { DownloadClaims } from '../platform/objects/disk/disk-url.ts';
import type { ObjectStore } from '../platform/objects/object-store.ts';
import type { Passwords } from '../platform/passwords.ts';
import type { Queue } from '../platform/queue/queue.ts';
import type { AuditQueue } from './audit.ts';
import type { Reservations } from './placed-object.ts';
import type { Settings } from './settings.ts';
import type { TokenSigner } from './token.ts';

export interface Deps {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Logger;
  readonly db: Database;
  readonly limiter: Limiter;
  readonly passwords: Passwords;
  readonly tokens: TokenSigner;
  readonly devices: DeviceCookies;
  readonly sealer: Sealer;
  readonly mailer: Mailer;
  readonly cursors: CursorCodec;
  readonly auditQueue: AuditQueue;
  readonly counters: Counters;
  /** Brings what this process has counted into the database. */
  readonly foldCounts: () => Promise<void>;
  readonly metrics: Metrics;
  readonly queue: Queue;
  readonly images: ImageEngine;
  readonly objects: ObjectStore;
  readonly reservations: Reservations;
  /** The claims of a download URL that this service serves itself; null for a forged or expired one. */
  readonly verifyDownload: (key: string, query: string) => DownloadClaims | null;
  /** What uploads under way share: bytes of memory for small ones, places for those that are streamed. */
  readonly uploads: { readonly buffers: EvictingSemaphore; readonly places: EvictingSemaphore };
  /** Bounds what large uploads have in the store before they are committed. */
  readonly inFlight: InFlight;
  readonly version: string;
  /** Whether optional parts answer, for the health report. */
  readonly probes: {
    readonly redis: () => Promise<boolean> | null;
    readonly storage: () => Promise<boolean>;
  };
}
