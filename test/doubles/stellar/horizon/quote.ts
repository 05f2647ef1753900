import { MAX_INT64, type OfferEntry } from '../ledger/entry.ts';

type Quote = (offers: readonly OfferEntry[], amount: bigint) => bigint | undefined;

/** The cost of an amount that the offers sell; undefined if they sell less. The cheapest offers come first. */
export const costOf: Quote = (offers, wanted) => {
  let [cost, rest] = [0n, wanted];
  for (const offer of offers) {
    const { paid, bought } = taken(offer, rest);
    cost += paid;
    rest -= bought;
    if (cost > MAX_INT64) return undefined;
    if (rest === 0n) return cost;
  }
  return undefined;
};

/** The proceeds of spending an amount; undefined if the offers do not take it all, or give less than one unit. */
export const proceedsOf: Quote = (offers, spent) => {
  let [proceeds, rest] = [0n, spent];
  for (const offer of offers) {
    const { n, d } = offer.price;
    const bought = (rest * BigInt(d)) / BigInt(n);
    if (bought === 0n) return undefined;
    if (bought <= offer.amount) return proceeds + bought;
    const whole = taken(offer, offer.amount);
    proceeds += whole.bought;
    rest -= whole.paid;
    if (rest === 0n) return proceeds;
    if (rest < 0n) return undefined;
  }
  return undefined;
};

/** The part of an offer that is taken, and its cost, rounded in the offer's favour. */
function taken({ amount, price }: OfferEntry, wanted: bigint): { paid: bigint; bought: bigint } {
  const [n, d] = [BigInt(price.n), BigInt(price.d)];
  const most = n > d ? amount : up(((amount * n) / d) * d, n);
  const bought = most < wanted ? most : wanted;
  return { bought, paid: up(bought * n, d) };
}

const up = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor;
