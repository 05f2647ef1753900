import { inTime } from '../domain/in-time.ts';
import type { ReadOne, RpcClient } from '../egress/rpc/rpc-client.ts';
import type { ParkedPreparation } from './chain-client.ts';

/*
 * Whose word counts where several endpoints are asked: the one rule of all families. Any endpoint may be silent, behind
 * or pruned, and one of several may lie. A majority that lies together, or an only endpoint that lies for long, is not
 * guarded against: there the policy's caps and budgets hold.
 *
 * A figure is the middle one of those told in time: one endpoint that lies moves it no further than to what another
 * tells. Where two are in the middle, the caller says which of them does no harm.
 *
 * A claim that cannot be undone is held against what the others show; silence denies nothing. What a block shows holds
 * when another endpoint shows the same, or no other denies it. That something will never happen would permit a second
 * payment: it holds when a second endpoint shows the same and none denies it, and waits until then.
 *
 * A refusal before signing ends a payment. It holds when a second endpoint refuses as well and none lets the payment pass;
 * until then the payment waits. The word of an only endpoint holds alone. What the policies forbid whatever the chain says
 * rests on nobody's word, and ends it at once.
 */

/** An endpoint that hangs takes no other's word away: those that have answered by then count. */
const IN_TIME_MS = 3_000;

/** The answers of those that answer well and in time. What is enough ends the wait. */
export async function answersInTime<T>(
  asked: readonly Promise<T>[],
  { withinMs = IN_TIME_MS, isEnough = () => false }: { withinMs?: number; isEnough?: (answer: T) => boolean } = {},
): Promise<T[]> {
  const told: (readonly T[])[] = asked.map(() => []);
  const { promise: enough, resolve } = Promise.withResolvers<void>();
  const noted = asked.map(async (one, place) => {
    const answer = await one;
    told[place] = [answer];
    if (isEnough(answer)) resolve();
  });
  await inTime(withinMs, Promise.race([Promise.allSettled(noted), enough]));
  return told.flatMap((one) => one);
}

/** Which of two middle ones counts. */
export type Side = 'lower' | 'higher';

/** The middle one by its value; undefined of none. */
export function middleBy<T>(told: readonly T[], side: Side, valueOf: (one: T) => bigint): T | undefined {
  const ascending = told.toSorted((a, b) => (valueOf(a) < valueOf(b) ? -1 : 1));
  return ascending[Math.floor((told.length - (side === 'lower' ? 1 : 0)) / 2)];
}

/** The middle one of some figures; undefined of none. */
export function middleOf(figures: readonly bigint[], side: Side): bigint | undefined {
  return middleBy(figures, side, (figure) => figure);
}

/** The middle one of what the endpoints tell of a figure; undefined where none tells it in time. */
export async function figureOfAll(
  rpc: Pick<RpcClient, 'onAll'>,
  use: (read: ReadOne) => Promise<bigint>,
  side: Side,
): Promise<bigint | undefined> {
  return middleOf(await answersInTime(rpc.onAll(use)), side);
}

/**
 * An account's balance by one endpoint. When that one fails, or tells less than the least, all are asked: a node that
 * lags or lies, or is not there, must not make an account poor.
 */
export async function balanceOfAll(
  rpc: Pick<RpcClient, 'onOne' | 'onAll'>,
  ask: (read: ReadOne) => Promise<bigint>,
  least: bigint | undefined,
): Promise<bigint> {
  const one = rpc.onOne(ask);
  if (least === undefined) return one;
  const told = await one.catch(() => undefined);
  if (told !== undefined && told >= least) return told;
  return (await figureOfAll(rpc, ask, 'higher')) ?? one;
}

/** `same`: the endpoint shows the same. `other`: by its own chain that cannot be. `none`: it cannot tell. */
export type Opinion = 'same' | 'other' | 'none';

/** Whether what one endpoint's block shows may be called final, by what the others make of it. */
export function isBorneOut(others: readonly Opinion[]): boolean {
  return others.includes('same') || !others.includes('other');
}

/** How the claim that something will never happen stands, by what all make of it, its own endpoint included. */
export function proofOf(opinions: readonly Opinion[]): 'shown' | 'denied' | 'untold' {
  if (opinions.includes('other')) return 'denied';
  return opinions.filter((opinion) => opinion === 'same').length > 1 ? 'shown' : 'untold';
}

/** How soon a payment that one endpoint alone refuses is asked about again. */
const REFUSED_ALONE_MS = 2_000;

/**
 * What one endpoint decided of a payment, held against the others where that does not let it pass. `ready` of any counts;
 * without a second refusal, a refusal only parks.
 */
export async function unlessRefusedAlone<D extends { kind: string; reason?: string }>(
  decided: D,
  rpc: Pick<RpcClient, 'endpointCount' | 'onAll'>,
  decideOn: (read: ReadOne) => Promise<D>,
): Promise<D | ParkedPreparation> {
  if (decided.kind === 'ready' || rpc.endpointCount < 2) return decided;
  const isReady = ({ kind }: D) => kind === 'ready';
  const told = await answersInTime(rpc.onAll(decideOn), { isEnough: isReady });
  const ready = told.find(isReady);
  if (ready !== undefined) return ready;
  const [refusal, second] = told.filter(({ kind }) => kind === 'refused');
  if (refusal !== undefined && second !== undefined) return refusal;
  return [decided, ...told].find(({ kind }) => kind !== 'refused') ?? refusedAlone(decided);
}

/** It is asked again until a second endpoint has a word on it. */
export function refusedAlone({ reason = 'Refused' }: { reason?: string }): ParkedPreparation {
  return {
    kind: 'parked',
    reason: `${reason} (by one endpoint; the others are asked again)`,
    retryInMs: REFUSED_ALONE_MS,
  };
}
