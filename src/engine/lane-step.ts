import type { ChainClient, ChainMoment, ObservedEntry } from '../chains/chain.ts';
import { isDueAt } from '../domain/due.ts';
import type { Attempt, Timestamp, Transaction } from '../domain/transaction.ts';
import { isFinal } from '../domain/transaction-state.ts';
import type { Log } from '../observability/log.ts';
import type { Filler, Settled } from '../store/store.ts';
import type { Ages } from './ages.ts';
import type { Change, Ledger, OpenEntry } from './ledger.ts';
import type { LifeStep } from './life-steps.ts';
import type { OfferBook } from './offer-book.ts';
import type { PoolWatch } from './pool-watch.ts';
import type { Sender, Senders } from './sender.ts';
import type { SequencePlanner } from './sequence-planner.ts';
import type { EngineTiming } from './timing.ts';

/** What one step of a lane works with. */
export interface LaneStep {
  key: string;
  ledger: Ledger;
  senders: Senders;
  planner: SequencePlanner;
  offers: OfferBook;
  pool: PoolWatch;
  /** How old transactions and their versions are, by the transaction's id, and wishes, by their position. */
  ages: Ages;
  /** The lane's open transactions by id; kept current by the parts of the step. */
  open: Map<string, OpenEntry>;
  /** By the store's clock. */
  now(): Timestamp;
  /** On a clock that never goes back, in milliseconds. */
  elapsed(): number;
  /** When the chain's latest block was made, as it was told lately; undefined where nobody tells. */
  chainTime(ask: () => Promise<ChainMoment>): Promise<Timestamp | undefined>;
  /** The sequence after the highest that was ever signed in this lane. */
  knownSequence(): Promise<bigint | null>;
  /** How far the lane's final transactions go. */
  settled(): Promise<Settled | null>;
  /** The empty transactions that were made for gaps below what is open. */
  fillers(): Promise<readonly Filler[]>;
  /** Called with each that is made. */
  filled(filler: Filler): void;
  /**
   * Whether the step begins nothing more and offers nothing: the engine is to end, the lane may be another's by now, or
   * the picture of the open transactions is in doubt.
   */
  isEnding(): boolean;
  /** A transaction of this lane, whatever its status. */
  find(transactionId: string): Promise<Transaction | undefined>;
  /** Those of the given transactions that count against a plugin's budget. */
  budgeted(transactionIds: readonly string[]): Promise<Set<string>>;
  /** Called with each open transaction that has become final. */
  ended(transaction: Transaction): void;
  /** A new UUID v4. */
  newId(): string;
  /** Called at each moment of a transaction's life. */
  reach(step: LifeStep): void;
  /** The picture of the open transactions may not be what the store holds. The step ends, the next one reads it anew. */
  distrust(): void;
  timing: EngineTiming;
  random(): number;
  log: Log;
}

/** The open transactions that are not in a block and can still be, by sequence. */
export function unmined(step: LaneStep): OpenEntry[] {
  const isSigned = ({ transaction: { status } }: OpenEntry) => status === 'sent' || status === 'submitted';
  return bySequence([...step.open.values()].filter((entry) => isSigned(entry) && !isAside(step, entry)));
}

/**
 * Whether its sequence has been used for a while and nobody can prove by what. One of its versions may have done it, so it
 * stays open; but no offer and no further version can change anything, and nothing else waits for it.
 */
export function isAside({ offers, elapsed, timing }: LaneStep, { transaction }: OpenEntry): boolean {
  return offers.isUnproved(transaction.id, elapsed(), timing.unprovedMs);
}

/** The same without those that wait for an account that is far from getting there. */
export function withinReach(step: LaneStep): OpenEntry[] {
  return unmined(step).filter(({ transaction }) => !step.planner.isStranded(transaction.sequence));
}

/** Lowest sequence first. */
export function bySequence(entries: readonly OpenEntry[]): OpenEntry[] {
  const sequenceOf = ({ transaction }: OpenEntry) => transaction.sequence ?? 0n;
  return entries.toSorted((a, b) => (sequenceOf(a) < sequenceOf(b) ? -1 : 1));
}

/**
 * Commits changes and brings the step's picture of the open transactions up to date. One that is final leaves it.
 * @returns the changed transactions as they are now, by id
 */
export async function applyToOpen(step: LaneStep, changes: readonly Change[]): Promise<Map<string, Transaction>> {
  const applied = await step.ledger.apply(changes);
  for (const [id, transaction] of applied) {
    const entry = step.open.get(id);
    if (isFinal(transaction.status)) {
      step.open.delete(id);
      forget(step, id);
      step.ended(transaction);
    } else if (entry !== undefined) {
      step.open.set(id, { transaction, attempts: withAcceptance(entry.attempts, changes, id) });
    }
  }
  return applied;
}

/** Nothing is remembered of a transaction that has ended. */
export function forget(step: Pick<LaneStep, 'offers' | 'ages'>, transactionId: string): void {
  step.offers.forget(transactionId);
  step.ages.forget(transactionId);
}

/**
 * The clients through which the lane's account can be served, the given one first: signed bytes belong to an account on a
 * chain and not to the endpoints of the relayer that asked for them.
 */
export async function clientsOf(step: LaneStep, first: ChainClient): Promise<ChainClient[]> {
  const relayers = new Set([...step.open.values()].map(({ transaction }) => transaction.relayerId));
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

/** The version that stands for the transaction now. */
export function latestOf({ attempts }: OpenEntry): Attempt | undefined {
  return attempts.at(-1);
}

/** The entry as a chain's client looks at it. */
export async function observedOf(step: LaneStep, entry: OpenEntry): Promise<ObservedEntry & { sender: Sender }> {
  const sender = await step.senders.of(entry.transaction.relayerId);
  return { ...entry, account: sender.account, sender };
}

function withAcceptance(attempts: Attempt[], changes: readonly Change[], transactionId: string): Attempt[] {
  const accepted = changes.find(({ transaction }) => transaction.id === transactionId)?.accepted;
  if (accepted === undefined) return attempts;
  return attempts.map((attempt) =>
    attempt.ordinal === accepted.ordinal ? { ...attempt, acceptedAt: attempt.acceptedAt ?? accepted.at } : attempt,
  );
}

/** How long ago a stored date was, in milliseconds, whatever the clock did since it was first asked for. */
export function ageOf(step: LaneStep, key: string, at: Timestamp): number {
  return step.ages.of(key, at, { now: step.now(), elapsed: step.elapsed() });
}

/** Whether the engine has to look at the transaction now. */
export function isDue(step: LaneStep, { transaction }: OpenEntry): boolean {
  return isDueAt(transaction.nextActionAt, step.now());
}
