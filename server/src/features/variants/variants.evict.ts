// Keeps the cached images of each project below VARIANT_CACHE_BYTES: those that were not used for longest go first.
import type { Deps } from '../../contract/deps.ts';
import { Pacer } from '../../kernel/async/pacer.ts';
import {
  deleteImagesOf,
  deleteOldest,
  findCachedBytes,
  forgetRetired,
  listOverCap,
  listRetired,
  type RetiredRow,
} from './variants.images.sql.ts';

const batchMax = 500;
const recipesMax = 100;
/** The database is left to requests for as long as a batch takes. */
const restRatio = 1;
/** Of the cap is left after an eviction, so that not every new image causes one. */
const keptRatio = 0.9;

/** Evicts what a project has beyond its cap. */
export async function evictOver(deps: Deps, projectId: string, signal?: AbortSignal): Promise<void> {
  const bytesMax = deps.settings.VARIANT_CACHE_BYTES;
  const [cached] = await deps.db.query<{ bytes: number }>(findCachedBytes(projectId));
  if ((cached?.bytes ?? 0) <= bytesMax) return;
  const bytesKept = Math.floor(bytesMax * keptRatio);
  await inBatches(signal, async () => {
    const evicted = await deps.db.query(deleteOldest(projectId, bytesKept, batchMax));
    deps.variantDesk.counts.evicted += evicted.length;
    return evicted.length === batchMax;
  });
}

/** For what other processes have added meanwhile. */
export async function evictAll(deps: Deps, signal: AbortSignal): Promise<void> {
  const over = await deps.db.query<{ project_id: string }>(listOverCap(deps.settings.VARIANT_CACHE_BYTES));
  for (const { project_id } of over) if (!signal.aborted) await evictOver(deps, project_id, signal);
}

/** Deletes the images of recipes that no variant has any more. */
export async function dropRetired(deps: Deps, signal: AbortSignal): Promise<void> {
  const retired = await deps.db.query<RetiredRow>(listRetired(recipesMax));
  for (const recipe of retired) {
    await inBatches(signal, async () => {
      const dropped = await deps.db.query(deleteImagesOf(recipe, batchMax));
      return dropped.length === batchMax;
    });
    if (!signal.aborted) await deps.db.query(forgetRetired(recipe));
  }
}

async function inBatches(signal: AbortSignal | undefined, work: () => Promise<boolean>): Promise<void> {
  const pacer = new Pacer(restRatio);
  while (!signal?.aborted && (await pacer.run(work))) {
    // There may be more.
  }
}
