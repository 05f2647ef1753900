import type { Chain } from '../../chains/chain.ts';
import type { ChainClient, ChainMoment, ObservedEntry } from '../../chains/chain-client.ts';
import type { Attempt } from '../../domain/transaction/attempt.ts';
import { isDueAt } from '../../domain/transaction/due.ts';
import type { Timestamp, Transaction } from '../../domain/transaction/transaction.ts';
import { isFinal } from '../../domain/transaction/transaction-state.ts';
import type { Log } from '../../observability/log.ts';
import type { Reader } from '../../store/store.ts';
import type { EngineTiming } from '../timing.ts';
import type { LaneMemory } from './lane-memory.ts';
import type { Change, Ledger, OpenEntry } from './ledger.ts';
import type { LifeStep } from './life-steps.ts';
import type { OpenTransactions } from './open-transactions.ts';
import type { Sender, Senders } from './sender.ts';

/** What one step of a lane works with. */
export interface LaneStep {
  readonly key: string;
  readonly chain: Chain;
  readonly ledger: Ledger;
  readonly read: LaneReads;
  readonly senders: Senders;
  /** What is under way; kept current by the parts of the step. */
  readonly open: OpenTransactions;
  readonly memory: LaneMemory;
  readonly clock: StepClock;
  readonly life: StepLife;
  /** Has a relayer's chain looked at again: it may not be what it was. */
  recheck(relayerId: string): void;
  /** A new UUID v4. */
  newId(): string;
  /** The family's pace, and the engine's where that says nothing. */
  readonly timing: EngineTiming;
  random(): number;
  readonly log: Log;
}

/** What a lane asks the store for besides what it keeps in memory. */
export type LaneReads = Pick<Reader, 'attempts' | 'budgeted' | 'chainIdentity' | 'children' | 'transactionOfLane'>;

/** What time it is. */
export interface StepClock {
  /** By the store's clock. */
  now(): Timestamp;
  /** On a clock that never goes back, in milliseconds. */
  elapsed(): number;
  /** When the chain's latest block was made, as it was told lately; undefined where nobody tells. */
  chainTime(ask: () => Promise<ChainMoment>): Promise<Timestamp | undefined>;
}

/** Whether the step goes on. */
export interface StepLife {
  /**
   * Whether the step begins nothing more and offers nothing: the engine is to end, the lane may be another's by now, or
   * the picture of the open transactions is in doubt.
   */
  isEnding(): boolean;
  /** The picture of the open transactions may not be what the store holds. The step ends, the next one reads it anew. */
  distrust(): void;
  /** Called at each moment of a transaction's life. */
  passes(moment: LifeStep): void;
}

/** The open transactions that are not in a block and can still be, by sequence. */
export function unmined(step: LaneStep): OpenEntry[] {
  const isSigned = ({ transaction: { status } }: OpenEntry) => status === 'sent' || status === 'submitted';
  return step.open.bySequence.filter((entry) => isSigned(entry) && !isAside(step, entry));
}

/**
 * Whether its sequence has been used for a while and nobody can prove by what. One of its attempts may have done it, so it
 * stays open; but no offer and no further attempt can change anything, and nothing else waits for it.
 */
export function isAside({ memory, clock, timing }: LaneStep, { transaction }: OpenEntry): boolean {
  return memory.offers.isUnproved(transaction.id, clock.elapsed(), timing.unprovedMs);
}

/**
 * Commits changes and brings the step's picture of the open transactions up to date. One that is final, or pending again,
 * leaves it.
 * @returns the changed transactions as they are now, by id
 */
export async function applyToOpen(step: LaneStep, changes: readonly Change[]): Promise<Map<string, Transaction>> {
  const applied = await step.ledger.apply(changes);
  const changeOf = new Map(changes.map((change) => [change.transaction.id, change]));
  for (const [id, transaction] of applied) {
    const entry = step.open.entries.get(id);
    if (isFinal(transaction.status)) {
      step.open.delete(id);
      forget(step, id);
      step.open.ended(transaction.sequence);
    } else if (transaction.status === 'pending') {
      step.open.delete(id);
      step.memory.offers.forget(id);
    } else if (entry !== undefined) {
      step.open.set(id, { transaction, attempts: withNews(entry.attempts, changeOf.get(id)) });
    }
  }
  return applied;
}

/** Of pending transactions, those that were signed before and whose attempts have all died, by id. */
export async function renewedOf(
  { read }: Pick<LaneStep, 'read'>,
  pending: readonly Transaction[],
): Promise<Set<string>> {
  const ids = pending.filter(({ onDeath }) => onDeath === 'renew').map(({ id }) => id);
  if (ids.length === 0) return new Set();
  return new Set((await read.attempts(...ids)).map(({ transactionId }) => transactionId));
}

/** Nothing is remembered of a transaction that has ended. */
export function forget(step: Pick<LaneStep, 'memory'>, transactionId: string): void {
  step.memory.offers.forget(transactionId);
  step.memory.ages.forget(transactionId);
}

/**
 * The clients through which the lane's account can be served, the given one first: signed bytes belong to an account on a
 * chain and not to the endpoints of the relayer that asked for them.
 */
export async function clientsOf(step: LaneStep, first: ChainClient): Promise<ChainClient[]> {
  const relayers = new Set([...step.open.entries.values()].map(({ transaction }) => transaction.relayerId));
  const senders = await Promise.allSettled([...relayers].map((relayerId) => step.senders.of(relayerId)));
  const others = senders.flatMap((sender) => (sender.status === 'fulfilled' ? [sender.value.client] : []));
  return [...new Set([first, ...others])];
}

/**
 * What the first of the lane's clients says whose network answers.
 * @throws what the given client threw, when none does
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
        // The first one's trouble is what the relayer's operator has to know.
      }
    }
    throw error;
  }
}

/** The attempt that stands for the transaction now. */
export function latestOf({ attempts }: OpenEntry): Attempt | undefined {
  return attempts.at(-1);
}

/** The entry as a chain's client looks at it. */
export async function observedOf(step: LaneStep, entry: OpenEntry): Promise<ObservedEntry & { sender: Sender }> {
  const sender = await step.senders.of(entry.transaction.relayerId);
  return { ...entry, account: sender.account, sender };
}

function withNews(attempts: Attempt[], { accepted, died }: Pick<Change, 'accepted' | 'died'> = {}): Attempt[] {
  if (accepted === undefined && died === undefined) return attempts;
  return attempts.map((attempt) => ({
    ...attempt,
    ...(attempt.ordinal === accepted?.ordinal && { acceptedAt: attempt.acceptedAt ?? accepted.at }),
    ...(died?.ordinals.includes(attempt.ordinal) === true && { deadAt: attempt.deadAt ?? died.at }),
  }));
}

/** How long ago a stored date was, in milliseconds, whatever the clock did since it was first asked for. */
export function ageOf(step: LaneStep, key: string, at: Timestamp): number {
  return step.memory.ages.of(key, at, { now: step.clock.now(), elapsed: step.clock.elapsed() });
}

/** Whether the engine has to look at the transaction now. */
export function isDue(step: LaneStep, { transaction }: OpenEntry): boolean {
  return isDueAt(transaction.nextActionAt, step.clock.now());
}
