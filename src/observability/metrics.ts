import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { z } from 'zod';
import { withTimeout } from '../domain/with-timeout.ts';
import { EXPOSED_METRICS, type MetricLabels, type MetricName, type MetricRow } from './metric-table.ts';

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

/** A step on the way to a series, by the values of labels. */
class Step {
  next: Map<string | number | undefined, Step> | undefined;
}

const NO_BUCKETS: number[] = [];

/** What one metric has counted for one set of labels. It is the last step on the way to itself. */
class Series extends Step {
  /** As Prometheus reads them: `a="1",b="2"`. */
  readonly labels: string;
  /** Of a histogram, the sum of all that was observed. */
  value = 0;
  /** Of a histogram: how much was observed in each bucket and in none below, and altogether. */
  readonly buckets: number[];
  observed = 0;
  /** The latest replacement of the metric that has this series. */
  round = 0;

  constructor(labels: string, buckets: number) {
    super();
    this.labels = labels;
    this.buckets = buckets === 0 ? NO_BUCKETS : Array.from({ length: buckets }, () => 0);
  }
}

/** So much of the text is made in one turn of the event loop: within a millisecond. */
const PIECE_LENGTH = 65_536;

/**
 * One row of the table. prom-client builds a text of all labels at each count, and an object of each line at each look.
 * Much is counted often, and ten thousand relayers have tens of thousands of lines.
 */
class Instrument {
  readonly #name: string;
  readonly #head: string;
  readonly #labels: readonly string[];
  /** The upper bounds of a histogram's buckets, and how their lines begin. */
  readonly #bounds: readonly number[];
  readonly #starts: readonly string[];
  readonly #isHistogram: boolean;
  #first: Step = new Step();
  readonly #series = new Map<string, Series>();
  #round = 0;

  constructor(name: string, row: MetricRow) {
    this.#name = name;
    this.#head = `# HELP ${name} ${row.help}\n# TYPE ${name} ${row.kind}\n`;
    this.#labels = row.labels;
    this.#isHistogram = row.kind === 'histogram';
    this.#bounds = row.kind === 'histogram' ? row.buckets : [];
    this.#starts = this.#bounds.map((bound) => `${name}_bucket{le="${bound}"`);
    if (row.labels.length === 0) this.of({});
    for (const labels of row.starts ?? []) this.of(labels);
  }

  /** Makes the series if there is none. */
  of(labels: LabelValues): Series {
    let step = this.#first;
    for (const label of this.#labels) {
      const next = step.next?.get(labels[label]);
      if (next === undefined) return this.#add(labels);
      step = next;
    }
    return step instanceof Series ? step : this.#add(labels);
  }

  observe(labels: LabelValues, value: number): void {
    const series = this.of(labels);
    series.observed += 1;
    series.value += value;
    for (let at = 0; at < this.#bounds.length; at += 1) {
      if (value > (this.#bounds[at] as number)) continue;
      (series.buckets[at] as number) += 1;
      return;
    }
  }

  replace(all: readonly (readonly [labels: LabelValues, value: number])[]): void {
    this.#round += 1;
    for (const [labels, value] of all) {
      const series = this.of(labels);
      series.value = series.round === this.#round ? series.value + value : value;
      series.round = this.#round;
    }
    for (const [labels, { round }] of this.#series) {
      if (round === this.#round) continue;
      this.#series.delete(labels);
      this.#first = new Step();
    }
  }

  /** The text, in pieces of some {@link PIECE_LENGTH} characters. */
  *pieces(): Generator<string> {
    let piece = this.#head;
    for (const series of this.#series.values()) {
      piece += this.#isHistogram ? this.#histogramLines(series) : this.#line(this.#name, series.labels, series.value);
      if (piece.length < PIECE_LENGTH) continue;
      yield piece;
      piece = '';
    }
    yield piece;
  }

  #histogramLines({ labels, value, buckets, observed }: Series): string {
    const end = labels === '' ? '}' : `,${labels}}`;
    let lines = '';
    let below = 0;
    for (const [at, start] of this.#starts.entries()) {
      below += buckets[at] ?? 0;
      lines += `${start}${end} ${below}\n`;
    }
    lines += `${this.#name}_bucket{le="+Inf"${end} ${observed}\n`;
    return lines + this.#line(`${this.#name}_sum`, labels, value) + this.#line(`${this.#name}_count`, labels, observed);
  }

  #line(name: string, labels: string, value: number): string {
    return labels === '' ? `${name} ${value}\n` : `${name}{${labels}} ${value}\n`;
  }

  #add(given: LabelValues): Series {
    // 200 and '200' are one series.
    const text = this.#labels.map((label) => `${label}="${escaped(String(given[label] ?? ''))}"`).join(',');
    const series = this.#series.get(text) ?? new Series(text, this.#bounds.length);
    this.#series.set(text, series);
    if (this.#labels.length === 0) this.#first = series;
    let step = this.#first;
    for (const [at, label] of this.#labels.entries()) {
      const isLast = at === this.#labels.length - 1;
      step.next ??= new Map();
      const next = isLast ? series : (step.next.get(given[label]) ?? new Step());
      step.next.set(given[label], next);
      step = next;
    }
    return series;
  }
}

/** https://prometheus.io/docs/instrumenting/exposition_formats/#comments-help-text-and-type-information */
function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
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
  const ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess });
  for (const name of MISNAMED) ofProcess.removeSingleMetric(name);
  return new ServiceMetrics(ofProcess);
}

/** The metrics for a scrape, in the text format of Prometheus, version 0.0.4. */
export interface Exposition {
  /** The names of all families. */
  names(): string[];
  /**
   * The text of all families, or of one; empty when there is no family with the name. It comes in pieces, each in a turn
   * of the event loop of its own, because it may have tens of thousands of lines.
   */
  pieces(name?: string): AsyncGenerator<string>;
}

/** All metrics of the service, and the text that Prometheus scrapes. */
export class ServiceMetrics implements Metrics, Exposition {
  readonly #instruments = new Map<MetricName, Instrument>();
  readonly #byExposedName = new Map<string, Instrument>();
  /** With the metrics of the Node process. */
  readonly #ofProcess: Registry;
  readonly #samples: (() => unknown)[] = [];
  #sampling: Promise<void> | undefined;

  constructor(ofProcess: Registry) {
    this.#ofProcess = ofProcess;
    for (const [exposed, row] of EXPOSED_METRICS) {
      const instrument = new Instrument(exposed, row);
      this.#instruments.set(row.name, instrument);
      this.#byExposedName.set(exposed, instrument);
    }
    const { version, node } = readBuildInfo();
    this.set('build_info', { version, node_version: node }, 1);
  }

  count<N extends MetricName<'counter' | 'gauge'>>(name: N, labels: MetricLabels<N>, amount = 1): void {
    this.#instrument(name).of(labels).value += amount;
  }

  set<N extends MetricName<'gauge'>>(name: N, labels: MetricLabels<N>, value: number): void {
    this.#instrument(name).of(labels).value = value;
  }

  observe<N extends MetricName<'histogram'>>(name: N, labels: MetricLabels<N>, value: number): void {
    this.#instrument(name).observe(labels, value);
  }

  /** Sets all series of a metric, so that no other stays. Values with the same labels are added up. */
  replace<N extends MetricName<'counter' | 'gauge'>>(
    name: N,
    series: readonly (readonly [labels: MetricLabels<N>, value: number])[],
  ): void {
    this.#instrument(name).replace(series);
  }

  /** Adds a sample that is taken only at a scrape. A sample that fails or is slow leaves its gauges unchanged. */
  atScrape(sample: () => unknown): void {
    this.#samples.push(sample);
  }

  names(): string[] {
    return [...this.#ofProcess.getMetricsAsArray().map(({ name }) => name), ...this.#byExposedName.keys()];
  }

  async *pieces(name?: string): AsyncGenerator<string> {
    await this.#sample();
    const ofProcess = await this.#textOfProcess(name);
    if (ofProcess !== '') yield ofProcess;
    for (const [exposed, instrument] of this.#byExposedName) {
      if (name !== undefined && name !== exposed) continue;
      for (const piece of instrument.pieces()) {
        yield piece;
        if (piece.length >= PIECE_LENGTH) await nextTurn();
      }
      if (name === undefined) yield '\n';
    }
  }

  /** Of one family of the process, or of all. */
  async #textOfProcess(name: string | undefined): Promise<string> {
    if (name === undefined) return `${await this.#ofProcess.metrics()}\n`;
    const isOfProcess = this.#ofProcess.getMetricsAsArray().some((metric) => metric.name === name);
    return isOfProcess ? `${await this.#ofProcess.getSingleMetricAsString(name)}\n` : '';
  }

  #instrument(name: MetricName): Instrument {
    return this.#instruments.get(name) as Instrument;
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
