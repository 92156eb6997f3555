// Downloads with a credential.
import type { Readable } from 'node:stream';
import type { TenantActor } from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Call } from '../../contract/call.ts';
import type { Deps } from '../../contract/deps.ts';
import { contentDisposition } from '../../kernel/media/media-type.ts';
import { buildFileUrl } from '../files/files.objects.ts';
import { readFile } from '../files/files.service.ts';
import { noBody, replyWithBytes, toByteSource } from './content.reply.ts';
import { findContent } from './content.source.ts';
import type { ContentWishes } from './content.wire.ts';

/** Headers that pages of other origins need to resume a download and to name the file. */
const exposed = ['ETag', 'Content-Disposition', 'Content-Range', 'Accept-Ranges', 'Repr-Digest'];

export async function readContent(
  deps: Deps,
  actor: TenantActor,
  userId: string,
  fileId: string,
  { disposition, redirect }: ContentWishes,
  call: Call,
  audit: AuditStamp,
): Promise<Readable> {
  call.exposeHeaders(exposed);
  const record = () => {
    deps.auditQueue.add(audit, { resourceType: 'file', resourceId: fileId, userId });
    call.countDownload();
    return undefined;
  };
  if (redirect) {
    const url = await buildUrl(deps, actor, userId, fileId, disposition, call);
    if (call.raw.method !== 'HEAD') record();
    call.setStatus(307);
    call.setHeader('location', url);
    call.setHeader('content-length', 0);
    return noBody();
  }
  return replyWithBytes(call, {
    find: async () => toByteSource(deps, await findContent(deps, actor, userId, fileId), disposition),
    embeddedBy: 'same-origin',
    beforeBytes: record,
  });
}

/** The URL that a detail read shows, unless it cannot tell the browser what was wished. */
async function buildUrl(
  deps: Deps,
  actor: TenantActor,
  userId: string,
  fileId: string,
  wish: ContentWishes['disposition'],
  { origin }: Call,
): Promise<string> {
  if (wish === undefined) return buildFileUrl(deps, origin, await readFile(deps, actor, userId, fileId)).url;
  const { zone, key, name, contentType } = await findContent(deps, actor, userId, fileId);
  return deps.objects.downloadUrl(zone, key, {
    contentType,
    contentDisposition: contentDisposition(name, contentType, wish),
    origin,
    expiresInSeconds: deps.settings.SIGNED_URL_EXPIRY_SECONDS,
  });
}
