// Records when API keys were last used.
import type { KeyUses } from '../../contract/deps.ts';
import type { Database } from '../../platform/db/postgres.ts';
import type { Logger } from '../../platform/log.ts';
import { markKeyUsed } from './credentials.sql.ts';

/**
 * At most one write in flight for each key: under load, every request sees the old timestamp until that write has
 * committed, and all of them would queue for the same row.
 */
export function createKeyUses(db: Database, log: Logger): KeyUses {
  const inFlight = new Set<string>();
  return {
    record(projectId, keyId) {
      if (inFlight.has(keyId)) return;
      inFlight.add(keyId);
      db.query(markKeyUsed(projectId, keyId))
        .catch((error: unknown) => log.warn({ err: error }, "could not record a key's last use"))
        .finally(() => inFlight.delete(keyId));
    },
  };
}
