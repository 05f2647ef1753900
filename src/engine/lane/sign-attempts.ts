import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Chain } from '../../chains/chain.ts';
import type {
  AttemptReplacement,
  ChainClient,
  ReadyPreparation,
  ReplacementPreparation,
  SignedBytes,
  TransactionPreparation,
} from '../../chains/chain-client.ts';
import { AppError, messageOf } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json/json.ts';
import { type Anchor, sequenceOf } from '../../features/transactions/records/anchor.ts';
import { type Attempt, UNACCEPTED_ATTEMPT } from '../../features/transactions/records/attempt.ts';
import { chainOfLane } from '../../features/transactions/records/lane.ts';
import { LeaseLost } from '../../store/lease.ts';
import type { SpendingRaise } from '../../store/store.ts';
import { DuplicateRecord } from '../../store/tables/stored-record.ts';
import { type SequenceFigures, sequenceFigures } from '../sequencing/sequence-planner.ts';
import type { SigningOutcome, WantedAttempt } from './decide.ts';
import { askAny, type LaneStep, unminedTransactions } from './lane-step.ts';
import type { SignedAttempt } from './ledger.ts';
import type { Sender } from './sender.ts';

type Outcomes = Map<WantedAttempt, SigningOutcome>;

/** An attempt whose price is known. */
interface Priced {
  wanted: WantedAttempt;
  sender: Sender;
  prepared: ReadyPreparation & { request?: JsonObject };
}

interface Signed extends Priced {
  anchor: Anchor;
  bytes: SignedBytes;
}

/**
 * So many attempts are signed without a pause when nodes ask for a higher fee. Each later one waits, because a node may
 * ask for ever.
 */
const QUICK_ATTEMPTS = 8;

/**
 * Prices attempts, reserves what they cost and the sequences that they need, signs them, and commits the signed bytes
 * together with the sequences. Asks a node for all prices at once, and stores all attempts in one commit. Sends
 * nothing: offers are made of what is stored. One that cannot go on has no sequence yet, so it does not block the
 * others. One more attempt of a transaction keeps its anchor, so at most one takes effect.
 * @param wanted in the order of the sequences, at most one of each transaction
 * @returns the outcome of each, in order
 */
export async function signAttempts(step: LaneStep, wanted: readonly WantedAttempt[]): Promise<SigningOutcome[]> {
  if (wanted.length === 0) return [];
  const outcomes: Outcomes = new Map();
  const isFirst = wanted.every(({ spec }) => spec.purpose === 'send');
  const counted = countAhead(step, wanted);
  const [priced, budgeted] = await Promise.all([
    price(step, wanted, outcomes),
    step.read.budgeted(wanted.map(({ transaction }) => transaction.id)),
  ]);
  const affordable = await afford(step, priced, budgeted, outcomes);
  step.life.onCheckpoint('priced');
  const { ready, sequences } = await reserve(step, affordable, counted, outcomes);
  step.life.onCheckpoint('reserved');
  const signed = await sign(step, await stillAllowed(step, ready), sequences, outcomes);
  step.life.onCheckpoint(isFirst ? 'signed' : 'further-signed');
  await commit(step, signed, outcomes);
  step.life.onCheckpoint(isFirst ? 'written' : 'further-written');
  return wanted.map((one) => outcomes.get(one) ?? { kind: 'later' });
}

function failed(step: LaneStep, { transaction, earlier, spec }: WantedAttempt, error: unknown): SigningOutcome {
  const reason = messageOf(error);
  const about = { transaction: transaction.id, lane: step.key, purpose: spec.purpose, attempts: earlier.length };
  step.log[transaction.statusReason === reason ? 'debug' : 'warn']({ err: error, ...about }, 'attempt not signed');
  return { kind: 'failed', reason };
}

type Answer = { sender: Sender; preparation: TransactionPreparation | ReplacementPreparation } | { error: unknown };

async function price(step: LaneStep, wanted: readonly WantedAttempt[], outcomes: Outcomes): Promise<Priced[]> {
  const answers = await askTogether<WantedAttempt, Answer>(wanted, committedCost(step), {
    ask: (one, committed) => ask(step, one, committed),
    takes: (answer, { earlier, spec }) => {
      // A noop is signed whatever the others cost.
      if ('error' in answer || answer.preparation.kind !== 'ready' || spec.purpose === 'noop') return undefined;
      const { cost } = answer.preparation;
      // Only one attempt takes effect. The cost of the dearest earlier one is counted already, unless all are dead.
      const more = spec.purpose === 'send' ? cost : cost - step.open.dearestCost(step.chain, earlier);
      return more > 0n ? more : 0n;
    },
    spare: (answer) =>
      'error' in answer || answer.preparation.kind !== 'ready' ? undefined : answer.preparation.spare,
  });
  return wanted.flatMap((one, index): Priced[] => {
    const answer = answers[index];
    if (answer === undefined) return [];
    if ('error' in answer) {
      outcomes.set(one, failed(step, one, answer.error));
      return [];
    }
    const { sender, preparation } = answer;
    if (preparation.kind === 'ready') return [{ wanted: one, sender, prepared: preparation }];
    const isParked = preparation.kind === 'parked';
    outcomes.set(one, isParked ? { ...preparation, cause: preparation.cause ?? 'other' } : preparation);
    return [];
  });
}

async function ask(
  step: LaneStep,
  { transaction, earlier, spec, fills }: WantedAttempt,
  committed: bigint,
): Promise<Answer> {
  try {
    const sender = await step.senders.of(transaction.relayerId);
    const { client, account } = sender;
    if (spec.purpose === 'send')
      return { sender, preparation: await client.prepare(transaction, account, { committed }) };
    // Everything above a gap waits for what fills it.
    const [sequence, lane] = fills === undefined ? [transaction.sequence, { committed }] : [fills, { committed: 0n }];
    const entry = { transaction: { ...transaction, sequence }, attempts: earlier, account };
    return { sender, preparation: await askAny(step, client, (one) => replacementOf(one).prepare(entry, spec, lane)) };
  } catch (error) {
    return { error };
  }
}

/** @throws for a chain family in which no attempt can replace another; callers do not ask for one there */
function replacementOf({ replacement }: ChainClient): AttemptReplacement {
  if (replacement === undefined) throw new Error('no attempt can take the place of another on this network');
  return replacement;
}

/** The most that the lane's transactions in no block can take from the account, in the smallest unit. */
export function committedCost(step: LaneStep): bigint {
  return unminedTransactions(step).reduce((sum, { attempts }) => sum + step.open.dearestCost(step.chain, attempts), 0n);
}

/** Reserves what attempts can cost in their plugins' budgets, if they have one. Leaves out those that exceed it now. */
async function afford(
  step: LaneStep,
  priced: readonly Priced[],
  budgeted: ReadonlySet<string>,
  outcomes: Outcomes,
): Promise<readonly Priced[]> {
  const asks = priced
    .filter(({ wanted }) => budgeted.has(wanted.transaction.id))
    .flatMap((one): SpendingRaise[] => raiseFor(one));
  if (asks.length === 0) return priced;
  const reasons = new Map((await step.ledger.raise(asks)).map(({ transactionId, reason }) => [transactionId, reason]));
  return priced.filter(({ wanted }) => {
    const reason = reasons.get(wanted.transaction.id);
    // A budget gets room again when other transactions end or leave its hour.
    if (reason !== undefined)
      outcomes.set(wanted, { kind: 'parked', reason, cause: 'budget', retryInMs: step.timing.furtherMs });
    return reason === undefined;
  });
}

function raiseFor({ wanted, sender: { chain }, prepared }: Priced): SpendingRaise[] {
  if (chain.spending === undefined) return [];
  const { transaction, spec } = wanted;
  const { value } = chain.spending.spendOf(prepared.request ?? transaction.request);
  // Without a noop, the sequence would block all transactions behind it.
  return [{ transactionId: transaction.id, value, fee: prepared.cost - value, mayExceed: spec.purpose === 'noop' }];
}

/** Whether the attempt gets the next sequence of the lane's account. */
function isNumbered({ wanted, prepared }: Priced): boolean {
  return wanted.spec.purpose === 'send' && prepared.anchor === undefined;
}

/** The account's sequences, asked for while prices are. */
interface Counted {
  /** As these relayers see the chain. */
  relayers: ReadonlySet<string>;
  figures: Promise<SequenceFigures>;
  askedAt: number;
}

/** For how long figures that were asked for ahead count, in milliseconds. Somebody else may use the key. */
const COUNTED_FOR_MS = 2_000;

/** Asks ahead, so that a payment waits for one answer of a node less. One that was parked may well be parked again. */
function countAhead(step: LaneStep, wanted: readonly WantedAttempt[]): Counted | undefined {
  const mayNeed = wanted.filter(
    ({ transaction: { id, anchorKind }, spec }) =>
      spec.purpose === 'send' && anchorKind === 'sequence' && step.memory.offers.causeOf(id) === undefined,
  );
  if (mayNeed.length === 0) return undefined;
  const relayers = new Set(mayNeed.map(({ transaction }) => transaction.relayerId));
  const senders = Promise.all([...relayers].map((id) => step.senders.of(id)));
  const figures = senders.then((all) => sequenceFigures(step, all));
  // Heard by those who need it.
  figures.catch(() => undefined);
  return { relayers, figures, askedAt: step.clock.elapsed() };
}

/** What was asked ahead, if it is recent and by the same relayers, else what nodes say now. */
async function figuresFor(
  step: LaneStep,
  numbered: readonly Priced[],
  counted: Counted | undefined,
): Promise<SequenceFigures> {
  const relayers = new Set(numbered.map(({ wanted }) => wanted.transaction.relayerId));
  const isUsable =
    counted?.relayers.symmetricDifference(relayers).size === 0 &&
    step.clock.elapsed() - counted.askedAt < COUNTED_FOR_MS;
  if (isUsable) return counted.figures;
  return sequenceFigures(
    step,
    numbered.map(({ sender }) => sender),
  );
}

/** Finds a sequence for each attempt that needs one. While there are none, leaves out those attempts. */
async function reserve(
  step: LaneStep,
  priced: readonly Priced[],
  counted: Counted | undefined,
  outcomes: Outcomes,
): Promise<{ ready: readonly Priced[]; sequences: readonly bigint[] }> {
  const numbered = priced.filter(isNumbered);
  if (numbered.length === 0) return { ready: priced, sequences: [] };
  let [reason, withinMs]: [string, number | undefined] = ['', undefined];
  try {
    const figures = await figuresFor(step, numbered, counted);
    const plan = step.memory.planner.plan(figures, numbered.length, step.clock.elapsed());
    if (plan.kind === 'use') return { ready: priced, sequences: plan.sequences };
    ({ reason, withinMs } = plan);
    step.log.warn({ lane: step.key, reason }, 'sequence in doubt');
    // The chain may have been started anew.
    if (step.chain.restartable?.(chainOfLane(step.key)) !== undefined)
      for (const relayerId of new Set(numbered.map(({ wanted }) => wanted.transaction.relayerId)))
        step.senders.recheck(relayerId);
  } catch (error) {
    reason = messageOf(error);
    step.log.warn({ err: error, lane: step.key }, 'the next sequence is not known');
  }
  for (const { wanted } of numbered) outcomes.set(wanted, { kind: 'failed', reason, withinMs });
  return { ready: priced.filter((one) => !isNumbered(one)), sequences: [] };
}

/**
 * Leaves out attempts whose relayer's policies changed while nodes were asked for prices. The next step prices them
 * again.
 */
async function stillAllowed(step: LaneStep, priced: readonly Priced[]): Promise<readonly Priced[]> {
  const senders = [...new Set(priced.map(({ sender }) => sender))];
  const current = await Promise.all(senders.map((sender) => step.senders.isCurrent(sender)));
  return priced.filter(({ sender }) => current[senders.indexOf(sender)] === true);
}

/**
 * Signs all attempts at once. Where one that gets a sequence cannot be signed, those behind it move down and are signed
 * again, so that the sequences have no gap. Bytes that were signed under another sequence are dropped; nobody has seen
 * them.
 */
async function sign(
  step: LaneStep,
  priced: readonly Priced[],
  sequences: readonly bigint[],
  outcomes: Outcomes,
): Promise<Signed[]> {
  let [rest, signed]: [readonly Priced[], Signed[]] = [priced, []];
  for (;;) {
    const before = new Map(signed.map((one) => [one.wanted, one]));
    const anchors = anchorsFor(rest, sequences);
    const results = await signInBatches(rest, (one, index) => signOne(one, anchors[index], before.get(one.wanted)));
    signed = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    if (signed.length === rest.length) return signed;
    for (const [index, { wanted }] of rest.entries()) {
      const result = results[index];
      if (result?.status === 'rejected') outcomes.set(wanted, failed(step, wanted, result.reason));
    }
    rest = signed;
  }
}

/** Assigns the given sequences in order. An attempt that has its own anchor keeps it. */
function anchorsFor(priced: readonly Priced[], sequences: readonly bigint[]): (Anchor | undefined)[] {
  const left = sequences.values();
  return priced.map((one): Anchor | undefined => {
    const { fills, earlier, spec } = one.wanted;
    const sequence = isNumbered(one) ? left.next().value : fills;
    if (sequence !== undefined) return { kind: 'sequence', sequence };
    return spec.purpose === 'send' ? one.prepared.anchor : earlier.at(-1)?.anchor;
  });
}

async function signOne(priced: Priced, anchor: Anchor | undefined, before: Signed | undefined): Promise<Signed> {
  const { anchorKind } = priced.wanted.transaction;
  if (anchor === undefined) throw new Error('there is no anchor for it');
  if (before !== undefined && isDeepStrictEqual(before.anchor, anchor)) return before;
  if (anchor.kind !== anchorKind)
    throw new Error(`it was accepted with an anchor of kind ${anchorKind} and prepared with ${anchor.kind}`);
  return { ...priced, anchor, bytes: await bytesOf(priced, anchor, priced.prepared.fields) };
}

async function bytesOf({ wanted, sender, prepared }: Priced, anchor: Anchor, fields: JsonObject): Promise<SignedBytes> {
  const { request = wanted.transaction.request } = prepared;
  return sender.client.sign({ ...wanted.transaction, request }, fields, anchor, await sender.signer());
}

/**
 * Stores signed attempts before they are sent, so that after a crash the same bytes go out again. If the store refuses
 * the whole batch, the first one is tried alone, so that one bad row blocks only itself; the others are signed again
 * later. If it is unknown whether the batch was stored, nothing is tried before the store is read again.
 * @throws LeaseLost when another instance has the lane: the signed bytes are dropped, and nobody has seen them
 */
async function commit(step: LaneStep, signed: readonly Signed[], outcomes: Outcomes): Promise<void> {
  const [first] = signed;
  if (first === undefined) return;
  const together = (some: readonly Signed[]) => commitTogether(step, some, outcomes);
  try {
    await together(signed).catch((error: unknown) => {
      if (error instanceof LeaseLost || isUnknown(error) || signed.length > 1) throw error;
      return withFreshSalt(first.sender.chain, first.prepared.fields, async (fields) =>
        together([{ ...first, bytes: await bytesOf(first, first.anchor, fields) }]),
      );
    });
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    if (signed.length > 1 && !isUnknown(error)) {
      await commit(step, [first], outcomes);
      return;
    }
    const transactions = signed.map(({ wanted }) => wanted.transaction.id);
    step.log.error({ err: error, transactions, lane: step.key }, 'signed transactions could not be stored');
    const reason = 'The signed bytes could not be stored';
    for (const { wanted } of signed) outcomes.set(wanted, { kind: 'failed', reason });
  }
}

/** Whether it is unknown what the store has kept. */
function isUnknown(error: unknown): boolean {
  return error instanceof AppError && error.code === 'UNAVAILABLE';
}

async function commitTogether(step: LaneStep, signed: readonly Signed[], outcomes: Outcomes): Promise<void> {
  const { offers } = step.memory;
  const isStored = await storeAttempts(
    step,
    signed.map((one) => ({ ...recordOf(step, one), earlier: one.wanted.earlier })),
  );
  if (!isStored) return;
  for (const { wanted } of signed) {
    const { transaction, earlier, spec, fills } = wanted;
    const { id } = transaction;
    const isFurther = spec.purpose !== 'send' && fills === undefined;
    if (isFurther || offers.causeOf(id) !== undefined) offers.signedAnew(id);
    if (isFurther && ordinalAfter(earlier) >= QUICK_ATTEMPTS)
      offers.restUntil(id, step.clock.elapsed() + step.timing.reofferMs);
    outcomes.set(wanted, { kind: 'signed' });
  }
}

/** Commits attempts, and takes them into the picture of the lane. @returns false when nothing was changed */
export async function storeAttempts(
  step: LaneStep,
  attempts: readonly (SignedAttempt & { earlier: readonly Attempt[] })[],
): Promise<boolean> {
  if (!(await step.ledger.record(attempts))) return false;
  for (const { transaction, set, attempt, earlier } of attempts)
    step.open.set(transaction.id, { transaction: { ...transaction, ...set }, attempts: [...earlier, attempt] });
  return true;
}

function recordOf(step: LaneStep, { wanted, anchor, prepared, bytes }: Signed): SignedAttempt {
  const { transaction, earlier, spec, kind, settles, fills } = wanted;
  const { id: transactionId } = transaction;
  const { request = transaction.request, remark } = prepared;
  const about = { transactionId, earlier, anchor, purpose: spec.purpose, request };
  const attempt = signedAttemptRecord(step, about, bytes);
  const { hash, fields, ordinal, createdAt: nextActionAt } = attempt;
  const isNew = fills !== undefined;
  const cause = step.memory.offers.causeOf(transactionId);
  const text = isNew ? String(transaction.statusReason) : `Attempt ${ordinal} signed: ${hash}`;
  const resumed =
    cause === undefined ? {} : { decision: { kind: 'resumed', text: `No longer blocked (${cause})` } as const };
  return {
    transaction,
    attempt,
    ...(isNew && { isNew }),
    ...(kind === undefined ? resumed : { decision: { kind, text } }),
    ...(settles !== undefined && { settles }),
    remark,
    set: {
      ...(transaction.status === 'pending' && ({ status: 'sent', sequence: sequenceOf(anchor) } as const)),
      ...(isNew || transaction.noopEnd !== null ? {} : { statusReason: null }),
      hash,
      fields,
      ...(request === transaction.request ? {} : { request }),
      ...wanted.set,
      nextActionAt,
    },
  };
}

function ordinalAfter(earlier: readonly Attempt[]): number {
  return (earlier.at(-1)?.ordinal ?? 0) + 1;
}

/** A signed attempt, as it is stored before it is sent. `earlier` are the transaction's attempts until now. */
export function signedAttemptRecord(
  { key: lane, clock }: Pick<LaneStep, 'key' | 'clock'>,
  {
    earlier,
    ...about
  }: Pick<Attempt, 'transactionId' | 'anchor' | 'purpose' | 'request'> & { earlier: readonly Attempt[] },
  { raw, hash, fields }: SignedBytes,
): Attempt {
  const ordinal = ordinalAfter(earlier);
  return { ...about, ordinal, lane, fields, raw, hash, createdAt: clock.now(), ...UNACCEPTED_ATTEMPT };
}

/** Encoding a transaction takes some 60 µs of processor time; its signature is made elsewhere. */
const SIGNATURES_PER_TURN = 16;

/**
 * Signs each item, one batch in each turn of the event loop. Otherwise encoding many transactions would block the loop
 * until all of it is done. Signatures that wait overlap as if all were started at once.
 */
export async function signInBatches<T, R>(
  items: readonly T[],
  sign: (item: T, index: number) => Promise<R>,
): Promise<PromiseSettledResult<R>[]> {
  const turns: Promise<PromiseSettledResult<R>[]>[] = [];
  for (let first = 0; first < items.length; first += SIGNATURES_PER_TURN) {
    if (first > 0) await nextTurn();
    const some = items.slice(first, first + SIGNATURES_PER_TURN);
    turns.push(Promise.allSettled(some.map((item, place) => sign(item, first + place))));
  }
  return (await Promise.all(turns)).flat();
}

/** The most equal payments that may be under way at once. */
const MAX_VARIATIONS = 32;

/**
 * Signs and stores an attempt. If the store has the same bytes already, from an equal payment, it tries other bytes
 * that mean the same: two payments must not become one.
 */
export async function withFreshSalt<T>(
  chain: Pick<Chain, 'withDistinctBytes'>,
  fields: JsonObject,
  signAndStore: (fields: JsonObject) => Promise<T>,
): Promise<T> {
  let salted = fields;
  for (let left = MAX_VARIATIONS; ; left -= 1) {
    try {
      return await signAndStore(salted);
    } catch (error) {
      if (!(error instanceof DuplicateRecord) || left === 0) throw error;
      salted = chain.withDistinctBytes(salted);
    }
  }
}

/** How to ask about several items that one account pays for. */
interface CostQuestion<T, A> {
  /** @param committed what is taken from the account already */
  ask(item: T, committed: bigint): Promise<A>;
  /**
   * The further amount that an answer takes from the account; undefined for an item that does not count, as when it
   * cannot go on.
   */
  takes(answer: A, item: T): bigint | undefined;
  /** How much more may be taken without changing the answer; undefined when it does not tell. */
  spare(answer: A): bigint | undefined;
}

/**
 * Asks about all items at once, each as if it were the only one. Then asks about the last one again, with the cost of
 * the others added, to see whether the account can pay for all. Where its answer has told that already, does not ask
 * again. If the account cannot pay, asks about the items one after the other.
 * @returns one answer for each, in order
 */
async function askTogether<T, A>(
  items: readonly T[],
  committed: bigint,
  { ask, takes, spare }: CostQuestion<T, A>,
): Promise<A[]> {
  const answers = await Promise.all(items.map((item) => ask(item, committed)));
  const costs = answers.map((answer, index) => takes(answer, items[index] as T));
  const last = costs.findLastIndex((cost) => cost !== undefined);
  const others = costs.slice(0, Math.max(last, 0)).filter((cost) => cost !== undefined);
  const item = items[last];
  if (item === undefined || others.length === 0) return answers;
  const taken = others.reduce((sum, cost) => sum + cost, 0n);
  const left = spare(answers[last] as A);
  if (left !== undefined && taken <= left) return answers;
  const again = await ask(item, committed + taken);
  return takes(again, item) === undefined ? askInTurn(items, committed, { ask, takes }) : answers;
}

async function askInTurn<T, A>(
  items: readonly T[],
  committed: bigint,
  { ask, takes }: Pick<CostQuestion<T, A>, 'ask' | 'takes'>,
): Promise<A[]> {
  const answers: A[] = [];
  let taken = committed;
  for (const item of items) {
    const answer = await ask(item, taken);
    taken += takes(answer, item) ?? 0n;
    answers.push(answer);
  }
  return answers;
}
