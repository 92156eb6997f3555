// The daily purge of usage that is kept no longer.
import { periodic } from '../../contract/job.ts';
import { purgeUsage } from './usage.service.ts';

export const usagePurge = periodic({
  name: 'usage.purge',
  everySeconds: () => 86_400,
  async run(deps, signal) {
    const purged = await purgeUsage(deps, signal);
    if (purged > 0) deps.log.info({ purged }, 'purged old daily usage of users');
  },
});
