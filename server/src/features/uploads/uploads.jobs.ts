// Periodic upkeep of uploads: expiry, completion of those whose last request was interrupted, and forgetting.
import type { Deps } from '../../contract/deps.ts';
import { periodic } from '../../contract/job.ts';
import { claim } from './uploads.claim.ts';
import { complete } from './uploads.complete.ts';
import { expire } from './uploads.end.ts';
import { forgetEnded, listExpired, listUnfinished, type UploadRow } from './uploads.sql.ts';

const batchMax = 250;
const keptSeconds = 86_400;
/** Its last request may still be running: hashing gigabytes takes minutes. A client that asks completes it at once. */
const interruptedSeconds = 600;
const nobody = { ipAddress: null, userAgent: null };

export const uploadUpkeep = periodic({
  name: 'uploads.upkeep',
  everySeconds: ({ settings }) => settings.REAPER_INTERVAL_SECONDS,
  async run(deps, signal) {
    await completeInterrupted(deps, signal);
    const expired = await expireAll(deps, signal);
    if (expired > 0) deps.log.info({ expired }, 'uploads expired');
    while (!signal.aborted && (await deps.db.query(forgetEnded(keptSeconds, batchMax))).length === batchMax) {
      // There may be more.
    }
  },
});

async function expireAll(deps: Deps, signal: AbortSignal): Promise<number> {
  let expired = 0;
  for (let due: UploadRow[]; !signal.aborted; ) {
    due = await deps.db.query<UploadRow>(listExpired(batchMax));
    for (const row of due) if (!signal.aborted && (await expire(deps, row))) expired += 1;
    if (due.length < batchMax) break;
  }
  return expired;
}

async function completeInterrupted(deps: Deps, signal: AbortSignal): Promise<void> {
  for (const { project_id, id, received } of await deps.db.query<UploadRow>(
    listUnfinished(interruptedSeconds, batchMax),
  )) {
    if (signal.aborted) return;
    const { row } = await claim(deps, { projectId: project_id, id }, received, 0);
    if (row.outcome !== 'claimed') continue;
    await complete(deps, row, { hash: null }, nobody).catch((error: unknown) =>
      deps.log.warn({ err: error, upload_id: id }, 'an upload with all its bytes was not completed'),
    );
  }
}
