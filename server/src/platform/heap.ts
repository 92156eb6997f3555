// What V8 is told about this process.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * V8 allocates objects directly in the old generation if earlier ones from the same code survived. Objects of an upload
 * survive while it waits for the disk and are garbage right after, but stay until a full collection. See
 * docs/adr/0015-pretenuring.md.
 */
export function disablePretenuring(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}

const settledMs = 10_000;

/**
 * Starting leaves 30 MiB of garbage, such as parsed modules and schemas that were compiled. An idle service would keep it,
 * because V8 collects only when more is allocated. V8 shrinks its young generation only at a low allocation rate, hence
 * the delay, and only in the second of two collections.
 */
export function releaseStartupMemory(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  setTimeout(() => {
    collect();
    collect();
  }, settledMs).unref();
}
