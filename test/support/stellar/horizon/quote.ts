import { MAX_INT64, type OfferEntry } from '../ledger/entry.ts';

type Quote = (offers: readonly OfferEntry[], amount: bigint) => bigint | undefined;

/** What so much of what the offers sell costs; undefined where they sell less. The cheapest come first. */
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

/** What so much buys; undefined where the offers do not take it all, or not even one unit for it. */
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

/** What is taken of an offer, and what that costs, rounded in the offer's favour. */
function taken({ amount, price }: OfferEntry, wanted: bigint): { paid: bigint; bought: bigint } {
  const [n, d] = [BigInt(price.n), BigInt(price.d)];
  const most = n > d ? amount : up(((amount * n) / d) * d, n);
  const bought = most < wanted ? most : wanted;
  return { bought, paid: up(bought * n, d) };
}

const up = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor;
