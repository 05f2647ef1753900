import { isDeepStrictEqual } from 'node:util';
import type { BroadcastOutcome } from '../../chains/chain-client.ts';
import type { Attempt } from '../../domain/transaction/attempt.ts';
import type { Decision, DecisionKind } from '../../domain/transaction/decision.ts';
import type { Timestamp, Transaction } from '../../domain/transaction/transaction.ts';
import { isFinal } from '../../domain/transaction/transaction-state.ts';
import type { Log } from '../../observability/log.ts';
import type { SpendingRaise, Store, TransactionChange, Writer } from '../../store/store.ts';
import type { ChangeFeed } from '../change-feed.ts';
import type { EngineMetrics } from '../engine-metrics.ts';
import type { Outbox } from '../webhooks/outbox.ts';
import type { FeeRefusal, SpendingBook } from './attempts/spending-book.ts';

/** A transaction that is signed, with every attempt, by ordinal. */
export interface OpenEntry {
  transaction: Transaction;
  attempts: Attempt[];
}

/** A change of one transaction, against the status that was seen. */
export interface Change {
  transaction: Transaction;
  set: TransactionChange;
  /** An attempt that a node is now known to have. */
  accepted?: { ordinal: number; at: Timestamp; by?: string };
  /** It ends as what an attempt did on chain: bytes of a client that did it are never taken again. */
  isExecuted?: boolean;
  /** Another transaction that has to be final before this one is signed; stored with it. */
  first?: Transaction;
  /** Attempts that are proved dead. */
  died?: { ordinals: readonly number[]; at: Timestamp };
  /** What was decided with it, for whoever asks why. */
  decision?: Omit<Decision, 'at'>;
  /** The intent that was carried out with it. */
  settles?: number;
}

/** A signed attempt and what its transaction becomes with it. */
export interface SignedAttempt extends Omit<Change, 'accepted'> {
  attempt: Attempt;
  /** Whether the transaction is the engine's own and not stored yet. */
  isNew?: boolean;
}

export interface LedgerDeps {
  feed: ChangeFeed;
  metrics: EngineMetrics;
  /** Takes the events that webhooks tell. */
  outbox: Outbox;
  spending: SpendingBook;
  log: Log;
  /**
   * Called when a write ended in an error, after which nobody knows whether it was kept, or met another state than the
   * caller's. What the caller knows of the transactions may not be what is stored.
   */
  onDoubt(): void;
}

/** What an operator should look at. */
const REMARKABLE: ReadonlySet<DecisionKind> = new Set(['refused', 'gap-filled', 'reorganised']);

/** What becomes of nearly every transaction, so that the log would hold little else. */
const ROUTINE: ReadonlySet<DecisionKind> = new Set(['mined']);

/** What webhooks tell although the status stays. */
const TOLD: ReadonlySet<DecisionKind> = new Set(['canceled', 'replaced', 'noop-signed']);

/** The one way in which the engine changes transactions: commit with the events for webhooks, then tell. */
export class Ledger {
  readonly #store: Pick<Store, 'write'>;
  readonly #deps: LedgerDeps;

  /** `store` may be the store itself, or a lease that its writes are under. */
  constructor(store: Pick<Store, 'write'>, deps: LedgerDeps) {
    this.#store = store;
    this.#deps = deps;
  }

  /**
   * Commits the changes together. One whose transaction has another status by now is left out.
   * @returns the changed transactions as they are now, by id
   */
  async apply(changes: readonly Change[]): Promise<Map<string, Transaction>> {
    if (changes.length === 0) {
      return new Map();
    }
    const done = await this.#write(async (writer) => {
      const applied: Change[] = [];
      for (const change of changes) {
        const { transaction, accepted, died, first } = change;
        if (
          await writer.updateTransaction(transaction.id, transaction.status, { ...news(change), ...freedKey(change) })
        ) {
          applied.push(change);
          if (first !== undefined) await writer.insertTransaction(first);
          await note(writer, change);
        }
        if (accepted !== undefined) {
          await writer.attemptAccepted(transaction.id, accepted.ordinal, accepted);
        }
        for (const ordinal of died?.ordinals ?? []) await writer.attemptDied(transaction.id, ordinal, died?.at ?? 0);
      }
      await settleSequences(writer, applied);
      await this.#deps.outbox.transactionsMoved(writer, toldBy(applied));
      await this.#deps.spending.moved(writer, movedBy(applied));
      return applied;
    });
    const now = this.#tell(done);
    if (changes.some(({ transaction }) => !now.has(transaction.id))) this.#deps.onDoubt();
    return now;
  }

  /**
   * Commits signed attempts with the states they lead to, all or none: one that is left out would leave a gap in the
   * account's sequence below those that follow it. The store refuses an attempt that could execute besides another one
   * of its transaction, whatever its family asked for.
   * @returns false when one of the transactions has another status by now: nothing was changed
   */
  async record(signed: readonly SignedAttempt[]): Promise<boolean> {
    try {
      await this.#write(async (writer) => {
        for (const one of signed) {
          const { transaction, set, attempt, isNew = false } = one;
          if (isNew) await writer.insertTransaction(transaction);
          if (!(await writer.updateTransaction(transaction.id, transaction.status, set))) {
            throw new StaleTransaction();
          }
          await writer.insertAttempt(attempt);
          await note(writer, one);
        }
        await this.#deps.outbox.transactionsMoved(writer, toldBy(signed));
      });
    } catch (error) {
      if (error instanceof StaleTransaction) {
        return false;
      }
      throw error;
    }
    this.#tell(signed);
    for (const { transaction, attempt } of signed) {
      const { networkType, relayerId } = transaction;
      this.#deps.metrics.signed({ networkType, relayerId, purpose: attempt.purpose });
    }
    return true;
  }

  /** Reserves what attempts can take of plugins' budgets, before they are signed; names those that must not be. */
  async raise(asks: readonly SpendingRaise[]): Promise<FeeRefusal[]> {
    return await this.#write((writer) => this.#deps.spending.raise(writer, asks));
  }

  /** Notes that an intent cannot be carried out, and why; its transaction stays what it is. */
  async refuse(intents: readonly { position: number; transactionId: string; refusal: string }[]): Promise<void> {
    if (intents.length === 0) return;
    await this.#write(async (writer) => {
      for (const { position, refusal } of intents) await writer.settleIntent(position, refusal);
    });
    for (const { transactionId } of intents) this.#deps.feed.tell(transactionId);
  }

  /** Counts what nodes said of an attempt. */
  offered({ networkType, relayerId }: Transaction, outcome: BroadcastOutcome['kind']): void {
    this.#deps.metrics.offered({ networkType, relayerId, outcome });
  }

  async #write<T>(body: (writer: Writer) => Promise<T>): Promise<T> {
    try {
      return await this.#store.write(body);
    } catch (error) {
      this.#deps.onDoubt();
      throw error;
    }
  }

  #tell(changes: readonly Omit<Change, 'accepted'>[]): Map<string, Transaction> {
    const now = new Map<string, Transaction>();
    for (const { transaction, set, decision } of changes) {
      const { id, networkType, relayerId, status } = transaction;
      now.set(id, { ...transaction, ...set });
      if (set.status !== undefined && set.status !== status) {
        this.#deps.metrics.moved({ networkType, relayerId, from: status, to: set.status });
        this.#moved({ ...transaction, ...set });
      }
      if (decision !== undefined) this.#decided(transaction, decision);
      this.#deps.feed.tell(id);
    }
    this.#deps.outbox.committed();
    return now;
  }

  #moved({ id: transaction, relayerId: relayer, status, statusReason: reason, hash }: Transaction): void {
    const { log } = this.#deps;
    if (status === 'submitted') log.info({ transaction, relayer, hash }, 'transaction submitted');
    else if (isFinal(status)) log.info({ transaction, relayer, status, hash, reason }, 'transaction ended');
  }

  #decided({ id, networkType, relayerId, lane }: Transaction, { kind, text }: Omit<Decision, 'at'>): void {
    this.#deps.metrics.decided({ networkType, relayerId, kind });
    const level = REMARKABLE.has(kind) ? 'warn' : ROUTINE.has(kind) ? 'debug' : 'info';
    this.#deps.log[level]({ transaction: id, lane, decision: kind, text }, 'transaction decided');
  }
}

async function note(writer: Writer, { transaction, decision, settles }: Omit<Change, 'set'>): Promise<void> {
  if (decision !== undefined) await writer.insertDecision(transaction.id, decision);
  if (settles !== undefined) await writer.settleIntent(settles, null);
}

/** Without a hash and fields that it has already: each look finds those, and nobody need be told. */
function news({ transaction, set }: Pick<Change, 'transaction' | 'set'>): TransactionChange {
  const { hash, fields, ...others } = set;
  const isSameHash = hash === transaction.hash && (set.status ?? transaction.status) === transaction.status;
  return {
    ...others,
    ...(hash === undefined || isSameHash ? {} : { hash }),
    ...(fields === undefined || isDeepStrictEqual(fields, transaction.fields) ? {} : { fields }),
  };
}

/** What has ended in vain gives its bytes back: they may be posted once more. */
function freedKey({ transaction, set, isExecuted = false }: Change): Pick<TransactionChange, 'contentKey'> {
  const isVain = set.status !== undefined && isFinal(set.status) && !isExecuted;
  return isVain && transaction.contentKey !== null ? { contentKey: null } : {};
}

/** What a final transaction has used is used for good. */
async function settleSequences(writer: Writer, changes: readonly Change[]): Promise<void> {
  const highest = new Map<string, bigint>();
  for (const { lane, status, sequence } of movedBy(changes)) {
    if (isFinal(status) && sequence !== null && sequence >= (highest.get(lane) ?? 0n)) highest.set(lane, sequence);
  }
  for (const [lane, sequence] of highest) await writer.settleSequence(lane, sequence);
}

/** Those that have another status now, as they are now. */
function movedBy(changes: readonly Pick<Change, 'transaction' | 'set'>[]): Transaction[] {
  return changes
    .filter(({ transaction, set }) => set.status !== undefined && set.status !== transaction.status)
    .map(({ transaction, set }) => ({ ...transaction, ...set }));
}

/** Those whose webhook is due, as they are now. */
function toldBy(changes: readonly Pick<Change, 'transaction' | 'set' | 'decision'>[]): Transaction[] {
  return changes
    .filter(
      ({ transaction, set, decision }) =>
        (set.status !== undefined && set.status !== transaction.status) ||
        (decision !== undefined && TOLD.has(decision.kind)),
    )
    .map(({ transaction, set }) => ({ ...transaction, ...set }));
}

/** Undoes a commit whose transactions are no longer what they were. */
class StaleTransaction extends Error {}
