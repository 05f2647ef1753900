import type { Instruments } from './instruments.ts';

/** How the store is, and what becomes of writes. */
export class StoreCounts {
  readonly #healthy;
  readonly #seconds;
  /** Why the latest write could not be written; undefined once one was. */
  writeFailure: string | undefined;

  constructor(instruments: Instruments) {
    this.#healthy = instruments.gauge('isolayer_store_healthy');
    this.#seconds = instruments.histogram('isolayer_store_write_duration_seconds');
    // Of a series that begins with its first failure Prometheus sees no increase.
    this.#seconds.zero({ outcome: 'failed' });
  }

  /** Whether the store answers and takes writes, as far as it says so itself. */
  stands(healthy: boolean): void {
    this.#healthy.set(healthy ? 1 : 0);
  }

  /** `failure` says why one could not be written. */
  wrote(outcome: string, seconds: number, failure?: string): void {
    this.#seconds.observe({ outcome }, seconds);
    // What was undone says nothing of the disk.
    if (outcome !== 'undone') this.writeFailure = failure;
  }
}
