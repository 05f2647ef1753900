import { MAX_INT64, type Price } from '../ledger/entry.ts';

/** How amounts are rounded, as in stellar-core. */
export type Rounding = 'normal' | 'strict-receive' | 'strict-send';

export interface Exchanged {
  /** The amount that the taker gets, in the asset that the offer sells. */
  readonly received: bigint;
  /** The amount that the taker pays for it. */
  readonly sent: bigint;
  /** Whether the offer stays in the book. If not, the taker has more to trade. */
  readonly offerStays: boolean;
}

export interface Limits {
  /** Limits of the offer's seller. */
  mostGiven: bigint;
  mostTaken: bigint;
  /** Limits of the taker. */
  mostReceived: bigint;
  mostSent: bigint;
}

/**
 * Trades with one offer: stellar-core's `exchangeV10`. The smaller side leaves the book, and rounding favours the side
 * that stays. Without limits of the taker's own, rounding changes the price by at most one percent.
 */
export function exchange(price: Price, limits: Limits, rounding: Rounding): Exchanged {
  const rough = roughExchange(price, limits, rounding);
  const { received, sent } = rough;
  if (received > 0n && sent > 0n) {
    if (rounding !== 'normal' || isFair(price, received, sent)) return rough;
    return { ...rough, received: 0n, sent: 0n };
  }
  return rounding === 'strict-send' ? rough : { ...rough, received: 0n, sent: 0n };
}

/** Trades without a limit on how far rounding changes the price. */
export function roughExchange(price: Price, limits: Limits, rounding: Rounding): Exchanged {
  const [n, d] = [BigInt(price.n), BigInt(price.d)];
  const offered = min(limits.mostGiven * n, limits.mostTaken * d);
  const asked = min(limits.mostSent * d, limits.mostReceived * n);
  const offerStays = offered > asked;
  if (offerStays) return { ...whenOfferStays([n, d], asked, limits, rounding), offerStays };
  if (n > d) {
    const received = offered / n;
    return { received, sent: (received * n) / d, offerStays };
  }
  const sent = offered / d;
  return { received: up(sent * d, n), sent, offerStays };
}

function whenOfferStays([n, d]: [bigint, bigint], asked: bigint, limits: Limits, rounding: Rounding) {
  if (rounding === 'strict-send') return { received: asked / n, sent: min(limits.mostSent, limits.mostTaken) };
  if (n > d || rounding === 'strict-receive') {
    const received = asked / n;
    return { received, sent: up(received * n, d) };
  }
  const sent = asked / d;
  return { received: (sent * d) / n, sent };
}

/** The amount of an offer that can be traded, given what its seller can send and receive. */
export function adjusted(price: Price, mostGiven: bigint, mostTaken: bigint): bigint {
  return exchange(price, { mostGiven, mostTaken, mostReceived: MAX_INT64, mostSent: MAX_INT64 }, 'normal').received;
}

/** The liabilities of an offer of this amount. */
export function promisesOf(price: Price, amount: bigint): { buying: bigint; selling: bigint } {
  const limits = { mostGiven: amount, mostTaken: MAX_INT64, mostReceived: MAX_INT64, mostSent: MAX_INT64 };
  const { received, sent } = roughExchange(price, limits, 'normal');
  return { buying: sent, selling: received };
}

/** Whether the resulting price is within one percent of the offer's price. */
function isFair({ n, d }: Price, received: bigint, sent: bigint): boolean {
  const worth = 100n * BigInt(n) * received;
  const paid = 100n * BigInt(d) * sent;
  const difference = worth > paid ? worth - paid : paid - worth;
  return difference <= BigInt(n) * received;
}

export const min = (one: bigint, other: bigint): bigint => (one < other ? one : other);

/** Divides and rounds up. */
const up = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor;
