import { messageOf } from '../../domain/errors.ts';
import { newTransaction } from '../../features/transactions/records/transaction.ts';
import { LeaseLost } from '../../store/lease.ts';
import { withdrawTransaction } from '../lane/due-attempts.ts';
import { applyToOpen, hasExpired, type LaneStep, latestAttemptOf, unminedTransactions } from '../lane/lane-step.ts';
import type { LaneChange, OpenTransaction } from '../lane/ledger.ts';
import type { Sender } from '../lane/sender.ts';
import { signAttempts } from '../lane/sign-attempts.ts';
import { sequenceFigures } from './sequence-planner.ts';

/**
 * Fills gaps with noops. A gap is a sequence below the lane's open transactions that the chain waits for and no
 * transaction holds. It appears when a reorganisation takes back what somebody else did with the key. Without a noop,
 * everything above the gap would wait for ever. The noop belongs to the relayer that waits above the gap.
 * @returns how many noops were made
 */
export async function fillGaps(step: LaneStep): Promise<number> {
  const lowest = unminedTransactions(step).find(({ transaction }) => transaction.sequence !== null);
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
async function fill(step: LaneStep, { chain, client, relayer, account }: Sender, sequence: bigint): Promise<boolean> {
  if (client.sequences === undefined || client.replacement === undefined) return false;
  const transaction = newTransaction({
    id: step.newId(),
    relayerId: relayer.id,
    networkType: relayer.networkType,
    lane: step.key,
    statusReason: `Gap-filling NOOP for ${chain.sequence?.name ?? 'sequence'} ${sequence}`,
    createdAt: step.clock.now(),
    request: client.sequences.noopRequest(account),
    validUntil: null,
    anchorKind: 'sequence',
    onDeath: 'end',
    contentKey: null,
  });
  const filler = { transaction, earlier: [], spec: { purpose: 'noop' }, kind: 'gap-filled', fills: sequence } as const;
  const [outcome] = await signAttempts(step, [filler]);
  return outcome?.kind === 'signed';
}

/**
 * Handles transactions that stand above a gap too wide to be filled: an endpoint reported a wrong count when they were
 * signed. They are not signed again under a lower sequence, because their bytes can still execute once the account gets
 * there, and then both would. Each says why it waits. Once the chain shows that the count was wrong, a noop takes its
 * sequence. It stays open, and so keeps its sequence from others, until the chain shows which of its attempts executed.
 *
 * One that was canceled, or whose lifetime has passed, ends when a noop holds its place in the pools. It gives up its
 * sequence, so that the account does not seem to have come that far.
 * @param beyond the sequences above a gap that is too wide to be filled
 */
export async function handleStranded(step: LaneStep, beyond: readonly bigint[]): Promise<void> {
  if (beyond.length === 0) return;
  const sequences = new Set<bigint | null>(beyond);
  const changes: LaneChange[] = [];
  for (const entry of unminedTransactions(step).filter(({ transaction: { sequence } }) => sequences.has(sequence))) {
    const { noopEnd } = entry.transaction;
    const isOver = noopEnd !== 'failed' || (await hasExpired(step, entry.transaction));
    if (isReplacedByNoop(step, entry) && isOver) changes.push(ended(step, entry));
    else changes.push(...waiting(step, entry));
  }
  await applyToOpen(step, changes);
}

/** Whether a noop took the place of the transaction, or no node ever took any of its attempts. */
function isReplacedByNoop(step: LaneStep, entry: OpenTransaction): boolean {
  const { id, noopEnd } = entry.transaction;
  const latest = latestAttemptOf(entry);
  if (noopEnd === null || latest?.purpose !== 'noop') return false;
  if (latest.acceptedAt !== null) return true;
  return step.memory.offers.wasTurnedAway(id) && entry.attempts.every(({ acceptedAt }) => acceptedAt === null);
}

function ended(step: LaneStep, { transaction }: OpenTransaction): LaneChange {
  const { id, noopEnd, sequence, statusReason } = transaction;
  const text = `Signed under ${sequenceName(step)} ${sequence}, which the account is far from reaching`;
  step.log.warn({ transaction: id, lane: step.key, sequence: String(sequence) }, 'ended beyond reach of its account');
  return {
    transaction,
    set: { status: noopEnd ?? 'failed', statusReason: `${statusReason}. ${text}`, sequence: null, nextActionAt: null },
    decision: { kind: 'dead', text },
  };
}

/** Says why the transaction waits, or has a noop take its sequence. */
function waiting(step: LaneStep, entry: OpenTransaction): LaneChange[] {
  const { transaction } = entry;
  const { id, sequence, noopEnd, statusReason } = transaction;
  const { offers } = step.memory;
  const isNew = offers.causeOf(id) !== 'sequence' && offers.park(transaction, 'sequence', step.clock.elapsed());
  if (noopEnd !== null) return [];
  const cause = `Signed under ${sequenceName(step)} ${sequence}, which the account is far from reaching: an endpoint reported a wrong count`;
  if (isProved(step, entry)) {
    step.log.warn({ transaction: id, lane: step.key, sequence: String(sequence) }, 'taken back beyond reach');
    const reason = `${cause}. Taken back by a noop under that ${sequenceName(step)}. It ends when the account gets there, or with its lifetime. Do not pay again before, or cancel it first`;
    return [withdrawTransaction(step, transaction, 'failed', 'refused', reason)];
  }
  const reason = `${cause}. It is taken back once a newer transaction of the account is in a block. Do not pay again before it has ended`;
  if (statusReason === reason) return [];
  const decision = { kind: 'parked', text: reason } as const;
  return [{ transaction, set: { statusReason: reason }, ...(isNew && { decision }) }];
}

/**
 * Whether the chain shows that the count was wrong: a block took a lower sequence of the account that was signed after
 * this one. A low count alone proves nothing, as it may be the wrong one.
 */
function isProved({ memory: { newestInBlock } }: LaneStep, { transaction, attempts }: OpenTransaction): boolean {
  const [first] = attempts;
  if (newestInBlock === null || first === undefined || transaction.sequence === null) return false;
  return newestInBlock.signedAt > first.createdAt && newestInBlock.sequence < transaction.sequence;
}

function sequenceName({ chain }: LaneStep): string {
  return chain.sequence?.name ?? 'sequence';
}
