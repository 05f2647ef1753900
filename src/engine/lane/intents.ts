import type { Intent, IntentAction } from '../../features/transactions/records/intent.ts';
import type { Transaction } from '../../features/transactions/records/transaction.ts';
import { isFinal, type NoopEndStatus } from '../../features/transactions/records/transaction-state.ts';
import { type SigningOutcome, type WantedAttempt, withdrawn } from './decide.ts';
import { canReplace } from './facts.ts';
import { applyToOpen, earlierAttempts, type LaneStep } from './lane-step.ts';
import type { LaneChange } from './ledger.ts';
import { signAttempts } from './sign-attempts.ts';

/** The refusal of an intent. It names statuses as the reference does in its messages, for instance `Sent`. */
export function intentRefusal(kind: IntentAction['kind'], { status }: Transaction): string {
  const current = status.charAt(0).toUpperCase() + status.slice(1);
  return `Invalid transaction state for ${kind}_transaction. Current: ${current}, Expected one of: [Pending, Sent, Submitted]`;
}

/**
 * Carries out clients' intents for running transactions, for each in the order in which they asked. An intent that is
 * no longer possible is refused, and its transaction goes on as it was. One that is not possible now waits. A round
 * signs one batch of replacements at most, so that a client who cancels need not wait for all.
 * @returns how many were settled
 */
export async function carryOutIntents(step: LaneStep, intents: readonly Intent[]): Promise<number> {
  let settled = 0;
  for (const round of roundsOf(intents)) {
    if (step.life.isEnding()) break;
    step.life.onCheckpoint('intent-read');
    settled += await carryOutRound(step, round);
  }
  return settled;
}

/** The first intent of each transaction, then the second, and so on: one round has at most one of each. */
function roundsOf(intents: readonly Intent[]): Intent[][] {
  const byTransaction = [...Map.groupBy(intents, ({ transactionId }) => transactionId).values()];
  const most = Math.max(0, ...byTransaction.map((each) => each.length));
  return Array.from({ length: most }, (_, round) => byTransaction.flatMap((each) => each[round] ?? []));
}

const NOOP_REASONS: Readonly<Record<NoopEndStatus, string>> = {
  canceled: 'the transaction is being canceled',
  expired: 'the transaction has expired',
  failed: 'no node takes the transaction',
};

/** What is to be done about an intent. */
type Plan = { change: LaneChange } | { replacement: WantedAttempt } | { refusal: string } | 'later';
type Outcome = 'done' | 'later' | { refusal: string };

async function carryOutRound(step: LaneStep, round: readonly Intent[]): Promise<number> {
  const plans = await Promise.all(round.map((intent) => planFor(step, intent)));
  const changes = plans.flatMap((plan) => (plan !== 'later' && 'change' in plan ? [plan.change] : []));
  const applied = await applyToOpen(step, changes);
  const all = plans.flatMap((plan) => (plan !== 'later' && 'replacement' in plan ? [plan.replacement] : []));
  const batch = all.slice(0, step.timing.batch);
  const outcomes = await signAttempts(step, batch);

  const refused: { position: number; transactionId: string; refusal: string }[] = [];
  let settled = 0;
  for (const [index, intent] of round.entries()) {
    const plan = plans[index] ?? 'later';
    const isApplied = applied.has(intent.transactionId);
    const attempted = plan !== 'later' && 'replacement' in plan ? outcomes[batch.indexOf(plan.replacement)] : undefined;
    const outcome = outcomeOf(step, intent, { plan, isApplied, attempted });
    if (outcome === 'later') continue;
    if (outcome !== 'done') refused.push({ ...intent, ...outcome });
    step.memory.ages.forget(String(intent.position));
    settled += 1;
  }
  await step.ledger.refuse(refused);
  return settled;
}

async function planFor(step: LaneStep, intent: Intent): Promise<Plan> {
  const { action, position: settles } = intent;
  const entry = step.open.entries.get(intent.transactionId);
  if (entry === undefined) {
    const transaction = await step.read.transactionOfLane(step.key, intent.transactionId);
    if (transaction === undefined) return { refusal: 'The transaction is gone' };
    if (transaction.status === 'pending') {
      const { restored } = step.memory;
      if (!restored.isUnchecked(transaction.id)) return { change: await changePending(step, intent, transaction) };
      // It may have been sent already, see `restored-store.ts`. Whether it was is known soon, or an operator decides.
      return restored.heldFor === undefined ? 'later' : { refusal: `Cannot ${action.kind}: ${restored.heldFor}` };
    }
    if (!isFinal(transaction.status)) step.life.distrust();
    return isFinal(transaction.status) ? { refusal: intentRefusal(action.kind, transaction) } : 'later';
  }
  const { transaction } = entry;
  if (transaction.status === 'mined') return { refusal: intentRefusal(action.kind, transaction) };
  if (action.kind === 'cancel') {
    // A transaction that is to have no effect already keeps its reason.
    if (transaction.noopEnd !== null) {
      const isStranded = transaction.noopEnd === 'failed' && step.memory.offers.causeOf(transaction.id) === 'sequence';
      return { change: { transaction, set: isStranded ? { noopEnd: 'canceled' } : {}, settles } };
    }
    const reason = (await canReplace(step, entry, 'noop'))
      ? 'Transaction canceled by user, replacing with NOOP'
      : 'Transaction canceled by user: it is not offered any more, and ends when it can no longer execute';
    const change = withdrawn(transaction, 'canceled', 'canceling', reason, step.clock.now());
    return { change: { ...change, settles } };
  }
  // A node shows the sequence as used. That the receipt is not proved yet makes no difference: nothing can replace it.
  if (step.memory.offers.isUnproved(transaction.id, step.clock.elapsed(), 0))
    return { refusal: `Cannot replace: ${transaction.statusReason ?? 'its sequence is used'}` };
  if (transaction.noopEnd !== null) return { refusal: `Cannot replace: ${NOOP_REASONS[transaction.noopEnd]}` };
  if (!(await canReplace(step, entry, 'replace')))
    return { refusal: 'Cannot replace: it is signed, and nothing can take its place' };
  // The time limit of the intent begins now, whether or not the intent is tried.
  step.memory.ages.watched(String(settles), step.clock.elapsed());
  // Nodes are not asked again in every step for what failed a moment ago.
  if (step.memory.offers.isResting(transaction.id, step.clock.elapsed())) return 'later';
  const { request, validUntil } = action;
  const set = validUntil === null ? {} : { validUntil };
  const spec = { purpose: 'replace', request } as const;
  return { replacement: { transaction, earlier: entry.attempts, spec, kind: 'replaced', settles, set } };
}

/**
 * Changes a pending transaction. No attempt of it can execute, so a cancel just ends it, and a replacement just changes
 * its request.
 */
async function changePending(
  step: LaneStep,
  { action, position: settles }: Intent,
  transaction: Transaction,
): Promise<LaneChange> {
  const isRenewed = (await earlierAttempts(step, [transaction])).has(transaction.id);
  const text = isRenewed ? 'No attempt of it can execute any more' : 'It was not signed yet';
  if (action.kind === 'cancel') {
    const statusReason = 'Transaction canceled by user';
    const set = { status: 'canceled', noopEnd: 'canceled', statusReason, nextActionAt: null } as const;
    return { transaction, set, decision: { kind: 'canceled', text }, settles };
  }
  // What the earlier request waited for does not apply to the new one.
  step.memory.offers.forget(transaction.id);
  const { request, validUntil } = action;
  const set = { request, ...(validUntil === null ? {} : { validUntil }), nextActionAt: step.clock.now() };
  return { transaction, set, decision: { kind: 'replaced', text }, settles };
}

function outcomeOf(
  step: LaneStep,
  { transactionId, position }: Intent,
  { plan, isApplied, attempted }: { plan: Plan; isApplied: boolean; attempted: SigningOutcome | undefined },
): Outcome {
  if (plan === 'later' || 'refusal' in plan) return plan;
  if ('change' in plan) return isApplied ? 'done' : 'later';
  if (attempted === undefined || attempted.kind === 'later') return 'later';
  if (attempted.kind === 'signed') return 'done';
  const isTooOld = step.memory.ages.watched(String(position), step.clock.elapsed()) > step.timing.intentMs;
  if (attempted.kind === 'refused' || isTooOld) return { refusal: attempted.reason };
  step.memory.offers.restUntil(transactionId, step.clock.elapsed() + step.timing.furtherMs);
  return 'later';
}
