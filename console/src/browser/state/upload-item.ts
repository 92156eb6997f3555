// One file on its way to the server, and the sums over all of them.
import type { UploadTask } from '@pakhus/client';
import { type Signal, signal } from '@preact/signals';

export type UploadStatus = 'waiting' | 'running' | 'paused' | 'done' | 'failed';

export interface NewUpload {
  readonly file: File;
  readonly folder: string;
}

export interface UploadState {
  readonly status: UploadStatus;
  readonly loaded: number;
  /** Bytes a second. */
  readonly rate: number;
  readonly error?: unknown;
}

export interface UploadItem extends NewUpload {
  readonly id: number;
  readonly state: Signal<UploadState>;
  readonly ended: AbortController;
  /** From its first byte until it fails, also while it is paused. */
  isStarted: boolean;
  task?: UploadTask;
}

export interface Totals {
  readonly count: number;
  readonly waiting: number;
  readonly running: number;
  readonly paused: number;
  readonly done: number;
  readonly failed: number;
  readonly bytes: number;
  readonly loaded: number;
}

export const noTotals: Totals = {
  count: 0,
  waiting: 0,
  running: 0,
  paused: 0,
  done: 0,
  failed: 0,
  bytes: 0,
  loaded: 0,
};

let lastId = 0;

export function createUploadItem(upload: NewUpload): UploadItem {
  lastId += 1;
  return {
    ...upload,
    id: lastId,
    state: signal<UploadState>({ status: 'waiting', loaded: 0, rate: 0 }),
    ended: new AbortController(),
    isStarted: false,
  };
}

/**
 * The totals after one item went from one state to another; null for an item that is not there. Costs the same for any number.
 * The bytes of failed items are not on their way.
 */
export function shift(
  totals: Totals,
  size: number,
  from: UploadState | null,
  to: UploadState | null,
): Totals {
  const next = { ...totals };
  const count = (state: UploadState | null, sign: 1 | -1) => {
    if (!state) return;
    next.count += sign;
    next[state.status] += sign;
    if (state.status === 'failed') return;
    next.bytes += sign * size;
    next.loaded += sign * state.loaded;
  };
  count(from, -1);
  count(to, 1);
  return next;
}
