// Compresses images in a bounded number of child processes, which are replaced when they fail. Nothing that an image does
// to a decoder reaches this process.
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { ImageRecipe } from '../../kernel/media/image-recipe.ts';
import { type ImageEnding, ImageProcess } from './image-process.ts';
import type { ImageJob, ImageReply, ImageResult } from './image-protocol.ts';

/** This image can never succeed: undecodable, over a cap, or of a format that is not read. The message is public. */
export class ImageRefused extends Error {
  override readonly name = 'ImageRefused';
}

/** A passing failure, worth another attempt: time limit, memory, a process that died. The message is public. */
export class ImageFault extends Error {
  override readonly name = 'ImageFault';
}

/** The machine was too busy to give the image its CPU time, which says nothing about the image. */
export class ImageStarved extends ImageFault {}

export interface ImageEngine {
  /**
   * Reads the file at inputPath and writes outputPath, which exists afterwards only if this succeeded. An abort
   * rejects with the signal's reason. With `whenAlone` no other image is worked on at the same time; it is called once
   * that is so, before the work begins.
   */
  compress(
    inputPath: string,
    outputPath: string,
    recipe: ImageRecipe,
    signal?: AbortSignal,
    whenAlone?: () => Promise<unknown>,
  ): Promise<ImageResult>;
  /** Fails what waits or runs with ImageFault, and resolves when every child process is gone. */
  close(): Promise<void>;
}

export interface ImageEngineOptions {
  readonly concurrency: number;
  /** Of processor time; on a busy machine a job may take several times as long. */
  readonly timeoutSeconds: number;
  readonly pixelsMax: number;
  readonly log: { warn(fields: Record<string, unknown>, message: string): void };
  /** The built image-child.js; beside this file unless a test runs from source. */
  readonly childPath?: string;
}

interface Task {
  readonly job: ImageJob;
  readonly signal: AbortSignal | undefined;
  readonly whenAlone: (() => Promise<unknown>) | undefined;
  readonly resolve: (result: ImageResult) => void;
  readonly reject: (error: unknown) => void;
}

/** Native memory fragments over time, so a process is replaced after this many jobs. */
const jobsPerProcessMax = 100;
/** An idle process holds 60 MB; starting one costs a fifth of a second. */
const idleSecondsMax = 30;

export function createImageEngine(options: ImageEngineOptions): ImageEngine {
  return new ProcessEngine(options);
}

class ProcessEngine implements ImageEngine {
  readonly #options: ImageEngineOptions;
  readonly #childPath: string;
  readonly #waiting: Task[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #busy = new Set<ImageProcess>();
  /** Idle processes in order of last use, each with the timer that ends it. */
  readonly #idle = new Map<ImageProcess, NodeJS.Timeout>();
  /** A job that must be the only one is running. */
  #runsAlone = false;
  #closed = false;

  constructor(options: ImageEngineOptions) {
    this.#options = options;
    this.#childPath = options.childPath ?? fileURLToPath(new URL('./image-child.js', import.meta.url));
  }

  compress(
    inputPath: string,
    outputPath: string,
    recipe: ImageRecipe,
    signal?: AbortSignal,
    whenAlone?: () => Promise<unknown>,
  ): Promise<ImageResult> {
    const job: ImageJob = { inputPath, outputPath, recipe, pixelsMax: this.#options.pixelsMax };
    let onAbort = () => {};
    const settled = new Promise<ImageResult>((resolve, reject) => {
      if (this.#closed) return reject(closing());
      if (signal?.aborted) return reject(signal.reason);
      const task = { job, signal, whenAlone, resolve, reject };
      onAbort = () => this.#forget(task);
      signal?.addEventListener('abort', onAbort);
      this.#waiting.push(task);
      this.#fill();
    });
    return settled.finally(() => signal?.removeEventListener('abort', onAbort));
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const task of this.#waiting.splice(0)) task.reject(closing());
    for (const process of this.#busy) process.kill();
    await Promise.all([...this.#idle.keys()].map((process) => this.#dismiss(process)));
    await Promise.all(this.#running);
  }

  #forget(task: Task): void {
    const index = this.#waiting.indexOf(task);
    if (index < 0) return;
    this.#waiting.splice(index, 1);
    task.reject(task.signal?.reason);
  }

  #fill(): void {
    while (!this.#closed && !this.#runsAlone && this.#running.size < this.#options.concurrency) {
      const [task] = this.#waiting;
      // Later jobs wait behind one that must run alone, or it might starve.
      if (!task || (task.whenAlone && this.#running.size > 0)) return;
      this.#waiting.shift();
      this.#runsAlone = task.whenAlone !== undefined;
      const run = this.#run(task).finally(() => {
        this.#running.delete(run);
        this.#runsAlone = false;
        this.#fill();
      });
      this.#running.add(run);
    }
  }

  /** Never rejects. Counts as running until a failed process is gone, so that the bound on processes holds. */
  async #run(task: Task): Promise<void> {
    let process: ImageProcess;
    try {
      if (task.whenAlone) await this.#announce(task, task.whenAlone);
    } catch (error) {
      return task.reject(error);
    }
    try {
      process = this.#takeIdle() ?? this.#start();
    } catch (error) {
      task.reject(new ImageFault('No process could be started for the image', { cause: error }));
      return;
    }
    this.#busy.add(process);
    const outcome = await process.run(task.job, this.#options.timeoutSeconds, task.signal);
    this.#busy.delete(process);
    if (outcome.kind === 'done') {
      task.resolve(outcome.result);
      return this.#keep(process);
    }
    // A hostile image may have left something in the decoder, so the process is not reused.
    if ('touched' in outcome && !outcome.touched) await this.#keep(process);
    else await this.#end(process);
    await rm(task.job.outputPath, { force: true }).catch(() => {});
    this.#note(outcome, process);
    task.reject(this.#failure(outcome, task));
  }

  async #announce({ signal }: Task, whenAlone: () => Promise<unknown>): Promise<void> {
    await whenAlone();
    signal?.throwIfAborted();
    if (this.#closed) throw closing();
  }

  #start(): ImageProcess {
    const process = new ImageProcess(this.#childPath, this.#options.pixelsMax);
    void process.ended.then(() => this.#idle.delete(process));
    return process;
  }

  #takeIdle(): ImageProcess | undefined {
    const process = [...this.#idle.keys()].at(-1);
    if (process) {
      clearTimeout(this.#idle.get(process));
      this.#idle.delete(process);
    }
    return process;
  }

  async #keep(process: ImageProcess): Promise<void> {
    if (this.#closed || process.jobs >= jobsPerProcessMax) return this.#end(process);
    const timer = setTimeout(() => void this.#dismiss(process), idleSecondsMax * 1000);
    timer.unref();
    this.#idle.set(process, timer);
  }

  async #dismiss(process: ImageProcess): Promise<void> {
    clearTimeout(this.#idle.get(process));
    this.#idle.delete(process);
    await this.#end(process);
  }

  async #end(process: ImageProcess): Promise<void> {
    process.kill();
    await process.ended;
  }

  #note(outcome: Failure, process: ImageProcess): void {
    if (outcome.kind === 'refused' || outcome.kind === 'aborted' || this.#closed) return;
    const { kind, ...rest } = outcome;
    this.#options.log.warn(
      { ending: kind, ...rest, lastWords: process.lastWords },
      'image process failed a job',
    );
  }

  #failure(outcome: Failure, { signal }: Task): unknown {
    if (this.#closed) return closing();
    switch (outcome.kind) {
      case 'refused':
        return new ImageRefused(outcome.message, { cause: outcome.detail });
      case 'fault':
        return new ImageFault(outcome.message, { cause: outcome.detail });
      case 'aborted':
        return signal?.reason;
      case 'timeout':
        return new ImageFault(`The image took longer than ${this.#options.timeoutSeconds} seconds`);
      case 'starved':
        return new ImageStarved('The image was not finished: the machine was too busy');
      case 'died':
        return new ImageFault(`The process that worked on the image ended early (${outcome.how})`);
    }
  }
}

type Failure = Exclude<ImageReply, { kind: 'done' }> | ImageEnding;

function closing(): ImageFault {
  return new ImageFault('Image compression is shutting down');
}
