import type { Intent } from '../domain/intent.ts';
import type { Transaction } from '../domain/transaction.ts';
import { isFinal, type VoidEnd } from '../domain/transaction-state.ts';
import { applyToOpen, isAside, type LaneStep } from './lane-step.ts';
import type { Change } from './ledger.ts';
import { asVoid } from './renewal.ts';
import { type Renewal, signVersions, type Wanted } from './versions.ts';

/** `Sent` and the like, as the reference names statuses in its messages. */
export function stateRefusal(wish: Intent['wish']['kind'], { status }: Transaction): string {
  const current = status.charAt(0).toUpperCase() + status.slice(1);
  return `Invalid transaction state for ${wish}_transaction. Current: ${current}, Expected one of: [Pending, Sent, Submitted]`;
}

/**
 * Carries out what clients want of running transactions, of each in the order in which they asked. What cannot be done
 * any more is refused, and the transaction goes on as it was; what cannot be done now waits. A batch of replacements at
 * most, so that who cancels meanwhile need not wait for all of them.
 * @returns how many were settled
 */
export async function carryOut(step: LaneStep, intents: readonly Intent[]): Promise<number> {
  let settled = 0;
  for (const round of roundsOf(intents)) {
    if (step.isEnding()) break;
    step.reach('wished');
    settled += await carryOutRound(step, round);
  }
  return settled;
}

/** The first wish of each transaction, then the second, and so on: one round has at most one of each. */
function roundsOf(intents: readonly Intent[]): Intent[][] {
  const byTransaction = [...Map.groupBy(intents, ({ transactionId }) => transactionId).values()];
  const most = Math.max(0, ...byTransaction.map((wishes) => wishes.length));
  return Array.from({ length: most }, (_, round) => byTransaction.flatMap((wishes) => wishes[round] ?? []));
}

const TAKEN_BACK: Readonly<Record<VoidEnd, string>> = {
  canceled: 'the transaction is being canceled',
  expired: 'the transaction has expired',
  failed: 'no node takes the transaction',
};

/** What is to be done about a wish. */
type Plan = { change: Change } | { replacement: Wanted } | { refusal: string } | 'later';
type Outcome = 'done' | 'later' | { refusal: string };

async function carryOutRound(step: LaneStep, round: readonly Intent[]): Promise<number> {
  const plans = await Promise.all(round.map((intent) => planFor(step, intent)));
  const changes = plans.flatMap((plan) => (plan !== 'later' && 'change' in plan ? [plan.change] : []));
  const applied = await applyToOpen(step, changes);
  const all = plans.flatMap((plan) => (plan !== 'later' && 'replacement' in plan ? [plan.replacement] : []));
  const batch = all.slice(0, step.timing.batch);
  const renewals = await signVersions(step, batch);

  const refused: { position: number; transactionId: string; refusal: string }[] = [];
  let settled = 0;
  for (const [index, intent] of round.entries()) {
    const plan = plans[index] ?? 'later';
    const isApplied = applied.has(intent.transactionId);
    const renewal = plan !== 'later' && 'replacement' in plan ? renewals[batch.indexOf(plan.replacement)] : undefined;
    const outcome = outcomeOf(step, intent, { plan, isApplied, renewal });
    if (outcome === 'later') continue;
    if (outcome !== 'done') refused.push({ ...intent, ...outcome });
    step.ages.forget(String(intent.position));
    settled += 1;
  }
  await step.ledger.refuse(refused);
  return settled;
}

async function planFor(step: LaneStep, intent: Intent): Promise<Plan> {
  const { wish, position: settles } = intent;
  const entry = step.open.get(intent.transactionId);
  if (entry === undefined) {
    const transaction = await step.find(intent.transactionId);
    if (transaction === undefined) return { refusal: 'The transaction is gone' };
    if (transaction.status === 'pending') return { change: changePending(step, intent, transaction) };
    if (!isFinal(transaction.status)) step.distrust();
    return isFinal(transaction.status) ? { refusal: stateRefusal(wish.kind, transaction) } : 'later';
  }
  const { transaction } = entry;
  if (transaction.status === 'mined') return { refusal: stateRefusal(wish.kind, transaction) };
  if (wish.kind === 'cancel') {
    // What is to have no effect already keeps the reason that it has.
    if (transaction.voidAs !== null) return { change: { transaction, set: {}, settles } };
    const reason = 'Transaction canceled by user, replacing with NOOP';
    return { change: { ...asVoid(step, transaction, 'canceled', 'canceled', reason), settles } };
  }
  if (isAside(step, entry)) return { refusal: `Cannot replace: ${transaction.statusReason ?? 'its sequence is used'}` };
  if (transaction.voidAs !== null) return { refusal: `Cannot replace: ${TAKEN_BACK[transaction.voidAs]}` };
  // Its while begins now, whether it is tried or not.
  step.ages.watched(String(settles), step.elapsed());
  // What could not be done a moment ago is not asked of the nodes again in every step.
  if (step.offers.isResting(transaction.id, step.elapsed())) return 'later';
  const { request, validUntil } = wish;
  const set = validUntil === null ? {} : { validUntil };
  return { replacement: { entry, version: { purpose: 'replace', request }, kind: 'replaced', settles, set } };
}

/** Nothing of it was signed, so it just ends, or is another one from now on. */
function changePending(step: LaneStep, { wish, position: settles }: Intent, transaction: Transaction): Change {
  const text = 'Nothing of it was signed';
  if (wish.kind === 'cancel') {
    const statusReason = 'Transaction canceled by user';
    const set = { status: 'canceled', voidAs: 'canceled', statusReason, nextActionAt: null } as const;
    return { transaction, set, decision: { kind: 'canceled', text }, settles };
  }
  // What the earlier request waited for says nothing of this one.
  step.offers.forget(transaction.id);
  const { request, validUntil } = wish;
  const set = { request, ...(validUntil === null ? {} : { validUntil }), nextActionAt: step.now() };
  return { transaction, set, decision: { kind: 'replaced', text }, settles };
}

function outcomeOf(
  step: LaneStep,
  { transactionId, position }: Intent,
  { plan, isApplied, renewal }: { plan: Plan; isApplied: boolean; renewal: Renewal | undefined },
): Outcome {
  if (plan === 'later' || 'refusal' in plan) return plan;
  if ('change' in plan) return isApplied ? 'done' : 'later';
  if (renewal === undefined || renewal.kind === 'later') return 'later';
  if (renewal.kind === 'signed') return 'done';
  const isTooOld = step.ages.watched(String(position), step.elapsed()) > step.timing.intentMs;
  if (renewal.kind === 'refused' || isTooOld) return { refusal: renewal.reason };
  step.offers.restUntil(transactionId, step.elapsed() + step.timing.renewMs);
  return 'later';
}
