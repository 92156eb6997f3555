// A fixed number of buffers that streamed uploads share, so that memory is bounded by configuration and not
// by how many clients send at once. Whoever waits too long for one is refused, never left hanging.
import { outage } from '../../kernel/error.ts';

export interface PartBuffers {
  take(signal?: AbortSignal): Promise<Buffer>;
  give(buffer: Buffer): void;
}

interface Waiter {
  resolve(buffer: Buffer): void;
  leave(): void;
}

/** So many stay allocated while nobody uploads. */
const idleMax = 4;

export function createPartBuffers(bytes: number, countMax: number, waitMaxMs: number): PartBuffers {
  const idle: Buffer[] = [];
  const waiting: Waiter[] = [];
  let lent = 0;

  const obtain = () => idle.pop() ?? Buffer.allocUnsafeSlow(bytes);

  function queue(signal?: AbortSignal): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const refuse = (error: unknown) => {
        waiter.leave();
        waiting.splice(waiting.indexOf(waiter), 1);
        reject(error);
      };
      const onAbort = () => refuse(signal?.reason);
      const timer = setTimeout(() => refuse(outage('capacity', 'Too many uploads at once')), waitMaxMs);
      const waiter: Waiter = {
        resolve,
        leave() {
          clearTimeout(timer);
          signal?.removeEventListener('abort', onAbort);
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      waiting.push(waiter);
    });
  }

  return {
    async take(signal) {
      signal?.throwIfAborted();
      if (lent >= countMax) return queue(signal);
      lent += 1;
      return obtain();
    },

    give(buffer) {
      const next = waiting.shift();
      if (next) {
        next.leave();
        next.resolve(buffer);
        return;
      }
      lent -= 1;
      if (idle.length < idleMax) idle.push(buffer);
    },
  };
}
