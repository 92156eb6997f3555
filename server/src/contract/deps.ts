// Everything a feature may use: built once in app.ts, passed explicitly, never imported.
import type { Pacer } from '../kernel/async/pacer.ts';
import type { Clock } from '../kernel/clock.ts';
import type { DeviceCookies } from '../kernel/crypto/device-cookie.ts';
import type { Sealer } from '../kernel/crypto/sealed.ts';
import type { ShareProofs } from '../kernel/crypto/share-proof.ts';
import type { CursorCodec } from '../kernel/cursor.ts';
import type { InFlight } from '../platform/concurrency/bytes-in-flight.ts';
import type { EvictingSemaphore } from '../platform/concurrency/evicting-semaphore.ts';
import type { FairSemaphore } from '../platform/concurrency/fair-semaphore.ts';
import type { Counters } from '../platform/counters/counters.ts';
import type { Database } from '../platform/db/postgres.ts';
import type { ProjectGates } from '../platform/db/project-work.ts';
import type { HashPool } from '../platform/hashing/hash-pool.ts';
import type { ImageEngine } from '../platform/images/image-engine.ts';
import type { Limiter } from '../platform/limits/limiter.ts';
import type { Logger } from '../platform/log.ts';
import type { Mailer } from '../platform/mail/mailer.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { DownloadClaims } from '../platform/objects/disk/disk-url.ts';
import type { ObjectStore } from '../platform/objects/object-store.ts';
import type { Outbound } from '../platform/outbound/outbound.ts';
import type { Passwords } from '../platform/passwords.ts';
import type { Queue } from '../platform/queue/queue.ts';
import type { AuditQueue } from './audit.ts';
import type { EventHub, EventReaders } from './event.ts';
import type { FileCommitter, FileFinder } from './file.ts';
import type { Reservations } from './object-ref.ts';
import type { Settings } from './settings.ts';
import type { TokenSigner } from './token.ts';
import type { LiveUploads, UploadCompleter } from './upload.ts';
import type { VariantDesk } from './variant.ts';
import type { WebhookBounds } from './webhook.ts';

export interface Deps {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Logger;
  readonly db: Database;
  /** Bounds on how many connections one project may hold. */
  readonly projectGates: ProjectGates;
  /** Changes of very many rows run their chunks here. */
  readonly bulkWork: Pacer;
  readonly limiter: Limiter;
  readonly passwords: Passwords;
  readonly tokens: TokenSigner;
  readonly devices: DeviceCookies;
  readonly shareProofs: ShareProofs;
  readonly sealer: Sealer;
  readonly mailer: Mailer;
  readonly cursors: CursorCodec;
  readonly keyUses: KeyUses;
  readonly auditQueue: AuditQueue;
  readonly counters: Counters;
  /** Writes the counts of this process to the database. */
  readonly foldCounts: () => Promise<void>;
  readonly metrics: Metrics;
  readonly queue: Queue;
  readonly images: ImageEngine;
  /** Hashes large bodies off the event loop. */
  readonly hashing: HashPool;
  readonly objects: ObjectStore;
  readonly reservations: Reservations;
  readonly findFile: FileFinder;
  readonly commitUpload: FileCommitter;
  readonly completeUpload: UploadCompleter;
  /** The claims of a signed download URL of the disk store; null if it is forged or has expired. */
  readonly verifyDownload: (key: string, query: string) => DownloadClaims | null;
  /** The length that a part must have which is sent to a signed URL of the disk store; null as above. */
  readonly verifyPart: (key: string, number: number, query: string) => { readonly bytes: number } | null;
  /** Capacity that uploads in flight share: memory for small ones, slots for streamed ones. */
  readonly uploads: { readonly buffers: EvictingSemaphore; readonly places: EvictingSemaphore };
  /** Bounds how many uncommitted bytes large uploads may have in the store. */
  readonly inFlight: InFlight;
  /** Bounds how many connections to the store downloads hold, whose readers may be slow. */
  readonly downloads: FairSemaphore;
  /** Memory for the zips that are being sent. */
  readonly zips: FairSemaphore;
  /** Uploads that this process is receiving. */
  readonly liveUploads: LiveUploads;
  readonly eventHub: EventHub;
  /** Bounds how many requests wait for events here. */
  readonly eventReaders: EventReaders;
  /** Requests for image variants wait here. */
  readonly variantDesk: VariantDesk;
  /** Requests to addresses that tenants name. */
  readonly outbound: Outbound;
  readonly webhookBounds: WebhookBounds;
  readonly version: string;
  readonly health: HealthChecks;
}

/** Records when API keys were last used, in the background. */
export interface KeyUses {
  record(projectId: string, keyId: string): void;
}

export type HealthStatus = 'ok' | 'unavailable' | 'not configured';

/** None of them rejects, and each answers within seconds. */
export interface HealthChecks {
  database(): Promise<HealthStatus>;
  storage(): Promise<HealthStatus>;
  redis(): Promise<HealthStatus>;
}
