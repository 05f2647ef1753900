import { IDEMPOTENCY_KEEP_MS } from '../domain/idempotency.ts';
import type { Log } from '../observability/log.ts';
import type { Store, Writer } from '../store/store.ts';
import { type HeldLease, LeaseKeeper } from './lease-keeper.ts';
import { Pause } from './pause.ts';

/** The pace of the pruning. Times are in milliseconds. */
export interface RetentionTiming {
  /** From one round to the next. */
  everyMs: number;
  /** Records that one commit deletes: few, because others wait for the writer meanwhile. */
  batch: number;
  /** Between two batches, so that others come to write. */
  restMs: number;
}

const LONGEST_EVERY_MS = 600_000;
const SHORTEST_EVERY_MS = 1_000;

/** The pace for a given age: ten minutes, or a tenth of the age when that is shorter. */
export function retentionTiming(keepMs: number): RetentionTiming {
  const everyMs = Math.min(Math.max(keepMs / 10, SHORTEST_EVERY_MS), LONGEST_EVERY_MS);
  return { everyMs, batch: 50, restMs: 20 };
}

export interface RetentionDeps {
  store: Store;
  /** The age at which final transactions and ended webhook events go, in milliseconds. */
  keepMs: number;
  /** On a clock that never goes back, in milliseconds. */
  elapsed(): number;
  log: Log;
  timing?: RetentionTiming;
}

/**
 * Deletes in small batches what nobody asks for any more: idempotency keys whose time is over, transactions that became
 * final long ago and are named by no key, webhook events that ended long ago, expired values of plugins. One instance of
 * those on a store does it.
 */
export class Retention {
  readonly #deps: RetentionDeps;
  readonly #timing: RetentionTiming;
  readonly #leases: LeaseKeeper;
  readonly #pause = new Pause();
  #running: Promise<void> | null = null;
  #closed = false;

  constructor(deps: RetentionDeps) {
    const { store, keepMs, elapsed, log } = deps;
    this.#deps = deps;
    this.#timing = deps.timing ?? retentionTiming(keepMs);
    this.#leases = new LeaseKeeper({ store, elapsed, log });
  }

  /** The first round comes after the first pause: a start has better things to do. */
  start(): void {
    if (!this.#closed) this.#running ??= this.#run();
  }

  /** Ends after the batch under way. Safe to call twice. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#pause.end();
    await this.#running;
    await this.#leases.close();
  }

  async #run(): Promise<void> {
    for (;;) {
      await this.#pause.last(this.#timing.everyMs);
      if (this.#closed) return;
      try {
        const lease = await this.#leases.hold('retention');
        if (lease === undefined) continue;
        await this.#round(lease);
        await lease.release();
      } catch (error) {
        this.#deps.log.error({ err: error }, 'pruning failed');
      }
    }
  }

  async #round(lease: HeldLease): Promise<void> {
    const { store, keepMs, log } = this.#deps;
    const now = await store.now();
    const before = now - keepMs;
    // First, for a transaction stays as long as the key that names it.
    const unkeyed = now - IDEMPOTENCY_KEEP_MS;
    const keys = await this.#inBatches(lease, (writer, limit) => writer.pruneKeys(unkeyed, limit));
    const transactions = await this.#inBatches(lease, (writer, limit) => writer.pruneTransactions(before, limit));
    const events = await this.#inBatches(lease, (writer, limit) => writer.pruneOutbox(before, limit));
    const values = await this.#inBatches(lease, (writer, limit) => writer.kvPrune(limit));
    if (transactions + events + values + keys > 0) {
      log.info({ transactions, events, values, keys }, 'pruned what had ended');
    }
  }

  async #inBatches(lease: HeldLease, prune: (writer: Writer, limit: number) => Promise<number>): Promise<number> {
    const { batch, restMs } = this.#timing;
    let pruned = 0;
    while (!this.#closed) {
      const count = await lease.write((writer) => prune(writer, batch));
      pruned += count;
      if (count < batch) break;
      await this.#pause.last(restMs);
    }
    return pruned;
  }
}
