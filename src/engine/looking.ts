import type { Chain, ChainClient, Observation, ObservedEntry } from '../chains/chain.ts';
import { isDueAt } from '../domain/due.ts';
import { messageOf } from '../domain/errors.ts';
import type { Attempt, Transaction } from '../domain/transaction.ts';
import type { TransactionChange } from '../store/store.ts';
import { applyToOpen, askAny, isAside, type LaneStep, latestOf, observedOf } from './lane-step.ts';
import type { Change, OpenEntry } from './ledger.ts';
import { nextLook } from './timing.ts';

type Included = Extract<Observation, { kind: 'included' }>;

/**
 * Looks on the chain for every version of the given transactions, with one question for each network client, and
 * brings the transactions to the state that the chain shows.
 */
export async function look(step: LaneStep, entries: readonly OpenEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const groups = new Map<ChainClient, { chain: Chain; entries: ObservedEntry[] }>();
  const unreachable: Change[] = [];
  for (const entry of entries) {
    try {
      const { sender, ...observed } = await observedOf(step, entry);
      const { chain, client } = sender;
      groups.set(client, { chain, entries: [...(groups.get(client)?.entries ?? []), observed] });
    } catch (error) {
      step.log.warn({ err: error, transaction: entry.transaction.id, lane: step.key }, 'network not reached');
      unreachable.push(lookAgain(step, entry.transaction));
    }
  }
  const changes = await Promise.all(
    [...groups].map(([client, { chain, entries }]) => lookThrough(step, chain, client, entries)),
  );
  step.reach('observed');
  await applyToOpen(step, [...unreachable, ...changes.flat()]);
  step.reach('settled');
}

async function lookThrough(
  step: LaneStep,
  chain: Chain,
  client: ChainClient,
  group: readonly ObservedEntry[],
): Promise<Change[]> {
  let observations: Observation[];
  try {
    observations = await askAny(step, client, (one) => one.observe(group));
  } catch (error) {
    step.log.warn({ reason: messageOf(error), lane: step.key }, 'chain not observed');
    return group.map(({ transaction }) => lookAgain(step, transaction));
  }
  return group.map(({ transaction, attempts }, index) =>
    changeFor(step, chain, { transaction, attempts: [...attempts] }, observations[index] ?? { kind: 'waiting' }),
  );
}

function changeFor(step: LaneStep, chain: Chain, entry: OpenEntry, observation: Observation): Change {
  const { transaction } = entry;
  switch (observation.kind) {
    case 'waiting':
      if (transaction.status === 'mined') return takeBack(step, chain, entry);
      return observation.reason === undefined ? waitOn(step, transaction) : leaveOpen(step, entry, observation.reason);
    case 'displaced':
      return displace(step, entry, observation.reason);
    case 'included':
      return include(step, chain, entry, observation);
    default:
      return observation satisfies never;
  }
}

/**
 * An offer that failed in this step has set a pause already. A transaction that a node took long ago stays due, so
 * that it is offered again.
 */
function lookAgain(step: LaneStep, transaction: Transaction): Change {
  const now = step.now();
  const { id, status, sequence, nextActionAt, sentAt, createdAt } = transaction;
  if (nextActionAt !== null && !isDueAt(nextActionAt, now)) {
    return { transaction, set: {} };
  }
  // Far beyond the account's count no node is offered anything.
  const isOffered = status === 'submitted' && !step.planner.isStranded(sequence);
  const silent = isOffered && step.offers.isStale(id, step.elapsed(), step.timing.reofferMs);
  // The lane moves as blocks take its transactions: those behind are looked for at that pace, however old they are.
  const quiet = Math.min(now - (sentAt ?? createdAt), step.pool.standsFor(step.elapsed()) ?? Number.POSITIVE_INFINITY);
  return { transaction, set: { nextActionAt: silent ? now : nextLook(now, now - quiet, step.timing) } };
}

function waitOn(step: LaneStep, transaction: Transaction): Change {
  step.offers.freed(transaction.id);
  return lookAgain(step, transaction);
}

/**
 * Its sequence is used, and the endpoints cannot prove by what. That is soon over where one of them is only behind. Where
 * it lasts, the transaction keeps its state, says why, and is looked for at leisure: one of its versions may have taken
 * effect, so it neither ends nor goes out under another sequence.
 */
function leaveOpen(step: LaneStep, entry: OpenEntry, reason: string): Change {
  const { transaction } = entry;
  step.offers.unproved(transaction.id, step.elapsed());
  if (!isAside(step, entry)) return lookAgain(step, transaction);
  const isNew = step.offers.park(transaction, 'sequence', step.elapsed());
  if (isNew)
    step.log.warn({ transaction: transaction.id, lane: step.key, reason }, 'sequence used, not proved by what');
  const told = transaction.voidAs === null ? { statusReason: reason } : {};
  const decision = { kind: 'parked', text: reason } as const;
  return {
    transaction,
    set: { ...told, nextActionAt: step.now() + step.timing.asideMs },
    ...(isNew && { decision }),
  };
}

/** A reorganisation took the block: the bytes are offered again, at once, and the latest version stands again. */
function takeBack(step: LaneStep, chain: Chain, entry: OpenEntry): Change {
  const { transaction } = entry;
  step.log.warn({ transaction: transaction.id, lane: step.key }, 'no longer in a block');
  step.offers.forget(transaction.id);
  const latest = latestOf(entry);
  const content = latest === undefined ? {} : contentOf(latest);
  const statusReason = transaction.voidAs === null ? null : transaction.statusReason;
  return {
    transaction,
    set: { status: 'submitted', statusReason, ...content, nextActionAt: step.now() },
    decision: {
      kind: 'reorganised',
      text: `${transaction.hash} is no longer in ${chain.placeOf?.(transaction) ?? 'a block'}`,
    },
  };
}

/** Something else used the sequence, so none of the versions can take effect any more. */
function displace(step: LaneStep, { transaction }: OpenEntry, reason: string): Change {
  step.log.warn({ transaction: transaction.id, lane: step.key }, 'sequence used by something else');
  return { transaction, set: { status: transaction.voidAs ?? 'failed', statusReason: reason, nextActionAt: null } };
}

function include(step: LaneStep, chain: Chain, { transaction, attempts }: OpenEntry, observation: Included): Change {
  const attempt = attempts.find(({ hash }) => hash === observation.hash);
  if (attempt === undefined) {
    step.log.error({ transaction: transaction.id, hash: observation.hash }, 'a node named a hash that is not ours');
    return lookAgain(step, transaction);
  }
  const now = step.now();
  if (transaction.status !== 'mined') step.pool.moved(step.elapsed());
  const content = contentOf(attempt);
  const seen = {
    ...content,
    fields: { ...content.fields, ...observation.fields },
    statusReason: reasonFor(transaction, attempt, observation),
    sentAt: transaction.sentAt ?? now,
  };
  const accepted = attempt.acceptedAt === null ? { accepted: { ordinal: attempt.ordinal, at: now } } : {};
  if (!observation.final) {
    const nextActionAt = nextLook(now, seen.sentAt, step.timing);
    const status = transaction.status === 'mined' ? {} : ({ status: 'mined' } as const);
    const set = { ...seen, ...status, nextActionAt };
    const place = chain.placeOf?.({ ...transaction, ...set });
    // What nodes said of its versions says nothing of them after a reorganisation.
    step.offers.forget(transaction.id);
    const isNews = place !== undefined && place !== chain.placeOf?.(transaction);
    const text = `Version ${attempt.ordinal}, ${attempt.hash}, is in ${place}`;
    return { transaction, set, ...accepted, ...(isNews && { decision: { kind: 'mined', text } as const }) };
  }
  return {
    transaction,
    set: { ...seen, ...endOf(transaction, attempt, observation, now), nextActionAt: null },
    ...accepted,
  };
}

/** What the API shows of a transaction is what the version does that counts. */
function contentOf({
  hash,
  request,
  fields,
}: Attempt): Required<Pick<TransactionChange, 'hash' | 'request' | 'fields'>> {
  return { hash, request, fields };
}

function reasonFor(
  { voidAs, statusReason }: Transaction,
  { purpose }: Attempt,
  { succeeded, reason, final }: Included,
) {
  if (purpose === 'void' && voidAs !== null) return statusReason;
  if (succeeded) return null;
  return final ? reason : `Failed in its block, not final yet: ${reason}`;
}

/** A version that does nothing has done so also when it reverts: its sequence is used. */
function endOf(
  { voidAs }: Transaction,
  { purpose }: Attempt,
  { succeeded }: Included,
  now: number,
): Pick<TransactionChange, 'status' | 'confirmedAt'> {
  if (purpose === 'void' && voidAs !== null) return { status: voidAs };
  return succeeded ? { status: 'confirmed', confirmedAt: now } : { status: 'failed' };
}
