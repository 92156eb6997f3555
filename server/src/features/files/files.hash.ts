// Hashes files that clients sent straight to the object store.
import type { Deps } from '../../contract/deps.ts';
import { PakhusError } from '../../kernel/error.ts';
import { hashStream } from '../../platform/hashing/buffered-hash.ts';
import { listUnhashed, setSha256, type UnhashedRow } from './files.sql.ts';

const batchMax = 100;

/** Resolves to how many. */
export async function hashUnread(deps: Deps, signal: AbortSignal): Promise<number> {
  let hashed = 0;
  for (const row of await deps.db.query<UnhashedRow>(listUnhashed(batchMax))) {
    if (signal.aborted) break;
    if (await hashFile(deps, row, signal)) hashed += 1;
  }
  return hashed;
}

/** False if the file was deleted or moved meanwhile: the next run finds it where it is then. */
async function hashFile(deps: Deps, row: UnhashedRow, signal: AbortSignal): Promise<boolean> {
  try {
    const content = await deps.objects.get(row.zone, row.storage_key, undefined, signal);
    await deps.db.query(setSha256(row, await hashStream(deps.hashing, 'sha256', content)));
    return true;
  } catch (error) {
    if (signal.aborted || (error instanceof PakhusError && error.code === 'NOT_FOUND')) return false;
    throw error;
  }
}
