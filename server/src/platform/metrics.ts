// Metrics in the text format of Prometheus: histograms, and gauges and totals that are asked when they are read.
// Labels come from closed lists of our own, never from what a caller sends, so that their number is bounded.
import { withTimeout } from '../kernel/async/time-limit.ts';

export type Labels = Readonly<Record<string, string>>;

export interface Histogram {
  /** Those of one combination of labels. Whoever observes often keeps it. */
  labelled(labels: Labels): Observations;
}

export interface Observations {
  observe(seconds: number): void;
}

export interface Sample {
  readonly labels?: Labels;
  readonly value: number;
}

export interface Metrics {
  histogram(name: string, help: string, bounds: readonly number[]): Histogram;
  /** Asked at every read. One that fails, or takes long, is left out of it. */
  gauge(name: string, help: string, ask: () => Promise<readonly Sample[]> | readonly Sample[]): void;
  /** Like a gauge, for what only grows and is counted elsewhere. */
  total(name: string, help: string, ask: () => readonly Sample[]): void;
  text(): Promise<string>;
}

type Family = () => Promise<string[]>;

export function createMetrics(): Metrics {
  const families: Family[] = [];
  const family = (name: string, help: string, type: string, lines: Family) => {
    families.push(async () => {
      const found = await lines();
      return found.length > 0 ? [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...found] : [];
    });
  };
  const asked = (name: string, ask: () => Promise<readonly Sample[]> | readonly Sample[]): Family => {
    return async () =>
      (await samplesInTime(ask)).map(({ labels = {}, value }) => `${name}${shown(labels)} ${value}`);
  };
  return {
    histogram(name, help, bounds) {
      const series = new Map<string, Series>();
      family(name, help, 'histogram', async () => [...series.values()].flatMap((one) => linesOf(name, one)));
      return {
        labelled(labels) {
          const key = shown(labels);
          const one = series.get(key) ?? new Series(labels, bounds);
          series.set(key, one);
          return one;
        },
      };
    },
    gauge: (name, help, ask) => family(name, help, 'gauge', asked(name, ask)),
    total: (name, help, ask) => family(name, help, 'counter', asked(name, ask)),
    async text() {
      const lines = await Promise.all(families.map((lines) => lines()));
      return `${lines.flat().join('\n')}\n`;
    },
  };
}

class Series implements Observations {
  readonly labels: Labels;
  readonly bounds: readonly number[];
  /** For each bound, how many fell between it and the one before. */
  readonly counts: number[];
  count = 0;
  sum = 0;

  constructor(labels: Labels, bounds: readonly number[]) {
    this.labels = labels;
    this.bounds = bounds;
    this.counts = bounds.map(() => 0);
  }

  observe(seconds: number): void {
    this.count += 1;
    this.sum += seconds;
    const at = this.bounds.findIndex((bound) => seconds <= bound);
    if (at >= 0) this.counts[at] = (this.counts[at] ?? 0) + 1;
  }
}

function linesOf(name: string, { labels, bounds, counts, count, sum }: Series): string[] {
  let below = 0;
  const buckets = bounds.map((bound, at) => {
    below += counts[at] ?? 0;
    return `${name}_bucket${shown({ ...labels, le: String(bound) })} ${below}`;
  });
  return [
    ...buckets,
    `${name}_bucket${shown({ ...labels, le: '+Inf' })} ${count}`,
    `${name}_sum${shown(labels)} ${sum}`,
    `${name}_count${shown(labels)} ${count}`,
  ];
}

function shown(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length > 0 ? `{${pairs.join(',')}}` : '';
}

const escaped = (text: string): string =>
  /[\\"\n]/.test(text) ? text.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n') : text;

const samplesTimeoutMs = 2_000;

/** No samples instead of no answer: metrics matter most while a part is down. */
async function samplesInTime(
  ask: () => Promise<readonly Sample[]> | readonly Sample[],
): Promise<readonly Sample[]> {
  try {
    return await withTimeout(samplesTimeoutMs, Promise.resolve(ask()), () => []);
  } catch {
    return [];
  }
}

/** From half a millisecond to half a minute. */
export const latencyBounds = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];
