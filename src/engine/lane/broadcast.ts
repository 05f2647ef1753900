import type { BroadcastOutcome, ChainClient } from '../../chains/chain-client.ts';
import { messageOf } from '../../domain/errors.ts';
import type { Attempt } from '../../features/transactions/records/attempt.ts';
import { chainOfLane } from '../../features/transactions/records/lane.ts';
import { carryOut } from './carry-out.ts';
import { decide, isOrdered, latestAttemptOf, mayBeOffered } from './decide.ts';
import { askAny, clientsOf, type LaneStep, momentOf, unminedTransactions } from './lane-step.ts';
import type { OpenTransaction } from './ledger.ts';

/** The result of a round of offers. */
export interface OfferResult {
  offered: number;
  /** Transactions that no node took. They are looked for on the chain, because one of their attempts may be there. */
  notTaken: OpenTransaction[];
}

/** Offers stored bytes to the nodes, as was decided. Only committed bytes ever get here. */
export async function broadcastDueTransactions(step: LaneStep): Promise<OfferResult> {
  const commands = step.life.isEnding() ? [] : decide(step, { kind: 'pools' }, momentOf(step));
  const entries = commands.flatMap((command) => (command.do === 'rebroadcast' ? [command.entry] : []));
  const later = commands.filter((command) => command.do === 'holdBack');
  if (commands.length === 0) return { offered: 0, notTaken: [] };
  const outcomes = await broadcast(step, entries);
  await offerLower(step, entries, outcomes);
  step.life.onCheckpoint('offered');
  const answers = entries.map((entry) => [entry, outcomes.get(entry) ?? SILENT] as const);
  for (const [{ transaction }, { kind }] of answers) step.ledger.offered(transaction, kind);
  await carryOut(step, decide(step, { kind: 'answers', outcomes: answers }, momentOf(step)));
  for (const entry of roomLeft(entries, outcomes)) step.memory.offers.missing(entry.transaction.id);
  const blocker = later[0]?.below ?? entries.find((entry) => waitsForRoom(step, entry, outcomes));
  const until = blocker && step.open.entries.get(blocker.transaction.id)?.transaction;
  const held = later.map(({ entry }) => entry);
  if (until !== undefined)
    await carryOut(step, decide(step, { kind: 'no room', blocker: until, entries: held }, momentOf(step)));
  step.life.onCheckpoint('noted');
  const notTaken = answers.flatMap(([{ transaction }, { kind }]) =>
    kind === 'accepted' ? [] : (step.open.entries.get(transaction.id) ?? []),
  );
  return { offered: entries.length, notTaken };
}

type Outcomes = Map<OpenTransaction, BroadcastOutcome>;

/** Offers the latest attempt of each transaction. Attempts that share endpoints go in one call. */
async function broadcast(step: LaneStep, entries: readonly OpenTransaction[]): Promise<Outcomes> {
  const outcomes: Outcomes = new Map();
  const groups = new Map<ChainClient, { entry: OpenTransaction; attempt: Attempt }[]>();
  for (const entry of entries) {
    const attempt = latestAttemptOf(entry);
    try {
      const { client } = await step.senders.of(entry.transaction.relayerId);
      if (attempt !== undefined) groups.set(client, [...(groups.get(client) ?? []), { entry, attempt }]);
    } catch (error) {
      outcomes.set(entry, { kind: 'unknown', reason: messageOf(error) });
    }
  }
  await Promise.all(
    [...groups].map(async ([first, group]) => {
      let left = group;
      for (const client of await clientsOf(step, first)) {
        const answers = await offerGroup(
          client,
          left.map(({ attempt }) => attempt),
        );
        for (const [index, { entry }] of left.entries()) outcomes.set(entry, answers[index] ?? SILENT);
        left = left.filter(({ entry }) => outcomes.get(entry)?.kind === 'unknown');
        if (left.length === 0) break;
      }
    }),
  );
  return outcomes;
}

const SILENT: BroadcastOutcome = { kind: 'unknown', reason: 'no answer' };

async function offerGroup(client: ChainClient, attempts: readonly Attempt[]): Promise<BroadcastOutcome[]> {
  try {
    return await client.broadcast(attempts);
  } catch (error) {
    return attempts.map(() => ({ kind: 'unknown', reason: messageOf(error) }));
  }
}

/**
 * Handles nodes that lack a lower sequence. Offers all our lower transactions once more, and then those that need them.
 */
async function offerLower(step: LaneStep, entries: readonly OpenTransaction[], outcomes: Outcomes): Promise<void> {
  const isAhead = (entry: OpenTransaction) => outcomes.get(entry)?.kind === 'anchor-ahead';
  const ahead = entries.filter(isAhead);
  if (ahead.length === 0) return;
  const first = ahead[0]?.transaction.sequence ?? null;
  const isLower = ({ transaction: { sequence } }: OpenTransaction) =>
    first !== null && sequence !== null && sequence < first;
  const again = [...unminedTransactions(step).filter((entry) => isLower(entry) && mayBeOffered(entry)), ...ahead];
  for (const [entry, outcome] of await broadcast(step, again)) {
    if (ahead.includes(entry) || outcomes.has(entry)) outcomes.set(entry, outcome);
  }
}

/** Whether nodes had no room for the transaction, and no room has appeared since. */
function waitsForRoom(step: LaneStep, entry: OpenTransaction, outcomes: Outcomes): boolean {
  return (
    outcomes.get(entry)?.kind === 'busy' && isOrdered(entry) && !step.memory.offers.isMissing(entry.transaction.id)
  );
}

/** Transactions that nodes had no room for before they took a later one: room appeared during the round. */
function roomLeft(entries: readonly OpenTransaction[], outcomes: Outcomes): OpenTransaction[] {
  const last = entries.findLastIndex((entry) => isOrdered(entry) && outcomes.get(entry)?.kind === 'accepted');
  return entries
    .slice(0, Math.max(last, 0))
    .filter((entry) => isOrdered(entry) && outcomes.get(entry)?.kind === 'busy');
}

/**
 * Marks transactions that a node took and no longer has, so that they are offered again. Pools keep few transactions of
 * one account (geth 16). Some drop the others without a word, and some lose one. The node's count shows which are
 * missing. The node is asked after each block that made room, and now and then. At most a batch is marked, lowest
 * sequences first.
 */
export async function markMissing(step: LaneStep): Promise<void> {
  const { timing } = step;
  const { pool } = step.memory;
  if (!pool.isDue(step.clock.elapsed(), timing.poolMs)) return;
  const waiting = unminedTransactions(step).filter((entry) => hasWaited(step, entry));
  const [lowest] = waiting;
  if (lowest === undefined) return;
  const hasRoom = pool.ask(step.clock.elapsed());
  try {
    const { client, account } = await step.senders.of(lowest.transaction.relayerId);
    const count = await askAny(step, client, async (one) =>
      one.sequences?.next(account.address, chainOfLane(step.key)),
    );
    if (count === undefined) return;
    const isMissing = ({ transaction: { sequence } }: OpenTransaction) => sequence !== null && sequence >= count;
    const missing = waiting.filter((entry) => isMissing(entry) && (hasRoom || isTaken(entry)));
    for (const { transaction } of missing.slice(0, timing.batch)) step.memory.offers.missing(transaction.id);
  } catch (error) {
    step.log.debug({ reason: messageOf(error), lane: step.key }, 'pool not looked at');
  }
}

/** Whether a node took the transaction some time ago, or had no room for it. */
function hasWaited(step: LaneStep, entry: OpenTransaction): boolean {
  const { id } = entry.transaction;
  if (!isTaken(entry)) return step.memory.offers.hasAnswer(id, 'busy');
  return step.memory.offers.isStale(id, step.clock.elapsed(), step.timing.poolMs);
}

function isTaken(entry: OpenTransaction): boolean {
  return latestAttemptOf(entry)?.acceptedAt !== null;
}
