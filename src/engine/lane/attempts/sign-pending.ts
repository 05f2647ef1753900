import { isDeepStrictEqual } from 'node:util';
import type { SignedBytes } from '../../../chains/chain-client.ts';
import { messageOf } from '../../../domain/errors.ts';
import type { JsonObject } from '../../../domain/json/json.ts';
import { type Anchor, sequenceOf } from '../../../features/transactions/records/anchor.ts';
import { chainOfLane } from '../../../features/transactions/records/lane.ts';
import type { Transaction } from '../../../features/transactions/records/transaction.ts';
import { sequenceFigures } from '../../sequencing/sequence-planner.ts';
import { expiryReason, forgetTransaction, hasExpired, type LaneStep, renewedTransactionIds } from '../lane-step.ts';
import type { SignedAttempt } from '../ledger.ts';
import { type PricedTransaction, pricePending, retryLater, withinPluginBudgets } from './prepare.ts';
import { signedAttemptRecord, signInBatches, storeSigned, withFreshSalt } from './signing.ts';

/** A transaction with its signed bytes and the anchor that they consume. */
interface Signed {
  priced: PricedTransaction;
  anchor: Anchor;
  bytes: SignedBytes;
}

/**
 * Takes up pending transactions in the order given: prices them, reserves the next sequences, signs, and commits the
 * signed bytes together with the sequences. Sends nothing. A transaction that cannot go on now has no sequence yet, so
 * it does not block those behind it.
 */
export async function signPending(step: LaneStep, pending: readonly Transaction[]): Promise<void> {
  if (pending.length === 0 || step.life.isEnding()) return;
  const priced = await withinPluginBudgets(step, await pricePending(step, await dropExpired(step, pending)));
  if (priced.length === 0) {
    return;
  }
  step.life.onCheckpoint('priced');
  const numbered = priced.filter(isNumbered);
  const sequences = await reserve(step, numbered);
  const ready = sequences === undefined ? priced.filter((one) => !isNumbered(one)) : priced;
  step.life.onCheckpoint('reserved');
  const signed = await sign(step, await stillAllowed(step, ready), sequences ?? []);
  step.life.onCheckpoint('signed');
  await commit(step, signed);
  step.life.onCheckpoint('written');
}

async function dropExpired(step: LaneStep, pending: readonly Transaction[]): Promise<Transaction[]> {
  const expired = new Set<Transaction>();
  for (const transaction of pending) {
    if (await hasExpired(step, transaction)) expired.add(transaction);
  }
  for (const { id } of expired) forgetTransaction(step, id);
  const renewed = await renewedTransactionIds(step, [...expired]);
  await step.ledger.apply(
    [...expired].map((transaction) => {
      const statusReason = `${expiryReason(transaction)} before it was signed${renewed.has(transaction.id) ? ' anew' : ''}`;
      const decision = { kind: 'expired', text: statusReason } as const;
      return { transaction, set: { status: 'expired', statusReason, nextActionAt: null }, decision };
    }),
  );
  return pending.filter((transaction) => !expired.has(transaction));
}

/** Asks for a check of the relayers: their chain may have been restarted. */
function recheck(step: LaneStep, priced: readonly PricedTransaction[]): void {
  for (const relayerId of new Set(priced.map(({ transaction }) => transaction.relayerId))) step.recheck(relayerId);
}

/** Whether the transaction uses a sequence of the lane's account. */
function isNumbered({ preparation }: PricedTransaction): boolean {
  return preparation.anchor === undefined;
}

/** Returns one sequence for each transaction; undefined when there are none now and all transactions were put off. */
async function reserve(step: LaneStep, priced: readonly PricedTransaction[]): Promise<bigint[] | undefined> {
  if (priced.length === 0) return [];
  let reason: string;
  let withinMs: number | undefined;
  try {
    const senders = priced.map(({ sender }) => sender);
    const figures = await sequenceFigures(step, senders);
    const plan = step.memory.planner.plan(figures, priced.length, step.clock.elapsed());
    if (plan.kind === 'use') {
      return plan.sequences;
    }
    ({ reason, withinMs } = plan);
    step.log.warn({ lane: step.key, reason }, 'sequence in doubt');
    if (step.chain.restartable?.(chainOfLane(step.key)) !== undefined) recheck(step, priced);
  } catch (error) {
    reason = messageOf(error);
    step.log.warn({ err: error, lane: step.key }, 'sequence not known');
  }
  await step.ledger.apply(priced.map(({ transaction }) => retryLater(step, transaction, reason, withinMs)));
  return undefined;
}

/**
 * Leaves out transactions whose relayer's policies changed while nodes were asked for prices. They stay pending and
 * due, so that the next step prices them again.
 */
async function stillAllowed(step: LaneStep, priced: readonly PricedTransaction[]): Promise<PricedTransaction[]> {
  const senders = [...new Set(priced.map(({ sender }) => sender))];
  const current = await Promise.all(senders.map((sender) => step.senders.isCurrent(sender)));
  return priced.filter(({ sender }) => current[senders.indexOf(sender)] === true);
}

/**
 * Signs all transactions at once. One that cannot be signed is put off. Those behind it move down and are signed again,
 * so that the sequences have no gap. Bytes that were signed under another sequence are dropped; nobody has seen them.
 */
async function sign(
  step: LaneStep,
  priced: readonly PricedTransaction[],
  sequences: readonly bigint[],
): Promise<Signed[]> {
  let signed: Signed[] = [];
  for (let rest = priced; rest.length > 0; ) {
    const alreadySigned = new Map(signed.map((entry) => [entry.priced, entry]));
    const anchors = anchorsFor(rest, sequences);
    const outcomes = await signInBatches(rest, (entry, index) =>
      signOne(entry, anchors[index], alreadySigned.get(entry)),
    );
    signed = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    const failed = rest.flatMap(({ transaction }, index) => {
      const outcome = outcomes[index];
      return outcome?.status === 'rejected' ? [{ transaction, error: outcome.reason as unknown }] : [];
    });
    if (failed.length === 0) {
      return signed;
    }
    for (const { transaction, error } of failed) {
      step.log.warn({ err: error, transaction: transaction.id, lane: step.key }, 'transaction not signed');
    }
    await step.ledger.apply(failed.map(({ transaction, error }) => retryLater(step, transaction, messageOf(error))));
    rest = signed.map((entry) => entry.priced);
  }
  return signed;
}

/** Assigns the given sequences in order. A transaction that has its own anchor keeps it. */
function anchorsFor(priced: readonly PricedTransaction[], sequences: readonly bigint[]): (Anchor | undefined)[] {
  const left = sequences.values();
  return priced.map(({ preparation }): Anchor | undefined => {
    if (preparation.anchor !== undefined) return preparation.anchor;
    const { value: sequence } = left.next();
    return sequence === undefined ? undefined : { kind: 'sequence', sequence };
  });
}

async function signOne(
  priced: PricedTransaction,
  anchor: Anchor | undefined,
  before: Signed | undefined,
): Promise<Signed> {
  if (anchor === undefined) {
    throw new Error('fewer sequences than transactions');
  }
  if (before !== undefined && isDeepStrictEqual(before.anchor, anchor)) {
    return before;
  }
  const { transaction, preparation } = priced;
  if (anchor.kind !== transaction.anchorKind) {
    throw new Error(
      `it was accepted with an anchor of kind ${transaction.anchorKind} and prepared with ${anchor.kind}`,
    );
  }
  return { priced, anchor, bytes: await signWith(priced, anchor, preparation.fields) };
}

async function signWith(
  { transaction, sender }: PricedTransaction,
  anchor: Anchor,
  fields: JsonObject,
): Promise<SignedBytes> {
  return sender.client.sign(transaction, fields, anchor, await sender.signer());
}

async function commit(step: LaneStep, signed: readonly Signed[]): Promise<void> {
  const together = (some: readonly Signed[]) => commitTogether(step, some);
  await storeSigned(signed, {
    together,
    alone: ({ priced, anchor }) =>
      withFreshSalt(priced.sender.chain, priced.preparation.fields, async (fields) =>
        together([{ priced, anchor, bytes: await signWith(priced, anchor, fields) }]),
      ),
    async onFailure(some, error) {
      const transactions = some.map(({ priced }) => priced.transaction);
      const ids = transactions.map(({ id }) => id);
      step.log.error({ err: error, transactions: ids, lane: step.key }, 'signed bytes not stored');
      const reason = 'The signed bytes could not be stored';
      await step.ledger.apply(transactions.map((transaction) => retryLater(step, transaction, reason)));
    },
  });
}

async function commitTogether(step: LaneStep, signed: readonly Signed[]): Promise<void> {
  const now = step.clock.now();
  const renewed = signed.filter(({ priced }) => priced.transaction.onDeath === 'renew');
  const ids = renewed.map(({ priced }) => priced.transaction.id);
  const earlier = Map.groupBy(
    ids.length === 0 ? [] : await step.read.attempts(...ids),
    ({ transactionId }) => transactionId,
  );
  const attempts = signed.map(({ priced: { transaction, preparation }, anchor, bytes }): SignedAttempt => {
    const { id: transactionId, request } = transaction;
    const about = {
      transactionId,
      earlier: earlier.get(transactionId) ?? [],
      anchor,
      purpose: 'send',
      request,
    } as const;
    const attempt = signedAttemptRecord(step, about, bytes);
    const { hash, fields } = attempt;
    const cause = step.memory.offers.causeOf(transaction.id);
    const text = `No longer blocked (${cause})`;
    return {
      transaction,
      ...(cause !== undefined && { decision: { kind: 'resumed', text } as const }),
      remark: preparation.remark,
      set: { status: 'sent', statusReason: null, sequence: sequenceOf(anchor), hash, fields, nextActionAt: now },
      attempt,
    };
  });
  if (!(await step.ledger.record(attempts))) return;
  for (const { transaction, set, attempt } of attempts) {
    if (step.memory.offers.causeOf(transaction.id) !== undefined) step.memory.offers.signedAnew(transaction.id);
    step.open.set(transaction.id, {
      transaction: { ...transaction, ...set },
      attempts: [...(earlier.get(transaction.id) ?? []), attempt],
    });
  }
}
