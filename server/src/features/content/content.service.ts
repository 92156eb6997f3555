// Downloads with a credential.
import type { Readable } from 'node:stream';
import type { TenantActor } from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Call } from '../../contract/call.ts';
import type { Deps } from '../../contract/deps.ts';
import { contentDisposition } from '../../kernel/media/media-type.ts';
import { buildFileUrl } from '../files/files.objects.ts';
import { readFile } from '../files/files.service.ts';
import { buildVariantUrl, deliverVariant } from '../variants/variants.deliver.ts';
import { noBody, replyWithBytes, toByteSource } from './content.reply.ts';
import { findContent } from './content.source.ts';
import { replyPending, replyWithVariant } from './content.variant.ts';
import type { ContentWishes } from './content.wire.ts';

/** Headers that pages of other origins need to resume a download and to name the file. */
const exposed = ['ETag', 'Content-Disposition', 'Content-Range', 'Accept-Ranges', 'Repr-Digest'];

export async function readContent(
  deps: Deps,
  actor: TenantActor,
  userId: string,
  fileId: string,
  wishes: ContentWishes,
  call: Call,
  audit: AuditStamp,
): Promise<Readable> {
  const { disposition, redirect, variant } = wishes;
  call.exposeHeaders(exposed);
  const metadata = variant === undefined ? {} : { variant };
  const record = () => {
    deps.auditQueue.add(audit, { resourceType: 'file', resourceId: fileId, userId, metadata });
    call.countDownload();
    return undefined;
  };
  if (redirect) {
    const url = await findUrl(deps, actor, userId, fileId, wishes, call);
    if (url === 'pending') return replyPending(call, fileId, variant);
    if (call.raw.method !== 'HEAD') record();
    call.setStatus(307);
    call.setHeader('location', url);
    call.setHeader('content-length', 0);
    return noBody();
  }
  if (variant !== undefined)
    return replyWithVariant(deps, actor, userId, fileId, { variant, disposition }, call, record);
  return replyWithBytes(call, {
    find: async () => toByteSource(deps, await findContent(deps, actor, userId, fileId), disposition),
    embeddedBy: 'same-origin',
    beforeBytes: record,
  });
}

/** The URL that a detail read shows, unless it cannot tell the browser what was wished. `pending`: see `deliverVariant`. */
async function findUrl(
  deps: Deps,
  actor: TenantActor,
  userId: string,
  fileId: string,
  { disposition: wish, variant }: ContentWishes,
  { origin }: Call,
): Promise<string> {
  if (variant !== undefined) {
    const image = await deliverVariant(deps, actor, userId, fileId, variant);
    return image === 'pending' ? image : buildVariantUrl(deps, origin, image, wish).url;
  }
  if (wish === undefined) return buildFileUrl(deps, origin, await readFile(deps, actor, userId, fileId)).url;
  const { zone, key, name, contentType } = await findContent(deps, actor, userId, fileId);
  return deps.objects.downloadUrl(zone, key, {
    contentType,
    contentDisposition: contentDisposition(name, contentType, wish),
    origin,
    expiresInSeconds: deps.settings.SIGNED_URL_EXPIRY_SECONDS,
  });
}
