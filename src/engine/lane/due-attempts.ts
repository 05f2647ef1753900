import type { ReplacementSpec } from '../../chains/chain-client.ts';
import type { DecisionKind } from '../../features/transactions/records/timeline-decision.ts';
import type { Transaction } from '../../features/transactions/records/transaction.ts';
import type { NoopEndStatus } from '../../features/transactions/records/transaction-state.ts';
import {
  ageOf,
  applyToOpen,
  expiryReason,
  hasExpired,
  isUnresolved,
  type LaneStep,
  latestAttemptOf,
  toObservedTransaction,
  unminedTransactions,
} from './lane-step.ts';
import type { LaneChange, OpenTransaction } from './ledger.ts';
import { type SigningOutcome, signAttempts, type WantedAttempt } from './sign-attempts.ts';

/**
 * Signs the next attempt of each transaction that is in no block and needs one. A transaction that has expired, was
 * canceled or is refused by every node gets a noop. One that the network is silent about gets a dearer attempt. Noops
 * come first. A call signs a batch at most, so that clients' requests are looked at before the next batch.
 * @returns how many were tried
 */
export async function signDueAttempts(step: LaneStep): Promise<number> {
  await applyToOpen(step, await withdrawals(step));
  const due = await allDue(step);
  const isBump = ({ spec }: WantedAttempt) => Number(spec.purpose === 'bump');
  const batch = due.toSorted((one, other) => isBump(one) - isBump(other)).slice(0, step.timing.batch);
  if (batch.length === 0 || step.life.isEnding()) return 0;
  const outcomes = await signAttempts(step, batch);
  const changes = batch.flatMap((wanted, index) => unsigned(step, wanted, outcomes[index] ?? { kind: 'later' }) ?? []);
  await applyToOpen(step, changes);
  return batch.length;
}

/** The change of a transaction whose attempt was not signed, if any. */
function unsigned(
  step: LaneStep,
  { transaction, spec }: WantedAttempt,
  outcome: SigningOutcome,
): LaneChange | undefined {
  if (outcome.kind === 'signed' || outcome.kind === 'later') return undefined;
  // No price would bring the transaction into a block.
  if (outcome.kind === 'refused' && spec.purpose === 'bump') {
    // What nodes refuse once may be taken a moment later. It is offered again until the refusal is believed.
    const { offers } = step.memory;
    const isDoubted =
      offers.hasAnswer(transaction.id, 'refused') &&
      !offers.isHopeless(transaction.id, step.clock.elapsed(), step.timing.refusalMs);
    if (spec.refusal !== undefined && isDoubted) {
      offers.restUntil(transaction.id, step.clock.elapsed() + step.timing.retryMs);
      return undefined;
    }
    return withdrawTransaction(step, transaction, 'failed', 'refused', outcome.reason);
  }
  // The earlier attempts stay on offer.
  const cause = outcome.kind === 'parked' ? outcome.cause : outcome.kind === 'failed' ? 'error' : 'other';
  const isNew = step.memory.offers.park(transaction, cause, step.clock.elapsed() + step.timing.furtherMs);
  if (transaction.noopEnd !== null) return undefined;
  const decision = { kind: 'parked', text: outcome.reason } as const;
  return { transaction, set: { statusReason: outcome.reason }, ...(isNew ? { decision } : {}) };
}

async function allDue(step: LaneStep): Promise<WantedAttempt[]> {
  const waiting = waitingForLower(step);
  const due: WantedAttempt[] = [];
  for (const entry of unminedTransactions(step)) {
    const { transaction, attempts: earlier } = entry;
    const spec = await dueOf(step, entry);
    if (spec === undefined || step.memory.offers.isResting(transaction.id, step.clock.elapsed())) continue;
    if (spec.purpose === 'bump' && waiting.has(entry)) continue;
    if (!(await canReplace(step, entry, spec.purpose))) continue;
    due.push({ transaction, earlier, spec, kind: spec.purpose === 'noop' ? 'noop-signed' : 'bumped' });
  }
  return due;
}

/**
 * Transactions that wait for a lower sequence: it is missing, or no node has taken its transaction. No price brings
 * them into a block before that.
 */
function waitingForLower(step: LaneStep): Set<OpenTransaction> {
  const waiting = new Set<OpenTransaction>();
  let [next, isBlocked]: [bigint | null, boolean] = [null, false];
  for (const entry of step.open.bySequence) {
    const { sequence, status } = entry.transaction;
    if (sequence === null || isUnresolved(step, entry)) continue;
    isBlocked ||= next !== null && sequence > next;
    if (isBlocked) waiting.add(entry);
    isBlocked ||= status !== 'mined' && latestAttemptOf(entry)?.acceptedAt === null;
    next = sequence + 1n;
  }
  return waiting;
}

/** Withdraws transactions that have expired or that no node will take. From then on only a noop is offered. */
async function withdrawals(step: LaneStep): Promise<LaneChange[]> {
  const changes: LaneChange[] = [];
  for (const { transaction } of unminedTransactions(step)) {
    if (transaction.noopEnd !== null) continue;
    if (await hasExpired(step, transaction)) {
      const reason = `${expiryReason(transaction)} before it was in a block`;
      changes.push(withdrawTransaction(step, transaction, 'expired', 'expired', reason));
    } else if (isRefusedForGood(step, transaction.id)) {
      const reason = `No node takes it: ${transaction.statusReason ?? 'refused'}`;
      changes.push(withdrawTransaction(step, transaction, 'failed', 'refused', reason));
    }
  }
  return changes;
}

/**
 * Whether no node will ever take the latest attempt. A refusal of a figure is no end: another attempt is made first,
 * and where none can be made, {@link unsigned} ends the transaction.
 */
function isRefusedForGood({ memory: { offers }, clock, timing }: LaneStep, id: string): boolean {
  const now = clock.elapsed();
  if (offers.isTurnedAway(id, now, timing.turnedAwayMs)) return true;
  return offers.anotherFor(id) === undefined && offers.isHopeless(id, now, timing.refusalMs);
}

/** The decision that a transaction is to have no effect any more. */
export function withdrawTransaction(
  step: LaneStep,
  transaction: Transaction,
  noopEnd: NoopEndStatus,
  kind: DecisionKind,
  reason: string,
): LaneChange {
  return {
    transaction,
    set: { noopEnd, statusReason: reason, nextActionAt: step.clock.now() },
    decision: { kind, text: reason },
  };
}

async function dueOf(step: LaneStep, entry: OpenTransaction): Promise<ReplacementSpec | undefined> {
  const latest = latestAttemptOf(entry);
  const { id, noopEnd } = entry.transaction;
  if (latest === undefined) return undefined;
  if (noopEnd !== null && latest.purpose !== 'noop') return { purpose: 'noop' };
  if (latest.purpose === 'noop') {
    // Only a noop can take the sequence, so a refused one is made again.
    const isRefused = step.memory.offers.isHopeless(id, step.clock.elapsed(), step.timing.refusalMs);
    if (isRefused) return { purpose: 'noop', isRefused, ...refusalOf(step, id) };
  }
  const another = step.memory.offers.anotherFor(id);
  if (another === undefined && !(await isOverdue(step, entry))) return undefined;
  return { purpose: latest.purpose === 'noop' ? 'noop' : 'bump', ...refusalOf(step, id) };
}

/** What nodes said of the latest attempt, where they want another. */
function refusalOf(step: LaneStep, id: string): { refusal?: string } {
  const { refusal } = step.memory.offers.anotherFor(id) ?? {};
  return refusal === undefined ? {} : { refusal };
}

/** Whether a further attempt can replace the present attempts of the transaction. */
export async function canReplace(
  step: LaneStep,
  entry: OpenTransaction,
  purpose: ReplacementSpec['purpose'],
): Promise<boolean> {
  try {
    const { sender, ...observed } = await toObservedTransaction(step, entry);
    return sender.client.replacement?.can(observed, purpose) ?? false;
  } catch {
    // The relayer or its network is not available now, so nothing can be signed either.
    return false;
  }
}

/** Whether the network has been silent about the latest attempt for longer than usual. */
async function isOverdue(step: LaneStep, entry: OpenTransaction): Promise<boolean> {
  const latest = latestAttemptOf(entry);
  if (latest === undefined || latest.acceptedAt === null) return false;
  try {
    const observed = await toObservedTransaction(step, entry);
    const silentFor = ageOf(step, entry.transaction.id, latest.acceptedAt);
    const { replacement } = observed.sender.client;
    return replacement !== undefined && silentFor >= replacement.patienceMs(observed);
  } catch {
    // The relayer or its network is not available now, so nothing can be priced either.
    return false;
  }
}
