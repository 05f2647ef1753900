import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Chain } from '../../../chains/chain.ts';
import type { SignedBytes } from '../../../chains/chain-client.ts';
import { AppError } from '../../../domain/errors.ts';
import type { JsonObject } from '../../../domain/json/json.ts';
import { type Attempt, UNACCEPTED_ATTEMPT } from '../../../features/transactions/records/attempt.ts';
import { LeaseLost } from '../../../store/lease.ts';
import { DuplicateRecord } from '../../../store/tables/stored-record.ts';
import type { LaneStep } from '../lane-step.ts';

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

/** A signed attempt, as it is stored before it is sent. `earlier` are the transaction's attempts until now. */
export function signedAttemptRecord(
  { key: lane, clock }: Pick<LaneStep, 'key' | 'clock'>,
  {
    earlier,
    ...about
  }: Pick<Attempt, 'transactionId' | 'anchor' | 'purpose' | 'request'> & {
    earlier: readonly Attempt[];
  },
  { raw, hash, fields }: SignedBytes,
): Attempt {
  const ordinal = (earlier.at(-1)?.ordinal ?? 0) + 1;
  return { ...about, ordinal, lane, fields, raw, hash, createdAt: clock.now(), ...UNACCEPTED_ATTEMPT };
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

/** How signed attempts of one kind are stored. */
interface AttemptStore<S> {
  /** Stores all in one commit. */
  together(signed: readonly S[]): Promise<void>;
  /** Stores a single one, if necessary with other bytes that mean the same. */
  alone(one: S): Promise<void>;
  /** They could not be stored. */
  onFailure(signed: readonly S[], error: unknown): Promise<void>;
}

/**
 * Stores signed attempts before they are sent, so that after a crash the same bytes go out again. If the store refuses
 * the whole batch, the first one is tried alone, so that one bad row blocks only itself; the others are signed again
 * later. If it is unknown whether the batch was stored, nothing is tried before the store is read again.
 * @throws LeaseLost when another instance has the lane: the signed bytes are dropped, and nobody has seen them
 */
export async function storeSigned<S>(signed: readonly S[], attempts: AttemptStore<S>): Promise<void> {
  const [first] = signed;
  if (first === undefined) return;
  try {
    await attempts.together(signed);
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    if (error instanceof AppError && error.code === 'UNAVAILABLE') await attempts.onFailure(signed, error);
    else if (signed.length > 1) await storeSigned([first], attempts);
    else await storeAlone(first, attempts);
  }
}

async function storeAlone<S>(one: S, { alone, onFailure }: AttemptStore<S>): Promise<void> {
  try {
    await alone(one);
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    await onFailure([one], error);
  }
}
