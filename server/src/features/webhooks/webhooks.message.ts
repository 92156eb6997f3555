// What is posted: an event of the feed, or a test that looks like one.
import type { Deps } from '../../contract/deps.ts';
import type { DeliveryRow } from './webhooks.sql.ts';

/** The type of test messages. No event has it. */
export const testType = 'test';

export interface Message {
  /** The same on every try. */
  readonly id: string;
  readonly type: string;
  readonly json: string;
}

type EventOf = Pick<DeliveryRow, 'event_id' | 'event_xid' | 'event_number'>;

/** The event of a delivery; null if it is not kept any more. */
export async function findEvent(
  { eventHub }: Pick<Deps, 'eventHub'>,
  projectId: string,
  { event_id, event_xid, event_number }: EventOf,
): Promise<Message | null> {
  if (event_xid === null || event_number === null) return null;
  const before = { xid: event_xid, number: String(BigInt(event_number) - 1n), since: null };
  const [event] = (await eventHub.read(projectId, before, 1)).events;
  return event?.id === event_id ? event : null;
}

/** Built from its delivery, so that every try has the same text. */
export function testMessage(
  projectId: string,
  webhookId: string,
  { event_id, created_at }: Pick<DeliveryRow, 'event_id' | 'created_at'>,
): Message {
  const event = {
    id: event_id,
    type: testType,
    created_at,
    project_id: projectId,
    user_id: null,
    data: { webhook_id: webhookId },
  };
  return { id: event_id, type: testType, json: JSON.stringify(event) };
}
