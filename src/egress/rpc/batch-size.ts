import type { Clock } from '../../domain/clock.ts';

/**
 * How many calls one endpoint takes in a request: as many as we ever send until it refuses, then fewer or one. A
 * refusal is forgotten after a while, because plans and gateways change.
 */
export interface BatchSize {
  /** Calls that may share a request now, at least 1. */
  readonly most: number;
  /** Whether the endpoint has answered a batch as it should. */
  readonly isProven: boolean;
  answered(): void;
  /**
   * Notes that the endpoint refused a batch of so many calls. `size`: for their number. `batch`: because it was a
   * batch.
   */
  refused(calls: number, reason: 'size' | 'batch'): void;
}

/** More calls in one request would keep the first answer waiting for the last. */
export const MAX_BATCH = 100;
const MEMORY_MS = 10 * 60_000;

/** Starts by believing that the endpoint takes batches, as JSON-RPC 2.0 section 6 asks. */
export function createBatchSize(clock: Clock): BatchSize {
  let learned = MAX_BATCH;
  let learnedAt = 0;
  let isProven = false;
  return {
    get most() {
      if (learned < MAX_BATCH && clock.elapsed() - learnedAt >= MEMORY_MS) learned = MAX_BATCH;
      return learned;
    },
    get isProven() {
      return isProven;
    },
    answered() {
      isProven = true;
    },
    refused(calls, reason) {
      learned = reason === 'batch' ? 1 : Math.max(1, Math.min(learned, Math.floor(calls / 2)));
      learnedAt = clock.elapsed();
    },
  };
}
