// Statements on webhooks, their secrets and their deliveries, for the owner. Those of the workers are in webhooks.work.sql.ts.
import { largestPage, newestFirst, type PageRequest } from '../../platform/db/paging.ts';
import { noSql, type Sql, sql } from '../../platform/db/sql.ts';

export interface WebhookValues {
  readonly url: string;
  readonly types: readonly string[] | null;
  readonly active: boolean;
}

export interface WebhookRow extends WebhookValues {
  readonly id: string;
  readonly types: string[] | null;
  readonly disabled_reason: 'gone' | 'failing' | null;
  readonly failing_since: string | null;
  readonly previous_secret_until: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export type DeliveryStatus = 'pending' | 'succeeded' | 'retrying' | 'failed';

export interface DeliveryRow {
  readonly id: string;
  readonly event_id: string;
  readonly event_xid: string | null;
  readonly event_number: string | null;
  readonly type: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly response_status: number | null;
  readonly response_body: string | null;
  readonly duration_ms: number | null;
  readonly error: string | null;
  readonly created_at: string;
  readonly next_try_at: string | null;
}

const columns = sql`w.id, w.url, w.types, w.active, w.disabled_reason, w.failing_since, w.created_at, w.updated_at,
  (select max(s.expires_at) from webhook_secrets s
    where s.project_id = w.project_id and s.webhook_id = w.id and s.expires_at > now()) as previous_secret_until`;

export const listWebhooks = (projectId: string, after: Sql, page: PageRequest): Sql =>
  newestFirst(sql`select ${columns} from webhooks w where w.project_id = ${projectId}${after}`, page);

export const findWebhook = (projectId: string, webhookId: string): Sql => sql`
  select ${columns} from webhooks w where w.project_id = ${projectId} and w.id = ${webhookId}`;

export const lockWebhook = (projectId: string, webhookId: string): Sql => sql`
  select id from webhooks where project_id = ${projectId} and id = ${webhookId} for no key update`;

export const countWebhooks = (projectId: string): Sql => sql`
  select count(*) as webhooks from webhooks where project_id = ${projectId}`;

/** Begins with what this moment does not see as committed. */
export const insertWebhook = (projectId: string, id: string, values: WebhookValues): Sql => sql`
  insert into webhooks (project_id, id, url, types, active, feed_id, position_xid, position_number, position_since)
  select ${projectId}, ${id}, ${values.url}, ${values.types}, ${values.active}, f.id,
    pg_snapshot_xmin(pg_current_snapshot()), 0, pg_current_snapshot()::text
  from event_feed f`;

/**
 * A worker that is delivering loses its lease, because it would go on with the old values. What it has not recorded yet is
 * delivered again. `restart` ends the state of failure.
 */
export const updateWebhook = (
  projectId: string,
  webhookId: string,
  values: WebhookValues,
  restart: boolean,
): Sql => sql`
  update webhooks set url = ${values.url}, types = ${values.types}, active = ${values.active}, updated_at = now(),
    lease_token = null, lease_until = null, due_at = '-infinity', rest_until = null,
    disabled_reason = case when ${restart} then null else disabled_reason end,
    failing_since = case when ${restart} then null else failing_since end,
    failures = case when ${restart} then 0 else failures end
  where project_id = ${projectId} and id = ${webhookId}`;

export const deleteWebhook = (projectId: string, webhookId: string): Sql => sql`
  delete from webhooks where project_id = ${projectId} and id = ${webhookId} returning url, types`;

/** For ever while there is a webhook, otherwise as long as after a read of the feed. */
export const updateListening = (projectId: string, secondsAfter: number): Sql => sql`
  update projects set listens_until = case
    when exists (select from webhooks w where w.project_id = ${projectId}) then 'infinity'::timestamptz
    else now() + make_interval(secs => ${secondsAfter}) end
  where id = ${projectId}`;

export interface SecretRow {
  readonly project_id: string;
  readonly webhook_id: string;
  readonly id: string;
  readonly key_id: string;
  readonly sealed_secret: Buffer;
}

export const insertSecret = (row: SecretRow): Sql => sql`
  insert into webhook_secrets (project_id, webhook_id, id, key_id, sealed_secret)
  values (${row.project_id}, ${row.webhook_id}, ${row.id}, ${row.key_id}, ${row.sealed_secret})`;

/** Secrets that were replaced and still sign. */
export const countReplaced = (projectId: string, webhookId: string): Sql => sql`
  select count(*) as replaced from webhook_secrets
  where project_id = ${projectId} and webhook_id = ${webhookId} and expires_at > now()`;

export const expireSecret = (projectId: string, webhookId: string, seconds: number): Sql => sql`
  update webhook_secrets set expires_at = now() + make_interval(secs => ${seconds})
  where project_id = ${projectId} and webhook_id = ${webhookId} and expires_at is null`;

export const deleteExpiredSecrets = sql`delete from webhook_secrets where expires_at <= now()`;

/** Paged by `after`, because rows that no key decrypts stay and would be listed again and again. */
export const listSealedOtherwise = (keyId: string, after: string | null, limit: number): Sql => sql`
  select project_id, webhook_id, id, key_id, sealed_secret from webhook_secrets
  where key_id <> ${keyId} and (${after}::uuid is null or id > ${after})
  order by id limit ${limit}`;

export const updateSealed = (row: SecretRow, keyId: string, sealedSecret: Buffer): Sql => sql`
  update webhook_secrets set key_id = ${keyId}, sealed_secret = ${sealedSecret}
  where project_id = ${row.project_id} and webhook_id = ${row.webhook_id} and id = ${row.id}`;

const deliveryColumns = sql`id, event_id, event_xid::text, event_number::text, type, status, attempts, response_status,
  response_body, duration_ms, error, created_at, next_try_at`;

/** PostgreSQL reuses a plan only if it knows how many rows are wanted: hence two limits. */
export const listDeliveries = (
  projectId: string,
  webhookId: string,
  status: DeliveryStatus | undefined,
  after: string | null,
  limit: number,
): Sql => sql`
  select ${deliveryColumns} from (
    select ${deliveryColumns} from webhook_deliveries
    where project_id = ${projectId} and webhook_id = ${webhookId}${withStatus(status)}${before(after)}
    order by id desc limit ${largestPage}) newest
  limit ${limit + 1}`;

const before = (id: string | null): Sql => (id === null ? noSql : sql` and id < ${id}::uuid`);

function withStatus(status: DeliveryStatus | undefined): Sql {
  if (status === undefined) return noSql;
  // As the condition of the index has it.
  return status === 'succeeded'
    ? sql` and status = 'succeeded'`
    : sql` and status <> 'succeeded' and status = ${status}`;
}

export const findDelivery = (projectId: string, webhookId: string, deliveryId: string): Sql => sql`
  select ${deliveryColumns} from webhook_deliveries
  where project_id = ${projectId} and webhook_id = ${webhookId} and id = ${deliveryId}`;

export const countPending = (projectId: string, webhookId: string): Sql => sql`
  select count(*) as pending from webhook_deliveries
  where project_id = ${projectId} and webhook_id = ${webhookId} and next_try_at is not null and status = 'pending'`;

/** A worker sends it as soon as it can. */
export const insertPending = (
  projectId: string,
  webhookId: string,
  id: string,
  of: Pick<DeliveryRow, 'event_id' | 'event_xid' | 'event_number' | 'type'>,
  at: string,
): Sql => sql`
  insert into webhook_deliveries (slot, project_id, webhook_id, id, event_id, event_xid, event_number, type, status,
    attempts, created_at, next_try_at)
  values (event_slot(${at}), ${projectId}, ${webhookId}, ${id}, ${of.event_id}, ${of.event_xid}::text::xid8,
    ${of.event_number}::bigint, ${of.type}, 'pending', 0, ${at}::timestamptz, ${at}::timestamptz)
  returning ${deliveryColumns}`;

export const markDue = (projectId: string, webhookId: string): Sql => sql`
  update webhooks set due_at = '-infinity' where project_id = ${projectId} and id = ${webhookId}`;

export const deleteWebhooks = (projectId: string): Sql => sql`
  delete from webhooks where project_id = ${projectId}`;

export const deleteDeliveries = (projectId: string): Sql => sql`
  delete from webhook_deliveries where project_id = ${projectId}`;
