// Builds everything that features use. Each part that must be released puts its step on `undo` as soon as it is open.
import { mkdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { openConfiguredDatabase } from './app.database.ts';
import {
  createDownloadVerifier,
  createPartVerifier,
  openObjects,
  warnOfMissingObjects,
} from './app.objects.ts';
import { createCounters, createLimiter, openRedisClient, shareRedis } from './app.redis.ts';
import { deriveKeys, openSealer, readJwtSecret } from './app.secrets.ts';
import { naming, type Undo } from './app.undo.ts';
import { defaultUploadBounds, shareUploads, type UploadBounds } from './app.uploads.ts';
import { defaultWebhookBounds } from './app.webhooks.ts';
import type { Deps } from './contract/deps.ts';
import type { EventHub } from './contract/event.ts';
import type { Settings } from './contract/settings.ts';
import type { WebhookBounds } from './contract/webhook.ts';
import { ensureAdmin } from './features/accounts/accounts.service.ts';
import { createAuditQueue } from './features/audit/audit.service.ts';
import { createKeyUses } from './features/credentials/credentials.key-uses.ts';
import { createTokenSigner } from './features/credentials/credentials.tokens.ts';
import { createEventHub } from './features/events/events.hub.ts';
import { openEventFeed } from './features/events/events.service.ts';
import { Readers } from './features/events/events.wait.ts';
import { createFileCommitter } from './features/files/files.commit.ts';
import { createFileFinder } from './features/files/files.service.ts';
import { createHealthChecks } from './features/health/health.checks.ts';
import { createReservations } from './features/objects/objects.reserve.ts';
import { startFolding } from './features/stats/stats.fold.ts';
import { createUploadCompleter } from './features/uploads/uploads.commit.ts';
import { createLiveUploads } from './features/uploads/uploads.live.ts';
import { createVariantDesk } from './features/variants/variants.desk.ts';
import { queuedJobs } from './jobs/job-table.ts';
import { toQueueOptions } from './jobs/worker.ts';
import { Pacer } from './kernel/async/pacer.ts';
import { type Clock, systemClock } from './kernel/clock.ts';
import { createDeviceCookies } from './kernel/crypto/device-cookie.ts';
import { createShareProofs } from './kernel/crypto/share-proof.ts';
import { cursorCodec } from './kernel/cursor.ts';
import { createInFlight } from './platform/concurrency/bytes-in-flight.ts';
import { FairSemaphore } from './platform/concurrency/fair-semaphore.ts';
import { migrate } from './platform/db/migrate.ts';
import { type Database, inBackground } from './platform/db/postgres.ts';
import { createProjectGates } from './platform/db/project-work.ts';
import type { DatabaseTiming } from './platform/db/session.ts';
import { createHashPool, type HashPool } from './platform/hashing/hash-pool.ts';
import { createImageEngine, type ImageEngine } from './platform/images/image-engine.ts';
import type { Logger } from './platform/log.ts';
import type { Mailer } from './platform/mail/mailer.ts';
import { createOutbox } from './platform/mail/outbox.ts';
import { createMetrics } from './platform/metrics.ts';
import { measuredStore } from './platform/objects/measured.ts';
import { createOutbound, type Outbound, type OutboundOptions } from './platform/outbound/outbound.ts';
import { createPasswords, type PasswordCost, type Passwords } from './platform/passwords.ts';
import { openQueue } from './platform/queue/queue.ts';
import { readVersion } from './version.ts';

/** In half mebibytes. */
const zipBounds = { permits: 400, permitsPerOwner: 200, waitMaxMs: 10_000 };
/** Half of the connections to the store, so that slow readers leave the rest to uploads; no project gets all of them. */
const downloadBounds = { permits: 128, permitsPerOwner: 96, waitMaxMs: 10_000 };

export interface DepsOptions {
  readonly settings: Settings;
  readonly log: Logger;
  readonly clock?: Clock;
  /** Called with the admin's password as soon as this start has generated it: it is in force even if the start fails. */
  readonly onAdminCreated?: (password: string) => void;
  /** The folder of the built service, when running from source: processes and threads need built programs. */
  readonly builtFolder?: string;
  /** The folder of the built console, instead of the one beside the service; null for none. */
  readonly consoleFolder?: string | null;
  /** Stops waiting for a database that is not up yet. */
  readonly signal?: AbortSignal;
  /** Overrides of the defaults, for tests. */
  readonly databaseTiming?: Partial<DatabaseTiming> | undefined;
  readonly uploadBounds?: Partial<UploadBounds>;
  readonly outbound?: Omit<OutboundOptions, 'allowPrivate'>;
  readonly webhookBounds?: Partial<WebhookBounds>;
  readonly variantWaitMsMax?: number;
  readonly passwordCost?: PasswordCost;
}

/** About half a core of the database, for all deletions of this process. */
const bulkRestRatio = 1;

/** The order matters: `undo` runs in reverse, so that counts and audit rows are written before the database closes. */
export async function buildDeps(options: DepsOptions, undo: Undo[]): Promise<Deps> {
  const { settings, log, clock = systemClock } = options;
  const uploadBounds = { ...defaultUploadBounds, ...options.uploadBounds };
  const uploads = shareUploads(uploadBounds);
  await naming('DATA_DIR', mkdir(settings.DATA_DIR, { recursive: true, mode: 0o700 }));
  const jwtSecret = await readJwtSecret(settings);
  // Takes a while, and goes on while the database starts.
  const passwordsReady = createPasswords(options.passwordCost);
  const db = await openConfiguredDatabase(settings, log, undo, options.signal, options.databaseTiming);
  const passwords = await prepareDatabase(db, passwordsReady, options);
  const redis = await openRedisClient(settings.REDIS_URL, log, undo);
  const downloadKeys = deriveKeys('download', jwtSecret, settings);
  const metrics = createMetrics();
  await warnOfMissingObjects(db, settings, log);
  const hashing = openHashing(options, undo);
  const onShortage = () => uploads.places.evictSlow();
  const storeTools = { hashing, onShortage, builtFolder: options.builtFolder };
  const store = await openObjects(settings, downloadKeys[0], clock, storeTools, undo);
  const objects = measuredStore(store, metrics);
  const images = openImages(options, undo);
  const queue = await openQueue(db, log, toQueueOptions(queuedJobs, settings));
  undo.push(() => queue.stop());
  const auditQueue = createAuditQueue(db, log);
  undo.push(() => auditQueue.flush());
  const reservations = closedAtEnd(createReservations(db, settings.REAPER_GRACE_SECONDS), undo);
  const shared = await shareRedis(redis, db, log);
  const counters = createCounters(shared, log);
  const liveUploads = closedAtEnd(createLiveUploads(db), undo);
  const eventHub = closedAtEnd(createEventHub(db, log), undo);
  const variantDesk = closedAtEnd(createVariantDesk(db, log, options.variantWaitMsMax), undo);
  const folding = startFolding({ db, counters, log });
  undo.push(() => folding.stop());
  return {
    settings,
    clock,
    log,
    ...createDatabaseWork(db, eventHub, log),
    bulkWork: new Pacer(bulkRestRatio),
    limiter: createLimiter(shared, clock, log),
    passwords,
    tokens: createTokenSigner(jwtSecret, clock, settings.JWT_SECRET_PREVIOUS),
    devices: createDeviceCookies(clock, ...deriveKeys('device', jwtSecret, settings)),
    shareProofs: createShareProofs(clock, ...deriveKeys('share', jwtSecret, settings)),
    sealer: openSealer(settings, jwtSecret),
    mailer: await openMailer(settings, log),
    cursors: cursorCodec(...deriveKeys('cursor', jwtSecret, settings)),
    keyUses: createKeyUses(db, log),
    auditQueue,
    counters,
    foldCounts: folding.fold,
    metrics,
    queue,
    images,
    hashing,
    objects,
    reservations,
    verifyDownload: objects.kind === 'disk' ? createDownloadVerifier(downloadKeys, clock) : () => null,
    verifyPart: objects.kind === 'disk' ? createPartVerifier(downloadKeys, clock) : () => null,
    uploads,
    downloads: new FairSemaphore('downloads', downloadBounds),
    zips: new FairSemaphore('zips', zipBounds),
    inFlight: createInFlight(uploadBounds.waitMaxMs),
    liveUploads,
    eventHub,
    eventReaders: new Readers(),
    variantDesk,
    outbound: openOutbound(options, undo),
    webhookBounds: { ...defaultWebhookBounds, ...options.webhookBounds },
    version: await readVersion(),
    health: createHealthChecks({ db, objects, redisTakesWrites: shared && (() => shared.takesWrites()) }),
  };
}

function closedAtEnd<Part extends { close(): Promise<void> }>(part: Part, undo: Undo[]): Part {
  undo.push(() => part.close());
  return part;
}

export const runsJobs = ({ ROLE }: Settings): boolean => ROLE !== 'api';

/** For jobs, which may take longer than requests and must not take their share of the connections. */
export const toBackground = (deps: Deps): Deps => ({
  ...deps,
  ...createDatabaseWork(inBackground(deps.db), deps.eventHub, deps.log),
});

/** The database, and what bounds or batches its use. */
function createDatabaseWork(
  db: Database,
  eventHub: EventHub,
  log: Logger,
): Pick<Deps, 'db' | 'projectGates' | 'findFile' | 'commitUpload' | 'completeUpload'> {
  const projectGates = createProjectGates();
  return {
    db,
    projectGates,
    findFile: createFileFinder(db),
    commitUpload: createFileCommitter({ db, projectGates, eventHub, log }),
    completeUpload: createUploadCompleter({ db, projectGates, eventHub, log }),
  };
}

async function prepareDatabase(
  db: Database,
  passwordsReady: Promise<Passwords>,
  { settings, log, signal, onAdminCreated }: DepsOptions,
): Promise<Passwords> {
  const applied = await migrate(db, log, signal);
  if (applied.length > 0) log.info({ applied }, 'database migrated');
  await openEventFeed(db);
  const passwords = await passwordsReady;
  const newPassword = await ensureAdmin(db, passwords, settings.ADMIN_EMAIL, settings.ADMIN_PASSWORD);
  if (newPassword !== null) onAdminCreated?.(newPassword);
  return passwords;
}

function openHashing({ log, builtFolder }: DepsOptions, undo: Undo[]): HashPool {
  const workerPath = builtFolder && join(builtFolder, 'platform/hashing/hash-worker.js');
  const hashing = createHashPool({ log, ...(workerPath === undefined ? {} : { workerPath }) });
  undo.push(() => hashing.close());
  return hashing;
}

function openImages({ settings, log, builtFolder }: DepsOptions, undo: Undo[]): ImageEngine {
  const childPath = builtFolder && join(builtFolder, 'platform/images/image-child.js');
  const images = createImageEngine({
    concurrency: settings.IMAGE_CONCURRENCY ?? availableParallelism(),
    timeoutSeconds: settings.IMAGE_TIMEOUT_SECONDS,
    pixelsMax: settings.IMAGE_MAX_PIXELS,
    log,
    ...(childPath === undefined ? {} : { childPath }),
  });
  undo.push(() => images.close());
  return images;
}

function openOutbound({ settings, outbound: options }: DepsOptions, undo: Undo[]): Outbound {
  const outbound = createOutbound({ ...options, allowPrivate: settings.WEBHOOK_ALLOW_PRIVATE });
  undo.push(() => outbound.close());
  return outbound;
}

/** Loads the SMTP client only if one is configured: the service starts faster without it. */
async function openMailer({ SMTP_URL, MAIL_FROM, DATA_DIR }: Settings, log: Logger): Promise<Mailer> {
  return SMTP_URL === null
    ? createOutbox(join(DATA_DIR, 'outbox'), MAIL_FROM, log)
    : (await import('./platform/mail/smtp.ts')).createSmtpMailer(SMTP_URL, MAIL_FROM);
}
