// One child process that runs image-child.js with limits on memory, priority and environment. Gives it a job and reports
// how it ended.
import { type ChildProcess, spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { type ImageJob, type ImageReply, isImageReply } from './image-protocol.ts';
import { cpuSecondsOf, isHeldUp } from './process-time.ts';

/** How a job ended without a reply. */
export interface ImageEnding {
  /** `starved`: the machine was too busy to give it its time. */
  readonly kind: 'timeout' | 'starved' | 'aborted' | 'died';
  /** The signal or exit code, for people. */
  readonly how: string;
}

/** Node and the libraries reserve 500 MiB before the first image; other versions of Node may reserve more. */
const baseBytes = 1024 * 1024 * 1024;
/** The worst case, an interlaced transparent png to avif, reserves 51 and touches 35. */
const bytesPerPixel = 52;
/** Below the priority of the API, so that requests are still answered. */
const niceness = 10;
const stderrCharsMax = 2000;
/** How often the CPU time of a job is checked. */
const lookEveryMs = 200;
/** On a busy machine a job may take this many times its limit in wall-clock time. */
const wallFactor = 10;

/** One call per limit: dash silently ignores all options of `ulimit` but the first. */
const fence = 'ulimit -c 0; ulimit -v "$0"; exec "$@"';
/** Without these, threads and WebAssembly reserve half a gigabyte of unused address space. */
const nodeFlags = ['--v8-pool-size=1', '--max-old-space-size=128', '--disable-wasm-trap-handler'];
const environment = { PATH: '/usr/bin:/bin', MALLOC_ARENA_MAX: '2', UV_THREADPOOL_SIZE: '2' };

export class ImageProcess {
  /** Jobs given so far. */
  jobs = 0;
  /** Resolves, when the process is gone, to its signal or exit code. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  #stderr = '';

  constructor(childPath: string, pixelsMax: number) {
    this.#child = start(childPath, baseBytes + bytesPerPixel * pixelsMax);
    this.ended = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`));
      // Also emitted if a signal could not be sent, which does not mean that the process has ended.
      this.#child.on('error', (error) => {
        if (this.#child.pid === undefined) resolve(error.message);
      });
    });
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString('latin1')).slice(-stderrCharsMax);
    });
  }

  /** The end of its stderr, for the log. */
  get lastWords(): string {
    return this.#stderr;
  }

  /** Resolves to the reply, or after the process has ended: then nothing writes to the output any more. */
  async run(job: ImageJob, timeoutSeconds: number, signal?: AbortSignal): Promise<ImageReply | ImageEnding> {
    this.jobs += 1;
    let cause: ImageEnding['kind'] = 'died';
    const stop = (kind: ImageEnding['kind']) => {
      cause = kind;
      this.kill();
    };
    const onAbort = () => stop('aborted');
    const stopWatching = this.#watchTime(timeoutSeconds, stop);
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      const answer = await Promise.race([this.#ask(job), this.ended]);
      if (typeof answer !== 'string') return answer;
      return { kind: cause, how: answer };
    } finally {
      stopWatching();
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /**
   * The limit is on CPU time, because on a busy machine starting the process alone may take half a minute. Where CPU time
   * is not available, wall-clock time counts.
   */
  #watchTime(timeoutSeconds: number, stop: (kind: 'timeout' | 'starved') => void): () => void {
    const pid = this.#child.pid ?? 0;
    const startedAt = performance.now();
    const cpuBefore = cpuSecondsOf(pid) ?? 0;
    let overdue = false;
    const look = () => {
      const wall = (performance.now() - startedAt) / 1000;
      const cpu = cpuSecondsOf(pid);
      if ((cpu === undefined ? wall : cpu - cpuBefore) >= timeoutSeconds) return stop('timeout');
      if (wall < timeoutSeconds * wallFactor) return;
      // This process may have been delayed as well: handle pending messages before deciding.
      if (overdue) return stop(isHeldUp(pid) ? 'starved' : 'timeout');
      overdue = true;
    };
    const timer = setInterval(look, lookEveryMs);
    return () => clearInterval(timer);
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #ask(job: ImageJob): Promise<ImageReply> {
    return new Promise((resolve) => {
      this.#child.once('message', (message) => {
        if (isImageReply(message)) resolve(message);
        else this.kill();
      });
      // A failure to send means that the process is going away, which `ended` tells; so does a process without a
      // channel, which never came to be.
      this.#child.send?.(job, () => {});
    });
  }
}

function start(childPath: string, addressSpaceBytes: number): ChildProcess {
  const command = [process.execPath, ...nodeFlags, childPath];
  const kibibytes = String(Math.ceil(addressSpaceBytes / 1024));
  // Only Linux enforces a limit on the address space.
  const fenced = process.platform === 'linux' ? ['/bin/sh', '-c', fence, kibibytes, ...command] : command;
  const [file = '', ...args] = fenced;
  const child = spawn(file, args, { cwd: '/', env: environment, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  if (child.pid !== undefined) lowerPriority(child.pid);
  return child;
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, niceness);
  } catch {
    // Already gone, or not permitted: the job runs or fails regardless.
  }
}
