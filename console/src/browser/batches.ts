// The same to many files, in as many requests as it takes.
import type { UserResource } from '@pakhus/client';

type SendBatch = UserResource['files']['batch'];

/** Of one request. */
const idsMax = 1_000;

/** All files of a request, or none of them. */
export async function runBatches(
  send: SendBatch,
  ids: readonly string[],
  rest: Omit<Parameters<SendBatch>[0], 'ids'>,
): Promise<void> {
  for (let at = 0; at < ids.length; at += idsMax) await send({ ...rest, ids: ids.slice(at, at + idsMax) });
}
