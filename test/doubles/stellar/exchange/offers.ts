import { xdr } from '@stellar/stellar-sdk';
import { removeSubEntry } from '../ledger/account.ts';
import { accountXdr } from '../ledger/address.ts';
import { assetOf } from '../ledger/asset.ts';
import type { AssetName, Header, Liabilities, OfferEntry, Price } from '../ledger/entry.ts';
import { keyOf } from '../ledger/entry-key.ts';
import { type Holding, holdingOf } from '../ledger/holding.ts';
import type { Reader, State } from '../ledger/state.ts';
import { adjusted, exchange, min, promisesOf, type Rounding } from './exchange.ts';

/** Offers that buy one asset and sell the other: cheapest first, then oldest first. */
export function offersFor(state: Reader, sent: AssetName, received: AssetName): OfferEntry[] {
  const offers = [...state.all('offer')].filter(({ selling, buying }) => selling === received && buying === sent);
  return offers.sort((one, other) => comparePrices(one.price, other.price) || (one.id < other.id ? -1 : 1));
}

export function comparePrices(one: Price, other: Price): number {
  const difference = BigInt(one.n) * BigInt(other.d) - BigInt(other.n) * BigInt(one.d);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** Adds the offer's liabilities to its seller's balances. */
export function keepPromises(state: State, header: Header, offer: OfferEntry): void {
  promise(state, header, offer, promisesOf(offer.price, offer.amount));
}

export function releasePromises(state: State, header: Header, offer: OfferEntry): void {
  const { buying, selling } = promisesOf(offer.price, offer.amount);
  promise(state, header, offer, { buying: -buying, selling: -selling });
}

function promise(state: State, header: Header, offer: OfferEntry, { buying, selling }: Liabilities): void {
  mustHold(state, header, offer, offer.buying).promise(state, { buying, selling: 0n });
  mustHold(state, header, offer, offer.selling).promise(state, { buying: 0n, selling });
}

function mustHold(state: State, header: Header, { seller, id }: OfferEntry, asset: AssetName): Holding {
  const holding = holdingOf(state, header, seller, asset);
  if (holding === undefined) throw new Error(`The seller of offer ${id} does not hold ${asset}.`);
  return holding;
}

/** Removes an offer and its liabilities. Its seller has one sub-entry less. */
export function removeOffer(state: State, header: Header, offer: OfferEntry): void {
  releasePromises(state, header, offer);
  state.remove(keyOf(offer));
  removeSubEntry(state, header, offer.seller, offer.sponsor);
}

export interface Crossed {
  readonly received: bigint;
  readonly sent: bigint;
  readonly offerStays: boolean;
  readonly atom: xdr.ClaimAtom;
}

/** Trades with one offer, which shrinks or is removed: stellar-core's `crossOfferV10`. */
export function cross(
  state: State,
  header: Header,
  offer: OfferEntry,
  taker: { mostReceived: bigint; mostSent: bigint },
  rounding: Rounding,
): Crossed {
  releasePromises(state, header, offer);
  const [mostGiven, mostTaken] = reachOf(state, header, offer);
  const exchanged = exchange(offer.price, { ...taker, mostGiven, mostTaken }, rounding);
  const { received, sent, offerStays } = exchanged;
  mustAdd(state, mustHold(state, header, offer, offer.buying), sent);
  mustAdd(state, mustHold(state, header, offer, offer.selling), -received);
  const rest = { ...offer, amount: offer.amount - received };
  const amount = offerStays ? adjusted(offer.price, ...reachOf(state, header, rest)) : 0n;
  if (amount === 0n) {
    state.remove(keyOf(offer));
    removeSubEntry(state, header, offer.seller, offer.sponsor);
  } else {
    state.put({ ...offer, amount });
    keepPromises(state, header, { ...offer, amount });
  }
  return { received, sent, offerStays, atom: atomOf(offer, received, sent) };
}

/** The amounts that the seller can send and receive through an offer whose liabilities are released. */
function reachOf(state: State, header: Header, offer: OfferEntry): [mostGiven: bigint, mostTaken: bigint] {
  const given = mustHold(state, header, offer, offer.selling);
  const taken = mustHold(state, header, offer, offer.buying);
  return [min(offer.amount, given.maintains ? atLeastNone(given.available) : 0n), atLeastNone(taken.room)];
}

function mustAdd(state: State, holding: Holding, delta: bigint): void {
  if (!holding.add(state, delta)) throw new Error('An offer promised more than its seller can give or take.');
}

const atLeastNone = (amount: bigint): bigint => (amount < 0n ? 0n : amount);

function atomOf(offer: OfferEntry, sold: bigint, bought: bigint): xdr.ClaimAtom {
  return xdr.ClaimAtom.claimAtomTypeOrderBook(
    new xdr.ClaimOfferAtom({
      sellerId: accountXdr(offer.seller),
      offerId: offer.id,
      assetSold: assetOf(offer.selling).toXdrObject(),
      amountSold: sold,
      assetBought: assetOf(offer.buying).toXdrObject(),
      amountBought: bought,
    }),
  );
}
