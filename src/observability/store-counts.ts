import type { Instruments } from './instruments.ts';

/** The health of the store, and the outcomes of writes. */
export class StoreCounts {
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
