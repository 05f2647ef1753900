import type { Chain } from '../../chains/chain.ts';
import type { ChainClient, ChainHead } from '../../chains/chain-client.ts';
import type { Attempt } from '../../features/transactions/records/attempt.ts';
import { chainOfLane } from '../../features/transactions/records/lane.ts';
import type { Timestamp, Transaction } from '../../features/transactions/records/transaction.ts';
import { isFinal } from '../../features/transactions/records/transaction-state.ts';
import type { Log } from '../../observability/log.ts';
import type { StoreReader } from '../../store/store.ts';
import type { EngineTiming } from '../timing.ts';
import { type Moment, unmined } from './decide.ts';
import type { LaneMemory } from './lane-memory.ts';
import type { LaneChange, OpenTransaction, TransactionLedger } from './ledger.ts';
import type { OpenTransactions } from './open-transactions.ts';
import type { Sender, Senders } from './sender.ts';

/**
 * The moments in a transaction's life, in their usual order. Something lasting happens between each two. When the
 * process ends at any of them, no accepted transaction may be lost or doubled.
 */
export const CRASH_POINTS = [
  /** The lane has found the transaction. */
  'found',
  /** Its price is known; nothing is stored yet. */
  'priced',
  /** Its sequence is chosen, nothing signed. */
  'reserved',
  /** Signed bytes exist in memory only. */
  'signed',
  /** The bytes are on disk; no node has them. */
  'written',
  /** A node has answered; the answer is not on disk. */
  'offered',
  /** What nodes answered is on disk. */
  'noted',
  /** An intent of the client was read and is not yet carried out. */
  'intent-read',
  /** A further attempt is signed, in memory only. */
  'further-signed',
  /** A further attempt is on disk; no node has it. */
  'further-written',
  /** The chain was asked; what it showed is not on disk. */
  'observed',
  /** What the chain showed is on disk. */
  'settled',
] as const;

export type CrashPoint = (typeof CRASH_POINTS)[number];

/** What one step of a lane works with. */
export interface LaneStep {
  readonly key: string;
  readonly chain: Chain;
  readonly ledger: TransactionLedger;
  readonly read: LaneReads;
  readonly senders: Senders;
  /** The lane's open transactions. Each part of the step keeps them current. */
  readonly open: OpenTransactions;
  readonly memory: LaneMemory;
  readonly clock: StepClock;
  readonly life: StepLife;
  /** A new id (`domain/id.ts`). */
  newId(): string;
  /** The chain family's pace; the engine's for values that the family does not set. */
  readonly timing: EngineTiming;
  readonly log: Log;
}

/** The reads with which a lane asks the store for what it does not keep in memory. */
export type LaneReads = Pick<
  StoreReader,
  | 'attempts'
  | 'budgeted'
  | 'chainIdentity'
  | 'children'
  | 'pendingUpTo'
  | 'pendingIdsUpTo'
  | 'transactionByHash'
  | 'transactionOfLane'
>;

/** What time it is. */
export interface StepClock {
  /** By the store's clock. */
  now(): Timestamp;
  /** On a clock that never goes back, in milliseconds. */
  elapsed(): number;
  /** When the chain's latest block was made, from a recent answer; undefined when no node tells. */
  chainTime(ask: () => Promise<ChainHead>): Promise<Timestamp | undefined>;
  /** In [0, 1): how much is taken off a pause, so that not all end together. */
  random(): number;
}

/** Whether the step goes on. */
export interface StepLife {
  /**
   * Whether the step must begin and offer nothing more: the engine is to end, another instance may have the lane by
   * now, or `open` may not match the store.
   */
  isEnding(): boolean;
  /** Notes that `open` may not match the store. The step ends, and the next one reads the open transactions again. */
  distrust(): void;
  /** Called at each moment of a transaction's life. */
  onCheckpoint(moment: CrashPoint): void;
}

/** The moment of a decision. */
export function momentOf({ clock }: Pick<LaneStep, 'clock'>): Moment {
  return { now: clock.now(), elapsed: clock.elapsed(), random: () => clock.random() };
}

/** The open transactions that are in no block but still can be, by sequence. */
export function unminedTransactions(step: LaneStep): OpenTransaction[] {
  return unmined(step, { elapsed: step.clock.elapsed() });
}

/**
 * Commits changes and updates the step's open transactions.
 * @returns the changed transactions as they are now, by id
 */
export async function applyToOpen(step: LaneStep, changes: readonly LaneChange[]): Promise<Map<string, Transaction>> {
  const applied = await step.ledger.apply(changes);
  takeIn(step, changes, applied);
  return applied;
}

/** Takes committed changes into the open transactions. One that is final, or pending again, is removed from them. */
export function takeIn(
  { open, memory }: Pick<LaneStep, 'open' | 'memory'>,
  changes: readonly LaneChange[],
  applied: ReadonlyMap<string, Transaction>,
): void {
  const changeOf = new Map(changes.map((change) => [change.transaction.id, change]));
  for (const [id, transaction] of applied) {
    const entry = open.entries.get(id);
    if (isFinal(transaction.status)) {
      open.delete(id);
      forgetTransaction({ memory }, id);
      open.ended(transaction.sequence);
    } else if (transaction.status === 'pending') {
      open.delete(id);
      memory.offers.forget(id);
      memory.restored.died(id, entry?.attempts ?? []);
    } else if (entry !== undefined) {
      open.set(id, { transaction, attempts: withNews(entry.attempts, changeOf.get(id)) });
    }
  }
}

/** The attempts, all dead, of pending transactions that were signed before, by the transaction's id. */
export async function earlierAttempts(
  { read }: Pick<LaneStep, 'read'>,
  pending: readonly Transaction[],
): Promise<Map<string, Attempt[]>> {
  const ids = pending.filter(({ onDeath }) => onDeath === 'renew').map(({ id }) => id);
  const attempts = ids.length === 0 ? [] : await read.attempts(...ids);
  return Map.groupBy(attempts, ({ transactionId }) => transactionId);
}

/** Forgets a transaction that has ended. */
export function forgetTransaction(step: Pick<LaneStep, 'memory'>, transactionId: string): void {
  step.memory.offers.forget(transactionId);
  step.memory.ages.forget(transactionId);
}

/**
 * The clients that can serve the lane's account, the given one first. Other relayers' clients can serve it too: signed
 * bytes belong to an account on a chain, not to one relayer's endpoints.
 */
export async function clientsOf(step: LaneStep, first: ChainClient): Promise<ChainClient[]> {
  const relayers = new Set([...step.open.entries.values()].map(({ transaction }) => transaction.relayerId));
  const senders = await Promise.allSettled([...relayers].map((relayerId) => step.senders.of(relayerId)));
  const others = senders.flatMap((sender) => (sender.status === 'fulfilled' ? [sender.value.client] : []));
  return [...new Set([first, ...others])];
}

/**
 * Asks the lane's clients one after the other and returns the first answer.
 * @throws what the given client threw, when no client answers
 */
export async function askAny<T>(
  step: LaneStep,
  first: ChainClient,
  ask: (client: ChainClient) => Promise<T>,
): Promise<T> {
  try {
    return await ask(first);
  } catch (error) {
    for (const client of (await clientsOf(step, first)).slice(1)) {
      try {
        return await ask(client);
      } catch {
        // Only the given client's error is thrown: the relayer's operator has to know it.
      }
    }
    throw error;
  }
}

function withNews(attempts: Attempt[], { accepted, died }: Pick<LaneChange, 'accepted' | 'died'> = {}): Attempt[] {
  if (accepted === undefined && died === undefined) return attempts;
  return attempts.map((attempt) => ({
    ...attempt,
    ...(attempt.ordinal === accepted?.ordinal && { acceptedAt: attempt.acceptedAt ?? accepted.at }),
    ...(died?.ordinals.includes(attempt.ordinal) === true && { deadAt: attempt.deadAt ?? died.at }),
  }));
}

/** The age of a stored date in milliseconds. Setting the clock after the first call does not change it. */
export function ageOf(step: LaneStep, key: string, at: Timestamp): number {
  return step.memory.ages.of(key, at, { now: step.clock.now(), elapsed: step.clock.elapsed() });
}

/**
 * Whether a transaction has expired: its own time is over or, if it has none, the lifetime that its chain sets. The
 * store's clock alone ends nothing, because a clock can be wrong for a moment and an end is final. A second proof is
 * needed. Either the chain has made a block since the end, or this process has watched the transaction for its whole
 * lifetime, by a clock that nobody sets. The latter also works where no block is made or no node answers.
 */
export async function hasExpired(step: LaneStep, transaction: Transaction): Promise<boolean> {
  const { id, relayerId, validUntil, createdAt } = transaction;
  const watched = step.memory.ages.watched(id, step.clock.elapsed());
  const endsAt = validUntil ?? createdAt + step.chain.pace.lifetimeMs;
  if (endsAt > step.clock.now()) return false;
  // A missing relayer is reported where it is needed. Here it must not stop the rest of the lane.
  const sender = await step.senders.of(relayerId).catch(() => undefined);
  if (sender === undefined && validUntil === null) return false;
  return watched >= endsAt - createdAt || (sender !== undefined && (await hasChainPassed(step, sender, endsAt)));
}

async function hasChainPassed(step: LaneStep, { client }: Sender, end: Timestamp): Promise<boolean> {
  const at = await step.clock.chainTime(() => askAny(step, client, (one) => one.moment(chainOfLane(step.key))));
  return at !== undefined && at >= end;
}
