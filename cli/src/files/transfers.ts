// A run of many transfers: several at once, with progress, a line per failure, and an exit code at the end.
import { setMaxListeners } from 'node:events';
import type { Context } from '../frame/command.ts';
import { exitCodes, type Failure, reportFailure } from '../frame/failure.ts';
import { formatBytes, formatCount, printable } from './format.ts';
import { createPool } from './pool.ts';

export interface TransferRun {
  readonly signal: AbortSignal;
  /** Resolves when it has begun. A failure is reported and counted; the others go on. */
  start(transfer: Transfer): Promise<void>;
  /** Nothing had to be done for this file. */
  skip(): void;
  fail(label: string, error: unknown): void;
  /** Waits for what has begun. */
  settle(): Promise<void>;
  readonly failures: number;
  /** Ends the progress and says what was done. Resolves to the exit code. */
  finish(): Promise<number>;
}

export interface Transfer {
  /** For people. */
  readonly label: string;
  readonly action: Action;
  readonly size: number;
  /** What it keeps in memory. */
  readonly memoryBytes: number;
  /** Resolves to what --json prints. `files` is how many there were, if it was not one. */
  readonly work: (onBytes: (loaded: number) => void) => Promise<Readonly<Record<string, unknown>>>;
}

export type Action = 'upload' | 'download' | 'copy' | 'move' | 'delete' | 'restore' | 'touch';

const done: Readonly<Record<Action, string>> = {
  upload: 'uploaded',
  download: 'downloaded',
  copy: 'copied',
  move: 'moved',
  delete: 'deleted',
  restore: 'restored',
  touch: 'given the right time',
};

/** Small files wait for commits most of the time; what large ones need is bounded by their bytes. */
export const jobsDefault = 64;
const memoryBytesMax = 64 << 20;
/** Such failures would meet all others as well. */
const fatal: ReadonlySet<Failure> = new Set(['notAllowed', 'unreachable', 'interrupted']);

export function createRun(
  context: Context,
  { jobs = jobsDefault }: { readonly jobs?: number | undefined },
): TransferRun {
  const { signal, out, err } = context;
  // Each transfer listens.
  setMaxListeners(0, signal);
  const pool = createPool(jobs, memoryBytesMax);
  const counts = new Map<Action, number>();
  const progress = createProgress(context);
  const seen = new Set<Failure>();
  let failures = 0;
  let same = 0;
  signal.addEventListener('abort', progress.end, { once: true });

  function fail(label: string, error: unknown): void {
    const { failure, ...report } = reportFailure(error, signal);
    if (fatal.has(failure)) {
      progress.end();
      throw error;
    }
    failures += 1;
    seen.add(failure);
    if (context.isJson) void out.print({ action: 'failed', path: label, error: report }, '');
    else err.warn(`${printable(label)}: ${printable(report.message)}`);
  }

  return {
    signal,
    async start({ label, action, size, memoryBytes, work }) {
      signal.throwIfAborted();
      await pool.start(memoryBytes, async () => {
        const meter = progress.begin(label, size);
        try {
          const result = await work(meter.advance);
          const files = typeof result.files === 'number' ? result.files : 1;
          counts.set(action, (counts.get(action) ?? 0) + files);
          if (context.isJson) await out.print({ action, path: label, ...result }, '');
        } catch (error) {
          fail(label, error);
        } finally {
          meter.end();
        }
      });
    },
    skip: () => {
      same += 1;
    },
    fail,
    settle: () => pool.end(),
    get failures() {
      return failures;
    },
    async finish() {
      await pool.end();
      progress.end();
      const parts = [...counts].map(([action, count]) => `${formatCount(count, 'file')} ${done[action]}`);
      if (same > 0) parts.push(`${formatCount(same, 'file')} already there`);
      if (failures > 0) parts.push(`${failures} failed`);
      err.say(`${parts.join(', ') || 'Nothing to do'}${progress.describe()}`);
      const [only] = seen;
      return failures === 0 ? exitCodes.done : exitCodes[seen.size === 1 && only ? only : 'failed'];
    },
  };
}

const redrawMs = 100;
/** Files from this size on are shown one by one. */
const shownBytesMin = 8 << 20;

function createProgress({ err }: Context) {
  const active = new Map<object, { label: string; size: number; loaded: number }>();
  const startedAt = performance.now();
  let files = 0;
  let bytes = 0;
  let drawnAt = 0;
  const rate = () => bytes / Math.max(0.001, (performance.now() - startedAt) / 1000);
  const draw = () => {
    const now = performance.now();
    if (!err.showsProgress || now - drawnAt < redrawMs) return;
    drawnAt = now;
    const large = [...active.values()]
      .filter(({ size }) => size >= shownBytesMin)
      .map(({ label, size, loaded }) => ` | ${shorten(label)} ${bar(loaded / size)}`);
    err.progress(
      `${formatCount(files, 'file')}, ${formatBytes(bytes)}, ${formatBytes(rate())}/s${large.join('')}`,
    );
  };
  return {
    begin(label: string, size: number) {
      const entry = { label, size, loaded: 0 };
      active.set(entry, entry);
      return {
        advance: (loaded: number) => {
          bytes += Math.max(0, loaded - entry.loaded);
          entry.loaded = loaded;
          draw();
        },
        end: () => {
          active.delete(entry);
          files += 1;
          draw();
        },
      };
    },
    describe: () => (bytes > 0 ? ` (${formatBytes(bytes)}, ${formatBytes(rate())}/s)` : ''),
    end: () => err.endProgress(),
  };
}

const barWidth = 10;

function bar(part: number): string {
  const filled = Math.min(barWidth, Math.floor(part * barWidth));
  return `[${'='.repeat(filled)}${' '.repeat(barWidth - filled)}] ${Math.floor(part * 100)} %`;
}

const labelMax = 24;

const shorten = (label: string): string => {
  const text = printable(label);
  return text.length <= labelMax ? text : `…${text.slice(1 - labelMax)}`;
};
