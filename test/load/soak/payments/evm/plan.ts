import { createHash } from 'node:crypto';
import type { RelayerAccount } from '../../../../support/relayer-accounts.ts';
import { seededUnit } from '../../../../support/seeded.ts';
import type { Intention } from '../intention.ts';

/**
 * A contract that adds one to the storage slot in the first word of its call data. It counts down from 8,000 before, so
 * that a call needs more gas than a gas limit that is no estimate has.
 */
export const COUNTER = {
  address: '0x00000000000000000000000000000000c0de0001',
  code: '0x611f405b6001900380600357505f358054600101905500',
};
/** A contract that reverts every call. */
export const REVERTER = { address: '0x00000000000000000000000000000000c0de0002', code: '0x5f5ffd' };

/** A request to an EVM relayer. Its pair of receiver and data is unique. */
export interface EvmIntention extends Intention {
  readonly kind: 'payment' | 'count' | 'revert';
  /** In lower case. */
  readonly to: string;
  readonly data: string;
  /** In wei. */
  readonly value: bigint;
  /** The body of the send request, without `valid_until`. */
  readonly request: Readonly<Record<string, unknown>>;
}

const SPEEDS = ['fastest', 'fast', 'average', 'safeLow'] as const;
/** The range of times until a request with an expiry expires. */
const WORTH_MS = [3_000, 30_000] as const;

/** The requests of a run. The same seed gives the same requests, except for accounts. */
export function planOf(seed: number, count: number, relayers: readonly RelayerAccount[]): EvmIntention[] {
  return Array.from({ length: count }, (_, index) => intention(seed, index, relayers));
}

/** The first index of replacements, above those of all requests. */
const REPLACEMENTS = 1_000_000;

/** A payment to another receiver that replaces a payment; undefined for other kinds. */
export function replacementOf(seed: number, original: EvmIntention): EvmIntention | undefined {
  if (original.kind !== 'payment') return undefined;
  const index = REPLACEMENTS + original.index;
  const to = `0x${createHash('sha256').update(`${seed} ${index}`).digest('hex').slice(0, 40)}`;
  const request = { ...original.request, to, speed: 'fastest' };
  return {
    ...original,
    index,
    to,
    request,
    key: `soak-${seed}-${index}`,
    mark: markOf({ to, data: original.data }),
    body: async () => request,
  };
}

/** Receiver and data. No two requests of a run have the same: payments differ in the receiver, calls in the data. */
export function markOf({ to, data }: { to: string | null; data: string | null }): string {
  return `${to?.toLowerCase()} ${(data ?? '0x').toLowerCase()}`;
}

function intention(seed: number, index: number, relayers: readonly RelayerAccount[]): EvmIntention {
  const unit = (purpose: string) => seededUnit(seed, 'plan', index, purpose);
  const relayer = relayers[Math.floor(unit('relayer') * relayers.length)];
  if (relayer === undefined) throw new Error('no relayer to send through');
  const mark = createHash('sha256').update(`${seed} ${index}`).digest('hex');
  const chance = unit('kind');
  const kind = chance < 0.65 ? 'payment' : chance < 0.9 ? 'count' : 'revert';
  const to = kind === 'payment' ? `0x${mark.slice(0, 40)}` : kind === 'count' ? COUNTER.address : REVERTER.address;
  const data = kind === 'payment' ? '0x' : `0x${mark}`;
  const value = kind === 'payment' ? 1n : 0n;
  // Without `gas_limit` the service lets the node estimate it. A call that reverts cannot be estimated.
  const estimated = kind === 'count' && unit('limit') < 0.7;
  const worthMs = unit('expiry') < 0.03 ? WORTH_MS[0] + unit('worth') * (WORTH_MS[1] - WORTH_MS[0]) : null;
  const request = {
    to,
    value: String(value),
    data,
    speed: SPEEDS[Math.floor(unit('speed') * SPEEDS.length)],
    ...(estimated ? {} : { gas_limit: kind === 'payment' ? 21_000 : 400_000 }),
  };
  return {
    index,
    relayerId: relayer.relayerId,
    from: relayer.address,
    kind,
    mark: markOf({ to, data }),
    to,
    data,
    value,
    key: `soak-${seed}-${index}`,
    worthMs,
    isOneByContent: false,
    request,
    body: async () => request,
  };
}
