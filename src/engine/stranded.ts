import { applyToOpen, type LaneStep, unmined } from './lane-step.ts';
import type { Change } from './ledger.ts';

/**
 * Says of the transactions that wait for an account which is far from their sequence that they do so: to who looks at
 * them, in the log and in the count of those that wait. Nothing else is done with them: no other transaction may take
 * their place under another sequence, or both could have an effect.
 */
export async function tellStranded(step: LaneStep): Promise<void> {
  const changes: Change[] = [];
  for (const { transaction } of unmined(step)) {
    const { id, sequence, voidAs } = transaction;
    if (!step.planner.isStranded(sequence) || !step.offers.strand(transaction)) continue;
    const text = `Signed under sequence ${sequence}, which the account is far from reaching; newer ones go on before it`;
    step.log.warn({ transaction: id, lane: step.key, sequence: String(sequence) }, 'signed beyond reach');
    const set = voidAs === null ? { statusReason: text } : {};
    changes.push({ transaction, set, decision: { kind: 'parked', text } });
  }
  await applyToOpen(step, changes);
}
