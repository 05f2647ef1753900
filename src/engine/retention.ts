import { IDEMPOTENCY_KEEP_MS } from '../domain/idempotency.ts';
import type { Timestamp } from '../domain/transaction/transaction.ts';
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

/** What two clocks drift apart within a day while nobody sets either, and more. */
const MOST_DRIFT_MS = 60_000;
/** How long what became of transactions can be followed from. */
const TOLD_MS = 3_600_000;
/** How many of these one commit deletes for each other record: they are found and deleted as one range. */
const TOLD_PER_RECORD = 10;
const LONGEST_EVERY_MS = 600_000;
const SHORTEST_EVERY_MS = 1_000;

/** So long an operator may come to see what could not be delivered, and have it delivered. */
export const DEAD_EVENTS_KEEP_MS = 30 * 86_400_000;

/** The pace for a given age: ten minutes, or a tenth of the age when that is shorter. */
export function retentionTiming(keepMs: number): RetentionTiming {
  const everyMs = Math.min(Math.max(keepMs / 10, SHORTEST_EVERY_MS), LONGEST_EVERY_MS);
  return { everyMs, batch: 50, restMs: 20 };
}

export interface RetentionDeps {
  store: Store;
  /** The age at which final transactions and ended webhook events go, in milliseconds. */
  keepMs: number;
  /** The same of what the audit has of transactions. */
  keepAuditMs: number;
  /** On a clock that never goes back, in milliseconds. */
  elapsed(): number;
  log: Log;
  timing?: RetentionTiming;
}

/**
 * Deletes in small batches what nobody asks for any more: idempotency keys whose time is over, transactions that became
 * final long ago and are named by no key, what was told of them over an hour ago, webhook events that ended long ago,
 * expired values of plugins. One instance of those on a store does it.
 */
export class Retention {
  readonly #deps: RetentionDeps;
  readonly #timing: RetentionTiming;
  readonly #leases: LeaseKeeper;
  readonly #pause = new Pause();
  /**
   * How far the store's clock was ahead of the one that nobody sets, within the last day. Only the least counts, so one
   * that a later one undercuts is dropped: they rise.
   */
  #leads: { at: number; ms: number }[] = [];
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
    await this.#provedNow().catch(() => undefined);
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

  /**
   * The store's time as far as a clock that nobody sets bears it out, for what is deleted is gone for good: a step ahead
   * counts once it has lasted a day.
   */
  async #provedNow(): Promise<{ now: Timestamp; isDoubted: boolean }> {
    const { store, elapsed } = this.#deps;
    const told = await store.now();
    const at = elapsed();
    const latest = { at, ms: told - at };
    const earlier = this.#leads.filter((lead) => at - lead.at < IDEMPOTENCY_KEEP_MS && lead.ms < latest.ms);
    this.#leads = [...earlier, latest];
    const now = Math.floor(at + (earlier[0] ?? latest).ms);
    return { now, isDoubted: told - now > MOST_DRIFT_MS };
  }

  async #round(lease: HeldLease): Promise<void> {
    const { keepMs, keepAuditMs, log } = this.#deps;
    const { now, isDoubted } = await this.#provedNow();
    const before = now - keepMs;
    const ended = { others: before, dead: now - Math.max(keepMs, DEAD_EVENTS_KEEP_MS) };
    // First, for a transaction stays as long as the key that names it.
    const unkeyed = now - IDEMPOTENCY_KEEP_MS;
    const keys = await this.#inBatches(lease, (writer, limit) => writer.pruneKeys(unkeyed, limit));
    const transactions = await this.#inBatches(lease, (writer, limit) => writer.pruneTransactions(before, limit));
    const events = await this.#inBatches(lease, (writer, limit) => writer.pruneOutbox(ended, limit));
    const told = Math.max(before, now - TOLD_MS);
    await this.#inBatches(lease, (writer, limit) => writer.pruneTransactionEvents(told, limit * TOLD_PER_RECORD));
    const audited = await this.#inBatches(lease, (writer, limit) => writer.pruneAudit(now - keepAuditMs, limit));
    // The store judges these by its clock alone.
    const values = isDoubted ? 0 : await this.#inBatches(lease, (writer, limit) => writer.kvPrune(limit));
    if (transactions + events + values + keys + audited > 0) {
      log.info({ transactions, events, values, keys, audited }, 'pruned what had ended');
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
