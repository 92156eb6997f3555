// Rate limits in the process. Ended windows are dropped as new ones start, and their number is bounded per kind of key:
// a caller that invents keys can neither fill the memory nor evict keys of another kind.
import type { Clock } from '../../kernel/clock.ts';
import { type Limiter, toVerdict } from './limiter.ts';

interface Window {
  count: number;
  readonly resetAtMs: number;
}

const windowsMax = 200_000;

export function memoryLimiter(clock: Clock): Limiter {
  const kinds = new Map<string, Map<string, Window>>();
  /** Windows by kind, which is the part of the key before the first colon. */
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
      // A window that ends too late started before the clock was set back.
      if (!window || window.resetAtMs <= now || window.resetAtMs > now + policy.windowMs) {
        if (windows.size >= windowsMax) makeRoom(windows, now);
        // Deleted first, so that the map stays in order of start.
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

/** Drops ended windows, or else the oldest tenth. */
function makeRoom(windows: Map<string, Window>, now: number): void {
  for (const [key, window] of windows) if (window.resetAtMs <= now) windows.delete(key);
  if (windows.size < windowsMax) return;
  for (const key of [...windows.keys()].slice(0, windowsMax / 10)) windows.delete(key);
}
