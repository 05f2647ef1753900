import type { AccountHistoryQuery, PastTransaction, PastTransactionsAnswer } from '../../chains/chain-client.ts';
import { messageOf } from '../../domain/errors.ts';
import { sequenceOf } from '../../features/transactions/records/anchor.ts';
import { chainOfLane } from '../../features/transactions/records/lane.ts';
import type { Transaction } from '../../features/transactions/records/transaction.ts';
import { type SequenceFigures, sequenceFigures } from '../sequencing/sequence-planner.ts';
import type { LaneStep } from './lane-step.ts';
import { RESTORED_RETRY_MS } from './restored-lane.ts';
import type { Sender } from './sender.ts';
import { signedAttemptRecord, storeAttempts } from './sign-attempts.ts';
import { parkTransaction } from './sign-pending.ts';

/** How long endpoints that cannot show all yet are waited for before an operator is asked. */
const MAX_WAIT_MS = 600_000;

const LOOKING = 'Compared with what the account did on the chain, because the database may have been put back';

/** Compares the lane's old transactions with what the account did on the chain, as far as that is needed. */
export async function compareRestored(step: LaneStep): Promise<void> {
  const { restored } = step.memory;
  await compareOld(step);
  // New transactions go on. Once they have ended, the store leads beyond what the old ones may have used.
  if (restored.isPending === restored.isKept) return;
  await step.ledger.keepRestoredFrom(step.key, restored.isPending ? restored.settled : undefined);
  restored.isKept = restored.isPending;
}

async function compareOld(step: LaneStep): Promise<void> {
  const { restored } = step.memory;
  if (!restored.isPending || restored.isResting(step.clock.elapsed())) return;
  await clearUntouched(step);
  if (!restored.isPending) return;
  const before = await step.read.pendingUpTo(step.key, restored.upTo);
  const arrived = await Promise.all(restored.arrivals.map((id) => step.read.transactionOfLane(step.key, id)));
  const pending = [...before, ...arrived.flatMap((one) => (one?.status === 'pending' ? [one] : []))];
  const open = [...step.open.entries.values()].map(({ transaction }) => transaction);
  const all = [...pending, ...open].filter(({ id }) => restored.isUnchecked(id));
  const old = [...new Map(all.map((transaction) => [transaction.id, transaction])).values()];
  restored.keep(new Set(old.map(({ id }) => id)));
  if (old.length === 0) return;
  try {
    await compare(step, await candidatesOf(step, old));
  } catch (error) {
    step.log.warn({ reason: messageOf(error), lane: step.key }, 'account history could not be compared with the chain');
  }
  if (restored.isPending) restored.rest(step.clock.elapsed() + 2 * step.timing.retryMs);
}

/**
 * Clears what was pending at the start, without reading it, where the chain is no further than the store led to. So it
 * is at most starts, and a hundred thousand may be pending.
 */
async function clearUntouched(step: LaneStep): Promise<void> {
  const { restored } = step.memory;
  const isOnlyPending = ![...step.open.entries.keys()].some((id) => restored.isUnchecked(id));
  if (!isOnlyPending || restored.isDisplaced || restored.arrivals.length > 0) return;
  const all = await step.read.pendingIdsUpTo(step.key, restored.upTo);
  restored.keep(new Set(all.map(({ id }) => id)));
  const pending = all.filter(({ id }) => restored.isUnchecked(id));
  const senders = new Map<string, Sender>();
  for (const relayerId of new Set(pending.map((one) => one.relayerId))) {
    const sender = await step.senders.of(relayerId).catch(() => undefined);
    if (sender?.client.sequences !== undefined) senders.set(relayerId, sender);
  }
  if (senders.size === 0) return;
  const figures = await sequenceFigures(step, [...senders.values()]).catch(() => undefined);
  if (figures === undefined || isBeyond(figures, restored.from)) return;
  restored.clear(pending.filter(({ relayerId }) => senders.has(relayerId)).map(({ id }) => id));
}

interface Candidate {
  transaction: Transaction;
  sender: Sender;
  content: string;
}

/** Those that could have their effect twice. The others are cleared. */
async function candidatesOf(step: LaneStep, old: readonly Transaction[]): Promise<Candidate[]> {
  const compared: Candidate[] = [];
  const harmless: string[] = [];
  for (const transaction of old) {
    // Without its relayer's network, a transaction waits; the others do not wait for it.
    const sender = await step.senders.of(transaction.relayerId).catch(() => undefined);
    if (sender === undefined) continue;
    const content = contentOf(step, sender, transaction);
    if (content === null) harmless.push(transaction.id);
    else compared.push({ transaction, sender, content });
  }
  step.memory.restored.clear(harmless);
  return compared;
}

function contentOf(step: LaneStep, { client, account }: Sender, transaction: Transaction): string | null {
  try {
    return client.accountHistory?.contentOf(transaction, account) ?? null;
  } catch (error) {
    // What cannot be read cannot be prepared either.
    step.log.warn({ err: error, transaction: transaction.id, lane: step.key }, 'a stored request could not be read');
    return null;
  }
}

async function compare(step: LaneStep, compared: readonly Candidate[]): Promise<void> {
  const { restored } = step.memory;
  const [first] = compared;
  if (first === undefined) return;
  const numbered = compared.filter(({ sender }) => sender.client.sequences !== undefined);
  const figures =
    numbered.length === 0
      ? undefined
      : await sequenceFigures(
          step,
          numbered.map(({ sender }) => sender),
        );
  const isArrival = restored.areArrivals && restored.oldCalls?.gap != null;
  if (figures !== undefined && !isArrival && !restored.isDisplaced && !isBeyond(figures, restored.from)) {
    restored.clear(compared.map(({ transaction }) => transaction.id));
    return;
  }
  const since = Math.min(
    ...compared.map(({ transaction: { createdAt, origin } }) => Math.min(createdAt, origin?.since ?? createdAt)),
  );
  const gap = restored.areArrivals ? restored.oldCalls?.gap : undefined;
  const sequences = gap ?? (figures === undefined ? null : { from: restored.from, to: figures.chain });
  const question: Omit<AccountHistoryQuery, 'account'> = {
    identity: chainOfLane(step.key),
    since,
    sequences,
    isKnown: async (hash) => (await step.read.transactionByHash(step.key, hash)) !== undefined,
  };
  const answer = await restored.ask(() => lookWith(compared, question));
  if (answer === undefined) return;
  const left = await adopt(step, compared, answer.found, figures?.held);
  if (left.length === 0) return;
  const isStuck = answer.kind === 'waiting' && restored.waitsFor(step.clock.elapsed()) > MAX_WAIT_MS;
  if (answer.kind === 'unproved' || isStuck) {
    hold(step, answer.reason);
  } else if (answer.kind === 'complete' && (await isOver(step, first.sender, answer.found.length))) {
    step.log.info(
      { lane: step.key, compared: compared.length, found: answer.found.length },
      'account history compared with the chain',
    );
    restored.clear(left.map(({ transaction }) => transaction.id));
  }
}

/** Whether the chain's count is beyond what the store led to. */
function isBeyond({ chain, held }: SequenceFigures, from: bigint | null): boolean {
  const low = from ?? 0n;
  const within = [...held].filter((sequence) => sequence >= low && sequence < chain);
  return chain - low > BigInt(within.length);
}

/** Asks the clients of the lane's relayers in turn, until one of them shows all. */
async function lookWith(
  compared: readonly Candidate[],
  question: Omit<AccountHistoryQuery, 'account'>,
): Promise<PastTransactionsAnswer> {
  const senders = new Map(compared.map(({ sender }) => [sender.client, sender]));
  let best: PastTransactionsAnswer = { kind: 'unproved', found: [], reason: 'no endpoint was asked' };
  for (const { client, account } of senders.values()) {
    if (client.accountHistory === undefined) continue;
    best = await client.accountHistory.look({ ...question, account });
    if (best.kind === 'complete') return best;
  }
  return best;
}

/**
 * Whether nothing that was sent before can get into a block any more. Only where something unknown was found: then the
 * store was put back, and more of it may be under way.
 */
async function isOver(step: LaneStep, { client }: Sender, found: number): Promise<boolean> {
  const within = client.accountHistory?.landsWithinBlocks;
  if (within === undefined || found === 0) return true;
  const { height } = await client.moment(chainOfLane(step.key));
  return step.memory.restored.blocksSince(height) > within;
}

function hold(step: LaneStep, reason: string): void {
  const { restored } = step.memory;
  if (restored.heldFor === undefined) {
    step.log.error(
      { lane: step.key, reason },
      'account cannot be looked through; what was unsigned at the start waits',
    );
  }
  const remedy =
    'Stop the service and answer once: `npm run isolayer -- restore --fail-unsigned` (it is not sent) or `--send-unsigned` (it is sent)';
  const doubt = 'It may have been sent already, if the database was put back';
  restored.hold(`${doubt}: ${reason}. ${remedy}`, step.clock.elapsed());
}

/**
 * Makes each found transaction the attempt of an old one with the same content: the oldest of both first.
 * @param held sequences of open transactions. What used such a sequence can only be an attempt of that transaction
 * @returns the old ones that nothing was found for
 */
async function adopt(
  step: LaneStep,
  compared: readonly Candidate[],
  found: readonly PastTransaction[],
  held: ReadonlySet<bigint> = new Set(),
): Promise<Candidate[]> {
  const byContent = Map.groupBy(compared, ({ content }) => content);
  const pairs: { transaction: Transaction; past: PastTransaction }[] = [];
  for (const past of found) {
    const sequence = sequenceOf(past.anchor);
    if (past.content === null) continue;
    const isHeld = sequence !== null && held.has(sequence);
    // It was ours from the beginning and has ended since, or another one has it already.
    if (sequence !== null && !isHeld && step.memory.restored.oldCalls?.isOurs(sequence) === true) continue;
    const waiting = byContent.get(past.content) ?? [];
    const index = waiting.findIndex(({ transaction: { anchorKind, status, sequence: own } }) =>
      isHeld ? own === sequence : anchorKind === past.anchor.kind && status === 'pending',
    );
    const [match] = index === -1 ? [] : waiting.splice(index, 1);
    if (match !== undefined) pairs.push({ transaction: match.transaction, past });
  }
  if (pairs.length > 0) await storeAdopted(step, pairs);
  return [...byContent.values()].flat();
}

async function storeAdopted(step: LaneStep, pairs: readonly { transaction: Transaction; past: PastTransaction }[]) {
  const now = step.clock.now();
  const known = Map.groupBy(
    await step.read.attempts(...pairs.map(({ transaction }) => transaction.id)),
    ({ transactionId }) => transactionId,
  );
  const adopted = pairs.map(({ transaction, past }) => {
    const { hash, fields, anchor } = past;
    const { id: transactionId, request } = transaction;
    const earlier = known.get(transactionId) ?? [];
    const about = { transactionId, earlier, anchor, purpose: 'send', request } as const;
    const text = `${hash} of this account is on the chain, does the same and is not in the database, which was put back: it is taken as this payment`;
    return {
      transaction,
      earlier,
      decision: { kind: 'adopted', text } as const,
      set: {
        ...(transaction.status === 'pending' && ({ status: 'sent', sequence: sequenceOf(anchor) } as const)),
        statusReason: null,
        hash,
        fields,
        nextActionAt: now,
      },
      // The chain has it.
      attempt: { ...signedAttemptRecord(step, about, past), acceptedAt: now },
    };
  });
  if (!(await storeAttempts(step, adopted))) {
    step.life.distrust();
    return;
  }
  for (const { transaction } of adopted) step.memory.offers.forget(transaction.id);
  for (const { past } of pairs) step.memory.restored.oldCalls?.took(sequenceOf(past.anchor));
  step.memory.restored.clear(pairs.map(({ transaction }) => transaction.id));
}

/** Has the transactions of calls from before compared, where the account did something that the store does not know. */
async function admitArrivals(step: LaneStep, pending: readonly Transaction[]): Promise<void> {
  const { restored } = step.memory;
  const { oldCalls } = restored;
  if (oldCalls === null || step.chain.sequence === undefined || pending.length === 0) return;
  if (oldCalls.gap === undefined && oldCalls.mayAsk(step.clock.elapsed(), step.timing.retryMs)) {
    const chain = await sequenceOfChain(step, pending);
    if (chain !== undefined) oldCalls.cameTo(chain);
  }
  for (const transaction of pending) if (restored.isOfOldCall(transaction)) restored.arrived(transaction.id);
}

/** The account's sequence on the chain; undefined while no endpoint says it. */
async function sequenceOfChain(step: LaneStep, pending: readonly Transaction[]): Promise<bigint | undefined> {
  for (const relayerId of new Set(pending.map((transaction) => transaction.relayerId))) {
    const sender = await step.senders.of(relayerId).catch(() => undefined);
    const figures = sender && (await sequenceFigures(step, [sender]).catch(() => undefined));
    if (figures !== undefined) return figures.chain;
  }
  return undefined;
}

/** Leaves out old transactions that must not be signed yet, and puts them off. */
export async function withoutUnchecked(step: LaneStep, pending: readonly Transaction[]): Promise<Transaction[]> {
  await admitArrivals(step, pending);
  const { restored } = step.memory;
  if (!restored.isPending) return [...pending];
  const unchecked = pending.filter(({ id }) => restored.isUnchecked(id));
  const { heldFor } = restored;
  await step.ledger.apply(
    unchecked.map((transaction) =>
      heldFor === undefined
        ? { transaction, set: { statusReason: LOOKING, nextActionAt: step.clock.now() + step.timing.retryMs } }
        : parkTransaction(step, transaction, 'other', { reason: heldFor, pauseMs: RESTORED_RETRY_MS }),
    ),
  );
  return pending.filter(({ id }) => !restored.isUnchecked(id));
}
