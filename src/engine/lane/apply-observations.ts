import { isDeepStrictEqual } from 'node:util';
import type { Chain } from '../../chains/chain.ts';
import type { ChainClient, ObservedTransaction, TransactionObservation } from '../../chains/chain-client.ts';
import { messageOf } from '../../domain/errors.ts';
import { type Attempt, livingAttempts } from '../../features/transactions/records/attempt.ts';

import { isDueAt } from '../../features/transactions/records/lane.ts';
import type { Transaction, TransactionChange } from '../../features/transactions/records/transaction.ts';
import { nextLookAt } from '../timing.ts';
import {
  applyToOpen,
  askAny,
  isUnresolved,
  type LaneStep,
  latestAttemptOf,
  toObservedTransaction,
} from './lane-step.ts';
import type { LaneChange, OpenTransaction } from './ledger.ts';

type Included = Extract<TransactionObservation, { kind: 'included' }>;

/**
 * Looks on the chain for every attempt of the given transactions, with one question for each network client. Brings the
 * transactions to the state that the chain shows.
 */
export async function applyObservations(step: LaneStep, entries: readonly OpenTransaction[]): Promise<void> {
  if (entries.length === 0) return;
  const groups = new Map<ChainClient, { chain: Chain; entries: ObservedTransaction[] }>();
  const unreachable: LaneChange[] = [];
  for (const entry of entries) {
    try {
      const { sender, ...observed } = await toObservedTransaction(step, entry);
      const { chain, client } = sender;
      const group = groups.get(client) ?? { chain, entries: [] };
      group.entries.push(observed);
      groups.set(client, group);
    } catch (error) {
      step.log.warn({ err: error, transaction: entry.transaction.id, lane: step.key }, 'network not reached');
      unreachable.push(lookAgain(step, entry.transaction));
    }
  }
  const changes = await Promise.all(
    [...groups].map(([client, { chain, entries }]) => observeWith(step, chain, client, entries)),
  );
  step.life.onCheckpoint('observed');
  await applyToOpen(step, [...unreachable, ...changes.flat()]);
  step.life.onCheckpoint('settled');
}

async function observeWith(
  step: LaneStep,
  chain: Chain,
  client: ChainClient,
  group: readonly ObservedTransaction[],
): Promise<LaneChange[]> {
  let observations: TransactionObservation[];
  try {
    observations = await askAny(step, client, (one) => one.observe(group));
  } catch (error) {
    step.log.warn({ reason: messageOf(error), lane: step.key }, 'chain not observed');
    return group.map(({ transaction }) => lookAgain(step, transaction));
  }
  return group.map(({ transaction, attempts }, index) =>
    changeFor(step, chain, { transaction, attempts: [...attempts] }, observations[index] ?? { kind: 'open' }),
  );
}

function changeFor(
  step: LaneStep,
  chain: Chain,
  entry: OpenTransaction,
  observation: TransactionObservation,
): LaneChange {
  const { transaction } = entry;
  switch (observation.kind) {
    case 'open':
      if (transaction.status === 'mined') return reopen(step, chain, entry);
      if (observation.reason !== undefined) return keepOpen(step, entry, observation.reason);
      return expireAttempts(step, chain, entry, new Set(observation.dead));
    case 'dead':
      // A mined transaction first goes back to `submitted`, from where it can be signed again. The next look finds it
      // dead once more.
      if (transaction.status === 'mined') return reopen(step, chain, entry);
      return markDead(step, chain, entry, observation);
    case 'included':
      return include(step, chain, entry, observation);
    default:
      return observation satisfies never;
  }
}

/**
 * Sets when to look at a transaction again. Keeps the pause that a failed offer set in this step. A transaction that a
 * node took long ago stays due, so that it is offered again.
 */
function lookAgain(step: LaneStep, transaction: Transaction): LaneChange {
  const now = step.clock.now();
  const { id, status, nextActionAt, sentAt, createdAt } = transaction;
  if (nextActionAt !== null && !isDueAt(nextActionAt, now)) {
    return { transaction, set: {} };
  }
  const silent = status === 'submitted' && step.memory.offers.isStale(id, step.clock.elapsed(), step.timing.reofferMs);
  // While blocks take the lane's transactions, the others are looked for at that pace, however old they are.
  const quiet = Math.min(
    now - (sentAt ?? createdAt),
    step.memory.pool.standsFor(step.clock.elapsed()) ?? Number.POSITIVE_INFINITY,
  );
  return { transaction, set: { nextActionAt: silent ? now : nextLookAt(now, now - quiet, step.timing) } };
}

function reschedule(step: LaneStep, transaction: Transaction): LaneChange {
  step.memory.offers.freed(transaction.id);
  return lookAgain(step, transaction);
}

/**
 * Handles a transaction whose sequence is used, or whose time is over, while the endpoints cannot prove how it ended.
 * One of its own attempts may have taken effect, so it neither ends nor goes out under another sequence. Mostly an
 * endpoint only lags, and this is soon over. If it lasts, the transaction says why and is looked for less often.
 */
function keepOpen(step: LaneStep, entry: OpenTransaction, reason: string): LaneChange {
  const { transaction } = entry;
  step.memory.offers.unproved(transaction.id, step.clock.elapsed());
  if (!isUnresolved(step, entry)) return lookAgain(step, transaction);
  const isNew = step.memory.offers.park(transaction, 'sequence', step.clock.elapsed());
  if (isNew) step.log.warn({ transaction: transaction.id, lane: step.key, reason }, 'how it ended is not proved');
  const why = transaction.noopEnd === null ? { statusReason: reason } : {};
  const decision = { kind: 'parked', text: reason } as const;
  return {
    transaction,
    set: { ...why, nextActionAt: step.clock.now() + step.timing.unresolvedLookMs },
    ...(isNew && { decision }),
  };
}

/**
 * Handles a reorganisation that removed the transaction's block. The bytes are offered again at once, and the latest
 * attempt stands for the transaction again.
 */
function reopen(step: LaneStep, chain: Chain, entry: OpenTransaction): LaneChange {
  const { transaction } = entry;
  step.log.warn({ transaction: transaction.id, lane: step.key }, 'no longer in a block');
  step.memory.offers.forget(transaction.id);
  const latest = latestAttemptOf(entry);
  const content = latest === undefined ? {} : { ...contentOf(transaction, latest), fields: latest.fields };
  const statusReason = transaction.noopEnd === null ? null : transaction.statusReason;
  return {
    transaction,
    set: { status: 'submitted', statusReason, ...content, nextActionAt: step.clock.now() },
    decision: {
      kind: 'reorganised',
      text: `${transaction.hash} is no longer in ${chain.placeOf?.(transaction) ?? 'a block'}`,
    },
  };
}

/** Marks dead attempts. When all attempts are dead, the transaction is dead too. */
function expireAttempts(step: LaneStep, chain: Chain, entry: OpenTransaction, dead: ReadonlySet<number>): LaneChange {
  const died = livingAttempts(entry.attempts).filter(({ ordinal }) => dead.has(ordinal));
  if (died.length === 0) return reschedule(step, entry.transaction);
  const isLiving = died.length < livingAttempts(entry.attempts).length;
  if (!isLiving) return markDead(step, chain, entry, { anchor: 'free', reason: 'Its time to be in a block passed' });
  const ordinals = died.map(({ ordinal }) => ordinal);
  return { ...reschedule(step, entry.transaction), died: { ordinals, at: step.clock.now() } };
}

/**
 * Handles a transaction of which no attempt can execute any more. One that is to have no effect ends. One that only the
 * service signs becomes pending again, to be signed under another anchor. One that others have signed as well ends,
 * because the service alone cannot sign it again.
 */
function markDead(
  step: LaneStep,
  chain: Chain,
  { transaction, attempts }: OpenTransaction,
  { anchor, reason }: Pick<Extract<TransactionObservation, { kind: 'dead' }>, 'anchor' | 'reason'>,
): LaneChange {
  const { id, noopEnd, onDeath, statusReason } = transaction;
  // A restored store may have forgotten the attempt that used the sequence.
  if (onDeath === 'end' && anchor === 'used' && step.memory.restored.died(id, attempts)) {
    return lookAgain(step, transaction);
  }
  const now = step.clock.now();
  step.log.warn({ transaction: id, lane: step.key, anchor, reason }, 'no attempt can execute any more');
  const died = { ordinals: livingAttempts(attempts).map(({ ordinal }) => ordinal), at: now };
  const decision = { kind: 'dead', text: reason } as const;
  // An unused sequence is free for another transaction.
  const free = anchor === 'free' ? ({ sequence: null } as const) : {};
  if (noopEnd === null && onDeath === 'renew') {
    const set = {
      status: 'pending',
      statusReason: reason,
      sequence: null,
      hash: null,
      fields: chain.renewedFields?.(transaction.fields) ?? {},
      nextActionAt: now,
    } as const;
    return { transaction, set, died, decision };
  }
  const status = noopEnd ?? (anchor === 'used' ? 'failed' : 'expired');

  return {
    transaction,
    set: { status, statusReason: noopEnd === null ? reason : statusReason, ...free, nextActionAt: null },
    died,
    decision,
  };
}

function include(
  step: LaneStep,
  chain: Chain,
  { transaction, attempts }: OpenTransaction,
  observation: Included,
): LaneChange {
  const attempt = attempts.find(({ hash }) => hash === observation.hash);
  if (attempt === undefined) {
    step.log.error({ transaction: transaction.id, hash: observation.hash }, 'a node named a hash that is not ours');
    return lookAgain(step, transaction);
  }
  const now = step.clock.now();
  if (transaction.status !== 'mined') step.memory.pool.moved(step.clock.elapsed());
  const { sequence } = transaction;
  if (sequence !== null && attempt.createdAt > (step.memory.newestInBlock?.signedAt ?? 0))
    step.memory.newestInBlock = { sequence, signedAt: attempt.createdAt };
  const shown = {
    ...contentOf(transaction, attempt),
    fields: { ...attempt.fields, ...observation.fields },
    statusReason: reasonFor(transaction, attempt, observation),
    sentAt: transaction.sentAt ?? now,
  };
  const accepted = attempt.acceptedAt === null ? { accepted: { ordinal: attempt.ordinal, at: now } } : {};
  if (!observation.final) {
    const nextActionAt = nextLookAt(now, shown.sentAt, step.timing);
    const status = transaction.status === 'mined' ? {} : ({ status: 'mined' } as const);
    const set = { ...shown, ...status, nextActionAt };
    const place = chain.placeOf?.({ ...transaction, ...set });
    // What nodes said of its attempts does not apply after a reorganisation.
    step.memory.offers.forget(transaction.id);
    const isNews = place !== undefined && place !== chain.placeOf?.(transaction);
    const text = `Attempt ${attempt.ordinal}, ${attempt.hash}, is in ${place}`;
    return { transaction, set, ...accepted, ...(isNews && { decision: { kind: 'mined', text } as const }) };
  }
  return {
    transaction,
    set: { ...shown, ...endOf(transaction, attempt, observation, now), nextActionAt: null },
    isExecuted: true,
    ...accepted,
  };
}

/**
 * The hash and the request of the attempt that counts: the API shows these. Leaves out an unchanged request, as most
 * transactions were never replaced.
 */
function contentOf({ request }: Transaction, attempt: Attempt): Pick<TransactionChange, 'hash' | 'request'> {
  return { hash: attempt.hash, ...(isDeepStrictEqual(attempt.request, request) ? {} : { request: attempt.request }) };
}

function reasonFor(
  { noopEnd, statusReason }: Transaction,
  { purpose }: Attempt,
  { succeeded, reason, final }: Included,
) {
  if (purpose === 'noop' && noopEnd !== null) return statusReason;
  if (succeeded) return null;
  return final ? reason : `Failed in its block, not final yet: ${reason}`;
}

/** A noop has done its work even when it reverts: its sequence is used. */
function endOf(
  { noopEnd }: Transaction,
  { purpose }: Attempt,
  { succeeded }: Included,
  now: number,
): Pick<TransactionChange, 'status' | 'confirmedAt'> {
  if (purpose === 'noop' && noopEnd !== null) return { status: noopEnd };
  return succeeded ? { status: 'confirmed', confirmedAt: now } : { status: 'failed' };
}
