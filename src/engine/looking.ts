import type { ChainClient, Observation } from '../chains/chain.ts';
import type { Transaction } from '../domain/transaction.ts';
import { applyToOpen, type LaneStep, reasonOf } from './lane-step.ts';
import type { Change, OpenEntry } from './ledger.ts';
import { nextLook } from './timing.ts';

/**
 * Looks on the chain for every version of the given transactions, with one question for each network client, and
 * brings the transactions to the state that the chain shows.
 */
export async function look(step: LaneStep, entries: readonly OpenEntry[]): Promise<void> {
  const groups = new Map<ChainClient, OpenEntry[]>();
  const unreachable: Change[] = [];
  for (const entry of entries) {
    try {
      const { client } = await step.senders.of(entry.transaction.relayerId);
      groups.set(client, [...(groups.get(client) ?? []), entry]);
    } catch (error) {
      step.log.warn({ err: error, transaction: entry.transaction.id, lane: step.key }, 'network not reached');
      unreachable.push(lookAgain(step, entry.transaction));
    }
  }
  const changes = await Promise.all([...groups].map(([client, group]) => lookThrough(step, client, group)));
  await applyToOpen(step, [...unreachable, ...changes.flat()]);
}

async function lookThrough(step: LaneStep, client: ChainClient, group: readonly OpenEntry[]): Promise<Change[]> {
  let observations: Observation[];
  try {
    observations = await client.observe(group);
  } catch (error) {
    step.log.warn({ reason: reasonOf(error), lane: step.key }, 'chain not observed');
    return group.map(({ transaction }) => lookAgain(step, transaction));
  }
  return group.map((entry, index) => changeFor(step, entry, observations[index] ?? { kind: 'waiting' }));
}

function changeFor(step: LaneStep, entry: OpenEntry, observation: Observation): Change {
  const { transaction } = entry;
  switch (observation.kind) {
    case 'waiting':
      return transaction.status === 'mined' ? takeBack(step, entry) : lookAgain(step, transaction);
    case 'displaced':
      step.log.warn({ transaction: transaction.id, lane: step.key }, 'sequence used by something else');
      return { transaction, set: { status: 'failed', statusReason: observation.reason, nextActionAt: null } };
    case 'included':
      return include(step, entry, observation);
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
  const { id, status, nextActionAt, sentAt, createdAt } = transaction;
  if (nextActionAt !== null && nextActionAt > now) {
    return { transaction, set: {} };
  }
  const silent = status === 'submitted' && step.offers.isStale(id, step.elapsed(), step.timing.reofferMs);
  return { transaction, set: { nextActionAt: silent ? now : nextLook(now, sentAt ?? createdAt, step.timing) } };
}

/** A reorganisation took the block: the bytes are offered again, at once. */
function takeBack(step: LaneStep, { transaction, attempts }: OpenEntry): Change {
  step.log.warn({ transaction: transaction.id, lane: step.key }, 'no longer in a block');
  step.offers.forget(transaction.id);
  const hash = attempts.at(-1)?.hash ?? transaction.hash;
  return { transaction, set: { status: 'submitted', statusReason: null, hash, nextActionAt: step.now() } };
}

function include(
  step: LaneStep,
  { transaction, attempts }: OpenEntry,
  observation: Extract<Observation, { kind: 'included' }>,
): Change {
  const attempt = attempts.find(({ hash }) => hash === observation.hash);
  if (attempt === undefined) {
    step.log.error({ transaction: transaction.id, hash: observation.hash }, 'a node named a hash that is not ours');
    return lookAgain(step, transaction);
  }
  const now = step.now();
  const { hash, succeeded, final, reason } = observation;
  const seen = {
    hash,
    statusReason: succeeded ? null : reason,
    fields: { ...transaction.fields, ...observation.fields },
    sentAt: transaction.sentAt ?? now,
  };
  const accepted = attempt.acceptedAt === null ? { accepted: { ordinal: attempt.ordinal, at: now } } : {};
  if (!final) {
    const nextActionAt = nextLook(now, seen.sentAt, step.timing);
    const status = transaction.status === 'mined' ? {} : ({ status: 'mined' } as const);
    return { transaction, set: { ...seen, ...status, nextActionAt }, ...accepted };
  }
  const ended = succeeded ? ({ status: 'confirmed', confirmedAt: now } as const) : ({ status: 'failed' } as const);
  return { transaction, set: { ...seen, ...ended, nextActionAt: null }, ...accepted };
}
