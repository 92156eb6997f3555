// A store that says how long its operations take. A stream counts until it begins, not until it has been read.
import { type Histogram, latencyBounds, type Metrics } from '../metrics.ts';
import type { ObjectStore } from './object-store.ts';

export function measuredStore(store: ObjectStore, metrics: Metrics): ObjectStore {
  const histogram = metrics.histogram(
    'pakhus_store_operation_seconds',
    'Time of operations on the object store.',
    latencyBounds,
  );
  const timed = timer(histogram);
  return {
    ...store,
    put: (...args) => timed('put', store.put(...args)),
    get: (...args) => timed('get', store.get(...args)),
    head: (...args) => timed('head', store.head(...args)),
    delete: (...args) => timed('delete', store.delete(...args)),
    deleteMany: (...args) => timed('delete_many', store.deleteMany(...args)),
    copy: (...args) => timed('copy', store.copy(...args)),
  };
}

type Operation = 'put' | 'get' | 'head' | 'delete' | 'delete_many' | 'copy';

const timer =
  (histogram: Histogram) =>
  async <Result>(operation: Operation, work: Promise<Result>): Promise<Result> => {
    const startedAt = performance.now();
    let outcome = 'error';
    try {
      const result = await work;
      outcome = 'ok';
      return result;
    } finally {
      histogram.labelled({ operation, outcome }).observe((performance.now() - startedAt) / 1000);
    }
  };
