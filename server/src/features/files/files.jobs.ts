// The periodic job that moves objects which are in the wrong zone.
import { periodic } from '../../contract/job.ts';
import { reap } from '../objects/objects.reaper.ts';
import { moveMisplaced } from './files.move.ts';

const moveEverySeconds = 15;

export const mover = periodic({
  name: 'files.move',
  everySeconds: () => moveEverySeconds,
  async run(deps, signal) {
    if (deps.objects.separatesPublic) await reap(deps, signal, 'exposed');
    const moved = await moveMisplaced(deps, signal);
    if (moved > 0) deps.log.info({ moved }, 'moved files to the zone that matches their visibility');
  },
});
