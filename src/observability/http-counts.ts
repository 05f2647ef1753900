import { STATUS_CODES } from 'node:http';
import type { Instruments } from './instruments.ts';

/** Requests of the API, by route pattern. */
export class HttpCounts {
  readonly #requests;
  readonly #errors;
  readonly #latency;
  readonly #inFlight;
  readonly #timeouts;
  readonly #pluginCalls;
  readonly #keyed;

  constructor(instruments: Instruments) {
    this.#requests = instruments.counter('requests_total');
    this.#errors = instruments.counter('error_requests_total');
    this.#latency = instruments.histogram('request_latency_seconds');
    this.#inFlight = instruments.gauge('in_flight_requests');
    this.#timeouts = instruments.counter('request_timeouts_total');
    this.#keyed = instruments.counter('idempotency_requests_total');
    this.#pluginCalls = instruments.counter('plugin_calls_total');
  }

  /** Of a plugin that exists; other ids are not labels. */
  pluginCalled(pluginId: string, method: string, status: number): void {
    this.#pluginCalls.inc({ plugin_id: pluginId, method, status: String(status) });
  }

  /** A request came with an idempotency key. */
  keyed(result: string): void {
    this.#keyed.inc({ result });
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
