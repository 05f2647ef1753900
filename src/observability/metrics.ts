import { STATUS_CODES } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** All counters, and what Node tells about the process: memory, processor time, event loop delay, collections. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return new Metrics(registry);
}

/**
 * Every metric of the service, with the names, labels and units of the reference where it has one. Labels are bounded:
 * route patterns, ids of declared resources, codes; never a path, a text or a caller's choice.
 */
export class Metrics {
  readonly http: HttpCounts;
  readonly plugins: PluginCounts;
  readonly engine: EngineCounts;
  readonly rpc: RpcCounts;
  readonly webhooks: WebhookCounts;
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.http = new HttpCounts(registry);
    this.plugins = new PluginCounts(registry);
    this.engine = new EngineCounts(registry);
    this.rpc = new RpcCounts(registry);
    this.webhooks = new WebhookCounts(registry);
    this.#registry = registry;
  }

  /** The exposition that Prometheus scrapes. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** The names of all families. */
  names(): string[] {
    return this.#registry.getMetricsAsArray().map(({ name }) => name);
  }

  /** The exposition of one family; undefined when there is none of that name. */
  async family(name: string): Promise<string | undefined> {
    return this.names().includes(name) ? this.#registry.getSingleMetricAsString(name) : undefined;
  }
}

type Registers = { registers: Registry[] };

/** Requests of the API, by route pattern. */
class HttpCounts {
  readonly #requests: Counter<'endpoint' | 'method' | 'status'>;
  readonly #errors: Counter<'endpoint' | 'method' | 'status'>;
  readonly #latency: Histogram<'endpoint' | 'method' | 'status'>;
  readonly #inFlight: Gauge<'endpoint'>;
  readonly #timeouts: Counter<'endpoint' | 'method' | 'timeout_type'>;
  readonly #pluginCalls: Counter<'plugin_id' | 'method' | 'status'>;

  constructor(registry: Registry) {
    const into: Registers = { registers: [registry] };
    const labelNames = ['endpoint', 'method', 'status'] as const;
    this.#requests = new Counter({ ...into, name: 'requests_total', help: 'Requests answered.', labelNames });
    this.#errors = new Counter({
      ...into,
      name: 'error_requests_total',
      help: 'Requests answered with a status of 400 or more.',
      labelNames,
    });
    this.#latency = new Histogram({
      ...into,
      name: 'request_latency_seconds',
      help: 'From the head of a request to the end of its answer, in seconds.',
      labelNames,
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100],
    });
    this.#inFlight = new Gauge({
      ...into,
      name: 'in_flight_requests',
      help: 'Requests under way.',
      labelNames: ['endpoint'],
    });
    this.#timeouts = new Counter({
      ...into,
      name: 'request_timeouts_total',
      help: 'Requests whose handler was too slow.',
      labelNames: ['endpoint', 'method', 'timeout_type'],
    });
    this.#pluginCalls = new Counter({
      ...into,
      name: 'plugin_calls_total',
      help: 'Plugin calls answered, by HTTP status.',
      labelNames: ['plugin_id', 'method', 'status'],
    });
  }

  /** Of a plugin that exists; other ids are not labels. */
  pluginCalled(pluginId: string, method: string, status: number): void {
    this.#pluginCalls.inc({ plugin_id: pluginId, method, status: String(status) });
  }

  began(endpoint: string): void {
    this.#inFlight.inc({ endpoint });
  }

  ended({ endpoint, method, status, seconds }: HttpRequestEnd): void {
    const labels = { endpoint, method, status: `${status} ${STATUS_CODES[status] ?? ''}`.trimEnd() };
    this.#inFlight.dec({ endpoint });
    this.#requests.inc(labels);
    this.#latency.observe(labels, seconds);
    if (status >= 400) this.#errors.inc(labels);
  }

  timedOut(endpoint: string, method: string): void {
    this.#timeouts.inc({ endpoint, method, timeout_type: 'handler' });
  }
}

/** One answered request. */
interface HttpRequestEnd {
  endpoint: string;
  method: string;
  status: number;
  seconds: number;
}

/** Plugin calls and the processes that run them. */
class PluginCounts {
  readonly #ends: Counter<'plugin_id' | 'outcome'>;
  readonly #seconds: Histogram<'plugin_id'>;
  readonly #capabilities: Counter<'plugin_id' | 'method' | 'answer'>;
  readonly #kills: Counter<'plugin_id' | 'cause'>;
  readonly #processes: Gauge;
  readonly #running: Gauge;
  readonly #queued: Gauge;

  constructor(registry: Registry) {
    const into: Registers = { registers: [registry] };
    this.#ends = new Counter({
      ...into,
      name: 'plugin_call_outcomes_total',
      help: 'Plugin calls by the way they ended.',
      labelNames: ['plugin_id', 'outcome'],
    });
    this.#seconds = new Histogram({
      ...into,
      name: 'plugin_call_seconds',
      help: 'From the arrival of a plugin call to its end, in seconds.',
      labelNames: ['plugin_id'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    });
    this.#capabilities = new Counter({
      ...into,
      name: 'plugin_capability_calls_total',
      help: 'What plugins asked of the service.',
      labelNames: ['plugin_id', 'method', 'answer'],
    });
    this.#kills = new Counter({
      ...into,
      name: 'plugin_process_ends_total',
      help: 'Ends of plugin processes by cause; plugin_id is empty for a spare.',
      labelNames: ['plugin_id', 'cause'],
    });
    this.#processes = new Gauge({ ...into, name: 'plugin_processes', help: 'Plugin processes alive.' });
    this.#running = new Gauge({ ...into, name: 'plugin_calls_running', help: 'Plugin calls running.' });
    this.#queued = new Gauge({ ...into, name: 'plugin_calls_queued', help: 'Plugin calls waiting for a place.' });
  }

  callEnded(pluginId: string, end: string, seconds: number): void {
    this.#ends.inc({ plugin_id: pluginId, outcome: end });
    this.#seconds.observe({ plugin_id: pluginId }, seconds);
  }

  capabilityCalled(pluginId: string, method: string, answer: string): void {
    this.#capabilities.inc({ plugin_id: pluginId, method, answer });
  }

  processKilled(pluginId: string, cause: string): void {
    this.#kills.inc({ plugin_id: pluginId, cause });
  }

  load({ processes, running, queued }: { processes: number; running: number; queued: number }): void {
    this.#processes.set(processes);
    this.#running.set(running);
    this.#queued.set(queued);
  }
}

/** What became of transactions and relayers. */
class EngineCounts {
  readonly #submitted: Counter<'relayer_id' | 'network_type'>;
  readonly #succeeded: Counter<'relayer_id' | 'network_type'>;
  readonly #failed: Counter<'relayer_id' | 'network_type' | 'failure_reason' | 'previous_status'>;
  readonly #moves: Counter<'relayer_id' | 'network_type' | 'from' | 'to'>;
  readonly #faults: Counter<'network_type'>;
  readonly #healthy: Gauge<'relayer_id'>;

  constructor(registry: Registry) {
    const into: Registers = { registers: [registry] };
    const labelNames = ['relayer_id', 'network_type'] as const;
    this.#submitted = new Counter({
      ...into,
      name: 'transactions_submitted_total',
      help: 'Transactions that a node took.',
      labelNames,
    });
    this.#succeeded = new Counter({
      ...into,
      name: 'transactions_success_total',
      help: 'Transactions confirmed at the depth of their network.',
      labelNames,
    });
    this.#failed = new Counter({
      ...into,
      name: 'transactions_failed_total',
      help: 'Transactions that ended as failed, expired or canceled.',
      labelNames: [...labelNames, 'failure_reason', 'previous_status'],
    });
    this.#moves = new Counter({
      ...into,
      name: 'transaction_transitions_total',
      help: 'Committed changes of status.',
      labelNames: [...labelNames, 'from', 'to'],
    });
    this.#faults = new Counter({
      ...into,
      name: 'lane_faults_total',
      help: 'Steps of a lane that ended with an unexpected error.',
      labelNames: ['network_type'],
    });
    this.#healthy = new Gauge({
      ...into,
      name: 'relayer_healthy',
      help: '1 when the latest check of a relayer passed, else 0.',
      labelNames: ['relayer_id'],
    });
  }

  moved({ networkType, relayerId, from, to }: StatusMove): void {
    const labels = { relayer_id: relayerId, network_type: networkType };
    this.#moves.inc({ ...labels, from, to });
    if (to === 'submitted' && from === 'sent') this.#submitted.inc(labels);
    if (to === 'confirmed') this.#succeeded.inc(labels);
    if (to === 'failed' || to === 'expired' || to === 'canceled') {
      this.#failed.inc({ ...labels, failure_reason: to, previous_status: from });
    }
  }

  stepFailed(networkType: string): void {
    this.#faults.inc({ network_type: networkType });
  }

  relayerChecked(relayerId: string, healthy: boolean): void {
    this.#healthy.set({ relayer_id: relayerId }, healthy ? 1 : 0);
  }
}

/** One committed change of a transaction's status. */
interface StatusMove {
  networkType: string;
  relayerId: string;
  from: string;
  to: string;
}

/** Calls to the networks' endpoints. */
class RpcCounts {
  readonly #latency: Histogram<'endpoint' | 'operation_name'>;
  readonly #failures: Counter<'endpoint' | 'operation_name' | 'error_type'>;
  readonly #operations = new Set<string>();

  constructor(registry: Registry) {
    const into: Registers = { registers: [registry] };
    this.#latency = new Histogram({
      ...into,
      name: 'rpc_call_latency_seconds',
      help: 'From a call to the last byte of its answer, in seconds.',
      labelNames: ['endpoint', 'operation_name'],
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    });
    this.#failures = new Counter({
      ...into,
      name: 'api_rpc_failures_total',
      help: 'Calls without a usable answer, by kind.',
      labelNames: ['endpoint', 'operation_name', 'error_type'],
    });
  }

  /** `endpoint` is scheme, host and port, never a path. */
  called({ endpoint, method, outcome, ms }: RpcCallEnd): void {
    const labels = { endpoint, operation_name: this.#operation(method) };
    this.#latency.observe(labels, ms / 1000);
    if (outcome !== 'ok') this.#failures.inc({ ...labels, error_type: outcome });
  }

  /** Callers of the pass-through choose the method: beyond a number of names, all further ones are `other`. */
  #operation(method: string): string {
    if (this.#operations.has(method)) return method;
    if (this.#operations.size >= MOST_OPERATIONS || !/^\w{1,64}$/.test(method)) return 'other';
    this.#operations.add(method);
    return method;
  }
}

const MOST_OPERATIONS = 64;

/** One finished JSON-RPC call. */
interface RpcCallEnd {
  endpoint: string;
  method: string;
  outcome: string;
  ms: number;
}

/** Deliveries to the receivers of notifications. */
class WebhookCounts {
  readonly #seconds: Histogram<'outcome'>;
  readonly #ends: Counter<'end'>;
  readonly #waiting: Gauge;

  constructor(registry: Registry) {
    const into: Registers = { registers: [registry] };
    this.#seconds = new Histogram({
      ...into,
      name: 'webhook_delivery_seconds',
      help: "Deliveries by outcome, from the call to the receiver's status, in seconds.",
      labelNames: ['outcome'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    });
    this.#ends = new Counter({
      ...into,
      name: 'webhook_events_ended_total',
      help: 'Events that were delivered, given up (dead), or dropped with their notification.',
      labelNames: ['end'],
    });
    this.#waiting = new Gauge({
      ...into,
      name: 'webhook_events_waiting',
      help: 'Events that have not ended.',
    });
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
