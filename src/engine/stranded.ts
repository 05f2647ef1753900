import { applyToOpen, type LaneStep, latestOf, unmined } from './lane-step.ts';
import type { Change, OpenEntry } from './ledger.ts';

/**
 * Says of the transactions that wait for an account which is far from their sequence that they do so: to who looks at
 * them, in the log and in the count of those that wait. No other transaction may take their place under another sequence,
 * or both could have an effect. One that is canceled ends once its empty version was offered: nobody waits for what can
 * only happen when the account has used hundreds of sequences more.
 */
export async function tellStranded(step: LaneStep): Promise<void> {
  const changes: Change[] = [];
  for (const entry of unmined(step)) {
    const { transaction } = entry;
    const { id, sequence, voidAs } = transaction;
    if (!step.planner.isStranded(sequence)) continue;
    if (isTakenBack(step, entry)) {
      changes.push(giveUp(step, transaction));
      continue;
    }
    if (!step.offers.strand(transaction)) continue;
    const text = `Signed under sequence ${sequence}, which the account is far from reaching; newer ones go on before it`;
    step.log.warn({ transaction: id, lane: step.key, sequence: String(sequence) }, 'signed beyond reach');
    const set = voidAs === null ? { statusReason: text } : {};
    changes.push({ transaction, set, decision: { kind: 'parked', text } });
  }
  await applyToOpen(step, changes);
}

function isTakenBack(step: LaneStep, entry: OpenEntry): boolean {
  const { id, voidAs } = entry.transaction;
  const latest = latestOf(entry);
  if (voidAs !== 'canceled' || latest?.purpose !== 'void') return false;
  return latest.acceptedAt !== null || step.offers.wasNotTaken(id);
}

/** It leaves its sequence, so that the account's own sequences are not taken to go as far. */
function giveUp(step: LaneStep, transaction: OpenEntry['transaction']): Change {
  const { id, sequence, statusReason } = transaction;
  const text = `${statusReason}; signed under sequence ${sequence}, which the account is far from reaching`;
  step.log.info({ transaction: id, lane: step.key, sequence: String(sequence) }, 'canceled beyond reach');
  return { transaction, set: { status: 'canceled', statusReason: text, sequence: null, nextActionAt: null } };
}
