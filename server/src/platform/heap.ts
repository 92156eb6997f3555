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

/** By how much the heap may grow before V8 collects all of it: see docs/adr/0029-heap-growth.md. */
const growingPercent = 150;

export function letHeapGrow(): void {
  setFlagsFromString(`--heap-growing-percent=${growingPercent}`);
}

type Collect = (options?: { readonly type: 'minor' }) => void;

let collector: Collect | undefined;

/** V8's garbage collector, which only a context that is created after this flag knows. */
const collect: Collect = (options) => {
  if (!collector) {
    setFlagsFromString('--expose-gc');
    collector = runInNewContext('gc') as Collect;
  }
  collector(options);
};

const settledMs = 10_000;

/**
 * Starting leaves 30 MiB of garbage, such as parsed modules and schemas that were compiled. An idle service would keep it,
 * because V8 collects only when more is allocated. V8 shrinks its young generation only at a low allocation rate, hence
 * the delay, and only in the second of two collections.
 */
export function releaseStartupMemory(): void {
  setTimeout(() => {
    collect();
    collect();
  }, settledMs).unref();
}

/** V8 counts buffers like old objects until a collection frees them. Collecting the young generation takes half a millisecond. */
const passedBytesMax = 12 << 20;

let passedBytes = 0;

/**
 * Counts the bytes of buffers that this thread gets from the network or from another thread, and collects young garbage before V8 begins
 * a full collection because of them. Such buffers are garbage within milliseconds, so a collection of the young generation frees them.
 */
export function noteChunk(bytes: number): void {
  passedBytes += bytes;
  if (passedBytes < passedBytesMax) return;
  passedBytes = 0;
  collect({ type: 'minor' });
}

/** As much garbage as this may be left behind, besides what was in use at the last collection. */
const sharedBytesMax = 32 << 20;
/** A full collection takes tens of milliseconds. */
const restMs = 10_000;

let sharedBytes = 0;
let isResting = false;

/**
 * Memory that other threads can read and write without a copy. V8 does not count it, and so would not begin a collection because of
 * it: what uploads have left behind would stay for as long as little else is allocated. A thread that has got some must call
 * `noteChunk`, because it holds it as well.
 */
export function sharedBuffer(bytes: number): Buffer {
  sharedBytes += bytes;
  if (sharedBytes > sharedBytesMax && !isResting) {
    isResting = true;
    setTimeout(() => {
      isResting = false;
      sharedBytes = 0;
      collect();
    }, restMs).unref();
  }
  return Buffer.from(new SharedArrayBuffer(bytes));
}
