import { xdr } from '@stellar/stellar-sdk';
import { convert, MAX_CROSSED } from '../exchange/convert.ts';
import { adjusted, min, promisesOf, roughExchange } from '../exchange/exchange.ts';
import { comparePrices, keepPromises, releasePromises } from '../exchange/offers.ts';
import { addSubEntry, removeSubEntry, sponsoredNow } from '../ledger/account.ts';
import { assetNameOf, isAssetValid } from '../ledger/asset.ts';
import {
  type AssetName,
  type Liabilities,
  MAX_INT64,
  NATIVE,
  type OfferEntry,
  PASSIVE_OFFER,
  type Price,
} from '../ledger/entry.ts';
import { keys } from '../ledger/entry-key.ts';
import { toOffer } from '../ledger/entry-xdr.ts';
import { type Holding, holdingOf } from '../ledger/holding.ts';
import type { State } from '../ledger/state.ts';
import { type Acting, type Operation, told } from './operation.ts';

/** Result codes that all offer operations share. */
const REFUSALS = {
  malformed: -1,
  sellNoTrust: -2,
  buyNoTrust: -3,
  sellNotAuthorized: -4,
  buyNotAuthorized: -5,
  lineFull: -6,
  underfunded: -7,
  crossSelf: -8,
  notFound: -11,
  lowReserve: -12,
} as const;

type Refusal = keyof typeof REFUSALS;

/** A requested offer. Its amount is in the asset on its `side`. */
interface Asked {
  readonly selling: xdr.Asset;
  readonly buying: xdr.Asset;
  /** The price of the sold asset, in the bought asset. */
  readonly price: Price;
  readonly amount: bigint;
  readonly side: 'sell' | 'buy';
  readonly id: bigint;
  readonly isPassive: boolean;
}

type Done = { success: xdr.ManageOfferSuccessResult } | { refusal: Refusal } | { result: xdr.OperationResult };

export function manageSellOffer(op: xdr.ManageSellOfferOp): Operation {
  const tell = (result: xdr.ManageSellOfferResult) => told(xdr.OperationResultTr.manageSellOffer(result));
  const { selling, buying, price, amount, offerId: id } = op;
  const asked: Asked = { selling, buying, price, amount, id, side: 'sell', isPassive: false };
  return operationOf(asked, (done) => tell(sellResult(done)));
}

export function createPassiveSellOffer(op: xdr.CreatePassiveSellOfferOp): Operation {
  const tell = (result: xdr.ManageSellOfferResult) => told(xdr.OperationResultTr.createPassiveSellOffer(result));
  const { selling, buying, price, amount } = op;
  const asked: Asked = { selling, buying, price, amount, id: 0n, side: 'sell', isPassive: true };
  return operationOf(asked, (done) => tell(sellResult(done)));
}

export function manageBuyOffer(op: xdr.ManageBuyOfferOp): Operation {
  const { selling, buying, buyAmount: amount, offerId: id } = op;
  const price = { n: op.price.d, d: op.price.n };
  const asked: Asked = { selling, buying, price, amount, id, side: 'buy', isPassive: false };
  const tell = (result: xdr.ManageBuyOfferResult) => told(xdr.OperationResultTr.manageBuyOffer(result));
  return operationOf(asked, (done) =>
    tell(
      'success' in done
        ? xdr.ManageBuyOfferResult.manageBuyOfferSuccess(done.success)
        : xdr.ManageBuyOfferResult.fromXdrObject({ code: REFUSALS[done.refusal] }),
    ),
  );
}

type Plain = Exclude<Done, { result: xdr.OperationResult }>;

function sellResult(done: Plain): xdr.ManageSellOfferResult {
  if ('success' in done) return xdr.ManageSellOfferResult.manageSellOfferSuccess(done.success);
  return xdr.ManageSellOfferResult.fromXdrObject({ code: REFUSALS[done.refusal] });
}

function operationOf(asked: Asked, tell: (done: Plain) => xdr.OperationResult): Operation {
  return {
    threshold: 'medium',
    check: () => (isWellFormed(asked) ? undefined : tell({ refusal: 'malformed' })),
    apply(acting) {
      const done = new Placing(acting, asked).place();
      return 'result' in done ? done.result : tell(done);
    },
  };
}

function isWellFormed({ selling, buying, price, amount, id }: Asked): boolean {
  if (!isAssetValid(selling) || !isAssetValid(buying) || assetNameOf(selling) === assetNameOf(buying)) return false;
  return amount >= 0n && price.n > 0 && price.d > 0 && id >= 0n && (id !== 0n || amount !== 0n);
}

/** One offer on its way into the book: stellar-core's `ManageOfferOpFrameBase`. */
class Placing {
  readonly #acting: Acting;
  readonly #asked: Asked;
  readonly #selling: AssetName;
  readonly #buying: AssetName;

  constructor(acting: Acting, asked: Asked) {
    this.#acting = acting;
    this.#asked = asked;
    this.#selling = assetNameOf(asked.selling);
    this.#buying = assetNameOf(asked.buying);
  }

  place(): Done {
    const { state, header, source } = this.#acting;
    const deletes = this.#asked.amount === 0n;
    const unfit = deletes ? undefined : this.#unfit();
    if (unfit !== undefined) return { refusal: unfit };
    const earlier = this.#earlier();
    if (this.#asked.id !== 0n) {
      if (earlier === undefined) return { refusal: 'notFound' };
      releasePromises(state, header, earlier);
      state.remove(keys.offer(source, earlier.id));
    } else {
      const refused = addSubEntry(state, header, source);
      if (refused === 'low-reserve') return { refusal: 'lowReserve' };
      if (refused === 'too-many') return { result: xdr.OperationResult.opTooManySubentries() };
    }
    const flags = earlier?.flags ?? (this.#asked.isPassive ? PASSIVE_OFFER : 0);
    const traded = deletes ? { amount: 0n, atoms: [] } : this.#trade((flags & PASSIVE_OFFER) !== 0);
    if (!('amount' in traded)) return traded;
    const offer = this.#leave(state, traded.amount, flags, earlier);
    return { success: new xdr.ManageOfferSuccessResult({ offersClaimed: [...traded.atoms], offer }) };
  }

  #earlier(): OfferEntry | undefined {
    const { state, source } = this.#acting;
    return state.get(keys.offer(source, this.#asked.id))?.entry as OfferEntry | undefined;
  }

  #unfit(): Refusal | undefined {
    const { sold, bought } = this.#holdings();
    if (this.#selling !== NATIVE) {
      if (sold === undefined) return 'sellNoTrust';
      if (sold.balance === 0n) return 'underfunded';
      if (!sold.isAuthorized) return 'sellNotAuthorized';
    }
    if (this.#buying === NATIVE) return undefined;
    if (bought === undefined) return 'buyNoTrust';
    return bought.isAuthorized ? undefined : 'buyNotAuthorized';
  }

  #holdings(): { sold: Holding | undefined; bought: Holding | undefined } {
    const { state, header, source } = this.#acting;
    return {
      sold: holdingOf(state, header, source, this.#selling),
      bought: holdingOf(state, header, source, this.#buying),
    };
  }

  /** The amounts that the source can still send and receive for this offer, after these amounts. */
  #reach(sent: bigint, received: bigint): { mostSent: bigint; mostReceived: bigint } {
    const { sold, bought } = this.#holdings();
    const mostSent = sold?.maintains === true && sold.available > 0n ? sold.available : 0n;
    const mostReceived = bought !== undefined && bought.room > 0n ? bought.room : 0n;
    const { side, amount } = this.#asked;
    if (side === 'sell') return { mostSent: min(amount - sent, mostSent), mostReceived };
    return { mostSent, mostReceived: min(amount - received, mostReceived) };
  }

  /** The liabilities of the offer if none of it trades at once. */
  #promises(): Liabilities {
    const { side, price, amount } = this.#asked;
    if (side === 'sell') return promisesOf(price, amount);
    const limits = { mostGiven: MAX_INT64, mostReceived: MAX_INT64, mostSent: MAX_INT64, mostTaken: amount };
    const { received, sent } = roughExchange(price, limits, 'normal');
    return { buying: sent, selling: received };
  }

  #trade(isPassive: boolean): { amount: bigint; atoms: readonly xdr.ClaimAtom[] } | Done {
    const { state, header, source } = this.#acting;
    const { sold, bought } = this.#holdings();
    const promises = this.#promises();
    if ((bought?.room ?? 0n) < promises.buying) return { refusal: 'lineFull' };
    if ((sold?.available ?? 0n) < promises.selling) return { refusal: 'underfunded' };
    const reach = this.#reach(0n, 0n);
    if (reach.mostReceived === 0n) return { refusal: 'lineFull' };
    const { price } = this.#asked;
    const highest = { n: price.d, d: price.n };
    const converted = convert(state, header, {
      ...reach,
      sent: this.#selling,
      received: this.#buying,
      rounding: 'normal',
      mostCrossed: MAX_CROSSED,
      stopAt(offer) {
        const order = comparePrices(offer.price, highest);
        if (order > 0 || (isPassive && order === 0)) return 'bad-price';
        return offer.seller === source ? 'cross-self' : undefined;
      },
    });
    const { end, sent, received, atoms } = converted;
    if (end === 'cross-self') return { refusal: 'crossSelf' };
    if (end === 'too-many') return { result: xdr.OperationResult.opExceededWorkLimit() };
    if (received > 0n) this.#settle(sent, received);
    if (end === 'done') return { amount: 0n, atoms };
    const rest = this.#reach(sent, received);
    return { amount: adjusted(price, rest.mostSent, rest.mostReceived), atoms };
  }

  #settle(sent: bigint, received: bigint): void {
    const { state } = this.#acting;
    const isIn = this.#holdings().bought?.add(state, received);
    const isOut = this.#holdings().sold?.add(state, -sent);
    if (isIn !== true || isOut !== true) throw new Error('An offer traded more than its seller can give or take.');
  }

  #leave(
    state: State,
    amount: bigint,
    flags: number,
    earlier: OfferEntry | undefined,
  ): xdr.ManageOfferSuccessResultOffer {
    const { header, source } = this.#acting;
    const known = earlier?.sponsor === undefined ? {} : { sponsor: earlier.sponsor };
    const kept = earlier === undefined ? sponsoredNow(state, source) : known;
    if (amount === 0n) {
      removeSubEntry(state, header, source, kept.sponsor);
      return xdr.ManageOfferSuccessResultOffer.manageOfferDeleted();
    }
    const { n, d } = this.#asked.price;
    const offer: OfferEntry = {
      kind: 'offer',
      seller: source,
      id: earlier?.id ?? this.#acting.nextId(),
      selling: this.#selling,
      buying: this.#buying,
      amount,
      price: { n, d },
      flags,
      ...kept,
    };
    state.put(offer);
    keepPromises(state, header, offer);
    const told = toOffer(offer);
    return earlier === undefined
      ? xdr.ManageOfferSuccessResultOffer.manageOfferCreated(told)
      : xdr.ManageOfferSuccessResultOffer.manageOfferUpdated(told);
  }
}
