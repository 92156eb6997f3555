// The uploads that the queue shows, with the state of each and the sums. All signals of the queue are here.
import { batch, type ReadonlySignal, signal } from '@preact/signals';
import {
  createUploadItem,
  type NewUpload,
  noTotals,
  shift,
  type Totals,
  type UploadItem,
  type UploadState,
} from './upload-item.ts';

export interface UploadList {
  readonly items: readonly UploadItem[];
  /** Changes whenever `items` does. */
  readonly version: ReadonlySignal<number>;
  readonly totals: ReadonlySignal<Totals>;
  add(uploads: readonly NewUpload[]): UploadItem[];
  set(item: UploadItem, change: Partial<UploadState>): void;
  /** Returns those that were removed. */
  removeWhere(matches: (item: UploadItem) => boolean): UploadItem[];
}

export function createUploadList(): UploadList {
  const version = signal(0);
  const totals = signal<Totals>(noTotals);
  const items: UploadItem[] = [];
  const count = ({ file }: UploadItem, from: UploadState | null, to: UploadState | null) => {
    totals.value = shift(totals.peek(), file.size, from, to);
  };
  return {
    items,
    version,
    totals,
    add: (uploads) =>
      batch(() => {
        const added = uploads.map(createUploadItem);
        for (const item of added) {
          items.push(item);
          count(item, null, item.state.peek());
        }
        version.value += 1;
        return added;
      }),
    set: (item, change) =>
      batch(() => {
        const from = item.state.peek();
        const to = { ...from, ...change };
        item.state.value = to;
        count(item, from, to);
      }),
    removeWhere: (matches) =>
      batch(() => {
        const removed: UploadItem[] = [];
        for (const item of items.splice(0))
          if (matches(item)) {
            removed.push(item);
            count(item, item.state.peek(), null);
          } else items.push(item);
        version.value += 1;
        return removed;
      }),
  };
}
