import type { xdr } from '@stellar/stellar-sdk';
import type { AssetName, Header, OfferEntry } from '../ledger/entry.ts';
import type { State } from '../ledger/state.ts';
import type { Rounding } from './exchange.ts';
import { cross, offersFor } from './offers.ts';

/** The protocol's limit of offers that one operation may take. */
export const MAX_CROSSED = 1000;

export interface Conversion {
  readonly sent: AssetName;
  readonly received: AssetName;
  readonly mostSent: bigint;
  readonly mostReceived: bigint;
  readonly rounding: Rounding;
  /** The number of offers that may still be taken. */
  readonly mostCrossed: number;
  /** Checks an offer before it is taken. Returns the reason to stop, if any. */
  readonly stopAt: (offer: OfferEntry) => 'cross-self' | 'bad-price' | undefined;
}

export interface Converted {
  /** `partial` means that the book has no more offers. */
  readonly end: 'done' | 'partial' | 'cross-self' | 'bad-price' | 'too-many';
  readonly sent: bigint;
  readonly received: bigint;
  readonly atoms: readonly xdr.ClaimAtom[];
}

/** Takes offers, the cheapest first, until one side is exhausted: stellar-core's `convertWithOffers`. */
export function convert(state: State, header: Header, asked: Conversion): Converted {
  let [sent, received] = [0n, 0n];
  const atoms: xdr.ClaimAtom[] = [];
  const ended = (end: Converted['end']): Converted => ({ end, sent, received, atoms });
  if (asked.mostSent <= 0n || asked.mostReceived <= 0n) return ended('done');
  if (asked.mostCrossed === 0) return ended('too-many');
  for (;;) {
    const [offer] = offersFor(state, asked.sent, asked.received);
    if (offer === undefined) return ended('partial');
    const stop = asked.stopAt(offer);
    if (stop !== undefined) return ended(stop);
    if (atoms.length >= asked.mostCrossed) return ended('too-many');
    const taker = { mostReceived: asked.mostReceived - received, mostSent: asked.mostSent - sent };
    const crossed = cross(state, header, offer, taker, asked.rounding);
    sent += crossed.sent;
    received += crossed.received;
    atoms.push(crossed.atom);
    if (crossed.offerStays || sent >= asked.mostSent || received >= asked.mostReceived) return ended('done');
  }
}
