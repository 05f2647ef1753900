import type { Intent } from '../domain/intent.ts';
import type { Transaction } from '../domain/transaction.ts';
import { isFinal, type VoidEnd } from '../domain/transaction-state.ts';
import { applyToOpen, forget, isAside, type LaneStep } from './lane-step.ts';
import { asVoid, signVersion } from './versions.ts';

/** `Sent` and the like, as the reference names statuses in its messages. */
export function stateRefusal(wish: Intent['wish']['kind'], { status }: Transaction): string {
  const current = status.charAt(0).toUpperCase() + status.slice(1);
  return `Invalid transaction state for ${wish}_transaction. Current: ${current}, Expected one of: [Pending, Sent, Submitted]`;
}

/**
 * Carries out what clients want of running transactions, in the order in which they asked. What cannot be done any more
 * is refused, and the transaction goes on as it was; what cannot be done now waits.
 * @returns how many were settled
 */
export async function carryOut(step: LaneStep, intents: readonly Intent[]): Promise<number> {
  let settled = 0;
  for (const intent of intents) {
    if (step.isEnding()) break;
    step.reach('wished');
    const outcome = await settle(step, intent);
    if (outcome === 'later') continue;
    step.ages.forget(String(intent.position));
    if (outcome !== 'done') {
      await step.ledger.refuse([
        { position: intent.position, transactionId: intent.transactionId, refusal: outcome.refusal },
      ]);
    }
    settled += 1;
  }
  return settled;
}

const TAKEN_BACK: Readonly<Record<VoidEnd, string>> = {
  canceled: 'the transaction is being canceled',
  expired: 'the transaction has expired',
  failed: 'no node takes the transaction',
};

type Outcome = 'done' | 'later' | { refusal: string };

async function settle(step: LaneStep, intent: Intent): Promise<Outcome> {
  const entry = step.open.get(intent.transactionId);
  if (entry === undefined) {
    const transaction = await step.find(intent.transactionId);
    if (transaction === undefined) return { refusal: 'The transaction is gone' };
    if (transaction.status === 'pending') return settlePending(step, intent, transaction);
    if (!isFinal(transaction.status)) step.distrust();
    return isFinal(transaction.status) ? { refusal: stateRefusal(intent.wish.kind, transaction) } : 'later';
  }
  const { transaction } = entry;
  if (transaction.status === 'mined') return { refusal: stateRefusal(intent.wish.kind, transaction) };

  const settles = intent.position;
  if (intent.wish.kind === 'cancel' && transaction.voidAs !== null) {
    // It is to have no effect already, and keeps the reason that it has.
    await applyToOpen(step, [{ transaction, set: {}, settles }]);
    return 'done';
  }
  if (intent.wish.kind === 'cancel') {
    const reason = 'Transaction canceled by user, replacing with NOOP';
    await applyToOpen(step, [{ ...asVoid(step, transaction, 'canceled', 'canceled', reason), settles }]);
    return 'done';
  }
  if (isAside(step, entry)) return { refusal: `Cannot replace: ${transaction.statusReason ?? 'its sequence is used'}` };
  if (transaction.voidAs !== null) return { refusal: `Cannot replace: ${TAKEN_BACK[transaction.voidAs]}` };
  const tried = step.ages.watched(String(intent.position), step.elapsed());
  // What could not be done a moment ago is not asked of the nodes again in every step.
  if (step.offers.isResting(transaction.id, step.elapsed())) return 'later';
  const { request, validUntil } = intent.wish;
  const set = validUntil === null ? {} : { validUntil };
  const renewal = await signVersion(step, entry, { purpose: 'replace', request }, { kind: 'replaced', settles, set });
  if (renewal.kind === 'signed') return 'done';
  if (renewal.kind === 'refused' || tried > step.timing.intentMs) return { refusal: renewal.reason };
  step.offers.restUntil(transaction.id, step.elapsed() + step.timing.renewMs);
  return 'later';
}

/** Nothing of it was signed, so it just ends, or is another one from now on. */
async function settlePending(step: LaneStep, { wish, position }: Intent, transaction: Transaction): Promise<Outcome> {
  const set =
    wish.kind === 'cancel'
      ? ({
          status: 'canceled',
          voidAs: 'canceled',
          statusReason: 'Transaction canceled by user',
          nextActionAt: null,
        } as const)
      : {
          request: wish.request,
          ...(wish.validUntil === null ? {} : { validUntil: wish.validUntil }),
          nextActionAt: step.now(),
        };
  const kind = wish.kind === 'cancel' ? ('canceled' as const) : ('replaced' as const);
  const decision = { kind, text: 'Nothing of it was signed' };
  const applied = await step.ledger.apply([{ transaction, set, decision, settles: position }]);
  if (applied.size === 0) return 'later';
  if (wish.kind === 'cancel') forget(step, transaction.id);
  else step.offers.forget(transaction.id);
  return 'done';
}
