import { applyToOpen, type LaneStep, latestOf, unmined } from '../lane/lane-step.ts';
import type { Change, OpenEntry } from '../lane/ledger.ts';

/**
 * Ends transactions that are to have no effect and stand above a gap too wide to be filled. An endpoint told a wrong
 * count when they were signed. By then a noop holds their place in the pools. They give up their sequence, so that the
 * account does not seem to have come that far.
 * @param beyond tells the sequences above a gap that is too wide to be filled; asked when something could end
 */
export async function endStranded(step: LaneStep, beyond: () => readonly bigint[]): Promise<void> {
  const takenBack = unmined(step).filter((entry) => isTakenBack(step, entry));
  if (takenBack.length === 0) return;
  const sequences = new Set<bigint | null>(beyond());
  const stranded = takenBack.filter(({ transaction }) => sequences.has(transaction.sequence));
  await applyToOpen(
    step,
    stranded.map((entry) => ended(step, entry)),
  );
}

/** Whether a noop took the place of the transaction, or no node ever took any of its attempts. */
function isTakenBack(step: LaneStep, entry: OpenEntry): boolean {
  const { id, noopEnd } = entry.transaction;
  const latest = latestOf(entry);
  if (noopEnd === null || latest?.purpose !== 'noop') return false;
  if (latest.acceptedAt !== null) return true;
  return step.memory.offers.wasTurnedAway(id) && entry.attempts.every(({ acceptedAt }) => acceptedAt === null);
}

function ended(step: LaneStep, { transaction }: OpenEntry): Change {
  const { id, noopEnd, sequence, statusReason } = transaction;
  const text = `Signed under ${step.chain.counter?.name ?? 'sequence'} ${sequence}, which the account is far from reaching`;
  step.log.warn({ transaction: id, lane: step.key, sequence: String(sequence) }, 'ended beyond reach of its account');
  return {
    transaction,
    set: { status: noopEnd ?? 'failed', statusReason: `${statusReason}. ${text}`, sequence: null, nextActionAt: null },
    decision: { kind: 'dead', text },
  };
}
