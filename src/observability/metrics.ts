import { collectDefaultMetrics, Registry } from 'prom-client';
import { inTime } from '../domain/in-time.ts';
import { readBuildInfo } from './build-info.ts';
import { EngineCounts } from './engine-counts.ts';
import { HttpCounts } from './http-counts.ts';
import { Instruments } from './instruments.ts';
import { PluginCounts } from './plugin-counts.ts';
import { RpcCounts } from './rpc-counts.ts';
import { SignerCounts } from './signer-counts.ts';
import { StoreCounts } from './store-counts.ts';
import { WebhookCounts } from './webhook-counts.ts';

/** Gauges of prom-client with names like counters. Other gauges show the same numbers by type. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** How long one sample may delay a scrape. */
const SAMPLE_MS = 1000;

/**
 * Creates all metrics, with those of the Node process: memory, processor time, event loop delay, garbage collections.
 */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  return new Metrics(registry);
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

/** The counters of each part of the service, and the text that Prometheus scrapes. */
export class Metrics implements Exposition {
  readonly http: HttpCounts;
  readonly plugins: PluginCounts;
  readonly engine: EngineCounts;
  readonly rpc: RpcCounts;
  readonly signers: SignerCounts;
  readonly store: StoreCounts;
  readonly webhooks: WebhookCounts;
  readonly #registry: Registry;
  readonly #samples: (() => unknown)[] = [];
  #sampling: Promise<void> | undefined;

  constructor(registry: Registry) {
    const instruments = new Instruments(registry);
    this.http = new HttpCounts(instruments);
    this.plugins = new PluginCounts(instruments);
    this.engine = new EngineCounts(instruments);
    this.rpc = new RpcCounts(instruments);
    this.signers = new SignerCounts(instruments);
    this.store = new StoreCounts(instruments);
    this.webhooks = new WebhookCounts(instruments);
    const { version, node } = readBuildInfo();
    instruments.gauge('isolayer_build_info').set({ version, node_version: node }, 1);
    this.#registry = registry;
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
      this.#samples.map((sample) => inTime(SAMPLE_MS, (async () => sample())())),
    ).then(() => {
      this.#sampling = undefined;
    });
    return this.#sampling;
  }
}
