// Downloads of variants of images.
import { Readable } from 'node:stream';
import type { TenantActor } from '../../contract/actor.ts';
import type { Call } from '../../contract/call.ts';
import type { Deps } from '../../contract/deps.ts';
import type { Disposition } from '../../kernel/media/media-type.ts';
import { deliverVariant, forgetLost, retryAfterSeconds } from '../variants/variants.deliver.ts';
import { replyWithBytes, toByteSource } from './content.reply.ts';
import { contentGone } from './content.source.ts';

/** Its ETag changes with the file's content and with the variant; until then a page need not ask for every preview again. */
const cacheControl = 'private, max-age=300';

interface VariantWishes {
  readonly variant: string;
  readonly disposition: Disposition | undefined;
}

export async function replyWithVariant(
  deps: Deps,
  actor: TenantActor,
  userId: string,
  fileId: string,
  { variant, disposition }: VariantWishes,
  call: Call,
  record: () => undefined,
): Promise<Readable> {
  const deliver = () => deliverVariant(deps, actor, userId, fileId, variant);
  const first = await deliver();
  if (first === 'pending') return replyPending(call, fileId, variant);
  let isKnown = true;
  const find = async () => {
    // Found again only if the object has gone: by an eviction since, or before a restore from a backup.
    if (!isKnown) await forgetLost(deps, first);
    const image = isKnown ? first : await deliver();
    isKnown = false;
    if (image === 'pending') throw contentGone();
    return toByteSource(deps, image, disposition);
  };
  return replyWithBytes(call, { find, embeddedBy: 'same-origin', cacheControl, beforeBytes: record });
}

/** 202: the image is in the making. */
export function replyPending(call: Call, fileId: string, variant: string | undefined): Readable {
  const body = Buffer.from(JSON.stringify({ status: 'pending', file_id: fileId, variant }));
  call.setStatus(202);
  call.setHeader('retry-after', retryAfterSeconds);
  call.setHeader('cache-control', 'no-store');
  call.setHeader('content-type', 'application/json; charset=utf-8');
  call.setHeader('content-length', body.length);
  return Readable.from([body]);
}
