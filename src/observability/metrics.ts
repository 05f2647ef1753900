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

/** Gauges of prom-client that are named like counters, and say what others of its gauges say by type. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** How long one look at the service may hold up a scrape. */
const SAMPLE_MS = 1000;

/** All counters, and what Node tells about the process: memory, processor time, event loop delay, collections. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  return new Metrics(registry);
}

/** What a scrape reads. */
export interface Exposition {
  /** The text format of Prometheus, version 0.0.4. */
  text(): Promise<string>;
  /** The names of all families. */
  names(): string[];
  /** The exposition of one family; undefined when there is none of that name. */
  family(name: string): Promise<string | undefined>;
}

/** What the service counts, part by part, and the text that Prometheus scrapes. */
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

  /** Adds what is looked at only when somebody asks; one that fails or is slow leaves the gauges as they were. */
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

  /** Shared by those who ask meanwhile. */
  #sample(): Promise<void> {
    this.#sampling ??= Promise.allSettled(
      this.#samples.map((sample) => inTime(SAMPLE_MS, (async () => sample())())),
    ).then(() => {
      this.#sampling = undefined;
    });
    return this.#sampling;
  }
}
