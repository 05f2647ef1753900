import { withTimeout } from '../domain/with-timeout.ts';
import type { ReadFromEndpoint, RpcClient } from '../egress/rpc/rpc-client.ts';
import { sequenceOf } from '../features/transactions/records/anchor.ts';
import type { ParkedPreparation, PastTransaction, PastTransactionsAnswer } from './chain-client.ts';

/*
 * Whose answer counts when several endpoints are asked: the one rule of all families. Any endpoint may be silent,
 * behind or pruned, and one of several may lie. This rule does not protect against a majority that lies together, or
 * against an only endpoint that lies for long. In those cases the policy's caps and budgets hold.
 *
 * A figure is the middle one of the figures told in time. One endpoint that lies moves it no further than to what
 * another endpoint tells. If two figures are in the middle, the caller says which of them does no harm.
 *
 * A claim that cannot be undone is checked against what the other endpoints show. Silence denies nothing. A claim about
 * what a block shows holds when another endpoint shows the same, or no other denies it. A claim that something will
 * never happen would permit a second payment. It holds when a second endpoint shows the same and none denies it, and
 * waits until then.
 *
 * A refusal before signing ends a payment. It holds when a second endpoint refuses as well and none lets the payment
 * pass. Until then the payment waits. The word of an only endpoint holds alone. A payment that the policies forbid,
 * whatever the chain says, needs no endpoint's word and ends at once.
 */

/**
 * How long to wait for answers. One endpoint that hangs does not hold up the others: those that have answered by then
 * count.
 */
const IN_TIME_MS = 3_000;

/** The answers of the endpoints that answer well and in time. An answer that `isEnough` accepts ends the wait. */
export async function answersInTime<T>(
  asked: readonly Promise<T>[],
  { withinMs = IN_TIME_MS, isEnough = () => false }: { withinMs?: number; isEnough?: (answer: T) => boolean } = {},
): Promise<T[]> {
  const answers: (readonly T[])[] = asked.map(() => []);
  const { promise: enough, resolve } = Promise.withResolvers<void>();
  const noted = asked.map(async (one, place) => {
    const answer = await one;
    answers[place] = [answer];
    if (isEnough(answer)) resolve();
  });
  await withTimeout(withinMs, Promise.race([Promise.allSettled(noted), enough]));
  return answers.flatMap((one) => one);
}

/** The faults that one endpoint shows, as far as every other that answers shows them too. */
export async function faultsShownByAll(
  rpc: RpcClient,
  first: (read: ReadFromEndpoint) => Promise<readonly string[]>,
  again = first,
): Promise<readonly string[]> {
  const { read, faults } = await rpc.onOne(async (read) => ({ read, faults: await first(read) }));
  if (faults.length === 0 || rpc.endpointCount < 2) return faults;
  const others = await answersInTime(rpc.onOthers(read, again));
  return faults.filter((fault) => others.every((reported) => reported.includes(fault)));
}

/** Which of two middle values counts. */
export type MedianSide = 'lower' | 'higher';

/** The item with the middle value; undefined for an empty list. */
export function medianBy<T>(answers: readonly T[], side: MedianSide, valueOf: (one: T) => bigint): T | undefined {
  const ascending = answers.toSorted((a, b) => (valueOf(a) < valueOf(b) ? -1 : 1));
  return ascending[Math.floor((answers.length - (side === 'lower' ? 1 : 0)) / 2)];
}

/** The middle figure; undefined for an empty list. */
export function medianOf(figures: readonly bigint[], side: MedianSide): bigint | undefined {
  return medianBy(figures, side, (figure) => figure);
}

/** The middle one of the figures that the endpoints tell; undefined if none tells one in time. */
export async function medianOfEndpoints(
  rpc: Pick<RpcClient, 'onAll'>,
  use: (read: ReadFromEndpoint) => Promise<bigint>,
  side: MedianSide,
): Promise<bigint | undefined> {
  return medianOf(await answersInTime(rpc.onAll(use)), side);
}

/**
 * An account's balance from one endpoint. With `least`, all endpoints are asked if that endpoint fails or tells less: a
 * node that lags, lies or is down does not make an account look poor.
 */
export async function balanceOfEndpoints(
  rpc: Pick<RpcClient, 'onOne' | 'onAll'>,
  ask: (read: ReadFromEndpoint) => Promise<bigint>,
  least: bigint | undefined,
): Promise<bigint> {
  const one = rpc.onOne(ask);
  if (least === undefined) return one;
  const answers = await one.catch(() => undefined);
  if (answers !== undefined && answers >= least) return answers;
  return (await medianOfEndpoints(rpc, ask, 'higher')) ?? one;
}

/**
 * What an endpoint makes of a claim. `same`: it shows the same. `other`: its own chain contradicts the claim. `none`:
 * it cannot tell.
 */
export type EndpointOpinion = 'same' | 'other' | 'none';

/** Whether one endpoint's claim about a block may be called final, by the opinions of the others. */
export function isCorroborated(others: readonly EndpointOpinion[]): boolean {
  return others.includes('same') || !others.includes('other');
}

/**
 * Judges the claim that something will never happen, by the opinions of all endpoints, also of the one that made it.
 */
export function proofByOpinions(opinions: readonly EndpointOpinion[]): 'shown' | 'denied' | 'unproved' {
  if (opinions.includes('other')) return 'denied';
  return opinions.filter((opinion) => opinion === 'same').length > 1 ? 'shown' : 'unproved';
}

/** What one endpoint shows of an account's own transactions. `lack`: why that may not be all of them. */
export interface EndpointHistory {
  found: readonly PastTransaction[];
  lack?: { kind: 'waiting' | 'unproved'; reason: string };
}

/**
 * What the endpoints together show. One of them is enough for a found transaction, because the account has signed it.
 * That there are no others permits a payment, so a second endpoint has to show the same, where there is one.
 */
export function mergeEndpointHistories(
  looks: readonly EndpointHistory[],
  endpointCount: number,
): PastTransactionsAnswer {
  const found = [...new Map(looks.flatMap((look) => look.found.map((one) => [one.hash, one] as const))).values()];
  const sequences = found.flatMap(({ anchor }) => sequenceOf(anchor) ?? []);
  if (new Set(sequences).size < sequences.length) {
    return { kind: 'waiting', found, reason: 'the endpoints show different transactions under one sequence' };
  }
  const lacks = looks.flatMap(({ lack }) => lack ?? []);
  const complete = looks.length - lacks.length;
  if (complete >= Math.min(endpointCount, 2)) return { kind: 'complete', found };
  const [lack = { kind: 'waiting', reason: 'too few endpoints have answered in time' } as const] = [
    ...lacks.filter(({ kind }) => kind === 'waiting'),
    ...lacks,
  ];
  return { ...lack, found };
}

/** How soon a payment that one endpoint alone refuses is asked about again. */
const REFUSED_ALONE_MS = 2_000;

/**
 * Checks one endpoint's decision on a payment with the other endpoints, unless it is `ready`. A `ready` of any endpoint
 * counts. A refusal without a second refusal only parks the payment.
 */
export async function confirmRefusal<D extends { kind: string; reason?: string }>(
  decided: D,
  rpc: Pick<RpcClient, 'endpointCount' | 'onAll'>,
  decideOn: (read: ReadFromEndpoint) => Promise<D>,
): Promise<D | ParkedPreparation> {
  if (decided.kind === 'ready' || rpc.endpointCount < 2) return decided;
  const isReady = ({ kind }: D) => kind === 'ready';
  const answers = await answersInTime(rpc.onAll(decideOn), { isEnough: isReady });
  const ready = answers.find(isReady);
  if (ready !== undefined) return ready;
  const [refusal, second] = answers.filter(({ kind }) => kind === 'refused');
  if (refusal !== undefined && second !== undefined) return refusal;
  return [decided, ...answers].find(({ kind }) => kind !== 'refused') ?? parkRefusal(decided);
}

/** Parks a refused payment. It is asked about again until a second endpoint has a word on it. */
export function parkRefusal({ reason = 'Refused' }: { reason?: string }): ParkedPreparation {
  return {
    kind: 'parked',
    reason: `${reason} (by one endpoint; the others are asked again)`,
    retryInMs: REFUSED_ALONE_MS,
  };
}
