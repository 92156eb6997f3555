// The periodic reaper.
import type { Deps } from '../../contract/deps.ts';
import { periodic } from '../../contract/job.ts';
import { parseStorageKey } from './objects.key.ts';
import { reap } from './objects.reaper.ts';
import { findWriter } from './objects.sql.ts';

export const reaper = periodic({
  name: 'files.reap',
  everySeconds: ({ settings }) => settings.REAPER_INTERVAL_SECONDS,
  async run(deps, signal) {
    const reaped = await reap(deps, signal);
    const graceMs = deps.settings.REAPER_GRACE_SECONDS * 1000;
    const isBeingWritten = (key: string) => hasWriter(deps, key);
    const swept = await deps.objects.sweepUnfinished(new Date(Date.now() - graceMs), isBeingWritten);
    if (reaped + swept > 0) deps.log.info({ reaped, swept }, 'deleted objects without a file');
  },
});

async function hasWriter({ db }: Deps, key: string): Promise<boolean> {
  const object = parseStorageKey(key);
  return object !== null && (await db.query(findWriter(object.projectId, object.id))).length > 0;
}
