import { isDeepStrictEqual } from 'node:util';
import type { Chain } from '../../chains/chain.ts';
import type { BroadcastOutcome } from '../../chains/chain-client.ts';
import type { NetworkType } from '../../domain/network-type.ts';
import type { Attempt } from '../../features/transactions/records/attempt.ts';
import type { Decision, DecisionKind } from '../../features/transactions/records/timeline-decision.ts';
import type { Timestamp, Transaction, TransactionChange } from '../../features/transactions/records/transaction.ts';
import { isFinal, type TransactionStatus } from '../../features/transactions/records/transaction-state.ts';
import type { Log } from '../../observability/log.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { SpendingRaise, Store, StoreWriter } from '../../store/store.ts';
import type { ChangeFeed } from '../change-feed.ts';
import type { Outbox } from '../webhooks/outbox.ts';

/** A transaction that is signed, with every attempt, by ordinal. */
export interface OpenTransaction {
  transaction: Transaction;
  attempts: Attempt[];
}

/** A change of one transaction. It applies only while the status is the one in `transaction`. */
export interface LaneChange {
  transaction: Transaction;
  set: TransactionChange;
  /** An attempt that a node is now known to have. */
  accepted?: { ordinal: number; at: Timestamp; by?: string };
  /**
   * The transaction ends because an attempt executed on chain. A client's bytes that executed are never taken again.
   */
  isExecuted?: boolean;
  /** Another transaction that has to be final before this one is signed; stored with it. */
  first?: Transaction;
  /** Attempts that are proved dead. */
  died?: { ordinals: readonly number[]; at: Timestamp };
  /** The decision behind the change, for whoever asks why. */
  decision?: Omit<Decision, 'at'>;
  /** Position of the intent that the change carries out. */
  settles?: number;
}

/** A signed attempt and what its transaction becomes with it. */
export interface SignedAttempt extends Omit<LaneChange, 'accepted'> {
  attempt: Attempt;
  /** Whether the transaction is the engine's own and not stored yet. */
  isNew?: boolean;
  /** {@link import('../../chains/chain-client.ts').ReadyPreparation.remark} of the attempt. */
  remark?: string | undefined;
}

/** Why an attempt is not signed now. */
interface FeeRefusal {
  transactionId: string;
  reason: string;
}

export interface LedgerDeps {
  feed: ChangeFeed;
  metrics: Metrics;
  /** Takes the events that webhooks tell. */
  outbox: Outbox;
  chains: ReadonlyMap<NetworkType, Chain>;
  log: Log;
  /**
   * Called when the store may hold other transactions than the caller knows. Either a write failed and it is unknown
   * whether it was kept, or a transaction had another status than the caller's.
   */
  onDoubt(): void;
}

/** Decisions that an operator should look at. */
const REMARKABLE: ReadonlySet<DecisionKind> = new Set(['refused', 'gap-filled', 'reorganised', 'fallback']);

/** Decisions about nearly every transaction. They would fill the log. */
const ROUTINE: ReadonlySet<DecisionKind> = new Set(['mined']);

/** Decisions that webhooks tell although the status stays. */
const WEBHOOK_DECISIONS: ReadonlySet<DecisionKind> = new Set(['canceled', 'canceling', 'replaced', 'noop-signed']);

/**
 * The only way in which the engine changes transactions. Commits each change together with its webhook events, then
 * tells listeners.
 */
export class TransactionLedger {
  readonly #store: Pick<Store, 'write'>;
  readonly #deps: LedgerDeps;

  /** `store` may be the store itself, or a lease under which it is written to. */
  constructor(store: Pick<Store, 'write'>, deps: LedgerDeps) {
    this.#store = store;
    this.#deps = deps;
  }

  /**
   * Commits the changes together. Leaves out a change whose transaction has another status by now.
   * @returns the changed transactions as they are now, by id
   */
  async apply(changes: readonly LaneChange[]): Promise<Map<string, Transaction>> {
    if (changes.length === 0) {
      return new Map();
    }
    const done = await this.#applyMost(changes);
    const now = this.#tell(done);
    if (changes.some(({ transaction }) => !now.has(transaction.id))) this.#deps.onDoubt();
    return now;
  }

  /** @returns the changes that were applied */
  async #applyMost(changes: readonly LaneChange[], isApart = mayShare(changes)): Promise<readonly LaneChange[]> {
    try {
      return await this.#applyAll(changes, isApart);
    } catch (error) {
      if (error instanceof SharedBudget) return await this.#applyMost(changes, false);
      if (error instanceof StaleTransaction) return await this.#applyFitting(changes);
      throw error;
    }
  }

  /**
   * Asks for everything at once, which costs one round trip to PostgreSQL.
   * @throws StaleTransaction when a transaction has another status by now, SharedBudget: nothing was changed
   */
  async #applyAll(changes: readonly LaneChange[], isApart: boolean): Promise<readonly LaneChange[]> {
    return await this.#write(async (writer) => {
      const [isApplied] = await Promise.all([
        Promise.all(changes.map((change) => storeChange(writer, change))),
        this.#storeAround(writer, changes, isApart ? assertUnbudgeted : this.#settleSpending),
      ]);
      if (isApplied.includes(false)) throw new StaleTransaction();
      return changes;
    }, isApart);
  }

  async #applyFitting(changes: readonly LaneChange[]): Promise<readonly LaneChange[]> {
    return await this.#write(async (writer) => {
      const isApplied = await Promise.all(changes.map((change) => storeChange(writer, change)));
      const applied = changes.filter((_, index) => isApplied[index]);
      await this.#storeAround(writer, applied, this.#settleSpending);
      return applied;
    });
  }

  readonly #settleSpending: Settle = (writer, moved) => settleSpending(writer, moved, this.#deps.chains);

  /** Stores what goes with changes. */
  async #storeAround(writer: StoreWriter, changes: readonly LaneChange[], settle: Settle): Promise<void> {
    await Promise.all([
      ...changes.flatMap((change) => [
        change.first !== undefined && writer.insertTransaction(change.first),
        storeDecision(writer, change),
      ]),
      settleSequences(writer, changes),
      this.#deps.outbox.transactionsMoved(writer, forWebhooks(changes)),
      settle(writer, movedBy(changes)),
    ]);
  }

  /**
   * Commits signed attempts with the states they lead to, all or none: leaving one out would leave a gap in the
   * account's sequences below the others. The store refuses an attempt that could execute in addition to another
   * attempt of its transaction, whatever its chain family asked for.
   * @returns false when one of the transactions has another status by now: nothing was changed
   */
  async record(signed: readonly SignedAttempt[]): Promise<boolean> {
    try {
      await this.#write(async (writer) => {
        // The attempts refer to these.
        await Promise.all(
          signed.filter(({ isNew }) => isNew).map(({ transaction }) => writer.insertTransaction(transaction)),
        );
        // What is asked for at once costs one round trip to PostgreSQL.
        const [updated, ...others] = await Promise.allSettled([
          Promise.all(signed.map(({ transaction: { id, status }, set }) => writer.updateTransaction(id, status, set))),
          ...signed.flatMap((one) => [
            writer.insertAttempt(one.attempt),
            storeDecision(writer, one),
            one.remark !== undefined && writer.insertDecision(one.transaction.id, fallback(one.remark)),
          ]),
          this.#deps.outbox.transactionsMoved(writer, forWebhooks(signed)),
        ]);
        // Where a transaction has another status, its attempt may be refused as well.
        if (updated.status === 'fulfilled' && updated.value.includes(false)) throw new StaleTransaction();
        for (const one of [updated, ...others]) if (one.status === 'rejected') throw one.reason;
      }, mayShare(signed));
    } catch (error) {
      if (!(error instanceof StaleTransaction)) throw error;
      this.#deps.onDoubt();
      return false;
    }
    this.#tell(signed);
    for (const { transaction, attempt, remark } of signed) {
      if (remark !== undefined) this.#decided(transaction, fallback(remark));
      this.#deps.metrics.count('transaction_versions', { ...labelsOf(transaction), purpose: attempt.purpose });
    }
    return true;
  }

  /**
   * Reserves in plugins' budgets what attempts can take, before they are signed. Returns those that must not be signed.
   */
  async raise(asks: readonly SpendingRaise[]): Promise<FeeRefusal[]> {
    return await this.#write(async (writer) => {
      const refusals: FeeRefusal[] = [];
      for (const ask of asks) {
        const shortage = await writer.raiseSpending(ask);
        if (shortage === undefined) continue;
        const { rule, asked, limit, remaining, pluginId } = shortage;
        const reason = `Plugin ${pluginId} has ${remaining} left of ${rule} ${limit}, and the fee can be ${asked} more`;
        refusals.push({ transactionId: ask.transactionId, reason });
      }
      return refusals;
    });
  }

  /** Stores that intents cannot be carried out, and why. Their transactions stay as they are. */
  async refuse(intents: readonly { position: number; transactionId: string; refusal: string }[]): Promise<void> {
    if (intents.length === 0) return;
    await this.#write(async (writer) => {
      for (const { position, refusal } of intents) await writer.settleIntent(position, refusal);
    });
    for (const { transactionId } of intents) this.#deps.feed.notify(transactionId);
  }

  /** Keeps where the comparison of a lane's old transactions begins ({@link StoreWriter.putRestoredFrom}). */
  async keepRestoredFrom(lane: string, from: bigint | null | undefined): Promise<void> {
    await this.#write((writer) => writer.putRestoredFrom(lane, from));
  }

  /** Counts what nodes said of an attempt. */
  offered(transaction: Transaction, outcome: BroadcastOutcome['kind']): void {
    this.#deps.metrics.count('transaction_broadcasts', { ...labelsOf(transaction), outcome });
  }

  async #write<T>(body: (writer: StoreWriter) => Promise<T>, isApart = false): Promise<T> {
    try {
      return await this.#store.write(body, { isApart });
    } catch (error) {
      if (!(error instanceof Undone)) this.#deps.onDoubt();
      throw error;
    }
  }

  #tell(changes: readonly Omit<LaneChange, 'accepted'>[]): Map<string, Transaction> {
    const now = new Map<string, Transaction>();
    for (const { transaction, set, decision } of changes) {
      const { id, status } = transaction;
      now.set(id, { ...transaction, ...set });
      if (set.status !== undefined && set.status !== status) {
        this.#moved({ ...transaction, ...set }, status);
      }
      if (decision !== undefined) this.#decided(transaction, decision);
      this.#deps.feed.notify(id);
    }
    this.#deps.outbox.committed();
    return now;
  }

  #moved(moved: Transaction, from: TransactionStatus): void {
    const { log, metrics } = this.#deps;
    const { id: transaction, relayerId: relayer, status, statusReason: reason, hash } = moved;
    const labels = labelsOf(moved);
    metrics.count('transaction_transitions', { ...labels, from, to: status });
    if (status === 'submitted' && from === 'sent') metrics.count('transactions_submitted', labels);
    if (status === 'confirmed') metrics.count('transactions_confirmed', labels);
    if (status === 'failed' || status === 'expired' || status === 'canceled') {
      metrics.count('transactions_failed', { ...labels, failure_reason: status, previous_status: from });
    }
    if (status === 'submitted') log.info({ transaction, relayer, hash }, 'transaction submitted');
    else if (isFinal(status)) log.info({ transaction, relayer, status, hash, reason }, 'transaction ended');
  }

  #decided(transaction: Transaction, { kind, text }: Omit<Decision, 'at'>): void {
    const { id, lane } = transaction;
    this.#deps.metrics.count('transaction_decisions', { ...labelsOf(transaction), kind });
    const level = REMARKABLE.has(kind) ? 'warn' : ROUTINE.has(kind) ? 'debug' : 'info';
    this.#deps.log[level]({ transaction: id, lane, decision: kind, text }, 'transaction decided');
  }
}

function labelsOf({ relayerId, networkType }: Transaction) {
  return { relayer_id: relayerId, network_type: networkType };
}

function fallback(text: string): Omit<Decision, 'at'> {
  return { kind: 'fallback', text };
}

async function storeDecision(
  writer: StoreWriter,
  { transaction, decision, settles }: Omit<LaneChange, 'set'>,
): Promise<void> {
  await Promise.all([
    decision !== undefined && writer.insertDecision(transaction.id, decision),
    settles !== undefined && writer.settleIntent(settles, null),
  ]);
}

/** @returns false when the transaction has another status by now */
async function storeChange(writer: StoreWriter, change: LaneChange): Promise<boolean> {
  const { transaction, accepted, died } = change;
  const { id, status } = transaction;
  const [isChanged] = await Promise.all([
    writer.updateTransaction(id, status, { ...changedFields(change), ...freedKey(change) }),
    accepted !== undefined && writer.attemptAccepted(id, accepted.ordinal, accepted),
    ...(died?.ordinals ?? []).map((ordinal) => writer.attemptDied(id, ordinal, died?.at ?? 0)),
  ]);
  return isChanged;
}

/**
 * Leaves out a hash and fields that the transaction has already. Each look at the chain finds them again, and nobody
 * needs to be told.
 */
function changedFields({ transaction, set }: Pick<LaneChange, 'transaction' | 'set'>): TransactionChange {
  const { hash, fields, ...others } = set;
  const isSameHash = hash === transaction.hash && (set.status ?? transaction.status) === transaction.status;
  return {
    ...others,
    ...(hash === undefined || isSameHash ? {} : { hash }),
    ...(fields === undefined || isDeepStrictEqual(fields, transaction.fields) ? {} : { fields }),
  };
}

/** Frees the bytes of a transaction that ended without executing: they may be posted once more. */
function freedKey({ transaction, set, isExecuted = false }: LaneChange): Pick<TransactionChange, 'contentKey'> {
  const isVain = set.status !== undefined && isFinal(set.status) && !isExecuted;
  return isVain && transaction.contentKey !== null ? { contentKey: null } : {};
}

/** Stores the highest sequence that final transactions have used in each lane. */
async function settleSequences(writer: StoreWriter, changes: readonly LaneChange[]): Promise<void> {
  const highest = new Map<string, bigint>();
  for (const { lane, status, sequence } of movedBy(changes)) {
    if (isFinal(status) && sequence !== null && sequence >= (highest.get(lane) ?? 0n)) highest.set(lane, sequence);
  }
  await Promise.all([...highest].map(([lane, sequence]) => writer.settleSequence(lane, sequence)));
}

/** Records in plugins' budgets what transactions that are final now really took. */
async function settleSpending(
  writer: StoreWriter,
  transactions: readonly Transaction[],
  chains: ReadonlyMap<NetworkType, Chain>,
): Promise<void> {
  const ended = transactions.flatMap((transaction) => {
    const spent = chains.get(transaction.networkType)?.spending?.spentBy(transaction);
    return spent === undefined || !isFinal(transaction.status) ? [] : [{ ...spent, transactionId: transaction.id }];
  });
  if (ended.length > 0) await writer.settleSpending(ended);
}

/** The transactions whose status changes, as they are after the change. */
function movedBy(changes: readonly Pick<LaneChange, 'transaction' | 'set'>[]): Transaction[] {
  return changes
    .filter(({ transaction, set }) => set.status !== undefined && set.status !== transaction.status)
    .map(({ transaction, set }) => ({ ...transaction, ...set }));
}

/** The transactions that webhooks tell of, as they are after the change. */
function forWebhooks(changes: readonly Pick<LaneChange, 'transaction' | 'set' | 'decision'>[]): Transaction[] {
  return changes
    .filter(
      ({ transaction, set, decision }) =>
        (set.status !== undefined && set.status !== transaction.status) ||
        (decision !== undefined && WEBHOOK_DECISIONS.has(decision.kind)),
    )
    .map(({ transaction, set }) => ({ ...transaction, ...set }));
}

/** More changes are a commit of their own: others would wait for it. */
const MAX_SHARED = 16;

/** Whether changes may share a commit with those of other lanes. What a plugin sent may have a budget to settle. */
function mayShare(changes: readonly Pick<LaneChange, 'transaction' | 'set'>[]): boolean {
  const isApart = ({ transaction, set }: Pick<LaneChange, 'transaction' | 'set'>) =>
    set.status === undefined || !isFinal(set.status) || transaction.origin === null;
  return changes.length <= MAX_SHARED && changes.every(isApart);
}

/** Settles what transactions that have moved took from budgets. */
type Settle = (writer: StoreWriter, moved: readonly Transaction[]) => Promise<void>;

/** @throws SharedBudget when a transaction that ended has a budget: lanes that share a commit cannot both settle one */
async function assertUnbudgeted(writer: StoreWriter, moved: readonly Transaction[]): Promise<void> {
  const ended = moved.filter(({ status }) => isFinal(status)).map(({ id }) => id);
  if (ended.length > 0 && (await writer.budgeted(ended)).size > 0) throw new SharedBudget();
}

/** Undoes a commit that is to be tried in another way. */
class Undone extends Error {}

/** A transaction has another status than expected. */
class StaleTransaction extends Undone {}

/** Several lanes may share the budget. */
class SharedBudget extends Undone {}
