import type { Transaction } from '../domain/transaction.ts';
import { type LaneStep, reasonOf, unmined } from './lane-step.ts';
import type { Version } from './ledger.ts';
import type { Sender } from './sender.ts';
import { sequenceFigures } from './sequence-figures.ts';

/**
 * Fills the sequences below the lane's open transactions that the chain waits for and that nobody holds any more (a
 * reorganisation took somebody else's use of the key back): with transactions that do nothing, in the name of the relayer
 * that waits above. Without them everything above would wait for ever.
 * @returns how many were made
 */
export async function fillGaps(step: LaneStep): Promise<number> {
  const lowest = unmined(step).at(0);
  if (lowest === undefined) return 0;
  try {
    const sender = await step.senders.of(lowest.transaction.relayerId);
    const gaps = step.planner.gaps(await sequenceFigures(step, [sender]), step.elapsed());
    if (gaps.length === 0) return 0;
    const versions = await Promise.all(gaps.map((sequence) => fillerFor(step, sender, sequence)));
    const ready = versions.filter((version) => version !== undefined);
    if (ready.length === 0 || !(await step.ledger.record(ready))) return 0;
    step.log.warn({ lane: step.key, sequences: gaps.map(String) }, 'gaps filled');
    for (const { transaction, set, attempt } of ready) {
      step.open.set(transaction.id, { transaction: { ...transaction, ...set }, attempts: [attempt] });
    }
    return ready.length;
  } catch (error) {
    step.log.warn({ reason: reasonOf(error), lane: step.key }, 'gaps not looked for');
    return 0;
  }
}

async function fillerFor(step: LaneStep, sender: Sender, sequence: bigint): Promise<Version | undefined> {
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
  const prepared = await client.prepareVersion(entry, { purpose: 'void' }, { committed: 0n });
  if (prepared.kind !== 'ready') {
    step.log.warn({ lane: step.key, reason: prepared.reason }, 'gap not filled');
    return undefined;
  }
  const { request } = prepared;
  const { raw, hash, fields } = await client.sign(pending, prepared.fields, sequence, await sender.signer());
  const about = { transactionId: pending.id, ordinal: 1, lane: step.key, sequence, purpose: 'void' } as const;
  return {
    transaction: pending,
    isNew: true,
    set: { status: 'sent', sequence, hash, fields, nextActionAt: now },
    attempt: { ...about, request, fields, raw, hash, createdAt: now, acceptedAt: null },
    decision: { kind: 'gap-filled', text: statusReason },
  };
}
