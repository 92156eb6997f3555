// Counts the bytes that have left, with a smoothed rate.

export interface Progress {
  /** Bytes sent so far, including those of an earlier run that is continued. */
  readonly loaded: number;
  /** Null while the size is not known. */
  readonly total: number | null;
  /** Bytes a second, recently. */
  readonly rate: number;
}

export interface Meter {
  /** The bytes that are known to be stored. */
  store(bytes: number): void;
  /** The bytes of a request in flight, by any name for it; 0 when it has ended. */
  inFlight(name: number, bytes: number): void;
}

/** How much the newest measurement counts. */
const weight = 0.3;
const intervalMs = 100;

export function createMeter(total: number | null, onProgress?: (progress: Progress) => void): Meter {
  const flying = new Map<number, number>();
  let stored = 0;
  let rate = 0;
  let last = { at: performance.now(), loaded: 0 };
  let isStarted = false;
  const tell = () => {
    const loaded = [...flying.values()].reduce((sum, bytes) => sum + bytes, stored);
    const at = performance.now();
    const elapsed = at - last.at;
    // What an earlier run has stored was not sent now.
    if (!isStarted) last = { at, loaded };
    else if (elapsed >= intervalMs) {
      const now = (Math.max(0, loaded - last.loaded) * 1000) / elapsed;
      rate = rate === 0 ? now : rate + weight * (now - rate);
      last = { at, loaded };
    }
    isStarted = true;
    onProgress?.({ loaded, total, rate });
  };
  return {
    store(bytes) {
      stored = bytes;
      tell();
    },
    inFlight(name, bytes) {
      if (bytes === 0) flying.delete(name);
      else {
        flying.set(name, bytes);
        tell();
      }
    },
  };
}
