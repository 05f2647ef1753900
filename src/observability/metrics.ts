import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client';
import { z } from 'zod';
import { withTimeout } from '../domain/with-timeout.ts';
import { EXPOSED_METRICS, type MetricLabels, type MetricName } from './metric-table.ts';

/** What all parts of the service count with. Names and labels are those of the table. */
export interface Metrics {
  /**
   * Adds to a counter, or to a gauge. An amount of 0 starts the series: Prometheus sees no increase in a series that
   * starts with its first count.
   */
  count<N extends MetricName<'counter' | 'gauge'>>(name: N, labels: MetricLabels<N>, amount?: number): void;
  set<N extends MetricName<'gauge'>>(name: N, labels: MetricLabels<N>, value: number): void;
  observe<N extends MetricName<'histogram'>>(name: N, labels: MetricLabels<N>, value: number): void;
}

/** Metrics that nobody reads. */
export const NO_METRICS: Metrics = { count() {}, set() {}, observe() {} };

type LabelValues = Record<string, string | number>;

/** A step on the way to a series, by the values of labels. The last one has the series. */
class Step<Series> {
  readonly next = new Map<string | number | undefined, Step<Series>>();
  series: Series | undefined;
}

/**
 * The series of one instrument, found by the values of labels. prom-client builds a text of all labels each time. Much
 * is counted often, and instruments are read once in many seconds.
 */
class SeriesTable<Series> {
  readonly #labels: readonly string[];
  readonly #begin: (labels: LabelValues) => Series;
  readonly #first = new Step<Series>();
  readonly #byText = new Map<string, Series>();

  constructor(labels: readonly string[], begin: (labels: LabelValues) => Series) {
    this.#labels = labels;
    this.#begin = begin;
    if (labels.length === 0) this.#add({});
  }

  /** Makes the series if there is none. */
  of(labels: LabelValues): Series {
    let step = this.#first;
    for (const label of this.#labels) {
      const next = step.next.get(labels[label]);
      if (next === undefined) return this.#add(labels);
      step = next;
    }
    return step.series ?? this.#add(labels);
  }

  all(): MapIterator<Series> {
    return this.#byText.values();
  }

  #add(given: LabelValues): Series {
    const labels = Object.fromEntries(this.#labels.map((label) => [label, given[label] ?? '']));
    // 200 and '200' are one series.
    const text = JSON.stringify(Object.values(labels).map(String));
    const series = this.#byText.get(text) ?? this.#begin(labels);
    this.#byText.set(text, series);
    let step = this.#first;
    for (const label of this.#labels) {
      const next = step.next.get(given[label]) ?? new Step<Series>();
      step.next.set(given[label], next);
      step = next;
    }
    step.series = series;
    return series;
  }
}

/** Collects counts, and adds them to their instrument only when that is read. */
class LateCounts {
  readonly #instrument: Pick<Counter | Gauge, 'inc'>;
  readonly #series: SeriesTable<{ labels: LabelValues; amount: number }>;

  constructor(instrument: Pick<Counter | Gauge, 'inc'>, labels: readonly string[]) {
    this.#instrument = instrument;
    this.#series = new SeriesTable(labels, (values) => {
      instrument.inc(values, 0);
      return { labels: values, amount: 0 };
    });
  }

  add(labels: LabelValues, amount: number): void {
    this.#series.of(labels).amount += amount;
  }

  handOver(): void {
    for (const series of this.#series.all()) {
      if (series.amount !== 0) this.#instrument.inc(series.labels, series.amount);
      series.amount = 0;
    }
  }
}

/** A histogram of the registry. prom-client's own takes no counts that were collected before. */
class LateHistogram {
  readonly name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  readonly #series: SeriesTable<{ labels: LabelValues; counts: number[]; count: number; sum: number }>;

  constructor({
    name,
    help,
    labels,
    bounds,
  }: { name: string; help: string; labels: readonly string[]; bounds: readonly number[] }) {
    this.name = name;
    this.#help = help;
    this.#bounds = bounds;
    this.#series = new SeriesTable(labels, (values) => ({
      labels: values,
      counts: bounds.map(() => 0),
      count: 0,
      sum: 0,
    }));
  }

  /** Starts a series. */
  begin(labels: LabelValues): void {
    this.#series.of(labels);
  }

  observe(labels: LabelValues, value: number): void {
    const series = this.#series.of(labels);
    series.count += 1;
    series.sum += value;
    for (let at = 0; at < this.#bounds.length; at += 1) {
      if (value > (this.#bounds[at] as number)) continue;
      (series.counts[at] as number) += 1;
      return;
    }
  }

  /** What prom-client writes as text. */
  getForPromString() {
    const { name } = this;
    const values = [...this.#series.all()].flatMap(({ labels: sharedLabels, counts, count, sum }) => {
      let below = 0;
      const buckets = this.#bounds.map((le, at) => {
        below += counts[at] ?? 0;
        return { metricName: `${name}_bucket`, labels: { le }, sharedLabels, value: below };
      });
      return [
        ...buckets,
        { metricName: `${name}_bucket`, labels: { le: '+Inf' }, sharedLabels, value: count },
        { metricName: `${name}_sum`, labels: {}, sharedLabels, value: sum },
        { metricName: `${name}_count`, labels: {}, sharedLabels, value: count },
      ];
    });
    return { name, help: this.#help, type: 'histogram', values };
  }
}

/** The running versions. */
interface BuildInfo {
  version: string;
  node: string;
}

const packageSchema = z.object({ version: z.string() });

/** Returns the version in the service's own `package.json`, and that of Node. */
export function readBuildInfo(): BuildInfo {
  const file = join(import.meta.dirname, '..', '..', 'package.json');
  const { version } = packageSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  return { version, node: process.versions.node };
}

/** Gauges of prom-client with names like counters. Other gauges show the same numbers by type. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** How long one sample may delay a scrape. */
const SAMPLE_MS = 1000;

/**
 * Creates all metrics, with those of the Node process: memory, processor time, event loop delay, garbage collections.
 */
export function createMetrics(): ServiceMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  return new ServiceMetrics(registry);
}

/** The metrics for a scrape. */
export interface Exposition {
  /** The text format of Prometheus, version 0.0.4. */
  text(): Promise<string>;
  /** The names of all families. */
  names(): string[];
  /** The text of one family; undefined when there is no family with the name. */
  family(name: string): Promise<string | undefined>;
}

/** All metrics of the service, and the text that Prometheus scrapes. */
export class ServiceMetrics implements Metrics, Exposition {
  readonly #late = new Map<MetricName, LateCounts>();
  readonly #values = new Map<MetricName, Counter | Gauge>();
  readonly #histograms = new Map<MetricName, LateHistogram>();
  readonly #registry: Registry;
  readonly #samples: (() => unknown)[] = [];
  #sampling: Promise<void> | undefined;

  constructor(registry: Registry) {
    this.#registry = registry;
    for (const [exposed, row] of EXPOSED_METRICS) {
      const { name, labels } = row;
      const parts = { registers: [registry], name: exposed, help: row.help, labelNames: [...labels] };
      if (row.kind === 'histogram') {
        const histogram = new LateHistogram({ name: exposed, help: row.help, labels, bounds: row.buckets });
        for (const series of row.starts ?? []) histogram.begin(series);
        registry.registerMetric(histogram as unknown as Metric);
        this.#histograms.set(name, histogram);
      } else {
        const Instrument = row.kind === 'counter' ? Counter : Gauge;
        const instrument = new Instrument({ ...parts, collect: () => late.handOver() });
        const late = new LateCounts(instrument, labels);
        for (const series of row.starts ?? []) late.add(series, 0);
        this.#values.set(name, instrument);
        this.#late.set(name, late);
      }
    }
    const { version, node } = readBuildInfo();
    this.set('build_info', { version, node_version: node }, 1);
  }

  count<N extends MetricName<'counter' | 'gauge'>>(name: N, labels: MetricLabels<N>, amount = 1): void {
    this.#late.get(name)?.add(labels, amount);
  }

  set<N extends MetricName<'gauge'>>(name: N, labels: MetricLabels<N>, value: number): void {
    (this.#values.get(name) as Gauge).set(labels, value);
  }

  observe<N extends MetricName<'histogram'>>(name: N, labels: MetricLabels<N>, value: number): void {
    this.#histograms.get(name)?.observe(labels, value);
  }

  /** Sets all series of a metric, so that no other stays. Values with the same labels are added up. */
  replace<N extends MetricName<'counter' | 'gauge'>>(
    name: N,
    series: readonly (readonly [labels: MetricLabels<N>, value: number])[],
  ): void {
    const instrument = this.#values.get(name);
    instrument?.reset();
    for (const [labels, value] of series) instrument?.inc(labels, value);
  }

  /** Adds a sample that is taken only at a scrape. A sample that fails or is slow leaves its gauges unchanged. */
  atScrape(sample: () => unknown): void {
    this.#samples.push(sample);
  }

  async text(): Promise<string> {
    await this.#sample();
    return this.#registry.metrics();
  }

  names(): string[] {
    return this.#registry.getMetricsAsArray().map(({ name }) => name);
  }

  async family(name: string): Promise<string | undefined> {
    if (!this.names().includes(name)) return undefined;
    await this.#sample();
    return this.#registry.getSingleMetricAsString(name);
  }

  /** Takes all samples. Concurrent scrapes share one run. */
  #sample(): Promise<void> {
    this.#sampling ??= Promise.allSettled(
      this.#samples.map((sample) => withTimeout(SAMPLE_MS, (async () => sample())())),
    ).then(() => {
      this.#sampling = undefined;
    });
    return this.#sampling;
  }
}
