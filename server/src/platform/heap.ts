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

/** V8 would search the whole heap for garbage after 64 MiB. */
const passedBytesMax = 24 << 20;

let passedBytes = 0;
let collectYoung: Collect | undefined;

/**
 * Is told of every chunk that comes from the network only to be sent on. Chunks are buffers outside of the heap, and dead at once,
 * but V8 knows that only of objects it has searched. Now and then it is made to search the young ones, which takes a
 * millisecond.
 */
export function noteChunk(bytes: number): void {
  passedBytes += bytes;
  if (passedBytes < passedBytesMax) return;
  passedBytes = 0;
  collectYoung ??= exposeCollector();
  collectYoung({ type: 'minor' });
}
