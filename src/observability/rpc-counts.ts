import { ENDPOINT_STATES, type EndpointNews, type EndpointStatus } from '../domain/endpoint-news.ts';
import type { Instruments } from './instruments.ts';

/** Names of methods that are labels of their own. */
const MOST_OPERATIONS = 64;

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

  /** An endpoint is left alone for a while, or serves again. */
  endpointChanged(network: string, { kind, endpoint }: Pick<EndpointNews, 'kind' | 'endpoint'>): void {
    if (kind !== 'back') this.#pauses.inc({ network, endpoint, reason: kind });
  }

  /** Replaces what was known of the endpoints; those of one name (two keys at one provider) are added up. */
  endpoints(all: readonly (EndpointStatus & { network: string })[]): void {
    this.#endpoints.reset();
    this.#places.reset();
    for (const { network, endpoint, state, concurrency } of all) {
      for (const each of ENDPOINT_STATES)
        this.#endpoints.inc({ network, endpoint, state: each }, each === state ? 1 : 0);
      this.#places.inc({ network, endpoint }, concurrency);
    }
  }

  /** Callers of the pass-through choose the method: beyond a number of names, all further ones are `other`. */
  #operation(method: string): string {
    if (this.#operations.has(method)) return method;
    if (this.#operations.size >= MOST_OPERATIONS || !/^\w{1,64}$/.test(method)) return 'other';
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
