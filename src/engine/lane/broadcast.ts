import type { BroadcastOutcome, ChainClient } from '../../chains/chain-client.ts';
import { messageOf } from '../../domain/errors.ts';
import type { Attempt } from '../../features/transactions/records/attempt.ts';
import { chainOfLane } from '../../features/transactions/records/lane.ts';
import { backOff, nextLookAt } from '../timing.ts';
import {
  applyToOpen,
  askAny,
  clientsOf,
  isDue,
  type LaneStep,
  latestAttemptOf,
  unminedTransactions,
} from './lane-step.ts';
import type { LaneChange, OpenTransaction } from './ledger.ts';

/** The result of a round of offers. */
export interface OfferResult {
  offered: number;
  /** Transactions that no node took. They are looked for on the chain, because one of their attempts may be there. */
  notTaken: OpenTransaction[];
}

/**
 * Offers stored bytes to the nodes, lowest sequence first. Offers due transactions that no node has taken yet, and
 * those that a node took long ago and that are in no block. Only committed bytes ever get here.
 */
export async function offerDueTransactions(step: LaneStep): Promise<OfferResult> {
  const due = unminedTransactions(step).filter((entry) => needsOffer(step, entry));
  if (due.length === 0 || step.life.isEnding()) return { offered: 0, notTaken: [] };
  const { now: entries, later, blocker } = offerRound(step, due);
  const outcomes = await broadcast(step, entries);
  await offerLower(step, entries, outcomes);
  step.life.onCheckpoint('offered');
  const notTaken = await note(step, entries, outcomes);
  await holdBack(step, later, blocker ?? entries.find((entry) => waitsForRoom(step, entry, outcomes)));
  step.life.onCheckpoint('noted');
  return { offered: entries.length, notTaken };
}

/**
 * Whether to offer the latest attempt now: it is due and no node took it lately, or the pool is known not to have it. A
 * transaction that is to have no effect is offered only as a noop.
 */
function needsOffer(step: LaneStep, entry: OpenTransaction): boolean {
  const latest = latestAttemptOf(entry);
  const { id } = entry.transaction;
  const isMissing = step.memory.offers.isMissing(id);
  if (latest === undefined || latest.deadAt !== null || !mayBeOffered(entry)) return false;
  if (!(isDue(step, entry) || isMissing)) return false;
  return (
    isMissing ||
    latest.acceptedAt === null ||
    step.memory.offers.isStale(id, step.clock.elapsed(), step.timing.reofferMs)
  );
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

/** Whether the latest attempt is to get into a block. For a transaction that is to have no effect, only a noop is. */
export function mayBeOffered(entry: OpenTransaction): boolean {
  return entry.transaction.noopEnd === null || latestAttemptOf(entry)?.purpose === 'noop';
}

/** Whether nodes had no room for the transaction, and no room has appeared since. */
function waitsForRoom(step: LaneStep, entry: OpenTransaction, outcomes: Outcomes): boolean {
  return (
    outcomes.get(entry)?.kind === 'busy' && isOrdered(entry) && !step.memory.offers.isMissing(entry.transaction.id)
  );
}

/** Puts off transactions above one that waits for room (`blocker`). They become due together with it. */
async function holdBack(
  step: LaneStep,
  entries: readonly OpenTransaction[],
  blocker: OpenTransaction | undefined,
): Promise<void> {
  const until = blocker && step.open.entries.get(blocker.transaction.id)?.transaction;
  if (until === undefined) return;
  const changes = entries.filter(isOrdered).map((entry): LaneChange => {
    const { transaction } = entry;
    const isNews = step.memory.offers.heldBack(transaction.id);
    const text = `Attempt ${latestAttemptOf(entry)?.ordinal} not offered: no room for ${until.sequence}, which comes before it`;
    return {
      transaction,
      set: { ...reasonUnlessWithdrawn(transaction.noopEnd, text), nextActionAt: until.nextActionAt },
      ...(isNews && { decision: { kind: 'not-taken', text } as const }),
    };
  });
  await applyToOpen(step, changes);
}

/** Stores the outcomes of the round. Returns the transactions that no node took. */
async function note(
  step: LaneStep,
  entries: readonly OpenTransaction[],
  outcomes: Outcomes,
): Promise<OpenTransaction[]> {
  const changes = entries.map((entry) => changeFor(step, entry, outcomes.get(entry) ?? SILENT));
  await applyToOpen(step, changes);
  for (const entry of roomLeft(entries, outcomes)) step.memory.offers.missing(entry.transaction.id);
  return entries
    .filter((entry) => outcomes.get(entry)?.kind !== 'accepted')
    .map((entry) => step.open.entries.get(entry.transaction.id))
    .filter((entry) => entry !== undefined);
}

/** Transactions that nodes had no room for before they took a later one: room appeared during the round. */
function roomLeft(entries: readonly OpenTransaction[], outcomes: Outcomes): OpenTransaction[] {
  const last = entries.findLastIndex((entry) => isOrdered(entry) && outcomes.get(entry)?.kind === 'accepted');
  return entries
    .slice(0, Math.max(last, 0))
    .filter((entry) => isOrdered(entry) && outcomes.get(entry)?.kind === 'busy');
}

function changeFor(step: LaneStep, entry: OpenTransaction, outcome: BroadcastOutcome): LaneChange {
  const { transaction } = entry;
  const { timing } = step;
  const { offers } = step.memory;
  const now = step.clock.now();
  const ordinal = latestAttemptOf(entry)?.ordinal ?? 1;
  step.ledger.offered(transaction, outcome.kind);
  if (outcome.kind === 'accepted') {
    offers.accepted(transaction.id, step.clock.elapsed());
    const set = {
      ...(transaction.status === 'sent' ? ({ status: 'submitted' } as const) : {}),
      // One that stands under a sequence out of reach keeps the reason, however often nodes take it.
      ...(offers.causeOf(transaction.id) === 'sequence' ? {} : reasonUnlessWithdrawn(transaction.noopEnd, null)),
      sentAt: transaction.sentAt ?? now,
      nextActionAt: nextLookAt(now, now, timing),
    };
    return { transaction, set, accepted: { ordinal, at: now, ...(outcome.by !== undefined && { by: outcome.by }) } };
  }
  const { kind, reason, by } = outcome;
  const isNews = offers.isNews(transaction.id, kind);
  const level = isNews ? 'warn' : 'debug';
  step.log[level]({ transaction: transaction.id, lane: step.key, outcome: kind, reason }, 'bytes not taken');
  if (kind === 'refused') offers.refused(transaction.id, step.clock.elapsed());
  const isFigure = outcome.kind === 'refused' && outcome.isFigure === true;
  if (kind === 'fee-too-low' || kind === 'underpriced' || isFigure) offers.wantsAnother(transaction.id, reason);
  // While a node may have an earlier attempt, words that nobody knows may be about the replacement alone.
  const isFirst = entry.attempts.every(({ acceptedAt }) => acceptedAt === null);
  if (isFirst && outcome.kind === 'unknown' && outcome.isClear === true)
    offers.turnedAway(transaction.id, reason, step.clock.elapsed());
  else offers.notTurnedAway(transaction.id);
  const nextActionAt = now + backOff(offers.failed(transaction.id), timing, step.random);
  const text = `Attempt ${ordinal} not taken${by === undefined ? '' : ` by ${by}`} (${kind}): ${reason}`;
  return {
    transaction,
    set: { ...reasonUnlessWithdrawn(transaction.noopEnd, reason), nextActionAt },
    ...(isNews && { decision: { kind: 'not-taken', text } as const }),
  };
}

/** Keeps the reason why a transaction is to have no effect, whatever nodes say of its noop. */
function reasonUnlessWithdrawn(noopEnd: string | null, statusReason: string | null): { statusReason?: string | null } {
  return noopEnd === null ? { statusReason } : {};
}

/**
 * The most transactions offered at once after nodes had no room. Pools that limit the transactions of an account hold
 * 16 (reth, geth). If room appears during a round of at most 16, some of it is left for lower sequences.
 */
const CROWDED_ROUND = 16;

/** Which of the due transactions are offered now, and which later. */
export interface OfferRound {
  now: OpenTransaction[];
  /** The transactions to offer later, lowest sequence first. */
  later: OpenTransaction[];
  /** The lowest transaction that nodes had no room for and that is not offered now. Those above it wait with it. */
  blocker: OpenTransaction | undefined;
}

/**
 * Chooses what to offer now. Once nodes have had no room, few transactions are offered at a time, and none above one
 * that waits for room. It would take room there and get into no block.
 */
export function offerRound(step: LaneStep, due: readonly OpenTransaction[]): OfferRound {
  const isDue = new Set(due);
  const open = unminedTransactions(step);
  const most = open.some((entry) => lacksRoom(step, entry)) ? CROWDED_ROUND : Number.POSITIVE_INFINITY;
  const round: OfferRound = { now: [], later: [], blocker: undefined };
  for (const entry of open) {
    if (!isDue.has(entry)) {
      if (lacksRoom(step, entry)) round.blocker ??= entry;
    } else if (round.now.length < most && (round.blocker === undefined || !isOrdered(entry))) {
      round.now.push(entry);
    } else {
      round.later.push(entry);
    }
  }
  return round;
}

/** Whether the transaction gets into a block only after lower sequences, and no node has it. */
function isOrdered(entry: OpenTransaction): boolean {
  return entry.transaction.anchorKind === 'sequence' && latestAttemptOf(entry)?.acceptedAt === null;
}

function lacksRoom(step: LaneStep, entry: OpenTransaction): boolean {
  return isOrdered(entry) && step.memory.offers.hasAnswer(entry.transaction.id, 'busy');
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
