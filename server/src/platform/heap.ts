// What V8 has to know of the objects that a request leaves behind.
import { setFlagsFromString } from 'node:v8';

/**
 * Of code whose objects were still in use at a few collections, V8 puts all further objects among the old ones at
 * once. Those of an upload are in use while it waits for the disk, and garbage a moment later; but old garbage
 * stays until a full collection, and with it whatever young object it refers to: every upload was copied twice.
 */
export function keepRequestsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
