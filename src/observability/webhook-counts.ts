import type { Instruments } from './instruments.ts';

/** Deliveries to the receivers of notifications. */
export class WebhookCounts {
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
