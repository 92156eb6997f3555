// An upload under way: a promise of the file that can be paused, resumed and aborted.
import { delay } from '../delay.ts';
import { isTransient, pauseAfter } from '../http.ts';
import type { StoredFile } from '../types.ts';

export interface UploadTask extends Promise<StoredFile> {
  readonly isPaused: boolean;
  /** Interrupts the request in flight. What was stored stays. */
  pause(): void;
  resume(): void;
  /** Ends the upload and gives back the room that it had reserved. The promise rejects with the reason. */
  abort(reason?: unknown): void;
}

/** What the ways of uploading use to send a request that may be interrupted. */
export interface Control {
  /** Aborts with the upload. */
  readonly signal: AbortSignal;
  /** Tries until it succeeds or cannot any more. Pausing interrupts a try and repeats it after resuming. */
  attempt<Result>(work: Attempt<Result>, shouldRetry?: typeof isTransient): Promise<Result>;
}

/** `failed` is the error of the previous try, undefined at the first. */
export type Attempt<Result> = (signal: AbortSignal, failed: unknown) => Promise<Result>;

export function startTask(
  run: (control: Control) => Promise<StoredFile>,
  retries: number,
  outer?: AbortSignal,
): UploadTask {
  const ended = new AbortController();
  const { signal } = ended;
  /** Aborted while the upload is paused, and when it ends. */
  let running = new AbortController();
  /** Called when the upload goes on or ends. */
  let waiting: (() => void)[] = [];
  const wake = () => {
    for (const go of waiting) go();
    waiting = [];
  };
  const abort = (reason: unknown = new DOMException('The upload was aborted', 'AbortError')) => {
    ended.abort(reason);
    running.abort(reason);
    wake();
  };
  const follow = () => abort(outer?.reason);
  if (outer?.aborted) follow();
  outer?.addEventListener('abort', follow, { once: true });

  async function attempt<Result>(work: Attempt<Result>, shouldRetry = isTransient): Promise<Result> {
    let failed: unknown;
    let failures = 0;
    for (;;) {
      while (running.signal.aborted && !signal.aborted)
        await new Promise<void>((resolve) => waiting.push(resolve));
      signal.throwIfAborted();
      const turn = running.signal;
      try {
        return await work(turn, failed);
      } catch (error) {
        signal.throwIfAborted();
        failed = error;
        if (turn.aborted) continue;
        if (failures >= retries || !shouldRetry(error)) throw error;
        await delay(pauseAfter(failures++, error), signal);
      }
    }
  }

  const result = run({ signal, attempt }).finally(() => outer?.removeEventListener('abort', follow));
  // A caller that only aborts need not handle the rejection; awaiting the task still rejects.
  result.catch(() => undefined);
  const task = Object.assign(result, {
    isPaused: false,
    pause: () => {
      task.isPaused = true;
      running.abort();
    },
    resume: () => {
      if (task.isPaused) running = new AbortController();
      task.isPaused = false;
      wake();
    },
    abort,
  });
  return task;
}
