import type { ParsedRequest } from '../../chains/chain-client.ts';
import { wireTime } from '../../domain/wire-time.ts';
import { BEYOND_ANY_PAUSE_MS } from '../../features/transactions/records/lane.ts';
import type { Transaction } from '../../features/transactions/records/transaction.ts';
import { newTransaction } from '../../features/transactions/records/transaction.ts';
import { isFinal } from '../../features/transactions/records/transaction-state.ts';
import { backOff } from '../timing.ts';
import type { ParkCause } from './broadcast-history.ts';
import { expiryReason, type SigningOutcome } from './decide.ts';
import { earlierAttempts, forgetTransaction, hasExpired, type LaneStep } from './lane-step.ts';
import type { LaneChange } from './ledger.ts';
import { signAttempts } from './sign-attempts.ts';

/** How much longer a pause is for each remembered transaction, in milliseconds. */
const PAUSE_PER_WAITING_MS = 5;
/** Well below the pause that counts as a clock that was set back. */
const MAX_PAUSE_MS = BEYOND_ANY_PAUSE_MS - 10_000;

/**
 * Signs pending transactions in the order given. Ends those that have expired or are refused, and puts off those that
 * cannot be signed now.
 */
export async function signPending(step: LaneStep, pending: readonly Transaction[]): Promise<void> {
  if (pending.length === 0 || step.life.isEnding()) return;
  const earlier = await earlierAttempts(step, pending);
  const wanted = [];
  const changes: LaneChange[] = [];
  for (const transaction of pending) {
    const before = earlier.get(transaction.id) ?? [];
    if (await hasExpired(step, transaction)) changes.push(expire(step, transaction, before.length > 0));
    else wanted.push({ transaction, earlier: before, spec: { purpose: 'send' } } as const);
  }
  await step.ledger.apply(changes);
  const outcomes = await signAttempts(step, wanted);
  const rest = wanted.map(({ transaction }, index) =>
    unsigned(step, transaction, outcomes[index] ?? { kind: 'later' }),
  );
  await step.ledger.apply((await Promise.all(rest)).filter((change) => change !== undefined));
}

function expire(step: LaneStep, transaction: Transaction, wasSigned: boolean): LaneChange {
  forgetTransaction(step, transaction.id);
  const statusReason = `${expiryReason(transaction)} before it was signed${wasSigned ? ' anew' : ''}`;
  const decision = { kind: 'expired', text: statusReason } as const;
  return { transaction, set: { status: 'expired', statusReason, nextActionAt: null }, decision };
}

/** The change of a transaction that was not signed, if any. */
async function unsigned(
  step: LaneStep,
  transaction: Transaction,
  outcome: SigningOutcome,
): Promise<LaneChange | undefined> {
  switch (outcome.kind) {
    case 'signed':
    case 'later':
      return undefined;
    case 'failed':
      return retryLater(step, transaction, outcome.reason, outcome.withinMs);
    case 'refused': {
      forgetTransaction(step, transaction.id);
      const { reason, end = 'failed' } = outcome;
      const decision = { kind: 'refused', text: reason } as const;
      return { transaction, set: { status: end, statusReason: reason, nextActionAt: null }, decision };
    }
    case 'first':
      return awaitPrerequisite(step, transaction, outcome);
    case 'parked': {
      const { reason, cause, retryInMs = 0 } = outcome;
      return parkTransaction(step, transaction, cause, { reason, pauseMs: Math.max(retryInMs, step.timing.lookMs) });
    }
    default:
      return outcome satisfies never;
  }
}

/**
 * Creates the prerequisite of a transaction: another transaction that must be final before this one can be prepared.
 * While the prerequisite is not final, the transaction waits. If the prerequisite fails, it is not tried again, and the
 * transaction fails too.
 * @returns the change of the waiting transaction
 */
async function awaitPrerequisite(
  step: LaneStep,
  transaction: Transaction,
  { first, reason }: { first: ParsedRequest; reason: string },
): Promise<LaneChange> {
  const [latest] = await step.read.children(transaction.id);
  const wait = parkTransaction(step, transaction, 'other', { reason, pauseMs: step.timing.lookMs });
  if (latest === undefined) {
    const { relayerId, networkType, lane, id: parentId, origin } = transaction;
    const about = { id: step.newId(), relayerId, networkType, lane, parentId, origin, createdAt: step.clock.now() };
    return { ...wait, first: newTransaction({ ...first, ...about, statusReason: reason }) };
  }
  if (!isFinal(latest.status) || latest.status === 'confirmed') return wait;
  const statusReason = `${reason}: transaction ${latest.id} ended as ${latest.status}`;
  const decision = { kind: 'refused', text: statusReason } as const;
  return { transaction, set: { status: 'failed', statusReason, nextActionAt: null }, decision };
}

/**
 * Keeps a transaction pending that cannot be signed now, at most for its lifetime. Its status reason says why, and when
 * it is looked at next. The timeline shows each cause once. The more transactions wait, the less often each is looked
 * at.
 */
export function parkTransaction(
  step: LaneStep,
  transaction: Transaction,
  cause: ParkCause,
  { reason, pauseMs }: { reason: string; pauseMs: number },
): LaneChange {
  const isNew = step.memory.offers.park(transaction, cause, step.clock.elapsed());
  const crowd = Math.min(step.memory.offers.size * PAUSE_PER_WAITING_MS, MAX_PAUSE_MS);
  const nextActionAt = step.clock.now() + Math.max(pauseMs, crowd);
  const set = { statusReason: `${reason} (checked again at ${wireTime(nextActionAt)})`, nextActionAt };
  return { transaction, set, ...(isNew && { decision: { kind: 'parked', text: reason } as const }) };
}

/** Keeps a transaction pending for a pause that grows with each failure. */
function retryLater(step: LaneStep, transaction: Transaction, reason: string, withinMs = Infinity): LaneChange {
  const pause = Math.min(
    backOff(step.memory.offers.failed(transaction.id), step.timing, () => step.clock.random()),
    withinMs,
  );
  return { transaction, set: { statusReason: reason, nextActionAt: step.clock.now() + pause } };
}
