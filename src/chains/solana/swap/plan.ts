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
  /** In lamports: the account's balance, and what the lane's other transactions may still take of it. */
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
  /**
   * In lamports: what the swap pays for accounts that it makes, and the part of it that comes back or that the trial
   * already counts.
   */
  rent: bigint;
  lent: bigint;
}

/** A message's transaction for a trial, in base64, without a signature. */
export function trialOf(message: Message): string {
  return encodeTransaction([Buffer.alloc(SIGNATURE_LENGTH)], encodeMessage(message));
}

/** What priority may cost where the policies do not say, in lamports. */
export const MAX_PRIORITY = 5_000_000n;
const LAMPORTS_PER_SIGNATURE = 5_000n;

/** The most that a swap may cost, in lamports. */
export function mostFee({ policy: { maxFee }, swaps: { priority } }: Pick<Swapping, 'policy' | 'swaps'>): bigint {
  const most = LAMPORTS_PER_SIGNATURE + (priority?.most ?? MAX_PRIORITY);
  return maxFee !== null && maxFee < most ? maxFee : most;
}
