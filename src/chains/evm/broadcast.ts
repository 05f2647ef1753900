import type { Json } from '../../domain/json.ts';
import type { Attempt } from '../../domain/transaction.ts';
import { type RpcClient, RpcError } from '../../egress/rpc-client.ts';
import type { BroadcastOutcome } from '../chain.ts';
import { broadcastFailure, type Verdict } from './errors.ts';
import { sentHash } from './provider.ts';

const METHOD = 'eth_sendRawTransaction';

/** More of them than so are asked about elsewhere the next time. */
const OPINIONS_AT_ONCE = 16;
const MOST_OPINIONS = 32;

/**
 * Offers signed bytes to one node, lowest sequence first, and asks every endpoint about those that this one did not
 * judge, or refused for what they are. The same bytes may be offered again at any time: they are one transaction.
 */
export async function broadcast(rpc: RpcClient, attempts: readonly Attempt[]): Promise<BroadcastOutcome[]> {
  if (attempts.length === 0) return [];
  const outcomes = await offerAll(rpc, attempts);
  // An endpoint that stopped answering in the middle has been left by now: the rest goes to another one, or once more.
  const unheard = attempts.filter((_attempt, index) => outcomes[index]?.kind === 'unknown');
  if (unheard.length > 1) {
    const again = await offerAll(rpc, unheard);
    for (const [index, attempt] of unheard.entries()) outcomes[attempts.indexOf(attempt)] = again[index] ?? NOBODY;
  }

  const doubtful = attempts.map((_attempt, index) => index).filter((index) => isDoubtful(outcomes[index]));
  const [lowest, ...others] = doubtful.slice(0, MOST_OPINIONS);
  if (lowest === undefined) return outcomes;
  const ask = async (index: number) => {
    const attempt = attempts[index];
    if (attempt !== undefined) outcomes[index] = await everyonesOpinion(rpc, attempt);
  };
  // Endpoints that have no time for the lowest have none for the rest; the rest would only hold up the round.
  await ask(lowest);
  const hasTime = !isSilence(outcomes[lowest]);
  const worth = others.filter((index) => hasTime || outcomes[index]?.kind === 'refused');
  for (let start = 0; start < worth.length; start += OPINIONS_AT_ONCE) {
    await Promise.all(worth.slice(start, start + OPINIONS_AT_ONCE).map(ask));
  }
  const asked = new Set([lowest, ...worth]);
  return outcomes.map((outcome, index) => (asked.has(index) ? outcome : asOneWord(outcome)));
}

async function offerAll(rpc: RpcClient, attempts: readonly Attempt[]): Promise<BroadcastOutcome[]> {
  const answers = await rpc.offerAll(
    METHOD,
    attempts.map(({ raw }): Json => [raw]),
  );
  return attempts.map((attempt, index) => answerTo(attempt, answers[index]).outcome);
}

/** Refused for good only counts as everyone's word. */
function asOneWord(outcome: BroadcastOutcome): BroadcastOutcome {
  return outcome.kind === 'refused' ? { ...outcome, kind: 'unknown' } : outcome;
}

function isDoubtful(outcome: BroadcastOutcome | undefined): boolean {
  return outcome?.kind === 'refused' || isSilence(outcome);
}

function isSilence(outcome: BroadcastOutcome | undefined): boolean {
  return outcome?.kind === 'busy' || outcome?.kind === 'unknown';
}

/**
 * The best truth of all endpoints comes first. That some node has the bytes needs no second word. What only makes the
 * lane look at the chain, or offer again, goes before what costs money or waits; a node that lags or lies is then
 * found out. `refused` ends a transaction, so every other word goes before it, though not the silence of the others:
 * an endpoint out of order must not keep alive what nobody takes.
 */
const BY_WEIGHT: readonly BroadcastOutcome['kind'][] = [
  'accepted',
  'sequence-used',
  'underpriced',
  'sequence-ahead',
  'fee-too-low',
  'unfunded',
  'busy',
  'unknown',
  'refused',
];

const NOBODY: BroadcastOutcome = { kind: 'unknown', reason: 'no RPC endpoint is switched on' };

async function everyonesOpinion(rpc: RpcClient, attempt: Attempt): Promise<BroadcastOutcome> {
  const verdicts = (await rpc.offerEach(METHOD, [attempt.raw])).map((answer) => answerTo(attempt, answer));
  const best = (outcomes: readonly Verdict[]) =>
    BY_WEIGHT.map((kind) => outcomes.find(({ outcome }) => outcome.kind === kind)).find((one) => one !== undefined);
  const found = best(verdicts.filter(({ isWord }) => isWord));
  if (found !== undefined) return found.outcome;
  // Among endpoints of which none spoke, one may have it for all that the others turned it away.
  const silent = verdicts.map(({ outcome }) => outcome);
  return silent.find(({ kind }) => kind === 'unknown') ?? silent[0] ?? NOBODY;
}

function answerTo(attempt: Attempt, answer: PromiseSettledResult<Json> | undefined): Verdict {
  if (answer === undefined) return { outcome: { kind: 'unknown', reason: 'no answer' }, isWord: false };
  if (answer.status === 'fulfilled') {
    const reason = 'the node answered with another hash than that of the bytes';
    const isOurs = namesOurs(answer.value, attempt.hash);
    return { outcome: isOurs ? { kind: 'accepted' } : { kind: 'unknown', reason }, isWord: true };
  }
  const error: unknown = answer.reason;
  if (!(error instanceof RpcError)) throw error;
  return broadcastFailure(error);
}

function namesOurs(answer: Json, hash: string): boolean {
  try {
    return sentHash(answer) === hash.toLowerCase();
  } catch {
    return false;
  }
}
