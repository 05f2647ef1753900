import { METRICS, type MetricLabels, type MetricName } from '../../src/observability/metric-table.ts';
import type { Metrics } from '../../src/observability/metrics.ts';

interface Entry {
  name: MetricName;
  labels: Record<string, string | number>;
  value: number;
}

/** Metrics that remember what was counted, in order. */
export class RecordedMetrics implements Metrics {
  readonly #entries: Entry[] = [];

  count<N extends MetricName>(name: N, labels: MetricLabels<N>, amount = 1): void {
    this.#add({ name, labels, value: amount });
  }

  set<N extends MetricName>(name: N, labels: MetricLabels<N>, value: number): void {
    this.#add({ name, labels, value });
  }

  observe<N extends MetricName>(name: N, labels: MetricLabels<N>, value: number): void {
    this.#add({ name, labels, value });
  }

  /** The values of labels at each count of a metric, one line each. Without named labels: of all. */
  of<N extends MetricName>(name: N, ...labels: (keyof MetricLabels<N> & string)[]): string[] {
    const shown = labels.length === 0 ? METRICS[name].labels : labels;
    return this.#of(name).map((entry) => shown.map((label) => entry.labels[label]).join(' '));
  }

  /** What was added, set or observed. */
  values(name: MetricName): number[] {
    return this.#of(name).map(({ value }) => value);
  }

  #of(name: MetricName): Entry[] {
    return this.#entries.filter((entry) => entry.name === name);
  }

  /** The types cannot tell of labels that are too many. prom-client throws on them. */
  #add(entry: Entry): void {
    const given = Object.keys(entry.labels).toSorted().join(' ');
    const known = [...METRICS[entry.name].labels].toSorted().join(' ');
    if (given !== known) throw new Error(`${entry.name} has the labels ${known}, not ${given}`);
    this.#entries.push(entry);
  }
}
