import { createHash } from 'node:crypto';
import type { RelayerAccount } from '../../test/support/relayer-accounts.ts';
import { seededUnit } from '../../test/support/seeded.ts';

/** Adds one to the slot that the first word of its call data names. */
export const COUNTER = { address: '0x00000000000000000000000000000000c0de0001', code: '0x5f358054600101905500' };
/** Reverts, whatever it is asked. */
export const REVERTER = { address: '0x00000000000000000000000000000000c0de0002', code: '0x5f5ffd' };

/** One request of the soak. No other has its receiver and data, so its effects can be told and counted on the chain. */
export interface Intention {
  readonly index: number;
  readonly relayerId: string;
  /** Lower case. */
  readonly from: string;
  readonly kind: 'payment' | 'count' | 'revert';
  /** Lower case. */
  readonly to: string;
  readonly data: string;
  /** In wei. */
  readonly value: bigint;
  /** The body of the send request, but for `valid_until`. */
  readonly body: Readonly<Record<string, unknown>>;
  /** What goes into `Idempotency-Key`, or makes the keys of what is asked of it later. */
  readonly key: string;
  /** For how long after it is asked for it may be sent, in milliseconds; null: for ever. */
  readonly worthMs: number | null;
}

/** The plugin through which some errands go: it pays for each of its `payments` and returns their ids. */
export const PAYER = 'payer';

/** What a client asks for in one request. */
export interface Errand {
  /** Null: it is sent without one, and only once. */
  readonly key: string | null;
  /** A request for one transaction, or the call of a plugin that sends them. */
  readonly way: 'api' | 'plugin';
  readonly intentions: readonly Intention[];
}

const SPEEDS = ['fastest', 'fast', 'average', 'safeLow'] as const;
/** How long a request that may expire is worth sending. */
const WORTH_MS = [3_000, 30_000] as const;

/** The requests of a run, the same for the same seed but for the accounts. */
export function planOf(seed: number, count: number, relayers: readonly RelayerAccount[]): Intention[] {
  return Array.from({ length: count }, (_, index) => intention(seed, index, relayers));
}

/** What share goes through a plugin, and what share of the others has no key. */
const THROUGH_PLUGIN = 0.2;
const WITHOUT_KEY = 0.1;
/** The most payments of one plugin call. */
const MOST_PAYMENTS = 3;

/** Puts the requests of a run into errands, about in their order; the same for the same seed. */
export function errandsOf(seed: number, intentions: readonly Intention[]): Errand[] {
  const errands: Errand[] = [];
  let payments: Intention[] = [];
  for (const intention of intentions) {
    const unit = (purpose: string) => seededUnit(seed, 'errand', intention.index, purpose);
    if (unit('way') >= THROUGH_PLUGIN) {
      errands.push(errandOf(intention, unit('key') >= WITHOUT_KEY));
      continue;
    }
    payments.push(intention);
    if (payments.length < 1 + Math.floor(unit('size') * MOST_PAYMENTS)) continue;
    errands.push({ key: payments[0]?.key ?? null, way: 'plugin', intentions: payments });
    payments = [];
  }
  return payments.length === 0 ? errands : [...errands, ...payments.map((intention) => errandOf(intention))];
}

/** One request by itself. */
export function errandOf(intention: Intention, keyed = true): Errand {
  return { key: keyed ? intention.key : null, way: 'api', intentions: [intention] };
}

/** Replacements are numbered apart from the requests. */
const REPLACEMENTS = 1_000_000;

/** A payment to somebody else that is to take the place of a payment. */
export function replacementOf(seed: number, original: Intention): Intention {
  const index = REPLACEMENTS + original.index;
  const to = `0x${createHash('sha256').update(`${seed} ${index}`).digest('hex').slice(0, 40)}`;
  const body = { ...original.body, to, speed: 'fastest' };
  return { ...original, index, to, body, key: `soak-${seed}-${index}` };
}

function intention(seed: number, index: number, relayers: readonly RelayerAccount[]): Intention {
  const unit = (purpose: string) => seededUnit(seed, 'plan', index, purpose);
  const relayer = relayers[Math.floor(unit('relayer') * relayers.length)];
  if (relayer === undefined) throw new Error('no relayer to send through');
  const mark = createHash('sha256').update(`${seed} ${index}`).digest('hex');
  const chance = unit('kind');
  const kind = chance < 0.75 ? 'payment' : chance < 0.9 ? 'count' : 'revert';
  const to = kind === 'payment' ? `0x${mark.slice(0, 40)}` : kind === 'count' ? COUNTER.address : REVERTER.address;
  const data = kind === 'payment' ? '0x' : `0x${mark}`;
  const value = kind === 'payment' ? 1n : 0n;
  // The node itself is asked about some limits; a call that reverts could not be estimated.
  const estimated = kind === 'count' && unit('limit') < 0.5;
  const worthMs = unit('expiry') < 0.03 ? WORTH_MS[0] + unit('worth') * (WORTH_MS[1] - WORTH_MS[0]) : null;
  return {
    index,
    relayerId: relayer.relayerId,
    from: relayer.address,
    kind,
    to,
    data,
    value,
    key: `soak-${seed}-${index}`,
    worthMs,
    body: {
      to,
      value: String(value),
      data,
      speed: SPEEDS[Math.floor(unit('speed') * SPEEDS.length)],
      ...(estimated ? {} : { gas_limit: kind === 'payment' ? 21_000 : 90_000 }),
    },
  };
}
