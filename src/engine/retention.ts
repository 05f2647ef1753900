import { EndablePause } from '../domain/endable-pause.ts';
import { IDEMPOTENCY_KEEP_MS } from '../domain/idempotency.ts';
import type { Timestamp } from '../features/transactions/records/transaction.ts';
import type { Log } from '../observability/log.ts';
import type { Store, StoreWriter } from '../store/store.ts';
import { type HeldLease, LeaseRegistry } from './lease-registry.ts';

/** The pace of the pruning. Times are in milliseconds. */
export interface RetentionTiming {
  /** From one round to the next. */
  everyMs: number;
  /** Records that one commit deletes: few, because other writers wait during the commit. */
  batch: number;
  /** The pause between two batches, in which others can write. */
  restMs: number;
}

/** More than two clocks drift apart within a day while nobody sets either. */
const MAX_DRIFT_MS = 60_000;
/** How long the events of transactions are kept, for those who follow them. */
const EVENTS_KEEP_MS = 3_600_000;
/** Events of transactions that one commit deletes for each other record. They are found and deleted as one range. */
const EVENTS_PER_RECORD = 10;
const MAX_EVERY_MS = 600_000;
const MIN_EVERY_MS = 1_000;

/** How long a delivery of a webhook is known, so that it calls a plugin once. */
const DELIVERIES_KEEP_MS = 7 * 86_400_000;

/** How long an operator has time to see which events could not be delivered, and to have them delivered. */
export const DEAD_EVENTS_KEEP_MS = 30 * 86_400_000;

/** The pace for a given age: ten minutes, or a tenth of the age when that is shorter. */
export function retentionTiming(keepMs: number): RetentionTiming {
  const everyMs = Math.min(Math.max(keepMs / 10, MIN_EVERY_MS), MAX_EVERY_MS);
  return { everyMs, batch: 50, restMs: 20 };
}

export interface RetentionDeps {
  store: Store;
  /** The age at which final transactions and ended webhook events go, in milliseconds. */
  keepMs: number;
  /** The age at which the audit's records of transactions go, in milliseconds. */
  keepAuditMs: number;
  /** The age at which ended durable calls go, in milliseconds. */
  keepCallsMs: number;
  /** On a clock that never goes back, in milliseconds. */
  elapsed(): number;
  log: Log;
  timing?: RetentionTiming;
}

/**
 * Deletes in small batches what nobody asks for any more: ended durable calls, idempotency keys whose time is over,
 * transactions that became final long ago and that no key names, events of transactions older than an hour, webhook
 * events that ended long ago, old audit records of transactions, deliveries of webhooks, and expired values of plugins.
 * One instance of those on a store does it.
 */
export class Retention {
  readonly #deps: RetentionDeps;
  readonly #timing: RetentionTiming;
  readonly #leases: LeaseRegistry;
  readonly #pause = new EndablePause();
  /**
   * How far the store's clock was ahead of the one that nobody sets, within the last day. Only the smallest lead
   * counts, so a lead is dropped when a later one is smaller. The list therefore rises.
   */
  #leads: { at: number; ms: number }[] = [];
  #running: Promise<void> | null = null;
  #closed = false;

  constructor(deps: RetentionDeps) {
    const { store, keepMs, elapsed, log } = deps;
    this.#deps = deps;
    this.#timing = deps.timing ?? retentionTiming(keepMs);
    this.#leases = new LeaseRegistry({ store, elapsed, log });
  }

  /** Starts the rounds. The first one comes after a pause, so that it does not slow the start. */
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
   * The store's time, as far as the clock that nobody sets confirms it. A step ahead of the store's clock counts only
   * after it has lasted a day, because a deletion cannot be undone.
   */
  async #provedNow(): Promise<{ now: Timestamp; isDoubted: boolean }> {
    const { store, elapsed } = this.#deps;
    const storeNow = await store.now();
    const at = elapsed();
    const latest = { at, ms: storeNow - at };
    const earlier = this.#leads.filter((lead) => at - lead.at < IDEMPOTENCY_KEEP_MS && lead.ms < latest.ms);
    this.#leads = [...earlier, latest];
    const now = Math.floor(at + (earlier[0] ?? latest).ms);
    return { now, isDoubted: storeNow - now > MAX_DRIFT_MS };
  }

  async #round(lease: HeldLease): Promise<void> {
    const { keepMs, keepAuditMs, keepCallsMs, log } = this.#deps;
    const { now, isDoubted } = await this.#provedNow();
    const before = now - keepMs;
    const ended = { others: before, dead: now - Math.max(keepMs, DEAD_EVENTS_KEEP_MS) };
    // A key stays as long as its call, and a version as long as a call or a key may need it.
    const calls = await this.#inBatches(lease, (writer, limit) => writer.pruneCalls(now - keepCallsMs, limit));
    const unused = now - 2 * IDEMPOTENCY_KEEP_MS;
    await this.#inBatches(lease, (writer, limit) => writer.pruneBundles(unused, limit));
    // Keys go first: a transaction stays as long as the key that names it.
    const unkeyed = now - IDEMPOTENCY_KEEP_MS;
    const keys = await this.#inBatches(lease, (writer, limit) => writer.pruneKeys(unkeyed, limit));
    const transactions = await this.#inBatches(lease, (writer, limit) => writer.pruneTransactions(before, limit));
    const events = await this.#inBatches(lease, (writer, limit) => writer.pruneOutbox(ended, limit));
    const eventsBefore = Math.max(before, now - EVENTS_KEEP_MS);
    await this.#inBatches(lease, (writer, limit) =>
      writer.pruneTransactionEvents(eventsBefore, limit * EVENTS_PER_RECORD),
    );
    const audited = await this.#inBatches(lease, (writer, limit) => writer.pruneAudit(now - keepAuditMs, limit));
    const deliveriesBefore = now - DELIVERIES_KEEP_MS;
    await this.#inBatches(lease, (writer, limit) => writer.pruneTriggerDeliveries(deliveriesBefore, limit));
    // The store judges these values by its own clock alone, so none is deleted while that clock is in doubt.
    const values = isDoubted ? 0 : await this.#inBatches(lease, (writer, limit) => writer.kvPrune(limit));
    if (transactions + events + values + keys + calls + audited > 0) {
      log.info({ transactions, events, values, keys, calls, audited }, 'ended records were deleted');
    }
  }

  async #inBatches(lease: HeldLease, prune: (writer: StoreWriter, limit: number) => Promise<number>): Promise<number> {
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
