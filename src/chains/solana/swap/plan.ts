import type { SolanaPolicy, SwapPolicy } from '../configuration/policy.ts';
import type { Message } from '../message/compiled-message.ts';
import { encodeMessage } from '../message/compiled-message.ts';
import { encodeTransaction, SIGNATURE_LENGTH } from '../message/transaction.ts';
import type { Simulation } from '../provider.ts';
import type { Mint } from '../tokens/mint.ts';
import type { Offer } from './market-offers.ts';
import type { Stock } from './stock.ts';

/** What all ways of swapping need to know. */
export interface Swapping {
  relayer: string;
  stock: Stock;
  offer: Offer;
  policy: SolanaPolicy;
  swaps: SwapPolicy;
  /** In lamports: what is there, and what others of the lane may still take of it. */
  funds: bigint;
  committed: bigint;
  /** Wrapped SOL. */
  wrapped: Mint;
}

/** What is to be signed, once it was tried. */
export interface Plan {
  message: Message;
  tried: Simulation;
  lastValidBlockHeight: bigint;
  slot: bigint;
  /** What it pays for accounts that it makes, in lamports, and what of that comes back at its end or is told by the trial. */
  rent: bigint;
  lent: bigint;
}

/** Base64 of a message that is only tried. */
export function trialOf(message: Message): string {
  return encodeTransaction([Buffer.alloc(SIGNATURE_LENGTH)], encodeMessage(message));
}

/** What priority may cost where the policies do not say, in lamports. */
export const MOST_PRIORITY = 5_000_000n;
const LAMPORTS_PER_SIGNATURE = 5_000n;

/** The most that a swap may cost, in lamports. */
export function mostFee({ policy: { maxFee }, swaps: { priority } }: Pick<Swapping, 'policy' | 'swaps'>): bigint {
  const most = LAMPORTS_PER_SIGNATURE + (priority?.most ?? MOST_PRIORITY);
  return maxFee !== null && maxFee < most ? maxFee : most;
}
