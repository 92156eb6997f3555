// Metrics in the text format of Prometheus: histograms, and gauges and totals that are read at every scrape. Label
// values come from closed lists, never from callers, so their number is bounded. See docs/adr/0011-metrics.md.
import { withTimeout } from '../kernel/async/time-limit.ts';

export type Labels = Readonly<Record<string, string>>;

export interface Histogram {
  /** The series of one combination of labels. Keep it if you observe often. */
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
  /** Asked at every scrape; left out if it fails or takes too long. */
  gauge(name: string, help: string, ask: () => Promise<readonly Sample[]> | readonly Sample[]): void;
  /** Like a gauge, for a count that only grows and is kept elsewhere. */
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
      (await samplesInTime(ask)).map(({ labels = {}, value }) => `${name}${formatLabels(labels)} ${value}`);
  };
  return {
    histogram(name, help, bounds) {
      const series = new Map<string, Series>();
      family(name, help, 'histogram', async () => [...series.values()].flatMap((one) => one.lines()));
      return {
        labelled(labels) {
          const key = formatLabels(labels);
          const one = series.get(key) ?? new Series(name, labels, bounds);
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

/** The line heads are built once: a scrape has thousands of lines, and their labels never change. */
class Series implements Observations {
  readonly #bounds: readonly number[];
  readonly #bucketHeads: readonly string[];
  readonly #totalHeads: { readonly infinity: string; readonly sum: string; readonly count: string };
  /** For each bound, how many values fell between it and the one before. */
  readonly #counts: number[];
  #count = 0;
  #sum = 0;

  constructor(name: string, labels: Labels, bounds: readonly number[]) {
    const bucketHead = (le: string) => `${name}_bucket${formatLabels({ ...labels, le })}`;
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
    this.#bucketHeads = bounds.map((bound) => bucketHead(String(bound)));
    const suffix = formatLabels(labels);
    this.#totalHeads = {
      infinity: bucketHead('+Inf'),
      sum: `${name}_sum${suffix}`,
      count: `${name}_count${suffix}`,
    };
  }

  observe(seconds: number): void {
    this.#count += 1;
    this.#sum += seconds;
    let at = 0;
    while (at < this.#bounds.length && seconds > (this.#bounds[at] as number)) at += 1;
    if (at < this.#counts.length) this.#counts[at] = (this.#counts[at] as number) + 1;
  }

  lines(): string[] {
    let below = 0;
    const buckets = this.#bucketHeads.map((head, at) => {
      below += this.#counts[at] as number;
      return `${head} ${below}`;
    });
    const { infinity, sum, count } = this.#totalHeads;
    return [...buckets, `${infinity} ${this.#count}`, `${sum} ${this.#sum}`, `${count} ${this.#count}`];
  }
}

function formatLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length > 0 ? `{${pairs.join(',')}}` : '';
}

const escapeLabel = (text: string): string =>
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
