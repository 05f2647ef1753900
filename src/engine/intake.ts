import type { SignedVersion } from '../chains/chain.ts';
import { messageOf } from '../domain/errors.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Transaction } from '../domain/transaction.ts';
import { LeaseLost } from '../store/lease.ts';
import { affordable } from './budgets.ts';
import { forget, type LaneStep } from './lane-step.ts';
import type { Version } from './ledger.ts';
import { hasExpired, lifetimeOf } from './lifetime.ts';
import { type Priced, price, retryLater } from './pricing.ts';
import { sequenceFigures } from './sequence-figures.ts';
import { SIGNATURES_PER_TURN, startInTurns } from './turns.ts';
import { storeUnlike } from './unlike.ts';

/** One transaction with the bytes that were signed for it under a sequence. */
interface Signed {
  priced: Priced;
  sequence: bigint;
  version: SignedVersion;
}

/**
 * Takes up pending transactions in the order given: prices them, reserves the next sequences, signs, and commits the
 * signed bytes together with the sequences. Nothing leaves the process here. A transaction that cannot go on now has
 * no sequence yet, so those behind it pass.
 */
export async function takeUp(step: LaneStep, pending: readonly Transaction[]): Promise<void> {
  if (step.isEnding()) return;
  const priced = await affordable(step, await price(step, await dropExpired(step, pending)));
  if (priced.length === 0) {
    return;
  }
  step.reach('priced');
  const sequences = await reserve(step, priced);
  if (sequences === undefined) {
    return;
  }
  step.reach('reserved');
  const signed = await sign(step, await stillAllowed(step, priced), sequences);
  step.reach('signed');
  await commit(step, signed);
  step.reach('written');
}

async function dropExpired(step: LaneStep, pending: readonly Transaction[]): Promise<Transaction[]> {
  const expired = new Set<Transaction>();
  for (const transaction of pending) {
    if (await hasExpired(step, transaction)) expired.add(transaction);
  }
  for (const { id } of expired) forget(step, id);
  await step.ledger.apply(
    [...expired].map((transaction) => {
      const statusReason = `${lifetimeOf(transaction)} before it was signed`;
      const decision = { kind: 'expired', text: statusReason } as const;
      return { transaction, set: { status: 'expired', statusReason, nextActionAt: null }, decision };
    }),
  );
  return pending.filter((transaction) => !expired.has(transaction));
}

/** The sequences for as many transactions, or undefined when there are none now and all were put off. */
async function reserve(step: LaneStep, priced: readonly Priced[]): Promise<bigint[] | undefined> {
  let reason: string;
  let withinMs: number | undefined;
  try {
    const senders = priced.map(({ sender }) => sender);
    const figures = await sequenceFigures(step, senders);
    const plan = await step.planner.plan(figures, priced.length, step.elapsed());
    if (plan.kind === 'use') {
      return plan.sequences;
    }
    ({ reason, withinMs } = plan);
    step.log.warn({ lane: step.key, reason }, 'sequence in doubt');
  } catch (error) {
    reason = messageOf(error);
    step.log.warn({ err: error, lane: step.key }, 'sequence not known');
  }
  await step.ledger.apply(priced.map(({ transaction }) => retryLater(step, transaction, reason, withinMs)));
  return undefined;
}

/**
 * Nodes may have taken long to answer, and policies may have changed meanwhile. What was priced under other ones stays
 * pending and due, so that the next step prices it anew.
 */
async function stillAllowed(step: LaneStep, priced: readonly Priced[]): Promise<Priced[]> {
  const senders = [...new Set(priced.map(({ sender }) => sender))];
  const current = await Promise.all(senders.map((sender) => step.senders.isCurrent(sender)));
  return priced.filter(({ sender }) => current[senders.indexOf(sender)] === true);
}

/**
 * Signs all at once. One that cannot be signed is put off; those behind it move down and are signed anew, so that the
 * sequences stay without a gap. What was signed under another sequence is dropped before anybody saw it.
 */
async function sign(step: LaneStep, priced: readonly Priced[], sequences: readonly bigint[]): Promise<Signed[]> {
  let signed: Signed[] = [];
  for (let rest = priced; rest.length > 0; ) {
    const kept = new Map(signed.map((entry) => [entry.priced, entry]));
    const outcomes = await startInTurns(rest, SIGNATURES_PER_TURN, (entry, index) =>
      signOne(entry, sequences[index], kept.get(entry)),
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

async function signOne(priced: Priced, sequence: bigint | undefined, kept: Signed | undefined): Promise<Signed> {
  if (sequence === undefined) {
    throw new Error('fewer sequences than transactions');
  }
  if (kept?.sequence === sequence) {
    return kept;
  }
  const { transaction, sender, preparation } = priced;
  const version = await sender.client.sign(transaction, preparation.fields, sequence, await sender.signer());
  return { priced, sequence, version };
}

/**
 * The write-ahead: after this the bytes may leave, and after a crash the same ones go out again. When the store
 * refuses the whole, the first alone is tried, so that one bad row holds up none but itself; the others stay pending.
 * Under a lost lease nothing is tried: what was signed is dropped before anybody saw it.
 */
async function commit(step: LaneStep, signed: readonly Signed[]): Promise<void> {
  const [first] = signed;
  if (first === undefined) {
    return;
  }
  try {
    await commitTogether(step, signed);
  } catch (error) {
    if (error instanceof LeaseLost) {
      throw error;
    }
    if (signed.length > 1) {
      await commit(step, [first]);
      return;
    }
    if (await commitUnlike(step, first)) return;
    step.log.error({ err: error, transaction: first.priced.transaction.id, lane: step.key }, 'signed bytes not stored');
    await step.ledger.apply([retryLater(step, first.priced.transaction, 'The signed bytes could not be stored')]);
  }
}

/** Whether the one that is left could be stored with other bytes that mean the same. */
async function commitUnlike(step: LaneStep, { priced, sequence }: Signed): Promise<boolean> {
  const { transaction, sender, preparation } = priced;
  const signAndStore = async (fields: JsonObject) => {
    const version = await sender.client.sign(transaction, fields, sequence, await sender.signer());
    await commitTogether(step, [{ priced, sequence, version }]);
  };
  try {
    await storeUnlike(sender.chain, preparation.fields, signAndStore);
    return true;
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    return false;
  }
}

async function commitTogether(step: LaneStep, signed: readonly Signed[]): Promise<void> {
  const now = step.now();
  const versions = signed.map(({ priced: { transaction }, sequence, version }): Version => {
    const { raw, hash, fields } = version;
    const cause = step.offers.causeOf(transaction.id);
    const text = `Nothing stands in its way any more (${cause})`;
    return {
      transaction,
      ...(cause !== undefined && { decision: { kind: 'resumed', text } as const }),
      set: { status: 'sent', statusReason: null, sequence, hash, fields, nextActionAt: now },
      attempt: {
        transactionId: transaction.id,
        ordinal: 1,
        lane: step.key,
        sequence,
        purpose: 'send',
        request: transaction.request,
        fields,
        raw,
        hash,
        createdAt: now,
        acceptedAt: null,
      },
    };
  });
  if (!(await step.ledger.record(versions))) return;
  for (const { transaction, set, attempt } of versions) {
    if (step.offers.causeOf(transaction.id) !== undefined) step.offers.renewed(transaction.id);
    step.open.set(transaction.id, { transaction: { ...transaction, ...set }, attempts: [attempt] });
  }
}
