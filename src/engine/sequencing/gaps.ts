import { messageOf } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json/json.ts';
import { NEW_ATTEMPT } from '../../domain/transaction/attempt.ts';
import { newTransaction } from '../../domain/transaction/transaction.ts';
import { LeaseLost } from '../../store/lease.ts';
import { storeVaried } from '../lane/attempts/vary.ts';
import { type LaneStep, unmined } from '../lane/lane-step.ts';
import type { Sender } from '../lane/sender.ts';
import { sequenceFigures } from './sequence-figures.ts';
import { handleStranded } from './stranded.ts';

/**
 * Fills gaps with noops. A gap is a sequence below the lane's open transactions that the chain waits for and no
 * transaction holds. It appears when a reorganisation takes back what somebody else did with the key. Without a noop,
 * everything above the gap would wait for ever. The noop belongs to the relayer that waits above the gap.
 * @returns how many noops were made
 */
export async function fillGaps(step: LaneStep): Promise<number> {
  const lowest = unmined(step).find(({ transaction }) => transaction.sequence !== null);
  if (lowest === undefined) return 0;
  let filled = 0;
  try {
    const sender = await step.senders.of(lowest.transaction.relayerId);
    const figures = await sequenceFigures(step, [sender]);
    const gaps = step.memory.planner.gaps(figures, step.clock.elapsed());
    await handleStranded(step, step.memory.planner.beyond(figures, step.clock.elapsed()));
    for (const sequence of gaps) {
      if (step.life.isEnding() || !(await fill(step, sender, sequence))) break;
      filled += 1;
    }
    if (filled > 0) step.log.warn({ lane: step.key, first: String(gaps[0]), filled }, 'gaps filled');
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    step.log.warn({ reason: messageOf(error), lane: step.key }, 'gaps not looked for');
  }
  return filled;
}

/** @returns false when no noop can be made now */
async function fill(step: LaneStep, sender: Sender, sequence: bigint): Promise<boolean> {
  const { chain, client, relayer, account } = sender;
  const { sequences, replacement } = client;
  if (sequences === undefined || replacement === undefined) return false;
  const now = step.clock.now();
  const statusReason = `Gap-filling NOOP for ${chain.counter?.name ?? 'sequence'} ${sequence}`;
  const pending = newTransaction({
    id: step.newId(),
    relayerId: relayer.id,
    networkType: relayer.networkType,
    lane: step.key,
    statusReason,
    createdAt: now,
    request: sequences.noopRequest(account),
    validUntil: null,
    anchorKind: 'sequence',
    onDeath: 'end',
    contentKey: null,
  });
  const entry = { transaction: { ...pending, sequence }, attempts: [], account };
  const prepared = await replacement.prepare(entry, { purpose: 'noop' }, { committed: 0n });
  if (prepared.kind !== 'ready') {
    step.log.warn({ lane: step.key, reason: prepared.reason }, 'gap not filled');
    return false;
  }
  const { request } = prepared;
  const anchor = { kind: 'sequence', sequence } as const;
  const signAndStore = async (prepared: JsonObject) => {
    const { raw, hash, fields } = await client.sign(pending, prepared, anchor, await sender.signer());
    const about = { transactionId: pending.id, ordinal: 1, lane: step.key, anchor, purpose: 'noop' } as const;
    const attempt = { ...about, request, fields, raw, hash, createdAt: now, ...NEW_ATTEMPT };
    const set = { status: 'sent', sequence, hash, fields, nextActionAt: now } as const;
    const decision = { kind: 'gap-filled', text: statusReason } as const;
    const stored = await step.ledger.record([{ transaction: pending, isNew: true, set, attempt, decision }]);
    if (stored) {
      step.open.set(pending.id, { transaction: { ...pending, ...set }, attempts: [attempt] });
    }
    return stored;
  };
  return await storeVaried(chain, prepared.fields, signAndStore);
}
