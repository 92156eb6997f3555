// Checks the object store by using it as the service does. What it stores lies in a folder that no project has, and is
// removed; what an earlier run left behind when it was killed is removed as well.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { createConfiguredStore } from './app.objects.ts';
import type { Settings } from './contract/settings.ts';
import { type Report, showAddress } from './doctor.findings.ts';
import { systemClock } from './kernel/clock.ts';
import { reasonOf } from './kernel/error.ts';
import { inlineHashing } from './platform/hashing/stream-hash.ts';
import type { ObjectStore, Zone } from './platform/objects/object-store.ts';
import type { StagedObject } from './platform/objects/staged-objects.ts';

const folder = '00000000-0000-0000-0000-000000000000';
const leftoverAgeMs = 3_600_000;
const requestMs = 10_000;
const urlSeconds = 300;
const driftMsMax = 60_000;
const meta = { contentType: 'text/plain', contentDisposition: 'attachment' };
const content = Buffer.from('Pakhus checks its object store.\n'.repeat(32));

interface Check {
  readonly settings: Settings;
  readonly store: ObjectStore;
  readonly report: Report;
  /** The page that would upload from a browser. */
  readonly origin: string;
}

export async function examineStore(settings: Settings, report: Report, origin: string): Promise<void> {
  if (settings.S3_BUCKET === null && !existsSync(settings.DATA_DIR)) {
    report.skipped(`on disk, not created yet: the first start creates it below ${settings.DATA_DIR}`);
    return;
  }
  // Any secret will do: no URL of the disk store is used.
  const store = await createConfiguredStore(settings, Buffer.alloc(32), systemClock, {
    hashing: inlineHashing,
  });
  const check = { settings, store, report, origin };
  try {
    if (await succeeds(check, `${describeStore(settings)} can be used`, () => store.check()))
      await examineUse(check);
  } finally {
    await store.close();
  }
}

const describeStore = ({ S3_BUCKET, S3_ENDPOINT, DATA_DIR }: Settings): string =>
  S3_BUCKET === null
    ? `the disk below ${DATA_DIR}`
    : `the bucket ${S3_BUCKET}${S3_ENDPOINT === null ? '' : ` at ${showAddress(S3_ENDPOINT)}`}`;

async function examineUse(check: Check): Promise<void> {
  const { store, settings } = check;
  const key = `${folder}/${randomUUID()}`;
  await removeLeftovers(store);
  try {
    const isStored = await succeeds(check, 'an object can be written', () =>
      store.put('private', key, content, meta),
    );
    if (!isStored) return;
    await succeeds(check, 'it can be read, also in ranges', () => readBack(store, key));
    if (store.kind === 's3') await examineDownload(check, key);
    await examineParts(check);
    if (settings.S3_PUBLIC_BUCKET !== null)
      await succeeds(check, `it can be copied to the bucket ${settings.S3_PUBLIC_BUCKET}`, () =>
        store.copy('private', 'public', key),
      );
  } finally {
    await succeeds(check, 'it can be deleted', () => removeAll(store, key));
  }
}

/** Reports the outcome and resolves to whether it went well. */
async function succeeds(
  { report, store }: Check,
  what: string,
  work: () => Promise<unknown>,
): Promise<boolean> {
  try {
    await work();
    report.ok(what);
    return true;
  } catch (error) {
    report.failed(`not true: ${what} (${reasonOf(error)})`, store.kind === 's3' ? s3Advice : diskAdvice);
    return false;
  }
}

const s3Advice =
  'check the S3_ variables, and that the key may get, put, delete and list objects and use multipart uploads';
const diskAdvice = 'check that the disk is mounted, has room, and that this user may write to DATA_DIR';

async function readBack(store: ObjectStore, key: string): Promise<void> {
  const whole = await buffer(await store.get('private', key));
  if (!whole.equals(content)) throw new Error('other bytes came back');
  const part = await buffer(await store.get('private', key, { start: 10, end: 19 }));
  if (!part.equals(content.subarray(10, 20))) throw new Error('a range came back with other bytes');
}

/** Removes the object from wherever it may be, and fails if it is still there. */
async function removeAll(store: ObjectStore, key: string): Promise<void> {
  for (const zone of zonesOf(store)) {
    await store.delete(zone, key);
    if ((await store.head(zone, key)) !== null) throw new Error(`the object ${key} is still there`);
  }
}

const zonesOf = (store: ObjectStore): Zone[] => (store.separatesPublic ? ['private', 'public'] : ['private']);

async function removeLeftovers(store: ObjectStore): Promise<void> {
  for (const zone of zonesOf(store))
    for await (const key of store.list(zone, `${folder}/`)) {
      const info = await store.head(zone, key);
      // Somebody else may be checking at this moment.
      if (info && Date.now() - info.modifiedAt.getTime() > leftoverAgeMs) await store.delete(zone, key);
    }
}

/** A signed URL, as clients get it, and the clock of the store. */
async function examineDownload({ store, report, settings }: Check, key: string): Promise<void> {
  const url = store.downloadUrl('private', key, { ...meta, expiresInSeconds: urlSeconds, origin: '' });
  try {
    const reply = await fetch(url, { signal: AbortSignal.timeout(requestMs) });
    const isSame = Buffer.from(await reply.arrayBuffer()).equals(content);
    if (reply.ok && isSame) report.ok('a download URL works');
    else
      report.failed(
        `a download URL is answered with ${reply.status}`,
        'check S3_REGION, S3_PUBLIC_ENDPOINT and S3_FORCE_PATH_STYLE, and whether a proxy changes the Host header',
      );
    judgeClock(reply.headers.get('date'), report);
  } catch (error) {
    report.warning(`download URLs cannot be reached from here (${reasonOf(error)})`, adviceAbout(settings));
  }
}

const adviceAbout = ({ S3_PUBLIC_ENDPOINT }: Settings): string =>
  S3_PUBLIC_ENDPOINT === null
    ? 'clients need to reach S3_ENDPOINT: set S3_PUBLIC_ENDPOINT if they know the store by another address'
    : 'check from the network of your clients that S3_PUBLIC_ENDPOINT leads to the store';

function judgeClock(date: string | null, report: Report): void {
  const driftMs = Date.parse(date ?? '') - Date.now();
  if (Number.isNaN(driftMs)) return;
  const seconds = Math.round(Math.abs(driftMs) / 1000);
  if (Math.abs(driftMs) > driftMsMax)
    report.warning(
      `its clock is ${seconds} s ${driftMs > 0 ? 'ahead of' : 'behind'} the clock here`,
      'synchronise both by NTP: a store refuses signatures that are too old or too new',
    );
  else report.ok(`its clock agrees with the clock here (${seconds} s)`);
}

/** An object in parts, as resumable and direct uploads make it. */
async function examineParts(check: Check): Promise<void> {
  const { store } = check;
  const { staged } = store;
  const key = `${folder}/${randomUUID()}`;
  let object: StagedObject = { zone: 'private', key, meta, state: null };
  try {
    await succeeds(check, 'an object can be written in parts', async () => {
      object = { ...object, state: await staged.beginDirect(object) };
      const etag = staged.putPart
        ? await staged.putPart(key, 1, content.length, content)
        : await sendPart(check, object);
      // The warning about the address says why.
      if (etag === null) return;
      const parts = [{ number: 1, etag }];
      await staged.complete(object, { bytes: content.length, parts });
      const info = await store.head('private', key);
      if (info?.bytes !== content.length) throw new Error('the object is not whole');
    });
  } finally {
    await staged.discard(object).catch(() => undefined);
    await store.delete('private', key).catch(() => undefined);
  }
}

/** Sends a part as a page in a browser would. Resolves to its etag, or to null if the store cannot be reached so. */
async function sendPart(
  { store, report, origin, settings }: Check,
  object: StagedObject,
): Promise<string | null> {
  const url = store.staged.partUrl(object, {
    number: 1,
    bytes: content.length,
    expiresInSeconds: urlSeconds,
    origin: '',
  });
  const send = (method: string, headers: Record<string, string>, body?: Uint8Array<ArrayBuffer>) =>
    fetch(url, {
      method,
      headers: { origin, ...headers },
      signal: AbortSignal.timeout(requestMs),
      ...(body === undefined ? {} : { body }),
    });
  let replies: readonly [preflight: Response, put: Response];
  try {
    replies = [
      await send('OPTIONS', { 'access-control-request-method': 'PUT' }),
      await send('PUT', {}, new Uint8Array(content)),
    ];
    await Promise.all(replies.map((reply) => reply.arrayBuffer()));
  } catch (error) {
    report.warning(`part URLs cannot be reached from here (${reasonOf(error)})`, adviceAbout(settings));
    return null;
  }
  const [preflight, put] = replies;
  if (!put.ok) throw new Error(`a part was answered with ${put.status}`);
  judgeCors(preflight, put, origin, report);
  return put.headers.get('etag');
}

function judgeCors(preflight: Response, put: Response, origin: string, report: Report): void {
  const allowed = preflight.headers.get('access-control-allow-origin');
  const methods = preflight.headers.get('access-control-allow-methods') ?? '';
  const missing: string[] = [];
  if (!preflight.ok || (allowed !== '*' && allowed !== origin) || !/\bPUT\b/i.test(methods))
    missing.push(`allow PUT from ${origin}`);
  if (!/\betag\b/i.test(put.headers.get('access-control-expose-headers') ?? '')) missing.push('expose ETag');
  if (missing.length === 0) report.ok(`pages of ${origin} may upload directly`);
  else
    report.warning(
      `the bucket's CORS rules do not ${missing.join(' and ')}, so that pages cannot upload directly`,
      'add the CORS rule of docs/browser-uploads.md to the bucket, or name the origin of your pages with --origin',
    );
}
