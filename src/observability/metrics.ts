import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { z } from 'zod';
import { ENDPOINT_STATES, type EndpointNews, type EndpointStatus } from '../domain/endpoint-news.ts';
import { inTime } from '../domain/in-time.ts';
import { EngineCounts } from './engine-counts.ts';
import { Instruments } from './instruments.ts';
import { LateCounts } from './late-counts.ts';
import { PluginCounts } from './plugin-counts.ts';

/** Deliveries to the receivers of notifications. */
class WebhookCounts {
  readonly #seconds;
  readonly #ends;
  readonly #waiting;

  constructor(instruments: Instruments) {
    this.#seconds = instruments.histogram('isolayer_webhook_delivery_duration_seconds');
    this.#ends = instruments.counter('isolayer_webhook_events_ended_total');
    this.#waiting = instruments.gauge('isolayer_webhook_events_waiting');
    // Starts the series at 0. Prometheus sees no increase in a series that starts with its first dead event.
    this.#ends.inc({ end: 'dead' }, 0);
  }

  tried({ outcome, seconds }: { outcome: string; seconds: number }): void {
    this.#seconds.observe({ outcome }, seconds);
  }

  ended(end: string): void {
    this.#ends.inc({ end });
  }

  waiting(events: number): void {
    this.#waiting.set(events);
  }
}

/** The health of the store, and the outcomes of writes. */
class StoreCounts {
  readonly #healthy;
  readonly #seconds;
  /** The reason why the latest write failed; undefined after a successful write. */
  writeFailure: string | undefined;

  constructor(instruments: Instruments) {
    this.#healthy = instruments.gauge('isolayer_store_healthy');
    this.#seconds = instruments.histogram('isolayer_store_write_duration_seconds');
    // Starts the series at 0. Prometheus sees no increase in a series that starts with its first failure.
    this.#seconds.zero({ outcome: 'failed' });
  }

  /** Sets whether the store itself reports that it answers and accepts writes. */
  stands(healthy: boolean): void {
    this.#healthy.set(healthy ? 1 : 0);
  }

  /** Counts a write. `failure` says why it failed. */
  wrote(outcome: string, seconds: number, failure?: string): void {
    this.#seconds.observe({ outcome }, seconds);
    // A rolled back write says nothing about the disk.
    if (outcome !== 'undone') this.writeFailure = failure;
  }
}

/** Counts requests to signers. */
class SignerCounts {
  readonly #seconds;

  constructor(instruments: Instruments) {
    this.#seconds = instruments.histogram('isolayer_signer_request_duration_seconds');
  }

  asked({ seconds, ...labels }: { signer: string; type: string; outcome: string; seconds: number }): void {
    this.#seconds.observe(labels, seconds);
  }
}

/** The most method names that get a label of their own. */
const MAX_OPERATIONS = 64;

/** Calls to the networks' endpoints. */
class RpcCounts {
  readonly #latency;
  readonly #failures;
  readonly #pauses;
  readonly #endpoints;
  readonly #operations = new Set<string>();

  constructor(instruments: Instruments) {
    this.#latency = instruments.histogram('isolayer_rpc_call_duration_seconds');
    this.#failures = instruments.counter('isolayer_rpc_call_failures_total');
    this.#pauses = instruments.counter('isolayer_rpc_endpoint_pauses_total');
    this.#endpoints = instruments.gauge('isolayer_rpc_endpoints');
  }

  /** `endpoint` is scheme, host and port, never a path. */
  called({ endpoint, method, outcome, ms }: RpcCallEnd): void {
    const labels = { endpoint, operation_name: this.#operation(method) };
    this.#latency.observe(labels, ms / 1000);
    if (outcome !== 'ok') this.#failures.inc({ ...labels, error_type: outcome });
  }

  /** Counts an endpoint's pause. An endpoint that serves again is not counted. */
  endpointChanged(network: string, { kind, endpoint }: Pick<EndpointNews, 'kind' | 'endpoint'>): void {
    if (kind !== 'back') this.#pauses.inc({ network, endpoint, reason: kind });
  }

  /** Sets the gauges of all endpoints. Endpoints with the same name (two keys at one provider) are added up. */
  endpoints(all: readonly (EndpointStatus & { network: string })[]): void {
    this.#endpoints.reset();
    for (const { network, endpoint, state } of all) {
      for (const each of ENDPOINT_STATES)
        this.#endpoints.inc({ network, endpoint, state: each }, each === state ? 1 : 0);
    }
  }

  /**
   * Returns the label of a method. Clients choose methods of the RPC pass-through, so methods beyond the limit share
   * the label `other`.
   */
  #operation(method: string): string {
    if (this.#operations.has(method)) return method;
    if (this.#operations.size >= MAX_OPERATIONS || !/^\w{1,64}$/.test(method)) return 'other';
    this.#operations.add(method);
    return method;
  }
}

/** One finished JSON-RPC call. */
interface RpcCallEnd {
  endpoint: string;
  method: string;
  outcome: string;
  ms: number;
}

/** Requests of the API, by route pattern. */
class HttpCounts {
  readonly #requests = new LateCounts();
  readonly #inFlight = new LateCounts();
  readonly #pluginCalls = new LateCounts();
  readonly #latency;
  readonly #timeouts;
  readonly #keyed;

  constructor(instruments: Instruments) {
    instruments.counter('isolayer_http_requests_total', (counter) =>
      this.#requests.takeOver(([endpoint, method, status], amount) =>
        counter.inc(labelsOf(endpoint, method, status), amount),
      ),
    );
    instruments.gauge('isolayer_http_requests_in_flight', (gauge) =>
      this.#inFlight.takeOver(([endpoint], amount) => gauge.inc({ endpoint }, amount)),
    );
    instruments.counter('isolayer_plugin_calls_total', (counter) =>
      this.#pluginCalls.takeOver(([pluginId, method = '', status = ''], amount) =>
        counter.inc({ plugin_id: pluginId, method, status }, amount),
      ),
    );
    this.#latency = instruments.histogram('isolayer_http_request_duration_seconds');
    this.#timeouts = instruments.counter('isolayer_http_request_timeouts_total');
    this.#keyed = instruments.counter('isolayer_idempotency_requests_total');
  }

  /** Counts a call of an existing plugin. Other ids must not become labels. */
  pluginCalled(pluginId: string, method: string, status: number): void {
    this.#pluginCalls.add(1, pluginId, method, status);
  }

  /** A request came with an idempotency key. */
  keyed(result: string): void {
    this.#keyed.inc({ result });
  }

  began(endpoint: string): void {
    this.#inFlight.add(1, endpoint);
  }

  ended({ endpoint, method, status, seconds }: HttpRequestEnd): void {
    const labels = labelsOf(endpoint, method, status);
    this.#inFlight.add(-1, endpoint);
    this.#requests.add(1, endpoint, method, status);
    this.#latency.observe(labels, seconds);
  }

  timedOut(endpoint: string, method: string): void {
    this.#timeouts.inc({ endpoint, method, timeout_type: 'handler' });
  }
}

function labelsOf(endpoint: string, method: string | number = '', status: string | number = '') {
  return { endpoint, method, status: `${status}` };
}

/** One answered request. */
interface HttpRequestEnd {
  endpoint: string;
  method: string;
  status: number;
  seconds: number;
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
