// Settings of the whole installation. A missing row means the default.
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import type { Queryable } from '../../platform/db/postgres.ts';
import { sql } from '../../platform/db/sql.ts';
import { type RetentionSetting, recordAudit } from '../audit/audit.service.ts';

export interface RateSetting {
  readonly max: number;
  readonly window_ms: number;
}

export const readRate = async (deps: Deps): Promise<RateSetting> =>
  (await readSetting<RateSetting>(deps.db, 'rate_limit')) ?? {
    max: deps.settings.RATE_LIMIT_MAX,
    window_ms: deps.settings.RATE_LIMIT_WINDOW_MS,
  };

export const writeRate = (deps: Deps, value: RateSetting, audit: AuditStamp) =>
  writeSetting(deps, 'rate_limit', { max: value.max, window_ms: value.window_ms }, audit);

export const writeRetention = (deps: Deps, value: RetentionSetting, audit: AuditStamp) =>
  writeSetting(deps, 'audit_retention', { retention_days: value.retention_days }, audit);

async function readSetting<Value>(db: Queryable, key: string): Promise<Value | null> {
  const [row] = await db.query<{ value: Value }>(sql`select value from settings where key = ${key}`);
  return row?.value ?? null;
}

/** Takes effect on every instance with the next request: the statement that authenticates reads it. */
async function writeSetting<Value extends object>(
  deps: Deps,
  key: string,
  value: Value,
  audit: AuditStamp,
): Promise<Value> {
  await deps.db.transaction(async (tx) => {
    // Serializes writers even if there is no row yet, so that the audit log has the right old value.
    await tx.query(sql`lock table settings in share row exclusive mode`);
    const old = await readSetting<Value>(tx, key);
    await tx.query(sql`insert into settings (key, value) values (${key}, ${JSON.stringify(value)}::jsonb)
      on conflict (key) do update set value = excluded.value, updated_at = now()`);
    await recordAudit(tx, audit, {
      resourceType: 'settings',
      resourceId: key,
      metadata: { old, new: value },
    });
  });
  return value;
}
