// Deletes expired sessions and revocations.
import { periodic } from '../../contract/job.ts';
import { sql } from '../../platform/db/sql.ts';

export const expiryPurge = periodic({
  name: 'tokens.purge',
  everySeconds: () => 3_600,
  async run({ db }) {
    await db.query(sql`delete from sessions where expires_at < now()`);
    await db.query(sql`delete from revoked_tokens where expires_at < now()`);
  },
});
