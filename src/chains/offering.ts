import type { Json } from '../domain/json/json.ts';
import type { Attempt } from '../domain/transaction/attempt.ts';
import { type OfferAnswer, type OfferOptions, type RpcClient, RpcError } from '../egress/rpc/rpc-client.ts';
import type { BroadcastOutcome } from './chain-client.ts';

/** What one endpoint made of the bytes. */
export interface Verdict {
  outcome: BroadcastOutcome;
  /** Whether a node looked at the bytes and spoke of them; without that it has no voice in what becomes of them. */
  isWord: boolean;
}

/** How a family's nodes are given signed bytes, and how their answers are read. */
export interface Taking {
  method: string;
  params(attempt: Attempt): Json;
  /** Whether the answer names these very bytes. */
  isOurs(answer: Json, attempt: Attempt): boolean;
  failure(error: RpcError): Verdict;
  /** What an answer says that is no plain yes, where nodes refuse in their answers; undefined where it is one. */
  refusal?(answer: Json, attempt: Attempt): Verdict | undefined;
}

/** More of them than so are asked about elsewhere the next time. */
const MOST_OPINIONS = 32;

/**
 * Offers signed bytes to one node, in the order given. Every endpoint is offered what that node did not take, and what
 * is in no block though some node took it before: one that forwards nothing, or refuses what others take, must not
 * stand in the way. The same bytes may be offered again at any time: they are one transaction.
 */
export async function offerBytes(
  rpc: RpcClient,
  taking: Taking,
  attempts: readonly Attempt[],
): Promise<BroadcastOutcome[]> {
  if (attempts.length === 0) return [];
  const areSeveral = rpc.endpointCount > 1;
  const isStale = ({ acceptedAt }: Attempt) => areSeveral && acceptedAt !== null;
  const outcomes = await offerAll(rpc, taking, attempts, { elsewhere: attempts.some(isStale) });
  // An endpoint that stopped answering in the middle has been left by now: the rest goes to another one, or once more.
  const unheard = attempts.filter((_attempt, index) => outcomes[index]?.kind === 'unknown');
  if (unheard.length > 1) {
    const again = await offerAll(rpc, taking, unheard);
    for (const [index, attempt] of unheard.entries()) outcomes[attempts.indexOf(attempt)] = again[index] ?? NOBODY;
  }

  const toAsk = [...attempts.entries()]
    .filter(([index, attempt]) => isStale(attempt) || isDoubtful(outcomes[index], areSeveral))
    .map(([index]) => index);
  const [lowest, ...others] = toAsk.slice(0, MOST_OPINIONS);
  if (lowest === undefined) return outcomes;
  const ask = async (indexes: readonly number[]) => {
    const asked = indexes.map((index) => attempts[index]).filter((attempt) => attempt !== undefined);
    const opinions = await everyonesOpinion(rpc, taking, asked);
    for (const [place, index] of indexes.entries()) {
      if (outcomes[index]?.kind !== 'accepted') outcomes[index] = opinions[place] ?? NOBODY;
    }
  };
  // Endpoints that have no time for the lowest have none for the rest; the rest would only hold up the round.
  await ask([lowest]);
  const hasTime = !isSilence(outcomes[lowest]);
  const worth = others.filter((index) => hasTime || !isSilence(outcomes[index]));
  if (worth.length > 0) await ask(worth);
  const isAsked = new Set([lowest, ...worth]);
  return outcomes.map((outcome, index) => (isAsked.has(index) ? outcome : asOneWord(outcome, areSeveral)));
}

async function offerAll(
  rpc: RpcClient,
  taking: Taking,
  attempts: readonly Attempt[],
  options: OfferOptions = {},
): Promise<BroadcastOutcome[]> {
  const params = attempts.map((attempt) => taking.params(attempt));
  const answers = await rpc.offerAll(taking.method, params, options);
  return attempts.map((attempt, index) => answerTo(taking, attempt, answers[index]).outcome);
}

/** Refused for good only counts as everyone's word, and so does what costs money where there are others. */
function asOneWord(outcome: BroadcastOutcome, areSeveral: boolean): BroadcastOutcome {
  const { kind } = outcome;
  const costs = areSeveral && (kind === 'fee-too-low' || kind === 'underpriced');
  return kind === 'refused' || costs ? { ...outcome, kind: 'unknown' } : outcome;
}

/** Whether one endpoint's word is not enough. Where it is the only one, the same would be heard again. */
function isDoubtful(outcome: BroadcastOutcome | undefined, areSeveral: boolean): boolean {
  if (areSeveral) return outcome?.kind !== 'accepted';
  return outcome?.kind === 'refused' || isSilence(outcome);
}

function isSilence(outcome: BroadcastOutcome | undefined): boolean {
  return outcome?.kind === 'busy' || outcome?.kind === 'unknown';
}

/**
 * Which answer counts when endpoints answer differently: the first in this list. One node that has the bytes is enough.
 * Then come answers that only make the lane look at the chain or offer again: if a node lags or lies, that shows. Then
 * come those that cost money or waiting. `refused` ends a transaction, so it comes after all of them. Silence comes
 * last: an endpoint that is out of order must not keep alive what nobody takes.
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

const NOBODY: BroadcastOutcome = { kind: 'unknown', reason: 'no RPC endpoint is switched on' };

async function everyonesOpinion(
  rpc: RpcClient,
  taking: Taking,
  attempts: readonly Attempt[],
): Promise<BroadcastOutcome[]> {
  const params = attempts.map((attempt) => taking.params(attempt));
  const rows = (await rpc.offerEach(taking.method, params)).map((answers) =>
    attempts.map((attempt, index) => answerTo(taking, attempt, answers[index])),
  );
  // Whoever took what was never taken has earned the next offers; the others turned it away.
  const news = attempts.findIndex(({ acceptedAt }) => acceptedAt === null);
  const taker = rows.findIndex((row) => row[news]?.outcome.kind === 'accepted');
  if (taker >= 0 && rpc.endpointCount > 1) rpc.prefer(taker);
  return attempts.map((_attempt, index) => weighed(rows.map((row) => row[index]).filter((one) => one !== undefined)));
}

function weighed(verdicts: readonly Verdict[]): BroadcastOutcome {
  const words = verdicts.filter(({ isWord }) => isWord);
  const found = BY_WEIGHT.map((kind) => words.find(({ outcome }) => outcome.kind === kind)).find((one) => one);
  if (found !== undefined) return found.outcome;
  // Among endpoints of which none spoke, one may have it for all that the others turned it away.
  const silent = verdicts.map(({ outcome }) => outcome);
  return silent.find(({ kind }) => kind === 'unknown') ?? silent[0] ?? NOBODY;
}

function answerTo(taking: Taking, attempt: Attempt, answer: OfferAnswer | undefined): Verdict {
  const { outcome, isWord } = wordOf(taking, attempt, answer);
  return { outcome: { ...outcome, ...(answer?.endpoint !== undefined && { by: answer.endpoint }) }, isWord };
}

function wordOf(taking: Taking, attempt: Attempt, answer: OfferAnswer | undefined): Verdict {
  if (answer === undefined) return { outcome: { kind: 'unknown', reason: 'no answer' }, isWord: false };
  if (answer.status === 'fulfilled') {
    const refusal = taking.refusal?.(answer.value, attempt);
    if (refusal !== undefined) return refusal;
    const reason = 'the node answered with another hash than that of the bytes';
    const isOurs = taking.isOurs(answer.value, attempt);
    return { outcome: isOurs ? { kind: 'accepted' } : { kind: 'unknown', reason }, isWord: true };
  }
  const error: unknown = answer.reason;
  if (!(error instanceof RpcError)) throw error;
  return taking.failure(error);
}
