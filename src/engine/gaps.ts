import { messageOf } from '../domain/errors.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Transaction } from '../domain/transaction.ts';
import { LeaseLost } from '../store/lease.ts';
import { askAny, type LaneStep, unmined } from './lane-step.ts';
import type { Sender } from './sender.ts';
import { sequenceFigures } from './sequence-figures.ts';
import { storeUnlike } from './unlike.ts';

/**
 * Fills the sequences below the lane's open transactions that the chain waits for and that nobody holds any more (a
 * reorganisation took somebody else's use of the key back): with transactions that do nothing, in the name of the relayer
 * that waits above. Without them everything above would wait for ever.
 * @returns how many were made
 */
export async function fillGaps(step: LaneStep): Promise<number> {
  const lowest = unmined(step).at(0);
  if (lowest === undefined) return 0;
  let filled = 0;
  try {
    const sender = await step.senders.of(lowest.transaction.relayerId);
    const gaps = await step.planner.gaps(await sequenceFigures(step, [sender]), step.elapsed());
    for (const sequence of gaps.slice(0, roomBelow(step, gaps[0]))) {
      if (step.isEnding() || !(await fill(step, sender, sequence))) break;
      filled += 1;
    }
    if (filled > 0) step.log.warn({ lane: step.key, first: String(gaps[0]), filled }, 'gaps filled');
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    step.log.warn({ reason: messageOf(error), lane: step.key }, 'gaps not looked for');
  }
  return filled;
}

/**
 * Fillers that may be on their way at once. A wide gap is filled in parts, each when the one before is in blocks, so that
 * one that was only a node's claim ends with it.
 */
const FILLERS_AT_ONCE = 32;

function roomBelow(step: LaneStep, first: bigint | undefined): number {
  const below = unmined(step).filter(({ transaction: { sequence } }) => (sequence ?? 0n) < (first ?? 0n));
  return Math.max(FILLERS_AT_ONCE - below.length, 0);
}

/** @returns false when there is none to be had now */
async function fill(step: LaneStep, sender: Sender, sequence: bigint): Promise<boolean> {
  const { chain, client, relayer, account } = sender;
  const now = step.now();
  const statusReason = `Gap-filling NOOP for nonce ${sequence}`;
  const pending: Transaction = {
    id: step.newId(),
    relayerId: relayer.id,
    networkType: relayer.networkType,
    lane: step.key,
    status: 'pending',
    statusReason,
    createdAt: now,
    sentAt: null,
    confirmedAt: null,
    validUntil: null,
    request: chain.voidRequest(account),
    fields: {},
    sequence: null,
    hash: null,
    voidAs: null,
    nextActionAt: now,
  };
  const entry = { transaction: { ...pending, sequence }, attempts: [], account };
  const prepared = await askAny(step, client, (one) =>
    one.prepareVersion(entry, { purpose: 'void' }, { committed: 0n }),
  );
  if (prepared.kind !== 'ready') {
    step.log.warn({ lane: step.key, reason: prepared.reason }, 'gap not filled');
    return false;
  }
  const { request } = prepared;
  const signAndStore = async (prepared: JsonObject) => {
    const { raw, hash, fields } = await client.sign(pending, prepared, sequence, await sender.signer());
    const about = { transactionId: pending.id, ordinal: 1, lane: step.key, sequence, purpose: 'void' } as const;
    const attempt = { ...about, request, fields, raw, hash, createdAt: now, acceptedAt: null };
    const set = { status: 'sent', sequence, hash, fields, nextActionAt: now } as const;
    const decision = { kind: 'gap-filled', text: statusReason } as const;
    const stored = await step.ledger.record([{ transaction: pending, isNew: true, set, attempt, decision }]);
    if (stored) {
      step.open.set(pending.id, { transaction: { ...pending, ...set }, attempts: [attempt] });
      step.filled({ sequence, at: now });
    }
    return stored;
  };
  return await storeUnlike(chain, prepared.fields, signAndStore);
}
