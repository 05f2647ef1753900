import { amountOf, jsonAmount } from '../../domain/amount.ts';
import { type Attempt, livingOf } from '../../domain/transaction/attempt.ts';
import { EndpointUnfit, type ReadOne, type RpcClient } from '../../egress/rpc/rpc-client.ts';
import type { Observation, ObservedEntry } from '../client.ts';
import { answersInTime, isBorneOut, type Opinion, proofOf } from '../quorum.ts';
import { failureReason, resultIn } from './errors.ts';
import { accountAt, type Lookup, lookUp } from './provider.ts';
import { readFields, type StellarFields, type StellarReceipt } from './schema.ts';

const OPEN: Observation = { kind: 'open' };

/** One attempt that is looked for. */
interface Sought {
  attempt: Attempt;
  fields: StellarFields;
}

/** What one node shows of an attempt. */
interface Sight extends Lookup {
  /** The last sequence that its source has used; null where the node has no such account. */
  used: bigint | null;
}

type Sights = ReadonlyMap<string, Sight>;

/**
 * What one node's chain shows of each transaction. Whatever is in a ledger is final, unless another endpoint denies it. An
 * attempt is dead where it is in none, and its time has passed or its sequence is used; a second endpoint, where there is
 * one, has to show the same.
 */
export async function observe(rpc: RpcClient, entries: readonly ObservedEntry[]): Promise<Observation[]> {
  const sought = entries.map(({ attempts }) => attempts.map(seek));
  const all = sought.flat();
  if (all.length === 0) return entries.map(() => OPEN);
  return rpc.onOne(async (read) => {
    const sights = await sightsOf(read, all);
    const claims = all.filter((one) => opinionOn(one, sights) !== 'none' || sights.get(one.attempt.hash)?.landed);
    const others =
      claims.length === 0 ? [] : await answersInTime(rpc.onOthers(read, (other) => sightsOf(other, claims)));
    const judge = { sights, others, isAlone: rpc.endpointCount < 2 };
    return sought.map((attempts) => observationOf(attempts, judge));
  });
}

function seek(attempt: Attempt): Sought {
  const fields = readFields(attempt.fields);
  if (fields === undefined) throw new TypeError('a signed attempt was prepared');
  return { attempt, fields };
}

/** In this order: what used a sequence by then is in the history that is read after it. */
async function sightsOf(read: ReadOne, sought: readonly Sought[]): Promise<Sights> {
  const sources = [...new Set(sought.map(({ fields }) => fields.source))];
  const accounts = new Map(
    await Promise.all(sources.map(async (source) => [source, await accountAt(read, source)] as const)),
  );
  const sights = sought.map(async ({ attempt: { hash }, fields: { source } }): Promise<[string, Sight]> => {
    const { account = null, ledger = 0n } = accounts.get(source) ?? {};
    const lookup = await lookUp(read, hash);
    // Behind a gateway each call may have gone to another node.
    if (lookup.latest < ledger) {
      throw new EndpointUnfit(`its history ends at ledger ${lookup.latest}, before ${ledger}`, { pauseMs: 0 });
    }
    return [hash, { ...lookup, used: account?.sequence ?? null }];
  });
  return new Map(await Promise.all(sights));
}

/** What a node makes of the claim that an attempt is dead. */
function opinionOn({ attempt, fields }: Sought, sights: Sights): Opinion {
  const sight = sights.get(attempt.hash);
  if (sight === undefined) return 'none';
  if (sight.landed !== null) return 'other';
  const isForgotten = sight.oldest > amountOf(fields.ledger) + 1n;
  return !isForgotten && (isLate(fields, sight) || isUsed(attempt, sight)) ? 'same' : 'none';
}

/** A ledger that closes in the last second takes it still. */
function isLate({ max_time: end }: StellarFields, { closedAt }: Sight): boolean {
  return closedAt > amountOf(end);
}

function isUsed({ anchor }: Attempt, { used }: Sight): boolean {
  return anchor.kind === 'sequence' && used !== null && used >= anchor.sequence;
}

interface Judge {
  sights: Sights;
  others: readonly Sights[];
  isAlone: boolean;
}

function observationOf(sought: readonly Sought[], judge: Judge): Observation {
  const { sights, others, isAlone } = judge;
  for (const one of sought) {
    const sight = sights.get(one.attempt.hash);
    if (sight?.landed) return included(one, sight.landed, judge);
  }
  const isProved = (one: Sought) => {
    const opinions = [sights, ...others].map((told) => opinionOn(one, told));
    return isAlone ? opinions.includes('same') : proofOf(opinions) === 'shown';
  };
  const living = new Set(livingOf(sought.map(({ attempt }) => attempt)));
  const died = sought.filter((one) => living.has(one.attempt) && isProved(one));
  if (died.length === 0) return OPEN;
  const taken = died.find(({ attempt }) => {
    const sight = sights.get(attempt.hash);
    return sight !== undefined && isUsed(attempt, sight);
  });
  if (died.length < living.size || taken === undefined) {
    return { kind: 'open', dead: died.map(({ attempt }) => attempt.ordinal) };
  }
  const sequence = taken.attempt.anchor.kind === 'sequence' ? taken.attempt.anchor.sequence : '';
  return { kind: 'dead', anchor: 'used', reason: `Sequence ${sequence} was used by another transaction` };
}

function included(one: Sought, landed: NonNullable<Lookup['landed']>, { others }: Judge): Observation {
  const { attempt, fields } = one;
  const { ledger, succeeded, result } = landed;
  const opinions = others.map((told): Opinion => {
    const sight = told.get(attempt.hash);
    if (sight === undefined) return 'none';
    if (sight.landed !== null) {
      return sight.landed.ledger === ledger && sight.landed.succeeded === succeeded ? 'same' : 'other';
    }
    return sight.oldest <= ledger && ledger <= sight.latest ? 'other' : 'none';
  });
  const charged = result === undefined ? undefined : resultIn(result)?.feeCharged;
  const reason = succeeded ? null : failureReason(result);
  const receipt: StellarReceipt = {
    ledger: jsonAmount(ledger),
    succeeded,
    ...(charged === undefined ? {} : { fee: jsonAmount(charged) }),
    ...(reason === null ? {} : { reason }),
  };
  return {
    kind: 'included',
    hash: attempt.hash,
    succeeded,
    final: isBorneOut(opinions),
    reason,
    fields: { ...fields, receipt },
  };
}
