// The daily purge of statistics that are no longer shown.
import { periodic } from '../../contract/job.ts';
import { purgeStats } from './stats.service.ts';

export const statsPurge = periodic({
  name: 'stats.purge',
  everySeconds: () => 86_400,
  async run(deps, signal) {
    const purged = await purgeStats(deps, signal);
    if (purged > 0) deps.log.info({ purged }, 'purged old daily statistics of users and spaces');
  },
});
