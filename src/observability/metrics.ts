import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
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

/** The amount added to a series since it was last handed over, or a step on the way to one, by the values of labels. */
class Tally {
  readonly next = new Map<string | number | undefined, Tally>();
  amount = 0;
}

/**
 * Collects counts, and adds them to their instrument only when that is read. prom-client builds a text of all labels at
 * each count. Much is counted often, and instruments are read once in many seconds.
 */
class LateCounts {
  readonly #instrument: Pick<Counter | Gauge, 'inc'>;
  readonly #labels: readonly string[];
  readonly #first = new Tally();
  readonly #series: { labels: LabelValues; tally: Tally }[] = [];

  constructor(instrument: Pick<Counter | Gauge, 'inc'>, labels: readonly string[]) {
    this.#instrument = instrument;
    this.#labels = labels;
    if (labels.length === 0) this.#begin({}, 0);
  }

  add(labels: LabelValues, amount: number): void {
    let tally = this.#first;
    for (const label of this.#labels) {
      const known = tally.next.get(labels[label]);
      if (known === undefined) return this.#begin(labels, amount);
      tally = known;
    }
    tally.amount += amount;
  }

  handOver(): void {
    for (const { labels, tally } of this.#series) {
      if (tally.amount !== 0) this.#instrument.inc(labels, tally.amount);
      tally.amount = 0;
    }
  }

  #begin(given: LabelValues, amount: number): void {
    const labels = Object.fromEntries(this.#labels.map((label) => [label, given[label] ?? '']));
    let tally = this.#first;
    for (const label of this.#labels) {
      const next = tally.next.get(given[label]) ?? new Tally();
      tally.next.set(given[label], next);
      tally = next;
    }
    tally.amount = amount;
    this.#series.push({ labels, tally });
    this.#instrument.inc(labels, 0);
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
  readonly #histograms = new Map<MetricName, Histogram>();
  readonly #registry: Registry;
  readonly #samples: (() => unknown)[] = [];
  #sampling: Promise<void> | undefined;

  constructor(registry: Registry) {
    this.#registry = registry;
    for (const [exposed, row] of EXPOSED_METRICS) {
      const { name, labels } = row;
      const parts = { registers: [registry], name: exposed, help: row.help, labelNames: [...labels] };
      if (row.kind === 'histogram') {
        const histogram = new Histogram({ ...parts, buckets: [...row.buckets] });
        for (const series of row.starts ?? []) histogram.zero(series);
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
