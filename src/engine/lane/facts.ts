import type {
  ChainClient,
  ObservedTransaction,
  ReplacementSpec,
  TransactionObservation,
} from '../../chains/chain-client.ts';
import { messageOf } from '../../domain/errors.ts';
import { sequenceFigures } from '../sequencing/sequence-planner.ts';
import { type Facts, latestAttemptOf, nextPurposeOf, type Prospect } from './decide.ts';
import { ageOf, askAny, hasExpired, type LaneStep, unminedTransactions } from './lane-step.ts';
import type { OpenTransaction } from './ledger.ts';

/** Looks on the chain for every attempt of the given transactions, with one question for each network client. */
export async function observe(
  step: LaneStep,
  entries: readonly OpenTransaction[],
): Promise<Extract<Facts, { kind: 'observed' }>> {
  const seen = new Map<OpenTransaction, TransactionObservation | 'not asked'>();
  const groups = new Map<ChainClient, { entry: OpenTransaction; observed: ObservedTransaction }[]>();
  for (const entry of entries) {
    try {
      const { client, account } = await step.senders.of(entry.transaction.relayerId);
      groups.set(client, [...(groups.get(client) ?? []), { entry, observed: { ...entry, account } }]);
    } catch (error) {
      step.log.warn({ err: error, transaction: entry.transaction.id, lane: step.key }, 'network not reached');
      seen.set(entry, 'not asked');
    }
  }
  await Promise.all(
    [...groups].map(async ([client, group]) => {
      let answers: TransactionObservation[] | undefined;
      try {
        answers = await askAny(step, client, (one) => one.observe(group.map(({ observed }) => observed)));
      } catch (error) {
        step.log.warn({ reason: messageOf(error), lane: step.key }, 'the chain could not be read');
      }
      for (const [index, { entry }] of group.entries())
        seen.set(entry, answers === undefined ? 'not asked' : (answers[index] ?? { kind: 'open' }));
    }),
  );
  return { kind: 'observed', seen: entries.map((entry) => [entry, seen.get(entry) ?? 'not asked']) };
}

/** Which transactions have expired: of those given, or else of all that are in no block and still wanted. */
export async function expired(
  step: LaneStep,
  entries = unminedTransactions(step).filter(({ transaction }) => transaction.noopEnd === null),
): Promise<Extract<Facts, { kind: 'expired' }>> {
  const ids = new Set<string>();
  for (const { transaction } of entries) if (await hasExpired(step, transaction)) ids.add(transaction.id);
  return { kind: 'expired', ids };
}

/** Which transactions can get a further attempt, and whether the network has been silent about them for too long. */
export async function prospects(step: LaneStep): Promise<Extract<Facts, { kind: 'prospects' }>> {
  const of = new Map<string, Prospect>();
  for (const entry of unminedTransactions(step)) {
    const purpose = nextPurposeOf(entry);
    if (purpose === undefined || !(await canReplace(step, entry, purpose))) continue;
    const { id } = entry.transaction;
    const acceptedAt = latestAttemptOf(entry)?.acceptedAt ?? null;
    const patienceMs = acceptedAt === null ? null : await patienceWith(step, entry);
    of.set(id, { silentForMs: acceptedAt === null ? null : ageOf(step, id, acceptedAt), patienceMs });
  }
  return { kind: 'prospects', of };
}

/** Whether a further attempt can replace the present attempts of the transaction. */
export async function canReplace(
  step: LaneStep,
  entry: OpenTransaction,
  purpose: ReplacementSpec['purpose'],
): Promise<boolean> {
  try {
    const { client, account } = await step.senders.of(entry.transaction.relayerId);
    return client.replacement?.can({ ...entry, account }, purpose) ?? false;
  } catch {
    // The relayer or its network is not available now, so nothing can be signed either.
    return false;
  }
}

async function patienceWith(step: LaneStep, entry: OpenTransaction): Promise<number | null> {
  try {
    const { client, account } = await step.senders.of(entry.transaction.relayerId);
    return client.replacement?.patienceMs({ ...entry, account }) ?? null;
  } catch {
    return null;
  }
}

/**
 * The gaps of the account: sequences below the lane's open transactions that the chain waits for and no transaction
 * holds. One appears when a reorganisation takes back what somebody else did with the key.
 * @returns nothing when the chain does not tell, or no transaction waits under a sequence
 */
export async function gaps(step: LaneStep): Promise<Extract<Facts, { kind: 'gaps' }> | undefined> {
  const open = unminedTransactions(step);
  const lowest = open.find(({ transaction }) => transaction.sequence !== null);
  if (lowest === undefined) return undefined;
  try {
    const { relayerId } = lowest.transaction;
    const figures = await sequenceFigures(step, [await step.senders.of(relayerId)]);
    const { planner } = step.memory;
    const free = planner.gaps(figures, step.clock.elapsed());
    const beyond = planner.beyond(figures, step.clock.elapsed());
    const isBeyond = ({ transaction: { sequence } }: OpenTransaction) => sequence !== null && beyond.includes(sequence);
    const { ids } = await expired(step, beyond.length === 0 ? [] : open.filter(isBeyond));
    return { kind: 'gaps', relayerId, free, beyond, expired: ids };
  } catch (error) {
    step.log.warn({ reason: messageOf(error), lane: step.key }, 'gaps in the sequence could not be looked for');
    return undefined;
  }
}
