// Copies the object of every file to another store and reads each copy back. Correct copies are skipped, so an
// interrupted run can simply be started again.
import { reasonOf } from '../../kernel/error.ts';
import type { Database } from '../../platform/db/postgres.ts';
import { hashStream } from '../../platform/hashing/buffered-hash.ts';
import type { Hashing } from '../../platform/hashing/stream-hash.ts';
import type { ObjectMeta, ObjectStore } from '../../platform/objects/object-store.ts';
import { type CopyRow, findCopied, listToCopy } from './files.copy.sql.ts';
import { buildCompressedMeta, buildObjectMeta } from './files.objects.ts';

export interface CopyReport {
  copied: number;
  /** Already in the target store. */
  present: number;
  /** The file was deleted during the run. */
  deleted: number;
  failed: number;
}

interface CopyOptions {
  readonly db: Database;
  readonly from: ObjectStore;
  readonly to: ObjectStore;
  readonly hashing: Hashing;
  /** Called for every file whose object could not be copied. */
  readonly onFailure: (fileId: string, reason: string) => void;
  /** Called after every full batch. */
  readonly onProgress: (report: CopyReport) => void;
}

const rowsAtOnce = 500;
const copiesAtOnce = 8;
const noId = '00000000-0000-0000-0000-000000000000';

export async function copyObjects(options: CopyOptions): Promise<CopyReport> {
  const { db, onFailure, onProgress } = options;
  const report: CopyReport = { copied: 0, present: 0, deleted: 0, failed: 0 };
  const copyOne = async (file: CopyRow) => {
    try {
      report[await copyObject(options, file)] += 1;
    } catch (error) {
      report.failed += 1;
      onFailure(file.id, reasonOf(error));
    }
  };
  for (let after: Pick<CopyRow, 'project_id' | 'id'> = { project_id: noId, id: noId }; ; ) {
    const rows = await db.query<CopyRow>(listToCopy(after, rowsAtOnce), 'background');
    const pending = [...rows];
    const worker = async () => {
      for (let file = pending.shift(); file; file = pending.shift()) await copyOne(file);
    };
    await Promise.all(Array.from({ length: copiesAtOnce }, worker));
    after = rows.at(-1) ?? after;
    if (rows.length < rowsAtOnce) return report;
    onProgress(report);
  }
}

type Outcome = 'copied' | 'present' | 'deleted';

async function copyObject(options: CopyOptions, file: CopyRow, isLastAttempt = false): Promise<Outcome> {
  try {
    return await copyOnce(options, file);
  } catch (error) {
    // A running service may have deleted, moved or compressed the file meanwhile: retry with its current row.
    const [now] = await options.db.query<CopyRow>(findCopied(file), 'background');
    if (!now) {
      await options.to.delete(file.zone, file.storage_key);
      return 'deleted';
    }
    if (isLastAttempt || JSON.stringify(now) === JSON.stringify(file)) throw error;
    return copyObject(options, now, true);
  }
}

/** Compares digests, not sizes or dates: the source must match the file's row, and the copy must match the source. */
async function copyOnce({ from, to, hashing }: CopyOptions, file: CopyRow): Promise<Outcome> {
  const { zone, storage_key: key } = file;
  const source = await from.head(zone, key);
  if (source === null) throw new Error('its object is not on the disk');
  const digest = await hashObject(hashing, from, file);
  const meta = matchMeta(file, digest);
  if (meta === null) throw new Error('its object on the disk is damaged: the sha256 does not match');
  const existing = await to.head(zone, key);
  if (existing?.bytes === source.bytes && (await hashObject(hashing, to, file)) === digest) return 'present';
  await to.put(zone, key, await from.get(zone, key), meta, { bytesMax: source.bytes });
  if ((await hashObject(hashing, to, file)) !== digest)
    throw new Error('the copy does not match the original when read back');
  return 'copied';
}

/** Null if the digest is neither the original's, as far as that is known, nor the compressed image's. */
function matchMeta(file: CopyRow, digest: string): ObjectMeta | null {
  if (digest === file.sha256 || file.sha256 === null) return buildObjectMeta(file.name, file.mime_type);
  if (digest !== file.result_sha256 || file.result_format === null) return null;
  return buildCompressedMeta(file.name, file.result_format);
}

async function hashObject(
  hashing: Hashing,
  store: ObjectStore,
  { zone, storage_key: key }: CopyRow,
): Promise<string> {
  return (await hashStream(hashing, 'sha256', await store.get(zone, key))).toString('hex');
}
