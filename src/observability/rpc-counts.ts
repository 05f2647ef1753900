import { ENDPOINT_STATES, type EndpointNews, type EndpointStatus } from '../domain/endpoint-news.ts';
import type { Instruments } from './instruments.ts';

/** The most method names that get a label of their own. */
const MAX_OPERATIONS = 64;

/** Calls to the networks' endpoints. */
export class RpcCounts {
  readonly #latency;
  readonly #failures;
  readonly #pauses;
  readonly #endpoints;
  readonly #places;
  readonly #operations = new Set<string>();

  constructor(instruments: Instruments) {
    this.#latency = instruments.histogram('isolayer_rpc_call_duration_seconds');
    this.#failures = instruments.counter('isolayer_rpc_call_failures_total');
    this.#pauses = instruments.counter('isolayer_rpc_endpoint_pauses_total');
    this.#endpoints = instruments.gauge('isolayer_rpc_endpoints');
    this.#places = instruments.gauge('isolayer_rpc_endpoint_concurrency_limit');
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
    this.#places.reset();
    for (const { network, endpoint, state, concurrency } of all) {
      for (const each of ENDPOINT_STATES)
        this.#endpoints.inc({ network, endpoint, state: each }, each === state ? 1 : 0);
      this.#places.inc({ network, endpoint }, concurrency);
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
