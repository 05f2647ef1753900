import { ComputeBudgetProgram, type TransactionInstruction } from '@solana/web3.js';
import { smallest } from '../../../domain/amount.ts';
import type { ReadOne } from '../../../egress/rpc/rpc-client.ts';
import { MAX_TRANSACTION, type SolanaPolicy, type SwapPolicy } from '../configuration/policy.ts';
import { feeOf, limitFor, MAX_UNITS, priceWithin } from '../fees.ts';
import { longBefore } from '../form/draft.ts';
import { BLOCKHASH_LIFE } from '../inclusion/chain-height.ts';
import { encodeMessage, type Message } from '../message/compiled-message.ts';
import { readComputeBudget } from '../message/compute-budget.ts';
import { recompose } from '../message/recompose.ts';
import { encodeTransaction, SIGNATURE_LENGTH, sizeOf } from '../message/transaction.ts';
import { ASSOCIATED_TOKEN_PROGRAM, COMPUTE_BUDGET_PROGRAM } from '../programs.ts';
import {
  accountsAt,
  chainTip,
  isBlockhashValid,
  latestBlockhash,
  type OnChainAccount,
  rentFor,
  type Simulation,
  simulate,
} from '../provider.ts';
import { rentPaid, wrappedAccount } from '../tokens/associated.ts';
import type { Mint } from '../tokens/mint.ts';
import { readTokenAccount, TOKEN_ACCOUNT_SIZE } from '../tokens/token-account.ts';
import { assertions, emptyWrapped } from './assertions.ts';
import type { OwnAccounts } from './guard.ts';
import type { Offer } from './jupiter.ts';
import type { Stock } from './stock.ts';

/** What all ways of swapping need to know. */
export interface SwapContext {
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
export function trialTransaction(message: Message): string {
  return encodeTransaction([Buffer.alloc(SIGNATURE_LENGTH)], encodeMessage(message));
}

/** What priority may cost where the policies do not say, in lamports. */
export const MAX_PRIORITY = 5_000_000n;
const LAMPORTS_PER_SIGNATURE = 5_000n;

/** The most that a swap may cost, in lamports. */
export function mostFee({ policy: { maxFee }, swaps: { priority } }: Pick<SwapContext, 'policy' | 'swaps'>): bigint {
  const most = LAMPORTS_PER_SIGNATURE + (priority?.most ?? MAX_PRIORITY);
  return smallest(maxFee ?? most, most);
}

/** The most lamports that transactions signed after the swap may take from the account while the swap is under way. */
const MAX_SLACK = 10_000_000n;
const SLACK_PART = 10n;

/**
 * Puts the market's message between a beginning and an end of the relayer's own. The beginning empties the account in
 * which the wrapped SOL arrives. The end fails unless enough wrapped SOL arrived and all else is still there. Returns a
 * text that says why where this is not possible.
 */
export async function composeSwap(
  read: ReadOne,
  swapping: SwapContext,
  own: OwnAccounts,
  lookedUp: readonly string[],
): Promise<Plan | string> {
  const { relayer, offer, wrapped } = swapping;
  const theirs = withoutOwnParts(offer.transaction.message, relayer, lookedUp);
  const [{ blockhash, ...latest }, paid] = await Promise.all([
    latestBlockhash(read),
    rentOf(read, theirs, [...theirs.keys, ...lookedUp], relayer),
  ]);
  const tokens = leftOf(swapping, own);
  const compile = (limit: number, price: bigint, lamports: bigint) =>
    recompose(theirs, {
      payer: relayer,
      blockhash,
      lookedUp,
      before: [...budgetOf(limit, price), ...emptyWrapped(relayer, wrapped)],
      after: assertions({ relayer, lamports, brought: offer.least, tokens }),
    });
  const { price = 0n } = readComputeBudget(offer.transaction.message);
  const widest = compile(MAX_UNITS, 1n, 1n);
  const size = sizeOf(widest);
  if (size > MAX_TRANSACTION) return `with what has to hold at its end it takes ${size} bytes`;
  const first = await simulate(read, trialTransaction(widest), { replacesBlockhash: false });
  if (first.error !== null) return { message: widest, tried: first, ...paid, ...latest };
  const limit = limitFor(first.used ?? BigInt(MAX_UNITS));
  const bounded = smallest(price, priceWithin(mostFee(swapping), 1, limit));
  const priced = compile(limit, bounded, 1n);
  const fee = await feeOf(read, priced, encodeMessage(priced));
  const message = compile(limit, bounded, floorOf(swapping, fee + paid.rent));
  return {
    message,
    tried: await simulate(read, trialTransaction(message), { replacesBlockhash: false }),
    ...paid,
    ...latest,
  };
}

const [LIMIT, PRICE] = [2, 3];

/** Removes what the relayer sets itself: the limit and the price of compute units, and the account of wrapped SOL. */
function withoutOwnParts(message: Message, relayer: string, lookedUp: readonly string[]): Message {
  const keys = [...message.keys, ...lookedUp];
  const isOwn = ({ program, accounts, data }: Message['instructions'][number]) => {
    if (keys[program] === COMPUTE_BUDGET_PROGRAM) return data[0] === LIMIT || data[0] === PRICE;
    return keys[program] === ASSOCIATED_TOKEN_PROGRAM && keys[accounts[1] ?? -1] === wrappedAccount(relayer);
  };
  return { ...message, instructions: message.instructions.filter((one) => !isOwn(one)) };
}

function budgetOf(units: number, microLamports: bigint): TransactionInstruction[] {
  const limit = ComputeBudgetProgram.setComputeUnitLimit({ units });
  return microLamports > 0n ? [limit, ComputeBudgetProgram.setComputeUnitPrice({ microLamports })] : [limit];
}

/** The rent for accounts that stay, and for the account of wrapped SOL, whose rent comes back. */
async function rentOf(
  read: ReadOne,
  theirs: Message,
  keys: readonly string[],
  relayer: string,
): Promise<Pick<Plan, 'rent' | 'lent'>> {
  const [others, [wrapped], one] = await Promise.all([
    rentPaid(read, theirs, keys),
    accountsAt(read, [wrappedAccount(relayer)]),
    rentFor(read, TOKEN_ACCOUNT_SIZE),
  ]);
  const lent = wrapped == null ? one : 0n;
  return { rent: others + lent, lent };
}

/** What each of the relayer's accounts has to hold afterwards. */
function leftOf({ relayer, stock }: SwapContext, own: OwnAccounts): OwnAccounts {
  const others = [...own].filter(([account]) => account !== wrappedAccount(relayer));
  return new Map(
    others.map(([account, held]) => {
      const isSource = account === stock.account;
      return [account, isSource ? { ...held, amount: stock.held - stock.swapped } : held];
    }),
  );
}

/** The lamports that have to be on the account before the wrapped SOL is unwrapped. */
function floorOf({ funds, committed, offer: { least } }: SwapContext, cost: bigint): bigint {
  const floor = funds - committed - cost - smallest(least / SLACK_PART, MAX_SLACK);
  return floor > 0n ? floor : 0n;
}

/**
 * Checks the market's message as it is, since the market takes back no other message. A trial shows what the message
 * would leave. Its parts do the same when they are executed, or fail. Returns a text that says why where it is not
 * signed.
 */
export async function planOfOrder(
  read: ReadOne,
  swapping: SwapContext,
  own: OwnAccounts,
  keys: readonly string[],
): Promise<Plan | string> {
  const { relayer, offer, stock } = swapping;
  const { message } = offer.transaction;
  const others = [...own].filter(([account]) => account !== stock.account && account !== wrappedAccount(relayer));
  const filled = others.find(([, { amount }]) => amount > 0n);
  if (filled !== undefined) return `it may write ${filled[0]}, which is another account of the relayer`;
  const watched = [relayer, wrappedAccount(relayer), stock.account];
  const [isValid, { slot, height }, before, tried, rent] = await Promise.all([
    isBlockhashValid(read, message.blockhash, 'processed'),
    chainTip(read, 'processed'),
    accountsAt(read, watched),
    simulate(read, trialTransaction(message), { replacesBlockhash: false, after: watched }),
    rentPaid(read, message, keys),
  ]);
  if (!isValid) return 'its blockhash is not known, or too old';
  const plan = {
    message,
    tried,
    rent,
    lent: rent,
    lastValidBlockHeight: height + BLOCKHASH_LIFE,
    slot: longBefore(slot),
  };
  if (tried.error !== null) return plan;
  return outcomeFault(swapping, before, tried.accounts) ?? plan;
}

type Accounts = readonly (OnChainAccount | null | undefined)[];

/**
 * What is wrong with the trial's outcome, by the relayer's accounts before and after it; undefined where it is fine.
 */
function outcomeFault(swapping: SwapContext, before: Accounts, after: Accounts): string | undefined {
  const { relayer, offer, stock } = swapping;
  if (after.length < before.length) return 'the node does not tell what it would leave';
  const [wallet] = after;
  if (wallet == null || wallet.owner !== before[0]?.owner || wallet.data.length > 0)
    return 'it takes the account itself';
  const brought = solIn(after, relayer) + mostFee(swapping) - solIn(before, relayer);
  if (brought < offer.least) return `it brings less than ${offer.least} lamports`;
  const source = readTokenAccount(after[2]);
  const remainder = stock.held - stock.swapped;
  if (source === undefined) return remainder > 0n ? `it takes more than ${stock.swapped} of the token` : undefined;
  if (source.owner !== relayer || source.delegate !== null) return 'it leaves the token account to somebody else';
  return source.amount < remainder ? `it takes more than ${stock.swapped} of the token` : undefined;
}

/** The relayer's SOL, in lamports: on the account, and in wrapped SOL, with the rent of the latter's account. */
function solIn([wallet, wrapped]: Accounts, relayer: string): bigint {
  const held = readTokenAccount(wrapped);
  const isOwn = held?.owner === relayer && held.delegate === null;
  return (wallet?.lamports ?? 0n) + (isOwn ? (wrapped?.lamports ?? 0n) : 0n);
}
