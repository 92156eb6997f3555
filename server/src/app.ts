// The composition root: from settings to the running service, and back down again. Adapters are made here
// and nowhere else; those that few installations need are loaded only there, for the sake of a quick start.
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Deps } from './contract/deps.ts';
import { encryptionKeyOf, type Settings } from './contract/settings.ts';
import { createTokenSigner } from './contract/token.ts';
import { ensureAdmin } from './features/accounts/accounts.service.ts';
import { createAuditQueue } from './features/audit/audit.service.ts';
import { createReservations } from './features/files/files.reserve.ts';
import { installationOf, startFolding } from './features/stats/stats.fold.ts';
import { registerGauges } from './features/stats/stats.metrics.ts';
import { startMetricsServer } from './http/metrics-server.ts';
import { referencePath } from './http/pages.ts';
import { apiPrefix } from './http/route-table.ts';
import { createHttpServer } from './http/server.ts';
import { periodicTasks, queuedJobs } from './jobs/job-table.ts';
import { type Schedule, startSchedule } from './jobs/schedule.ts';
import { queuesOf, startWorkers } from './jobs/worker.ts';
import { type Clock, systemClock } from './kernel/clock.ts';
import { createDeviceCookies } from './kernel/crypto/device-cookie.ts';
import { createSealer, type Sealer } from './kernel/crypto/sealed.ts';
import { deriveKey, randomToken } from './kernel/crypto/secret.ts';
import { cursorCodec } from './kernel/cursor.ts';
import { PakhusError, reasonOf } from './kernel/error.ts';
import { createInFlight } from './platform/concurrency/bytes-in-flight.ts';
import { EvictingSemaphore } from './platform/concurrency/evicting-semaphore.ts';
import type { Counters } from './platform/counters/counters.ts';
import { memoryCounters } from './platform/counters/memory.ts';
import { redisCounters } from './platform/counters/redis.ts';
import { joinEmbeddedPostgres, startEmbeddedPostgres } from './platform/db/embedded.ts';
import { migrate } from './platform/db/migrate.ts';
import { type Connection, type Database, inBackground, openDatabase } from './platform/db/postgres.ts';
import type { DatabaseTiming } from './platform/db/session.ts';
import { sql } from './platform/db/sql.ts';
import { refuseOldServer, refuseSharedSessions } from './platform/db/start-checks.ts';
import { createImageEngine } from './platform/images/image-engine.ts';
import type { Limiter } from './platform/limits/limiter.ts';
import { memoryLimiter } from './platform/limits/memory.ts';
import { redisLimiter } from './platform/limits/redis.ts';
import type { Logger } from './platform/log.ts';
import type { Mailer } from './platform/mail/mailer.ts';
import { createOutbox } from './platform/mail/outbox.ts';
import { createMetrics } from './platform/metrics.ts';
import { createDiskStore } from './platform/objects/disk/disk-store.ts';
import { createDownloadSigner } from './platform/objects/disk/disk-url.ts';
import { measuredStore } from './platform/objects/measured.ts';
import type { ObjectStore } from './platform/objects/object-store.ts';
import { createPasswords } from './platform/passwords.ts';
import { watchProcess } from './platform/process-metrics.ts';
import { openQueue } from './platform/queue/queue.ts';
import type { RedisClient } from './platform/redis.ts';
import { secretFromFile } from './platform/secret-file.ts';
import { readVersion } from './version.ts';

export interface Pakhus {
  /** Ends in /api/v1; null for a process that only works in the background. */
  readonly baseUrl: string | null;
  /** The page that shows the API, as seen from outside. */
  readonly referenceUrl: string | null;
  /** Where it listens, whatever it is called from outside. */
  readonly address: string | null;
  /** Where Prometheus reads; null when METRICS_PORT is not set. */
  readonly metricsUrl: string | null;
  readonly deps: Deps;
  /** Finishes what is in flight, writes what is held, and lets go of everything. */
  stop(): Promise<void>;
}

export interface StartOptions {
  readonly settings: Settings;
  readonly log: Logger;
  readonly clock?: Clock;
  /** Told the admin's password as soon as this start has made it up: whatever fails next, it is in force. */
  readonly onAdminCreated?: (password: string) => void;
  /** The built image-child.js, for whoever runs from source. */
  readonly imageChildPath?: string;
  /** Ends the wait for a database that is not there yet. */
  readonly signal?: AbortSignal;
  /** Other times than the defaults, for tests that cannot wait for a minute. */
  readonly databaseTiming?: Partial<DatabaseTiming> | undefined;
  /** Smaller ones than usual, for tests. */
  readonly uploadBounds?: Partial<UploadBounds>;
}

/** What to undo, newest first, when a start fails half-way or when the service stops. */
export type Undo = () => Promise<unknown>;

/** Every step is taken, whichever of them fails: the first failure is told when all is done. */
export async function undoAll(undo: readonly Undo[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of undo.toReversed()) await step().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** A server that takes our first statement may still refuse a later one, for want of connections or for a restart. */
export async function startPakhus(options: StartOptions): Promise<Pakhus> {
  const giveUpAt = Date.now() + reachableWithinMs;
  for (let waitMs = 500; ; waitMs = Math.min(waitMs * 2, 3_000)) {
    try {
      return await startOnce(options);
    } catch (error) {
      const passes = isDatabaseOutage(error) && options.settings.DATABASE_URL !== null;
      if (!passes || Date.now() + waitMs > giveUpAt) throw error;
      options.log.warn({ err: error, retry_in_ms: waitMs }, 'the database failed during the start: retrying');
      await delay(waitMs, undefined, { signal: options.signal });
    }
  }
}

const isDatabaseOutage = (error: unknown): boolean =>
  error instanceof PakhusError && error.details.part === 'database';

async function startOnce(options: StartOptions): Promise<Pakhus> {
  const undo: Undo[] = [];
  const stop = once(() => undoAll(undo));
  try {
    return { ...(await build(options, undo)), stop };
  } catch (error) {
    await stop().catch((failure: unknown) =>
      options.log.error({ err: failure }, 'could not clean up after a failed start'),
    );
    throw error;
  }
}

async function build(
  { settings, log, clock = systemClock, imageChildPath, onAdminCreated, signal, ...more }: StartOptions,
  undo: Undo[],
): Promise<Omit<Pakhus, 'stop'>> {
  const uploadBounds = { ...usualUploadBounds, ...more.uploadBounds };
  const uploads = shareUploads(uploadBounds);
  await naming('DATA_DIR', mkdir(settings.DATA_DIR, { recursive: true, mode: 0o700 }));
  const jwtSecret =
    settings.JWT_SECRET ??
    (await secretFromFile(join(settings.DATA_DIR, 'secrets', 'jwt'), () => randomToken(48)));
  const passwords = createPasswords();
  const db = await openConfiguredDatabase(settings, log, undo, signal, more.databaseTiming);
  const applied = await migrate(db, log, signal);
  if (applied.length > 0) log.info({ applied }, 'database migrated');
  const newAdminPassword = await ensureAdmin(
    db,
    await passwords,
    settings.ADMIN_EMAIL,
    settings.ADMIN_PASSWORD,
  );
  if (newAdminPassword !== null) onAdminCreated?.(newAdminPassword);
  const redis = settings.REDIS_URL === null ? null : await openSharedRedis(settings.REDIS_URL, log, undo);
  const downloadKeys = keysFor('download', jwtSecret, settings);
  const metrics = createMetrics();
  await warnOfMissingObjects(db, settings, log);
  const objects = measuredStore(await openObjects(settings, downloadKeys[0], clock, uploads, undo), metrics);
  const images = createImageEngine({
    concurrency: settings.IMAGE_CONCURRENCY ?? availableParallelism(),
    timeoutSeconds: settings.IMAGE_TIMEOUT_SECONDS,
    pixelsMax: settings.IMAGE_MAX_PIXELS,
    log,
    ...(imageChildPath === undefined ? {} : { childPath: imageChildPath }),
  });
  undo.push(() => images.close());
  const works = settings.ROLE !== 'api';
  const queue = await openQueue(db, log, queuesOf(queuedJobs, settings), works);
  undo.push(() => queue.stop());
  const auditQueue = createAuditQueue(db, log);
  undo.push(() => auditQueue.flush());
  const reservations = createReservations(db, settings.REAPER_GRACE_SECONDS);
  undo.push(() => reservations.close());
  const shared = redis && (await sharedRedis(redis, db, log));
  const counters = createCounters(shared, log);
  const folding = startFolding({ db, counters, log });
  undo.push(() => folding.stop());
  const deps: Deps = {
    settings,
    clock,
    log,
    db,
    limiter: createLimiter(shared, clock, log),
    passwords: await passwords,
    tokens: createTokenSigner(jwtSecret, clock, settings.JWT_SECRET_PREVIOUS),
    devices: createDeviceCookies(clock, ...keysFor('device', jwtSecret, settings)),
    sealer: openSealer(settings, jwtSecret),
    mailer: await openMailer(settings, log),
    cursors: cursorCodec(...keysFor('cursor', jwtSecret, settings)),
    auditQueue,
    counters,
    foldCounts: folding.fold,
    metrics,
    queue,
    images,
    objects,
    reservations,
    verifyDownload: objects.kind === 'disk' ? downloadVerifier(downloadKeys, clock) : () => null,
    uploads,
    inFlight: createInFlight(uploadBounds.waitMaxMs),
    version: await readVersion(),
    probes: {
      redis: () => shared?.takesWrites() ?? null,
      storage: () => objects.check().then(() => true),
    },
  };
  let schedule: Schedule | null = null;
  if (works) {
    const background: Deps = { ...deps, db: inBackground(db) };
    await startWorkers(background, queuedJobs);
    schedule = startSchedule(background, periodicTasks);
  }
  const server = settings.ROLE === 'worker' ? null : createHttpServer(deps);
  // Both at once: either may wait for somebody who is silent, and the rest needs some of the time.
  undo.push(async () => void (await Promise.all([server?.close(), schedule?.stop()])));
  const address = server && (await naming('HOST and PORT', server.listen(settings.HOST, settings.PORT)));
  const metricsUrl =
    settings.METRICS_PORT === null ? null : await exposeMetrics(deps, settings.METRICS_PORT, undo);
  const baseUrl = address && `${settings.PUBLIC_URL ?? address}${apiPrefix}`;
  const referenceUrl = baseUrl && String(new URL(referencePath, baseUrl));
  return { deps, address, baseUrl, referenceUrl, metricsUrl };
}

async function exposeMetrics(
  { metrics, db, settings, log }: Deps,
  port: number,
  undo: Undo[],
): Promise<string> {
  const unwatch = watchProcess(metrics);
  undo.push(async () => unwatch());
  registerGauges(metrics, db);
  const server = await naming('HOST and METRICS_PORT', startMetricsServer(metrics, settings.HOST, port));
  undo.push(() => server.close());
  log.info({ address: server.url }, 'metrics are served');
  return server.url;
}

export async function openConfiguredDatabase(
  settings: Settings,
  log: Logger,
  undo: Undo[],
  signal?: AbortSignal,
  timing?: Partial<DatabaseTiming>,
): Promise<Database> {
  const connection = await connectionOf(settings, log, undo, startEmbeddedPostgres);
  return openReachable(connection, log, undo, signal, timing);
}

/** Beside a service that may be running, for work that does not get in its way. */
export async function joinConfiguredDatabase(
  settings: Settings,
  log: Logger,
  undo: Undo[],
): Promise<{ readonly db: Database; readonly connection: Connection }> {
  const connection = await connectionOf(settings, log, undo, joinEmbeddedPostgres);
  return { connection, db: await openReachable(connection, log, undo) };
}

async function connectionOf(
  { DATABASE_URL, DATA_DIR }: Settings,
  log: Logger,
  undo: Undo[],
  openEmbedded: typeof startEmbeddedPostgres,
): Promise<Connection> {
  if (DATABASE_URL !== null) return { connectionString: DATABASE_URL };
  const embedded = await openEmbedded({ dataDir: DATA_DIR, log });
  undo.push(() => embedded.stop());
  return embedded.connection;
}

async function openReachable(
  connection: Connection,
  log: Logger,
  undo: Undo[],
  signal?: AbortSignal,
  timing?: Partial<DatabaseTiming>,
): Promise<Database> {
  const db = openDatabase({ connection, log, timing });
  undo.push(() => db.close());
  await untilReachable(db, log, signal);
  await refuseOldServer(db);
  // The embedded server is reached by its socket, with nothing in between.
  if ('connectionString' in connection) await refuseSharedSessions(connection);
  return db;
}

/** Says which variable is to be looked at when what it names cannot be used. */
const naming = <Result>(variables: string, work: Promise<Result>): Promise<Result> =>
  work.catch((error: unknown) => {
    throw new Error(`${variables} cannot be used as set`, { cause: error });
  });

const reachableWithinMs = 30_000;

/** A server may come up later than we do. */
async function untilReachable(db: Database, log: Logger, signal?: AbortSignal): Promise<void> {
  const giveUpAt = Date.now() + reachableWithinMs;
  for (let waitMs = 100; ; waitMs = Math.min(waitMs * 2, 3_000)) {
    try {
      await db.query(sql`select 1`);
      return;
    } catch (error) {
      const reason = reasonOf((error as Error).cause ?? error);
      if (Date.now() + waitMs > giveUpAt) {
        throw new Error(
          `The database could not be used for ${reachableWithinMs / 1000} s (${reason}): check DATABASE_URL and the server`,
        );
      }
      log.warn({ reason, retry_in_ms: waitMs }, 'the database cannot be used yet');
      await delay(waitMs, undefined, { signal });
    }
  }
}

export interface UploadBounds {
  /** Uploads that are streamed at once, each with a bounded piece of memory. */
  readonly places: number;
  /** Memory for uploads that are small, or small so far. */
  readonly bufferBytes: number;
  readonly waitMaxMs: number;
  readonly yieldAfterMs: number;
}

const usualUploadBounds: UploadBounds = {
  places: 128,
  bufferBytes: 64 << 20,
  waitMaxMs: 30_000,
  yieldAfterMs: 5_000,
};

/** A sixteenth is out of reach of any one project, and another one of any one subject. */
function shareUploads({ places, bufferBytes, ...waits }: UploadBounds): Deps['uploads'] {
  const share = (units: number) =>
    new EvictingSemaphore('uploads', {
      ...waits,
      units,
      unitsOfProject: units - Math.ceil(units / 16),
      unitsOfSubject: units - 2 * Math.ceil(units / 16),
    });
  return { places: share(places), buffers: share(bufferBytes) };
}

/** Where the disk of the objects is not mounted, a folder in its place would be made, and look like a store. */
async function warnOfMissingObjects(db: Database, settings: Settings, log: Logger): Promise<void> {
  const folder = objectsFolder(settings);
  if (settings.S3_BUCKET !== null || existsSync(folder)) return;
  const [file] = await db.query(sql`select from files limit 1`);
  if (file)
    log.warn({ folder }, 'the database has files, but their folder is not there: is its disk mounted?');
}

const objectsFolder = ({ DATA_DIR }: Settings): string => join(DATA_DIR, 'objects');

async function openObjects(
  settings: Settings,
  downloadSecret: Buffer,
  clock: Clock,
  uploads: Deps['uploads'],
  undo: Undo[],
): Promise<ObjectStore> {
  const { S3_BUCKET } = settings;
  const objects =
    S3_BUCKET === null
      ? openDiskStore(settings, downloadSecret, clock)
      : await openS3Store(settings, S3_BUCKET, () => uploads.places.evictSlow());
  undo.push(() => objects.close());
  await objects.check();
  return objects;
}

const openDiskStore = (settings: Settings, signingSecret: Buffer, clock: Clock): ObjectStore =>
  createDiskStore({
    root: objectsFolder(settings),
    signingSecret,
    urlPath: `${apiPrefix}/objects`,
    clock,
    freeBytesMin: settings.DISK_FREE_BYTES_MIN,
  });

async function openS3Store(
  settings: Settings,
  bucket: string,
  onShortage?: () => void,
): Promise<ObjectStore> {
  const { createS3Store } = await import('./platform/objects/s3/s3-store.ts');
  return createS3Store({
    ...(settings.S3_ENDPOINT === null ? {} : { endpoint: settings.S3_ENDPOINT }),
    ...(settings.S3_PUBLIC_ENDPOINT === null ? {} : { publicEndpoint: settings.S3_PUBLIC_ENDPOINT }),
    ...(settings.S3_PUBLIC_BUCKET === null ? {} : { publicBucket: settings.S3_PUBLIC_BUCKET }),
    region: settings.S3_REGION,
    bucket,
    accessKeyId: settings.S3_ACCESS_KEY_ID ?? '',
    secretAccessKey: settings.S3_SECRET_ACCESS_KEY ?? '',
    forcePathStyle: settings.S3_FORCE_PATH_STYLE,
    clock: systemClock,
    onShortage,
  });
}

/** The disk below DATA_DIR and the S3 store, at once: to copy from the one to the other. */
export async function openBothStores(
  settings: Settings,
  undo: Undo[],
): Promise<{ readonly disk: ObjectStore; readonly s3: ObjectStore }> {
  if (settings.S3_BUCKET === null)
    throw new Error('S3_BUCKET is not set: set the S3_ variables to the store to copy to');
  const folder = resolve(objectsFolder(settings));
  if (!existsSync(folder))
    throw new Error(`There are no objects in ${folder}: set DATA_DIR as for the service`);
  // It signs no URLs here.
  const disk = openDiskStore(settings, Buffer.alloc(32), systemClock);
  const s3 = await openS3Store(settings, settings.S3_BUCKET);
  undo.push(() => s3.close());
  await s3.check();
  return { disk, s3 };
}

/** What is signed with the first outlives a change of JWT_SECRET, as tokens do: the second still knows it. */
function keysFor(purpose: string, secret: string, settings: Settings): [Buffer, ...Buffer[]] {
  const previous = settings.JWT_SECRET_PREVIOUS;
  return [deriveKey(secret, purpose), ...(previous === null ? [] : [deriveKey(previous, purpose)])];
}

function downloadVerifier(secrets: readonly Buffer[], clock: Clock): Deps['verifyDownload'] {
  const signers = secrets.map(createDownloadSigner);
  return (key, query) => {
    for (const signer of signers) {
      const claims = signer.verify(key, query, clock());
      if (claims) return claims;
    }
    return null;
  };
}

/** Whichever key an operator had before, given or derived, still opens what it sealed. */
function openSealer(settings: Settings, jwtSecret: string): Sealer {
  const { ENCRYPTION_KEY, ENCRYPTION_KEY_PREVIOUS, JWT_SECRET_PREVIOUS } = settings;
  const derived = (secret: string) => deriveKey(secret, 'encryption');
  const present = ENCRYPTION_KEY === null ? derived(jwtSecret) : readKey(ENCRYPTION_KEY);
  const previous = ENCRYPTION_KEY_PREVIOUS === null ? [] : [readKey(ENCRYPTION_KEY_PREVIOUS)];
  const previousDerived = JWT_SECRET_PREVIOUS === null ? [] : [derived(JWT_SECRET_PREVIOUS)];
  return createSealer(present, [...previous, derived(jwtSecret), ...previousDerived]);
}

function readKey(text: string): Buffer {
  const key = encryptionKeyOf(text);
  if (key === null) throw new Error('An encryption key is not 32 bytes: readConfig lets none such pass');
  return key;
}

async function openMailer(settings: Settings, log: Logger): Promise<Mailer> {
  return settings.SMTP_URL === null
    ? createOutbox(join(settings.DATA_DIR, 'outbox'), settings.MAIL_FROM, log)
    : (await import('./platform/mail/smtp.ts')).createSmtpMailer(settings.SMTP_URL, settings.MAIL_FROM);
}

async function openSharedRedis(url: string, log: Logger, undo: Undo[]): Promise<RedisClient> {
  const { openRedis } = await import('./platform/redis.ts');
  const redis = openRedis(url, log);
  undo.push(async () => redis.disconnect());
  return redis;
}

/** A Redis, and what keeps this installation's keys apart from those of others on it. */
interface SharedRedis {
  readonly redis: RedisClient;
  readonly installation: string;
  takesWrites(): Promise<boolean>;
}

async function sharedRedis(redis: RedisClient, db: Database, log: Logger): Promise<SharedRedis> {
  const { takesWrites } = await import('./platform/redis.ts');
  const installation = await installationOf(db, log);
  return { redis, installation, takesWrites: () => takesWrites(redis, installation) };
}

function createLimiter(shared: SharedRedis | null, clock: Clock, log: Logger): Limiter {
  const memory = memoryLimiter(clock);
  return shared ? redisLimiter(shared.redis, shared.installation, memory, clock, log) : memory;
}

function createCounters(shared: SharedRedis | null, log: Logger): Counters {
  const memory = memoryCounters();
  return shared ? redisCounters({ ...shared, fallback: memory, log }) : memory;
}

function once(work: () => Promise<void>): () => Promise<void> {
  let started: Promise<void> | null = null;
  return () => {
    started ??= work();
    return started;
  };
}
