import type { Json } from '../domain/json/json.ts';
import { type RpcClient, RpcError, type RpcOfferOptions, type RpcOfferOutcome } from '../egress/rpc/rpc-client.ts';
import type { Attempt } from '../features/transactions/records/attempt.ts';
import type { BroadcastOutcome } from './chain-client.ts';

/** How one endpoint judged the bytes. */
export interface OfferVerdict {
  outcome: BroadcastOutcome;
  /** Whether a node looked at the bytes and answered about them. Otherwise it has no say in what becomes of them. */
  hasJudged: boolean;
}

/** How a family's nodes are given signed bytes, and how their answers are read. */
export interface OfferMethod {
  method: string;
  params(attempt: Attempt): Json;
  /** Whether the answer names these very bytes. */
  isOurs(answer: Json, attempt: Attempt): boolean;
  failure(error: RpcError): OfferVerdict;
  /**
   * Reads a refusal out of a successful answer, for nodes that refuse that way. Undefined if the answer is a plain yes.
   */
  refusal?(answer: Json, attempt: Attempt): OfferVerdict | undefined;
}

/** The most attempts that every endpoint is asked about in one offer. Further attempts wait for the next offer. */
const MAX_OPINIONS = 32;

/**
 * Offers signed bytes to one node, in the given order. Then offers to every endpoint the bytes that this node did not
 * take, and the bytes that a node took before and that are still in no block. So a node that forwards nothing, or
 * refuses what others take, does not stand in the way. The same bytes may be offered again at any time: they are one
 * transaction.
 */
export async function offerBytes(
  rpc: RpcClient,
  offerMethod: OfferMethod,
  attempts: readonly Attempt[],
): Promise<BroadcastOutcome[]> {
  if (attempts.length === 0) return [];
  const areSeveral = rpc.endpointCount > 1;
  const isStale = ({ acceptedAt }: Attempt) => areSeveral && acceptedAt !== null;
  const outcomes = await offerAll(rpc, offerMethod, attempts, { elsewhere: attempts.some(isStale) });
  // An endpoint that stopped answering in the middle is not preferred any more. The remaining attempts go to another
  // endpoint, or once more to the same one.
  const unanswered = attempts.filter((_attempt, index) => outcomes[index]?.kind === 'unknown');
  if (unanswered.length > 1) {
    const again = await offerAll(rpc, offerMethod, unanswered);
    for (const [index, attempt] of unanswered.entries())
      outcomes[attempts.indexOf(attempt)] = again[index] ?? NO_ENDPOINT;
  }

  const doubtful = [...attempts.entries()]
    .filter(([index, attempt]) => isStale(attempt) || isDoubtful(outcomes[index], areSeveral))
    .map(([index]) => index);
  const [lowest, ...others] = doubtful.slice(0, MAX_OPINIONS);
  if (lowest === undefined) return outcomes;
  const ask = async (indexes: readonly number[]) => {
    const asked = indexes.map((index) => attempts[index]).filter((attempt) => attempt !== undefined);
    const opinions = await everyonesOpinion(rpc, offerMethod, asked);
    for (const [place, index] of indexes.entries()) {
      if (outcomes[index]?.kind !== 'accepted') outcomes[index] = opinions[place] ?? NO_ENDPOINT;
    }
  };
  // If the endpoints have no time for the lowest attempt, they have none for the others. Unanswered others are skipped:
  // they would only hold up the round.
  await ask([lowest]);
  const hasTime = !isSilence(outcomes[lowest]);
  const worth = others.filter((index) => hasTime || !isSilence(outcomes[index]));
  if (worth.length > 0) await ask(worth);
  const isAsked = new Set([lowest, ...worth]);
  return outcomes.map((outcome, index) => (isAsked.has(index) ? outcome : asSingleOpinion(outcome, areSeveral)));
}

async function offerAll(
  rpc: RpcClient,
  offerMethod: OfferMethod,
  attempts: readonly Attempt[],
  options: RpcOfferOptions = {},
): Promise<BroadcastOutcome[]> {
  const params = attempts.map((attempt) => offerMethod.params(attempt));
  const answers = await rpc.offerAll(offerMethod.method, params, options);
  return attempts.map((attempt, index) => answerTo(offerMethod, attempt, answers[index]).outcome);
}

/**
 * Turns one endpoint's outcome into `unknown` where only the word of all endpoints counts: for a refusal, and, if there
 * are several endpoints, for an outcome that costs money.
 */
function asSingleOpinion(outcome: BroadcastOutcome, areSeveral: boolean): BroadcastOutcome {
  const { kind } = outcome;
  const costs = areSeveral && (kind === 'fee-too-low' || kind === 'underpriced');
  if (kind === 'unknown') return { ...outcome, isClear: false };
  return kind === 'refused' || costs ? { ...outcome, kind: 'unknown' } : outcome;
}

/**
 * Whether one endpoint's outcome is not enough. An only endpoint would repeat its other answers, so it is asked again
 * only after a refusal or silence.
 */
function isDoubtful(outcome: BroadcastOutcome | undefined, areSeveral: boolean): boolean {
  if (areSeveral) return outcome?.kind !== 'accepted';
  return outcome?.kind === 'refused' || isSilence(outcome);
}

function isSilence(outcome: BroadcastOutcome | undefined): boolean {
  return outcome?.kind === 'busy' || outcome?.kind === 'unknown';
}

/**
 * Which outcome counts when endpoints answer differently: the first in this list. One node that has the bytes is
 * enough. Next come outcomes that only make the lane look at the chain or offer again: if a node lags or lies, that
 * shows. Next come outcomes that cost money or waiting. `refused` ends a transaction, so it comes after all of them.
 * Endpoints without a word on the bytes count only after this list: an endpoint that is out of order must not keep a
 * transaction alive that no node takes.
 */
const BY_WEIGHT: readonly BroadcastOutcome['kind'][] = [
  'accepted',
  'anchor-used',
  'lapsed',
  'underpriced',
  'anchor-ahead',
  'fee-too-low',
  'unfunded',
  'busy',
  'unknown',
  'refused',
];

const NO_ENDPOINT: BroadcastOutcome = { kind: 'unknown', reason: 'no RPC endpoint is switched on' };

/** Offers signed bytes to every endpoint of several clients, each by its own method. The weightiest outcome counts. */
export async function offerToEveryEndpoint(
  ways: readonly { rpc: RpcClient; offerMethod: OfferMethod }[],
  attempts: readonly Attempt[],
): Promise<BroadcastOutcome[]> {
  const told = await Promise.all(ways.map(({ rpc, offerMethod }) => everyonesOpinion(rpc, offerMethod, attempts)));
  return attempts.map((_attempt, index) => {
    const outcomes = told.map((row) => row[index] ?? NO_ENDPOINT);
    return BY_WEIGHT.flatMap((kind) => outcomes.find((outcome) => outcome.kind === kind) ?? [])[0] ?? NO_ENDPOINT;
  });
}

async function everyonesOpinion(
  rpc: RpcClient,
  offerMethod: OfferMethod,
  attempts: readonly Attempt[],
): Promise<BroadcastOutcome[]> {
  const params = attempts.map((attempt) => offerMethod.params(attempt));
  const rows = (await rpc.offerEach(offerMethod.method, params)).map((answers) =>
    attempts.map((attempt, index) => answerTo(offerMethod, attempt, answers[index])),
  );
  // An endpoint that took an attempt which no node had taken before gets the next offers. The others turned it away.
  const news = attempts.findIndex(({ acceptedAt }) => acceptedAt === null);
  const taker = rows.findIndex((row) => row[news]?.outcome.kind === 'accepted');
  if (taker >= 0 && rpc.endpointCount > 1) rpc.prefer(taker);
  return attempts.map((_attempt, index) => weighed(rows.map((row) => row[index]).filter((one) => one !== undefined)));
}

function weighed(verdicts: readonly OfferVerdict[]): BroadcastOutcome {
  const words = verdicts.filter(({ hasJudged }) => hasJudged);
  const found = BY_WEIGHT.map((kind) => words.filter(({ outcome }) => outcome.kind === kind)).find(
    (some) => some.length > 0,
  );
  const [first] = found ?? [];
  if (found !== undefined && first !== undefined) {
    // A refused figure can be chosen anew, so it does not end a transaction as other refusals do.
    const figure = found.find(({ outcome }) => outcome.kind === 'refused' && outcome.isFigure === true);
    const areClear = verdicts.every(({ outcome }) => outcome.kind === 'unknown' && outcome.isClear === true);
    if (first.outcome.kind !== 'unknown' || areClear) return (figure ?? first).outcome;
    return { ...first.outcome, isClear: false };
  }
  // No endpoint gave its word on the bytes. `unknown` counts first: that endpoint may have the bytes, although the
  // others turned them away.
  const silent = verdicts.map(({ outcome }) => outcome);
  return silent.find(({ kind }) => kind === 'unknown') ?? silent[0] ?? NO_ENDPOINT;
}

function answerTo(offerMethod: OfferMethod, attempt: Attempt, answer: RpcOfferOutcome | undefined): OfferVerdict {
  const { outcome, hasJudged } = verdictOf(offerMethod, attempt, answer);
  return { outcome: { ...outcome, ...(answer?.endpoint !== undefined && { by: answer.endpoint }) }, hasJudged };
}

function verdictOf(offerMethod: OfferMethod, attempt: Attempt, answer: RpcOfferOutcome | undefined): OfferVerdict {
  if (answer === undefined) return { outcome: { kind: 'unknown', reason: 'no answer' }, hasJudged: false };
  if (answer.status === 'fulfilled') {
    const refusal = offerMethod.refusal?.(answer.value, attempt);
    if (refusal !== undefined) return refusal;
    const reason = 'the node answered with another hash than that of the bytes';
    const isOurs = offerMethod.isOurs(answer.value, attempt);
    return { outcome: isOurs ? { kind: 'accepted' } : { kind: 'unknown', reason }, hasJudged: true };
  }
  const error: unknown = answer.reason;
  if (!(error instanceof RpcError)) throw error;
  return offerMethod.failure(error);
}
