// Reads files whose digests are not known: those that clients sent straight to the object store, and those that were stored
// before the service computed the crc32.
import { setTimeout } from 'node:timers/promises';
import type { Deps } from '../../contract/deps.ts';
import { PakhusError } from '../../kernel/error.ts';
import { digestContent } from '../../platform/hashing/buffered-hash.ts';
import { beforeAllUnread, listUnread, setDigest, type UnreadRow } from './files.sql.ts';

const batchMax = 100;
/** The task's turn; what is left waits for the next one. */
const turnMs = 10_000;

/** Rests as long as it reads: there may be millions, and nobody waits for them. Resolves to how many it has read. */
export async function hashUnread(deps: Deps, signal: AbortSignal): Promise<number> {
  const endsAt = performance.now() + turnMs;
  let hashed = 0;
  let batch = [beforeAllUnread];
  for (let last = batch.at(-1); last; last = batch.at(-1)) {
    // Follows the index: files that cannot be read must not keep the others from their turn.
    batch = await deps.db.query<UnreadRow>(listUnread(last, batchMax));
    for (const row of batch) {
      if (signal.aborted || performance.now() > endsAt) return hashed;
      const startedAt = performance.now();
      if (await hashFile(deps, row, signal)) hashed += 1;
      await setTimeout(performance.now() - startedAt, null, { signal }).catch(() => undefined);
    }
  }
  return hashed;
}

/** False if the file was deleted or moved meanwhile: the next turn finds it where it is then. */
async function hashFile(deps: Deps, row: UnreadRow, signal: AbortSignal): Promise<boolean> {
  try {
    const content = await deps.objects.get(row.zone, row.storage_key, undefined, signal);
    await deps.db.query(setDigest(row, await digestContent(deps.hashing, content)));
    return true;
  } catch (error) {
    if (signal.aborted || (error instanceof PakhusError && error.code === 'NOT_FOUND')) return false;
    throw error;
  }
}
