// Webhooks as their owner manages them. Workers deliver: see webhooks.worker.ts.
import type { ProjectActor } from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import { invalid, PakhusError } from '../../kernel/error.ts';
import { newId } from '../../kernel/id.ts';
import { afterCursor, type PageRequest, toPage } from '../../platform/db/paging.ts';
import type { Queryable, Transaction } from '../../platform/db/postgres.ts';
import { projectTransaction, readPage } from '../../platform/db/project-work.ts';
import { OutboundRefusal } from '../../platform/outbound/faults.ts';
import { changeOf, recordAudit } from '../audit/audit.service.ts';
import { expandTypes, notifyReaders, startListening, UnknownType } from '../events/events.service.ts';
import { credentialTransaction } from '../keys/keys.service.ts';
import { lockProject } from '../locks/locks.project.ts';
import { newSecret } from './webhooks.secrets.ts';
import {
  countReplaced,
  countWebhooks,
  deleteDeliveries,
  deleteWebhook,
  deleteWebhooks,
  expireSecret,
  findWebhook,
  insertSecret,
  insertWebhook,
  listWebhooks,
  lockWebhook,
  updateListening,
  updateWebhook,
  type WebhookRow,
  type WebhookValues,
} from './webhooks.sql.ts';
import type { WebhookChangeValues, WebhookInputValues } from './webhooks.wire.ts';

const webhooksMax = 10;
/** How long the project goes on recording events after its last webhook, as after a read of the feed. */
const listenSeconds = 8 * 86_400;
/** How long a replaced secret still signs. */
const overlapSeconds = 86_400;
const replacedMax = 4;

interface WithSecret {
  readonly webhook: WebhookRow;
  readonly plain: string;
}

export async function listProjectWebhooks(deps: Deps, projectId: string, page: PageRequest) {
  const list = `webhooks:${projectId}`;
  const after = afterCursor(deps, list, page.cursor);
  const rows = await readPage<WebhookRow>(deps, projectId, listWebhooks(projectId, after, page));
  return toPage(deps, list, rows, page.limit);
}

export async function readWebhook(db: Queryable, projectId: string, webhookId: string): Promise<WebhookRow> {
  const [row] = await db.query<WebhookRow>(findWebhook(projectId, webhookId));
  if (!row) throw notFound();
  return row;
}

export async function createWebhook(
  deps: Deps,
  actor: ProjectActor,
  { url, types = null, active = true }: WebhookInputValues,
  audit: AuditStamp,
): Promise<WithSecret> {
  const { projectId } = actor;
  refuseUnknownTypes(types);
  await refuseBadUrl(deps, projectId, url);
  await startListening(deps, projectId);
  const id = newId();
  const values: WebhookValues = { url, types, active };
  return credentialTransaction(deps, actor, async (tx) => {
    await refuseTooMany(tx, projectId);
    await tx.query(insertWebhook(projectId, id, values));
    const { plain, row } = newSecret(deps, projectId, id);
    await tx.query(insertSecret(row));
    await tx.query(updateListening(projectId, listenSeconds));
    await recordAudit(tx, audit, about(id, { new: values }));
    return { webhook: await readWebhook(tx, projectId, id), plain };
  });
}

export async function changeWebhook(
  deps: Deps,
  projectId: string,
  webhookId: string,
  change: WebhookChangeValues,
  audit: AuditStamp,
): Promise<WebhookRow> {
  refuseUnknownTypes(change.types);
  if (change.url !== undefined) {
    await readWebhook(deps.db, projectId, webhookId);
    await refuseBadUrl(deps, projectId, change.url);
  }
  return projectTransaction(deps, projectId, async (tx) => {
    const before = await lockAndRead(tx, projectId, webhookId);
    const values = {
      url: change.url ?? before.url,
      types: change.types === undefined ? before.types : change.types,
      active: change.active ?? before.active,
    };
    const restart = values.url !== before.url || (values.active && !before.active);
    await tx.query(updateWebhook(projectId, webhookId, values, restart));
    await notifyReaders(tx, projectId);
    const after = await readWebhook(tx, projectId, webhookId);
    await recordAudit(tx, audit, about(webhookId, changeOf({ ...before }, { ...after })));
    return after;
  });
}

export async function removeWebhook(
  deps: Deps,
  projectId: string,
  webhookId: string,
  audit: AuditStamp,
): Promise<void> {
  await projectTransaction(deps, projectId, async (tx) => {
    // Of two webhooks that are deleted at the same time, one is the last.
    await lockProject(tx, projectId);
    const [old] = await tx.query<{ url: string; types: string[] | null }>(
      deleteWebhook(projectId, webhookId),
    );
    if (!old) throw notFound();
    await tx.query(updateListening(projectId, listenSeconds));
    await recordAudit(tx, audit, about(webhookId, { old }));
  });
}

export async function rotateSecret(
  deps: Deps,
  actor: ProjectActor,
  webhookId: string,
  audit: AuditStamp,
): Promise<WithSecret> {
  const { projectId } = actor;
  return credentialTransaction(deps, actor, async (tx) => {
    const before = await lockAndRead(tx, projectId, webhookId);
    await refuseManyReplaced(tx, projectId, webhookId);
    await tx.query(expireSecret(projectId, webhookId, overlapSeconds));
    const { plain, row } = newSecret(deps, projectId, webhookId);
    await tx.query(insertSecret(row));
    // So that the worker which delivers at present takes the new secret.
    await tx.query(updateWebhook(projectId, webhookId, before, false));
    await notifyReaders(tx, projectId);
    await recordAudit(tx, audit, about(webhookId, {}));
    return { webhook: await readWebhook(tx, projectId, webhookId), plain };
  });
}

/** Part of deleting a project. The webhooks first, as workers lock them. */
export async function dropWebhooks(tx: Transaction, projectId: string): Promise<void> {
  await tx.query(deleteWebhooks(projectId));
  await tx.query(deleteDeliveries(projectId));
}

export async function lockAndRead(
  tx: Transaction,
  projectId: string,
  webhookId: string,
): Promise<WebhookRow> {
  await tx.query(lockWebhook(projectId, webhookId));
  return readWebhook(tx, projectId, webhookId);
}

export const about = (webhookId: string, metadata: object) => ({
  resourceType: 'webhook',
  resourceId: webhookId,
  metadata: metadata as Record<string, unknown>,
});

const notFound = () => new PakhusError('NOT_FOUND', 'There is no such webhook in this project: check the id');

/** The project is locked, so that nobody else adds one meanwhile. */
async function refuseTooMany(tx: Transaction, projectId: string): Promise<void> {
  const [count] = await tx.query<{ webhooks: number }>(countWebhooks(projectId));
  if ((count?.webhooks ?? 0) < webhooksMax) return;
  throw new PakhusError(
    'CONFLICT',
    `A project may have at most ${webhooksMax} webhooks: delete one first, or send more types of events to one of them`,
    { details: { webhooks_max: webhooksMax } },
  );
}

async function refuseManyReplaced(tx: Transaction, projectId: string, webhookId: string): Promise<void> {
  const [count] = await tx.query<{ replaced: number }>(countReplaced(projectId, webhookId));
  if ((count?.replaced ?? 0) < replacedMax) return;
  throw new PakhusError(
    'CONFLICT',
    `The secret was replaced ${replacedMax} times within a day, and all of them still sign: wait until previous_secret_until, or create a new webhook`,
    { details: { replaced_secrets_max: replacedMax } },
  );
}

function refuseUnknownTypes(types: readonly string[] | null | undefined): void {
  if (!types) return;
  const expanded = expandTypes(types);
  if (expanded instanceof UnknownType)
    throw invalid(422, [{ path: 'types', message: expanded.message, code: 'enum' }]);
}

async function refuseBadUrl({ outbound }: Deps, projectId: string, url: string): Promise<void> {
  try {
    await outbound.check(url, projectId);
  } catch (error) {
    if (!(error instanceof OutboundRefusal)) throw error;
    throw invalid(422, [{ path: 'url', message: error.message, code: 'url' }]);
  }
}
