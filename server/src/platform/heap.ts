// A V8 flag for servers whose objects outlive a few young collections. See docs/adr/0015-pretenuring.md.
import { setFlagsFromString } from 'node:v8';

/**
 * V8 allocates objects directly in the old generation if earlier ones from the same code survived. Objects of an upload
 * survive while it waits for the disk and are garbage right after, but stay until a full collection.
 */
export function disablePretenuring(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
