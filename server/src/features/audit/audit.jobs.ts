// Daily maintenance of the audit log.
import { periodic } from '../../contract/job.ts';
import { extendAudit, purgeAudit } from './audit.retention.ts';
import { readRetention } from './audit.service.ts';

export const auditPurge = periodic({
  name: 'audit.purge',
  everySeconds: () => 86_400,
  async run({ db, log }) {
    await extendAudit(db);
    const { retention_days: days } = await readRetention(db);
    const { rows, partitions } = await purgeAudit(db, days);
    if (rows + partitions.length > 0)
      log.info({ purged: rows, partitions, retention_days: days }, 'audit rows purged');
  },
});
