import type { Instruments } from './instruments.ts';
import { LateCounts } from './late-counts.ts';

/** Requests of the API, by route pattern. */
export class HttpCounts {
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
