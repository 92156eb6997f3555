// Work that can wait until the end of the current event loop iteration. Under load one iteration serves many
// requests, so work they have in common can be done once.

let deferredWork: (() => void)[] = [];

/** Runs `work` after all I/O callbacks of this iteration. Work added by `work` itself still runs in the same pass. */
export function atEndOfIteration(work: () => void): void {
  if (deferredWork.length === 0) setImmediate(runDeferredWork);
  deferredWork.push(work);
}

function runDeferredWork(): void {
  let at = 0;
  try {
    while (at < deferredWork.length) deferredWork[at++]?.();
  } finally {
    // An error here ends the process unless somebody catches it; in that case the rest runs in the next iteration.
    deferredWork = deferredWork.slice(at);
    if (deferredWork.length > 0) setImmediate(runDeferredWork);
  }
}
