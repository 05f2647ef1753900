import type { Instruments } from './instruments.ts';

/** How the store is, and what becomes of writes. */
export class StoreCounts {
  readonly #healthy;
  readonly #seconds;

  constructor(instruments: Instruments) {
    this.#healthy = instruments.gauge('store_healthy');
    this.#seconds = instruments.histogram('store_write_seconds');
    // Of a series that begins with its first failure Prometheus sees no increase.
    this.#seconds.zero({ outcome: 'failed' });
  }

  /** Whether the store answers and takes writes, as far as it says so itself. */
  stands(healthy: boolean): void {
    this.#healthy.set(healthy ? 1 : 0);
  }

  wrote(outcome: string, seconds: number): void {
    this.#seconds.observe({ outcome }, seconds);
  }
}
