// The daily purge of numbers that nothing shows any more.
import { periodic } from '../../contract/job.ts';
import { purgeStats } from './stats.service.ts';

export const statsPurge = periodic({
  name: 'stats.purge',
  everySeconds: () => 86_400,
  async run(deps, signal) {
    const purged = await purgeStats(deps, signal);
    if (purged > 0) deps.log.info({ purged }, 'old days of users and spaces purged');
  },
});
