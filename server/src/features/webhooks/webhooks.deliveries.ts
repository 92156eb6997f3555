// Deliveries as the owner sees them, and those that the owner asks for: tests and replays.
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import { isoOf } from '../../kernel/clock.ts';
import { PakhusError } from '../../kernel/error.ts';
import { newId, newTimedId } from '../../kernel/id.ts';
import type { PageRequest } from '../../platform/db/paging.ts';
import type { Transaction } from '../../platform/db/postgres.ts';
import { projectTransaction, readPage } from '../../platform/db/project-work.ts';
import { recordAudit } from '../audit/audit.service.ts';
import { notifyReaders } from '../events/events.service.ts';
import { findEvent, testType } from './webhooks.message.ts';
import { about, lockAndRead, readWebhook } from './webhooks.service.ts';
import {
  countPending,
  type DeliveryRow,
  type DeliveryStatus,
  findDelivery,
  insertPending,
  listDeliveries,
  markDue,
} from './webhooks.sql.ts';

/** Asked for and not yet sent, of one webhook. */
const pendingMax = 100;

interface DeliveryPage extends PageRequest {
  readonly status?: DeliveryStatus;
}

/** Newest first. Ids begin with the time. */
export async function listWebhookDeliveries(
  deps: Deps,
  projectId: string,
  webhookId: string,
  { status, limit, cursor }: DeliveryPage,
) {
  const list = `deliveries:${projectId}:${webhookId}:${status ?? ''}`;
  const [after = null] = cursor === undefined ? [] : deps.cursors.decode(list, cursor);
  await readWebhook(deps.db, projectId, webhookId);
  const rows = await readPage<DeliveryRow>(
    deps,
    projectId,
    listDeliveries(projectId, webhookId, status, after, limit),
  );
  const kept = rows.slice(0, limit);
  const last = rows.length > limit ? kept.at(-1) : undefined;
  return { rows: kept, next_cursor: last ? deps.cursors.encode(list, [last.id]) : null };
}

export async function sendTest(
  deps: Deps,
  projectId: string,
  webhookId: string,
  audit: AuditStamp,
): Promise<DeliveryRow> {
  return projectTransaction(deps, projectId, async (tx) => {
    await lockAndRead(tx, projectId, webhookId);
    const message = { event_id: newId(), event_xid: null, event_number: null, type: testType };
    const delivery = await addPending(deps, tx, projectId, webhookId, message);
    await recordAudit(tx, audit, about(webhookId, { delivery_id: delivery.id }));
    return delivery;
  });
}

/** A delivery of its own, with the same event and so the same `webhook-id`. */
export async function replay(
  deps: Deps,
  projectId: string,
  webhookId: string,
  deliveryId: string,
  audit: AuditStamp,
): Promise<DeliveryRow> {
  const [old] = await deps.db.read<DeliveryRow>(findDelivery(projectId, webhookId, deliveryId));
  if (!old) throw new PakhusError('NOT_FOUND', 'There is no such delivery of this webhook: check the id');
  if (old.type !== testType && !(await findEvent(deps, projectId, old)))
    throw new PakhusError('GONE', 'The event is not kept any more: read the resource instead');
  return projectTransaction(deps, projectId, async (tx) => {
    await lockAndRead(tx, projectId, webhookId);
    const delivery = await addPending(deps, tx, projectId, webhookId, old);
    const metadata = { delivery_id: delivery.id, replayed_id: deliveryId, event_id: old.event_id };
    await recordAudit(tx, audit, about(webhookId, metadata));
    return delivery;
  });
}

async function addPending(
  deps: Deps,
  tx: Transaction,
  projectId: string,
  webhookId: string,
  message: Pick<DeliveryRow, 'event_id' | 'event_xid' | 'event_number' | 'type'>,
): Promise<DeliveryRow> {
  const [count] = await tx.query<{ pending: number }>(countPending(projectId, webhookId));
  if ((count?.pending ?? 0) >= pendingMax)
    throw new PakhusError(
      'CONFLICT',
      `${pendingMax} deliveries are waiting to be sent: wait for them first`,
      {
        details: { pending_deliveries_max: pendingMax },
      },
    );
  const now = deps.clock();
  const [row] = await tx.query<DeliveryRow>(
    insertPending(projectId, webhookId, newTimedId(now), message, isoOf(now)),
  );
  await tx.query(markDue(projectId, webhookId));
  await notifyReaders(tx, projectId);
  return row as DeliveryRow;
}
