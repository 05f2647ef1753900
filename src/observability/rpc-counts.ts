import type { Instruments } from './instruments.ts';

/** Names of methods that are labels of their own. */
const MOST_OPERATIONS = 64;

/** Calls to the networks' endpoints. */
export class RpcCounts {
  readonly #latency;
  readonly #failures;
  readonly #operations = new Set<string>();

  constructor(instruments: Instruments) {
    this.#latency = instruments.histogram('rpc_call_latency_seconds');
    this.#failures = instruments.counter('api_rpc_failures_total');
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

/** One finished JSON-RPC call. */
interface RpcCallEnd {
  endpoint: string;
  method: string;
  outcome: string;
  ms: number;
}
