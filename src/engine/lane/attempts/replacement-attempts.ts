import type {
  AttemptReplacement,
  ChainClient,
  ReadyPreparation,
  ReplacementPreparation,
  ReplacementSpec,
  SignedBytes,
} from '../../../chains/chain-client.ts';
import { messageOf } from '../../../domain/errors.ts';
import type { JsonObject } from '../../../domain/json/json.ts';
import type { Anchor } from '../../../features/transactions/records/anchor.ts';
import type { DecisionKind } from '../../../features/transactions/records/timeline-decision.ts';
import type { TransactionChange } from '../../../features/transactions/records/transaction.ts';
import type { ParkCause } from '../broadcast-history.ts';
import { askAny, type LaneStep, latestAttemptOf, toObservedTransaction } from '../lane-step.ts';
import type { OpenTransaction, SignedAttempt } from '../ledger.ts';
import type { Sender } from '../sender.ts';
import { askTogether, committedCost, pluginBudgetShortages } from './prepare.ts';
import { signedAttemptRecord, signInBatches, storeSigned, withFreshSalt } from './signing.ts';

/** A further attempt to sign for a transaction, and what is committed together with it. */
export interface ReplacementAttempt {
  entry: OpenTransaction;
  attempt: ReplacementSpec;
  kind: DecisionKind;
  /** Position of the intent that the attempt carries out. */
  settles?: number;
  set?: Pick<TransactionChange, 'validUntil'>;
}

/** The result of a further attempt: signed and stored, or why not. */
export type ReplacementOutcome =
  | { kind: 'signed' }
  | { kind: 'refused'; reason: string }
  | { kind: 'not now'; reason: string; cause: ParkCause }
  /** The attempt was not made in this step. The next step tries again. */
  | { kind: 'later' };

/**
 * So many attempts are signed without a pause when nodes ask for a higher fee. Each later one waits, because a node may
 * ask for ever.
 */
const QUICK_ATTEMPTS = 8;

type Prepared = ReadyPreparation & { request: JsonObject };
type Priced = { sender: Sender; preparation: ReplacementPreparation } | { error: unknown };

interface Ready {
  further: ReplacementAttempt;
  sender: Sender;
  anchor: Anchor;
  prepared: Prepared;
}

interface Signed extends Ready {
  signed: SignedBytes;
}

/**
 * Prices, signs and stores one further attempt for each given transaction. Asks a node for all prices at once, and
 * stores all attempts in one commit. Sends nothing. Each attempt keeps its transaction's sequence, so at most one takes
 * effect.
 * @param further at most one of each transaction
 * @returns the outcome of each, in order
 */
export async function signReplacementAttempts(
  step: LaneStep,
  further: readonly ReplacementAttempt[],
): Promise<ReplacementOutcome[]> {
  if (further.length === 0) return [];
  const outcomes = new Map<ReplacementAttempt, ReplacementOutcome>();
  const ready = await afford(step, await price(step, further, outcomes), outcomes);
  const signed = await sign(step, ready, outcomes);
  step.life.onCheckpoint('further-signed');
  await store(step, signed, outcomes);
  return further.map((one) => outcomes.get(one) ?? { kind: 'later' });
}

async function price(
  step: LaneStep,
  further: readonly ReplacementAttempt[],
  outcomes: Map<ReplacementAttempt, ReplacementOutcome>,
): Promise<Ready[]> {
  const priced = await askTogether<ReplacementAttempt, Priced>(further, committedCost(step), {
    ask: (one, committed) => ask(step, one, committed),
    takes: (answer, { entry, attempt }) => {
      // A noop is signed whatever the others cost.
      if ('error' in answer || answer.preparation.kind !== 'ready' || attempt.purpose === 'noop') return undefined;
      // Only one attempt takes effect. The cost of the dearest earlier one is counted already.
      const more = answer.preparation.cost - step.open.dearestCost(step.chain, entry.attempts);
      return more > 0n ? more : 0n;
    },
  });
  return further.flatMap((one, index): Ready[] => {
    const answer = priced[index];
    const anchor = latestAttemptOf(one.entry)?.anchor;
    if (answer === undefined || anchor === undefined) return [];
    if ('error' in answer) {
      outcomes.set(one, failed(step, one, answer.error));
      return [];
    }
    const { sender, preparation } = answer;
    if (preparation.kind === 'ready') return [{ further: one, sender, anchor, prepared: preparation }];
    const { reason } = preparation;
    outcomes.set(
      one,
      preparation.kind === 'refused' ? preparation : { kind: 'not now', reason, cause: preparation.cause ?? 'other' },
    );
    return [];
  });
}

async function ask(step: LaneStep, { entry, attempt }: ReplacementAttempt, committed: bigint): Promise<Priced> {
  try {
    const { sender, ...observed } = await toObservedTransaction(step, entry);
    const preparation = await askAny(step, sender.client, (one) =>
      replacementOf(one).prepare(observed, attempt, { committed }),
    );
    return { sender, preparation };
  } catch (error) {
    return { error };
  }
}

/** @throws for a chain family in which no attempt can replace another; callers do not ask for one there */
function replacementOf({ replacement }: ChainClient): AttemptReplacement {
  if (replacement === undefined) throw new Error('no attempt can take the place of another on this network');
  return replacement;
}

async function afford(
  step: LaneStep,
  ready: readonly Ready[],
  outcomes: Map<ReplacementAttempt, ReplacementOutcome>,
): Promise<Ready[]> {
  const reasons = await pluginBudgetShortages(
    step,
    ready.map(({ further: { entry, attempt }, sender: { chain }, prepared: { request, cost } }) => {
      // Without a noop, the sequence would block all transactions behind it.
      const mayExceed = attempt.purpose === 'noop';
      return { transactionId: entry.transaction.id, chain, request, cost, mayExceed };
    }),
  );
  return ready.filter(({ further }) => {
    const reason = reasons.get(further.entry.transaction.id);
    if (reason !== undefined) outcomes.set(further, { kind: 'not now', reason, cause: 'budget' });
    return reason === undefined;
  });
}

async function sign(
  step: LaneStep,
  ready: readonly Ready[],
  outcomes: Map<ReplacementAttempt, ReplacementOutcome>,
): Promise<Signed[]> {
  const results = await signInBatches(ready, async (one) => ({
    ...one,
    signed: await signOne(one, one.prepared.fields),
  }));
  return results.flatMap((result, index) => {
    if (result.status === 'fulfilled') return [result.value];
    const further = ready[index]?.further;
    if (further !== undefined) outcomes.set(further, failed(step, further, result.reason));
    return [];
  });
}

async function signOne({ further, sender, anchor, prepared }: Ready, fields: JsonObject): Promise<SignedBytes> {
  const { request } = prepared;
  return sender.client.sign({ ...further.entry.transaction, request }, fields, anchor, await sender.signer());
}

/** The earlier attempts stay stored, because one of them may take effect. */
async function store(
  step: LaneStep,
  signed: readonly Signed[],
  outcomes: Map<ReplacementAttempt, ReplacementOutcome>,
): Promise<void> {
  const together = (some: readonly Signed[]) => storeTogether(step, some, outcomes);
  await storeSigned(signed, {
    together,
    alone: (one) =>
      withFreshSalt(one.sender.chain, one.prepared.fields, async (fields) =>
        together([{ ...one, signed: await signOne(one, fields) }]),
      ),
    async onFailure(some, error) {
      for (const { further } of some) outcomes.set(further, failed(step, further, error));
    },
  });
}

async function storeTogether(
  step: LaneStep,
  signed: readonly Signed[],
  outcomes: Map<ReplacementAttempt, ReplacementOutcome>,
): Promise<void> {
  const attempts = signed.map((one) => attemptFor(step, one));
  if (!(await step.ledger.record(attempts))) return;
  for (const [index, { transaction, set, attempt }] of attempts.entries()) {
    const { id } = transaction;
    step.memory.offers.signedAnew(id);
    if (attempt.ordinal >= QUICK_ATTEMPTS)
      step.memory.offers.restUntil(id, step.clock.elapsed() + step.timing.reofferMs);
    const { further } = signed[index] ?? {};
    if (further === undefined) continue;
    step.open.set(id, {
      transaction: { ...transaction, ...set },
      attempts: [...further.entry.attempts, attempt],
    });
    outcomes.set(further, { kind: 'signed' });
  }
  step.life.onCheckpoint('further-written');
}

function attemptFor(step: LaneStep, { further, anchor, prepared, signed }: Signed): SignedAttempt {
  const { entry, kind, settles } = further;
  const { transaction, attempts: earlier } = entry;
  const { request } = prepared;
  const { purpose } = further.attempt;
  const attempt = signedAttemptRecord(
    step,
    { transactionId: transaction.id, earlier, anchor, purpose, request },
    signed,
  );
  const { hash, fields, createdAt } = attempt;
  const reason = transaction.noopEnd === null ? { statusReason: null } : {};
  const set = { hash, request, fields, ...reason, ...further.set, nextActionAt: createdAt };
  const decision = { kind, text: `Attempt ${attempt.ordinal} signed: ${hash}` };
  return {
    transaction,
    set,
    attempt,
    decision,
    remark: prepared.remark,
    ...(settles === undefined ? {} : { settles }),
  };
}

function failed(
  step: LaneStep,
  { entry: { transaction, attempts } }: ReplacementAttempt,
  error: unknown,
): ReplacementOutcome {
  const about = { transaction: transaction.id, lane: step.key, attempts: attempts.length };
  step.log.warn({ err: error, ...about }, 'no further attempt');
  return { kind: 'not now', reason: messageOf(error), cause: 'error' };
}
