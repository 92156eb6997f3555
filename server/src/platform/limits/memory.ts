// Limits within one process. Windows that have ended are dropped as new ones come, and their number is bounded
// for each kind of key: a stranger who invents keys can neither fill the memory nor push out those of another kind.
import type { Clock } from '../../kernel/clock.ts';
import { type Limiter, toVerdict } from './limiter.ts';

interface Window {
  count: number;
  readonly resetAtMs: number;
}

const windowsMax = 200_000;

export function memoryLimiter(clock: Clock): Limiter {
  const kinds = new Map<string, Map<string, Window>>();
  /** Windows of the same kind: those whose keys begin alike, up to the first colon. */
  const windowsLike = (key: string): Map<string, Window> => {
    const kind = key.slice(0, key.indexOf(':') + 1);
    let windows = kinds.get(kind);
    if (!windows) {
      windows = new Map();
      kinds.set(kind, windows);
    }
    return windows;
  };
  return {
    async consume(key, policy) {
      const now = clock();
      const windows = windowsLike(key);
      let window = windows.get(key);
      // One that ends later than a window lasts began before the clock was set back.
      if (!window || window.resetAtMs <= now || window.resetAtMs > now + policy.windowMs) {
        if (windows.size >= windowsMax) makeRoom(windows, now);
        // Deleted first, so that the map stays in the order in which windows began.
        windows.delete(key);
        window = { count: 0, resetAtMs: now + policy.windowMs };
        windows.set(key, window);
      }
      window.count += 1;
      return toVerdict(window.count, window.resetAtMs, policy);
    },
    async reset(key) {
      windowsLike(key).delete(key);
    },
  };
}

/** Drops what has ended, or else the oldest tenth. */
function makeRoom(windows: Map<string, Window>, now: number): void {
  for (const [key, window] of windows) if (window.resetAtMs <= now) windows.delete(key);
  if (windows.size < windowsMax) return;
  for (const key of [...windows.keys()].slice(0, windowsMax / 10)) windows.delete(key);
}
