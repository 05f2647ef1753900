import { isDeepStrictEqual } from 'node:util';
import type { SignedBytes } from '../../../chains/chain-client.ts';
import { messageOf } from '../../../domain/errors.ts';
import type { JsonObject } from '../../../domain/json/json.ts';
import { type Anchor, sequenceOf } from '../../../domain/transaction/anchor.ts';
import { NEW_ATTEMPT } from '../../../domain/transaction/attempt.ts';
import { chainOfLane } from '../../../domain/transaction/lane.ts';
import type { Transaction } from '../../../domain/transaction/transaction.ts';
import { LeaseLost } from '../../../store/lease.ts';
import { sequenceFigures } from '../../sequencing/sequence-figures.ts';
import { forget, type LaneStep, renewedOf } from '../lane-step.ts';
import type { SignedAttempt } from '../ledger.ts';
import { hasExpired, lifetimeOf } from '../lifetime.ts';
import { affordable } from './budgets.ts';
import { retryLater } from './parking.ts';
import { type Priced, price } from './prepare.ts';
import { SIGNATURES_PER_TURN, startInBatches } from './start-in-batches.ts';
import { storeVaried } from './vary.ts';

/** A transaction with its signed bytes and the anchor that they consume. */
interface Signed {
  priced: Priced;
  anchor: Anchor;
  bytes: SignedBytes;
}

/**
 * Takes up pending transactions in the order given: prices them, reserves the next sequences, signs, and commits the
 * signed bytes together with the sequences. Sends nothing. A transaction that cannot go on now has no sequence yet, so
 * it does not block those behind it.
 */
export async function takeUp(step: LaneStep, pending: readonly Transaction[]): Promise<void> {
  if (pending.length === 0 || step.life.isEnding()) return;
  const priced = await affordable(step, await price(step, await dropExpired(step, pending)));
  if (priced.length === 0) {
    return;
  }
  step.life.passes('priced');
  const numbered = priced.filter(isNumbered);
  const sequences = await reserve(step, numbered);
  const ready = sequences === undefined ? priced.filter((one) => !isNumbered(one)) : priced;
  step.life.passes('reserved');
  const signed = await sign(step, await stillAllowed(step, ready), sequences ?? []);
  step.life.passes('signed');
  await commit(step, signed);
  step.life.passes('written');
}

async function dropExpired(step: LaneStep, pending: readonly Transaction[]): Promise<Transaction[]> {
  const expired = new Set<Transaction>();
  for (const transaction of pending) {
    if (await hasExpired(step, transaction)) expired.add(transaction);
  }
  for (const { id } of expired) forget(step, id);
  const renewed = await renewedOf(step, [...expired]);
  await step.ledger.apply(
    [...expired].map((transaction) => {
      const statusReason = `${lifetimeOf(transaction)} before it was signed${renewed.has(transaction.id) ? ' anew' : ''}`;
      const decision = { kind: 'expired', text: statusReason } as const;
      return { transaction, set: { status: 'expired', statusReason, nextActionAt: null }, decision };
    }),
  );
  return pending.filter((transaction) => !expired.has(transaction));
}

/** Asks for a check of the relayers: their chain may have been restarted. */
function recheck(step: LaneStep, priced: readonly Priced[]): void {
  for (const relayerId of new Set(priced.map(({ transaction }) => transaction.relayerId))) step.recheck(relayerId);
}

/** Whether the transaction uses a sequence of the lane's account. */
function isNumbered({ preparation }: Priced): boolean {
  return preparation.anchor === undefined;
}

/** Returns one sequence for each transaction; undefined when there are none now and all transactions were put off. */
async function reserve(step: LaneStep, priced: readonly Priced[]): Promise<bigint[] | undefined> {
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
async function stillAllowed(step: LaneStep, priced: readonly Priced[]): Promise<Priced[]> {
  const senders = [...new Set(priced.map(({ sender }) => sender))];
  const current = await Promise.all(senders.map((sender) => step.senders.isCurrent(sender)));
  return priced.filter(({ sender }) => current[senders.indexOf(sender)] === true);
}

/**
 * Signs all transactions at once. One that cannot be signed is put off. Those behind it move down and are signed again,
 * so that the sequences have no gap. Bytes that were signed under another sequence are dropped; nobody has seen them.
 */
async function sign(step: LaneStep, priced: readonly Priced[], sequences: readonly bigint[]): Promise<Signed[]> {
  let signed: Signed[] = [];
  for (let rest = priced; rest.length > 0; ) {
    const kept = new Map(signed.map((entry) => [entry.priced, entry]));
    const anchors = anchorsFor(rest, sequences);
    const outcomes = await startInBatches(rest, SIGNATURES_PER_TURN, (entry, index) =>
      signOne(entry, anchors[index], kept.get(entry)),
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
function anchorsFor(priced: readonly Priced[], sequences: readonly bigint[]): (Anchor | undefined)[] {
  const left = sequences.values();
  return priced.map(({ preparation }): Anchor | undefined => {
    if (preparation.anchor !== undefined) return preparation.anchor;
    const { value: sequence } = left.next();
    return sequence === undefined ? undefined : { kind: 'sequence', sequence };
  });
}

async function signOne(priced: Priced, anchor: Anchor | undefined, kept: Signed | undefined): Promise<Signed> {
  if (anchor === undefined) {
    throw new Error('fewer sequences than transactions');
  }
  if (kept !== undefined && isDeepStrictEqual(kept.anchor, anchor)) {
    return kept;
  }
  const { transaction, sender, preparation } = priced;
  if (anchor.kind !== transaction.anchorKind) {
    throw new Error(
      `it was accepted with an anchor of kind ${transaction.anchorKind} and prepared with ${anchor.kind}`,
    );
  }
  const bytes = await sender.client.sign(transaction, preparation.fields, anchor, await sender.signer());
  return { priced, anchor, bytes };
}

/**
 * Stores the signed bytes before they are sent, so that after a crash the same bytes go out again. If the store refuses
 * the whole batch, the first transaction is tried alone, so that one bad row blocks only itself; the others stay
 * pending. If the lease is lost, nothing is tried: the signed bytes are dropped, and nobody has seen them.
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
    if (await commitVaried(step, first)) return;
    step.log.error({ err: error, transaction: first.priced.transaction.id, lane: step.key }, 'signed bytes not stored');
    await step.ledger.apply([retryLater(step, first.priced.transaction, 'The signed bytes could not be stored')]);
  }
}

/** Stores a single transaction with other bytes that mean the same. Returns whether that worked. */
async function commitVaried(step: LaneStep, { priced, anchor }: Signed): Promise<boolean> {
  const { transaction, sender, preparation } = priced;
  const signAndStore = async (fields: JsonObject) => {
    const bytes = await sender.client.sign(transaction, fields, anchor, await sender.signer());
    await commitTogether(step, [{ priced, anchor, bytes }]);
  };
  try {
    await storeVaried(sender.chain, preparation.fields, signAndStore);
    return true;
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    return false;
  }
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
    const { raw, hash, fields } = bytes;
    const cause = step.memory.offers.causeOf(transaction.id);
    const text = `No longer blocked (${cause})`;
    return {
      transaction,
      ...(cause !== undefined && { decision: { kind: 'resumed', text } as const }),
      remark: preparation.remark,
      set: { status: 'sent', statusReason: null, sequence: sequenceOf(anchor), hash, fields, nextActionAt: now },
      attempt: {
        transactionId: transaction.id,
        ordinal: (earlier.get(transaction.id)?.at(-1)?.ordinal ?? 0) + 1,
        lane: step.key,
        anchor,
        purpose: 'send',
        request: transaction.request,
        fields,
        raw,
        hash,
        createdAt: now,
        ...NEW_ATTEMPT,
      },
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
