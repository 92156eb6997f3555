// Measures the operations of an object store. A read is measured until its stream starts, not until it ends.
import { type Histogram, latencyBounds, type Metrics, type Observations } from '../metrics.ts';
import type { ObjectStore } from './object-store.ts';
import type { StagedObjects } from './staged-objects.ts';

export function measuredStore(store: ObjectStore, metrics: Metrics): ObjectStore {
  const histogram = metrics.histogram(
    'pakhus_store_operation_seconds',
    'Time of operations on the object store.',
    latencyBounds,
  );
  const timed = timer(histogram);
  return {
    kind: store.kind,
    separatesPublic: store.separatesPublic,
    urlOrigins: store.urlOrigins,
    staged: measureStaged(store.staged, timed),
    put: (...args) => timed('put', store.put(...args)),
    get: (...args) => timed('get', store.get(...args)),
    read: (...args) => timed('get', store.read(...args)),
    head: (...args) => timed('head', store.head(...args)),
    delete: (...args) => timed('delete', store.delete(...args)),
    deleteMany: (...args) => timed('delete_many', store.deleteMany(...args)),
    copy: (...args) => timed('copy', store.copy(...args)),
    downloadUrl: (...args) => store.downloadUrl(...args),
    list: (...args) => store.list(...args),
    sweepUnfinished: (...args) => store.sweepUnfinished(...args),
    check: () => store.check(),
    close: () => store.close(),
  };
}

function measureStaged(staged: StagedObjects, timed: Timer): StagedObjects {
  const putPart = staged.putPart?.bind(staged);
  return {
    append: (...args) => timed('append', staged.append(...args)),
    beginDirect: (...args) => staged.beginDirect(...args),
    partBytesFor: (...args) => staged.partBytesFor(...args),
    partUrl: (...args) => staged.partUrl(...args),
    ...(putPart ? { putPart } : {}),
    complete: (...args) => timed('complete', staged.complete(...args)),
    discard: (...args) => staged.discard(...args),
  };
}

type Operation = 'put' | 'get' | 'head' | 'delete' | 'delete_many' | 'copy' | 'append' | 'complete';

type Timer = ReturnType<typeof timer>;

const timer = (histogram: Histogram) => {
  const series = new Map<string, Observations>();
  const findSeries = (operation: Operation, outcome: 'ok' | 'error'): Observations => {
    const name = `${operation} ${outcome}`;
    let found = series.get(name);
    if (!found) {
      found = histogram.labelled({ operation, outcome });
      series.set(name, found);
    }
    return found;
  };
  return async <Result>(operation: Operation, work: Promise<Result>): Promise<Result> => {
    const startedAt = performance.now();
    let outcome: 'ok' | 'error' = 'error';
    try {
      const result = await work;
      outcome = 'ok';
      return result;
    } finally {
      findSeries(operation, outcome).observe((performance.now() - startedAt) / 1000);
    }
  };
};
