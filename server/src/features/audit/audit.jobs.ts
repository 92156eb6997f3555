// The daily purge of audit rows.
import { periodic } from '../../contract/job.ts';
import { purgeAudit, readRetention } from './audit.service.ts';

export const auditPurge = periodic({
  name: 'audit.purge',
  everySeconds: () => 86_400,
  async run(deps) {
    const { retention_days: days } = await readRetention(deps.db);
    const purged = await purgeAudit(deps.db, days);
    if (purged > 0) deps.log.info({ purged, retention_days: days }, 'audit rows purged');
  },
});
