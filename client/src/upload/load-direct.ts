// Loads the code of direct uploads when it is needed: pages hardly ever do.
import { PakhusError } from '../error.ts';
import { isTransient, statusOf } from '../http.ts';
import type { StoredFile } from '../types.ts';
import type { Job, Learnt } from './job.ts';
import { sendResumable } from './resumable.ts';
import { transfer } from './transfer.ts';

export async function sendDirect(job: Job, learnt?: Learnt): Promise<StoredFile> {
  const direct = await import('./direct.ts');
  return direct.sendDirect({ ...job, PakhusError, isTransient, statusOf, sendResumable, transfer }, learnt);
}
