import { comparePrices, offersFor } from '../exchange/offers.ts';
import { type AssetName, MAX_INT64, NATIVE, type OfferEntry, type Price } from '../ledger/entry.ts';
import { accountIn, type Reader } from '../ledger/state.ts';
import { trustLinesOf } from './account-resource.ts';
import { amountOf } from './amount.ts';
import { accountParam, amountParam, assetFields, assetParam, assetsParam, limitParam } from './params.ts';
import { endOf, searchPaths } from './path-search.ts';
import { invalidField, PROBLEMS, Problem } from './problem.ts';
import type { Asked, Route } from './route.ts';

type Quote = (offers: readonly OfferEntry[], amount: bigint) => bigint | undefined;

/** The cost of an amount that the offers sell; undefined if they sell less. The cheapest offers come first. */
const costOf: Quote = (offers, wanted) => {
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
const proceedsOf: Quote = (offers, spent) => {
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

/** The most assets in one path request. */
const MAX_ASSETS = 15;

/** Routes about offers and paths through them. */
export const marketRoutes: readonly Route[] = [
  { method: 'GET', path: '/order_book', name: 'orderBook', answer: orderBook },
  { method: 'GET', path: '/paths', name: 'strictReceive', answer: strictReceive },
  { method: 'GET', path: '/paths/strict-receive', name: 'strictReceive', answer: strictReceive },
  { method: 'GET', path: '/paths/strict-send', name: 'strictSend', answer: strictSend },
];

function orderBook(asked: Asked) {
  const { state } = asked.view.node;
  const [selling, buying, limit] = orInvalid(() => [
    assetParam(asked, 'selling_'),
    assetParam(asked, 'buying_'),
    limitParam(asked, 20),
  ]);
  return {
    bids: levels(offersFor(state, selling, buying), limit, ({ n, d }) => ({ n: d, d: n })),
    asks: levels(offersFor(state, buying, selling), limit, (price) => price),
    base: assetFields(selling),
    counter: assetFields(buying),
  };
}

function orInvalid<T>(read: () => T): T {
  try {
    return read();
  } catch {
    throw new Problem(PROBLEMS.invalidOrderBook);
  }
}

/** Groups offers by price, and adds up the amounts that they sell. */
function levels(offers: readonly OfferEntry[], limit: number, told: (price: Price) => Price) {
  const all: { price: Price; amount: bigint }[] = [];
  for (const { price, amount } of offers) {
    const last = all.at(-1);
    if (last !== undefined && comparePrices(last.price, price) === 0) last.amount += amount;
    else all.push({ price, amount });
  }
  return all.slice(0, limit).map(({ price, amount }) => {
    const shown = reduced(told(price));
    return { price_r: shown, price: sevenDigits(shown), amount: amountOf(amount) };
  });
}

function reduced({ n, d }: Price): Price {
  let [one, other] = [n, d];
  while (other !== 0) [one, other] = [other, one % other];
  return { n: n / one, d: d / one };
}

/** Rounds to the nearest. */
function sevenDigits({ n, d }: Price): string {
  return amountOf((BigInt(n) * 20_000_000n + BigInt(d)) / (2n * BigInt(d)));
}

function strictReceive(asked: Asked) {
  const { params, view } = asked;
  const account = accountParam(asked, 'source_account');
  if ((account === undefined) === ((params.get('source_assets') ?? '') === '')) throw eitherOr('source');
  const [destination, amount] = [assetParam(asked, 'destination_'), amountParam(asked, 'destination_amount')];
  const listed = assetsParam(asked, 'source_assets', MAX_ASSETS);
  const held = account === undefined ? undefined : holdingsOf(view.node.state, account, 'source_account');
  const all = offersIn(view.node.state);
  const sources = traded(all, [...(held?.keys() ?? listed)]);
  if (!traded(all, [destination]).has(destination)) return page([]);
  const offers = all.filter(({ seller }) => seller !== account);
  const found = searchPaths({
    start: destination,
    amount,
    markets: (asset) => marketsOf(offers, ({ selling }) => selling === asset, 'buying'),
    quote: costOf,
    isEnd: (asset) => sources.has(asset),
    isPossible: (asset, cost) => held === undefined || cost <= (held.get(asset) ?? 0n),
    isBetter: (cost, than) => cost < than,
  });
  return page(
    found.map((path) => record(endOf(path), path.amount, destination, amount, path.assets.slice(1, -1).toReversed())),
  );
}

function strictSend(asked: Asked) {
  const { params, view } = asked;
  const account = accountParam(asked, 'destination_account');
  if ((account === undefined) === ((params.get('destination_assets') ?? '') === '')) throw eitherOr('destination');
  const [source, amount] = [assetParam(asked, 'source_'), amountParam(asked, 'source_amount')];
  const listed = assetsParam(asked, 'destination_assets', MAX_ASSETS);
  const held = account === undefined ? undefined : holdingsOf(view.node.state, account, 'destination_account');
  const offers = offersIn(view.node.state);
  const destinations = traded(offers, [...(held?.keys() ?? listed)]);
  if (!traded(offers, [source]).has(source)) return page([]);
  const found = searchPaths({
    start: source,
    amount,
    markets: (asset) => marketsOf(offers, ({ buying }) => buying === asset, 'selling'),
    quote: proceedsOf,
    isEnd: (asset) => destinations.has(asset),
    isPossible: () => true,
    isBetter: (proceeds, than) => proceeds > than,
  });
  return page(found.map((path) => record(source, amount, endOf(path), path.amount, path.assets.slice(1, -1))));
}

function eitherOr(side: 'source' | 'destination'): Problem {
  const [type, title, status] = PROBLEMS.badRequest;
  return new Problem([
    type,
    title,
    status,
    `The request requires either a list of ${side} assets or a ${side} account. Both fields cannot be present.`,
  ]);
}

/** The assets that an account can hold, with its balances. An account that does not exist holds nothing. */
function holdingsOf(state: Reader, id: string, field: string): Map<AssetName, bigint> {
  const account = accountIn(state, id);
  if (account === undefined) return new Map();
  const lines = trustLinesOf(state, id);
  if (lines.length + 1 > MAX_ASSETS) {
    throw invalidField(
      field,
      `account has too many trustlines to use this endpoint (number of trustlines plus native XLM exceeds limit of ${MAX_ASSETS})`,
    );
  }
  return new Map([...lines.map(({ asset, balance }) => [asset, balance] as const), [NATIVE, account.balance]]);
}

/** @throws Problem if there are no offers at all, as in a Horizon that has just started */
function offersIn(state: Reader): OfferEntry[] {
  const offers = [...state.all('offer')];
  if (offers.length === 0) throw new Problem(PROBLEMS.stillIngesting);
  return offers.sort((one, other) => comparePrices(one.price, other.price) || (one.id < other.id ? -1 : 1));
}

/** The assets that offers buy or sell. Other assets are on no path, not even on one from an asset to itself. */
function traded(offers: readonly OfferEntry[], assets: readonly AssetName[]): Set<AssetName> {
  return new Set(assets.filter((asset) => offers.some(({ selling, buying }) => selling === asset || buying === asset)));
}

function marketsOf(offers: readonly OfferEntry[], isOf: (offer: OfferEntry) => boolean, by: 'buying' | 'selling') {
  return Map.groupBy(offers.filter(isOf), (offer) => offer[by]);
}

function record(source: AssetName, sent: bigint, destination: AssetName, received: bigint, path: readonly AssetName[]) {
  return {
    ...assetFields(source, 'source_'),
    source_amount: amountOf(sent),
    ...assetFields(destination, 'destination_'),
    destination_amount: amountOf(received),
    path: path.map((asset) => assetFields(asset)),
  };
}

const page = (records: readonly object[]) => ({ _embedded: { records } });
