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

type Collect = (options?: { readonly type: 'minor' }) => void;

/** V8's garbage collector as a function, without making it global. */
function exposeCollector(): Collect {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  return collect;
}

const settledMs = 10_000;

/**
 * Starting leaves 30 MiB of garbage, such as parsed modules and schemas that were compiled. An idle service would keep it,
 * because V8 collects only when more is allocated. V8 shrinks its young generation only at a low allocation rate, hence
 * the delay, and only in the second of two collections.
 */
export function releaseStartupMemory(): void {
  const collect = exposeCollector();
  setTimeout(() => {
    collect();
    collect();
  }, settledMs).unref();
}

/** After 64 MiB of buffers V8 begins a full collection. */
const passedBytesMax = 24 << 20;

let passedBytes = 0;
let collectYoung: Collect | undefined;

/**
 * Counts the bytes of buffers that are allocated for what comes from the network, and collects young garbage before V8 begins a full
 * collection because of them. Such buffers are garbage within milliseconds, so a collection of the young generation frees them.
 */
export function noteChunk(bytes: number): void {
  passedBytes += bytes;
  if (passedBytes < passedBytesMax) return;
  passedBytes = 0;
  collectYoung ??= exposeCollector();
  collectYoung({ type: 'minor' });
}
