// The periodic care for objects: orphans, unfinished uploads, and files on the wrong zone.
import { periodic } from '../../contract/job.ts';
import { clearExposed, moveMisplaced } from './files.move.ts';
import { reap } from './files.reaper.ts';
import { findReserved } from './files.sql.ts';

export const reaper = periodic({
  name: 'files.reap',
  everySeconds: ({ settings }) => settings.REAPER_INTERVAL_SECONDS,
  async run(deps, signal) {
    const reaped = await reap(deps, signal);
    const graceMs = deps.settings.REAPER_GRACE_SECONDS * 1000;
    const isUnderWay = async (key: string) => (await deps.db.query(findReserved(key))).length > 0;
    const swept = await deps.objects.sweepUnfinished(new Date(Date.now() - graceMs), isUnderWay);
    if (reaped + swept > 0) deps.log.info({ reaped, swept }, 'objects without a file are gone');
  },
});

const moveEverySeconds = 15;

export const mover = periodic({
  name: 'files.move',
  everySeconds: () => moveEverySeconds,
  async run(deps, signal) {
    await clearExposed(deps);
    const moved = await moveMisplaced(deps, signal);
    if (moved > 0) deps.log.info({ moved }, 'files moved to the zone of their visibility');
  },
});
