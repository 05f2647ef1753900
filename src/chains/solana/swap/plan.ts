import { ComputeBudgetProgram, type TransactionInstruction } from '@solana/web3.js';
import { smallestAmount } from '../../../domain/amount.ts';
import type { ReadFromEndpoint } from '../../../egress/rpc/rpc-client.ts';
import { MAX_TRANSACTION, type SolanaPolicy, type SwapPolicy } from '../configuration/policy.ts';
import { computeLimitFor, MAX_COMPUTE_UNITS, messageFee, priorityPriceWithin } from '../fees.ts';
import { searchStartSlot } from '../form/draft.ts';
import { BLOCKHASH_LIFETIME_BLOCKS } from '../inclusion/blockhash-lifetime.ts';
import { type CompiledMessage, encodeMessage } from '../message/compiled-message.ts';
import { readComputeBudget } from '../message/compute-budget.ts';
import { recomposeMessage } from '../message/recompose.ts';
import { encodeTransaction, SIGNATURE_LENGTH, transactionSize } from '../message/transaction.ts';
import { ASSOCIATED_TOKEN_PROGRAM, COMPUTE_BUDGET_PROGRAM } from '../programs.ts';
import {
  chainTip,
  getAccounts,
  getRentExemption,
  isBlockhashValid,
  latestBlockhash,
  type OnChainAccount,
  type Simulation,
  simulateTransaction,
} from '../rpc-calls.ts';
import { rentOfNewAccounts, wrappedSolAccount } from '../tokens/associated.ts';
import type { Mint } from '../tokens/mint.ts';
import { readTokenAccount, TOKEN_ACCOUNT_SIZE } from '../tokens/token-account.ts';
import { emptyWrappedSolInstructions, swapAssertions } from './assertions.ts';
import type { OwnTokenAccounts } from './guard.ts';
import type { SwapOffer } from './jupiter.ts';
import type { SwapBalance } from './swap-balance.ts';

/** What all ways of swapping need to know. */
export interface SwapContext {
  relayer: string;
  stock: SwapBalance;
  offer: SwapOffer;
  policy: SolanaPolicy;
  swaps: SwapPolicy;
  /** In lamports: the account's balance, and what the lane's other transactions may still take of it. */
  funds: bigint;
  committed: bigint;
  /** Wrapped SOL. */
  wrapped: Mint;
}

/** What is to be signed, once it was tried. */
export interface SwapPlan {
  message: CompiledMessage;
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
export function trialTransaction(message: CompiledMessage): string {
  return encodeTransaction([Buffer.alloc(SIGNATURE_LENGTH)], encodeMessage(message));
}

/** What priority may cost where the policies do not say, in lamports. */
export const MAX_SWAP_PRIORITY_FEE = 5_000_000n;
const LAMPORTS_PER_SIGNATURE = 5_000n;

/** The most that a swap may cost, in lamports. */
export function maxSwapFee({ policy, swaps: { priority } }: Pick<SwapContext, 'policy' | 'swaps'>): bigint {
  const most = LAMPORTS_PER_SIGNATURE + (priority?.most ?? MAX_SWAP_PRIORITY_FEE);
  return smallestAmount(policy.maxAllowedFeeLamports ?? most, most);
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
  read: ReadFromEndpoint,
  swapping: SwapContext,
  own: OwnTokenAccounts,
  lookedUp: readonly string[],
): Promise<SwapPlan | string> {
  const { relayer, offer, wrapped } = swapping;
  const theirs = withoutOwnParts(offer.transaction.message, relayer, lookedUp);
  const [{ blockhash, ...latest }, paid] = await Promise.all([
    latestBlockhash(read),
    rentOf(read, theirs, [...theirs.keys, ...lookedUp], relayer),
  ]);
  const tokens = leftOf(swapping, own);
  const compile = (limit: number, price: bigint, lamports: bigint) =>
    recomposeMessage(theirs, {
      payer: relayer,
      blockhash,
      lookedUp,
      before: [...budgetOf(limit, price), ...emptyWrappedSolInstructions(relayer, wrapped)],
      after: swapAssertions({ relayer, lamports, brought: offer.least, tokens }),
    });
  const { price = 0n } = readComputeBudget(offer.transaction.message);
  const widest = compile(MAX_COMPUTE_UNITS, 1n, 1n);
  const size = transactionSize(widest);
  if (size > MAX_TRANSACTION) return `with what has to hold at its end it takes ${size} bytes`;
  const first = await simulateTransaction(read, trialTransaction(widest), { replacesBlockhash: false });
  if (first.error !== null) return { message: widest, tried: first, ...paid, ...latest };
  const limit = computeLimitFor(first.used ?? BigInt(MAX_COMPUTE_UNITS));
  const bounded = smallestAmount(price, priorityPriceWithin(maxSwapFee(swapping), 1, limit));
  const priced = compile(limit, bounded, 1n);
  const fee = await messageFee(read, priced, encodeMessage(priced));
  const message = compile(limit, bounded, floorOf(swapping, fee + paid.rent));
  return {
    message,
    tried: await simulateTransaction(read, trialTransaction(message), { replacesBlockhash: false }),
    ...paid,
    ...latest,
  };
}

const [LIMIT, PRICE] = [2, 3];

/** Removes what the relayer sets itself: the limit and the price of compute units, and the account of wrapped SOL. */
function withoutOwnParts(message: CompiledMessage, relayer: string, lookedUp: readonly string[]): CompiledMessage {
  const keys = [...message.keys, ...lookedUp];
  const isOwn = ({ program, accounts, data }: CompiledMessage['instructions'][number]) => {
    if (keys[program] === COMPUTE_BUDGET_PROGRAM) return data[0] === LIMIT || data[0] === PRICE;
    return keys[program] === ASSOCIATED_TOKEN_PROGRAM && keys[accounts[1] ?? -1] === wrappedSolAccount(relayer);
  };
  return { ...message, instructions: message.instructions.filter((one) => !isOwn(one)) };
}

function budgetOf(units: number, microLamports: bigint): TransactionInstruction[] {
  const limit = ComputeBudgetProgram.setComputeUnitLimit({ units });
  return microLamports > 0n ? [limit, ComputeBudgetProgram.setComputeUnitPrice({ microLamports })] : [limit];
}

/** The rent for accounts that stay, and for the account of wrapped SOL, whose rent comes back. */
async function rentOf(
  read: ReadFromEndpoint,
  theirs: CompiledMessage,
  keys: readonly string[],
  relayer: string,
): Promise<Pick<SwapPlan, 'rent' | 'lent'>> {
  const [others, [wrapped], one] = await Promise.all([
    rentOfNewAccounts(read, theirs, keys),
    getAccounts(read, [wrappedSolAccount(relayer)]),
    getRentExemption(read, TOKEN_ACCOUNT_SIZE),
  ]);
  const lent = wrapped == null ? one : 0n;
  return { rent: others + lent, lent };
}

/** What each of the relayer's accounts has to hold afterwards. */
function leftOf({ relayer, stock }: SwapContext, own: OwnTokenAccounts): OwnTokenAccounts {
  const others = [...own].filter(([account]) => account !== wrappedSolAccount(relayer));
  return new Map(
    others.map(([account, held]) => {
      const isSource = account === stock.account;
      return [account, isSource ? { ...held, amount: stock.held - stock.swapped } : held];
    }),
  );
}

/** The lamports that have to be on the account before the wrapped SOL is unwrapped. */
function floorOf({ funds, committed, offer: { least } }: SwapContext, cost: bigint): bigint {
  const floor = funds - committed - cost - smallestAmount(least / SLACK_PART, MAX_SLACK);
  return floor > 0n ? floor : 0n;
}

/**
 * Checks the market's message as it is, since the market takes back no other message. A trial shows what the message
 * would leave. Its parts do the same when they are executed, or fail. Returns a text that says why where it is not
 * signed.
 */
export async function planUltraOrder(
  read: ReadFromEndpoint,
  swapping: SwapContext,
  own: OwnTokenAccounts,
  keys: readonly string[],
): Promise<SwapPlan | string> {
  const { relayer, offer, stock } = swapping;
  const { message } = offer.transaction;
  const others = [...own].filter(([account]) => account !== stock.account && account !== wrappedSolAccount(relayer));
  const filled = others.find(([, { amount }]) => amount > 0n);
  if (filled !== undefined) return `it may write ${filled[0]}, which is another account of the relayer`;
  const watched = [relayer, wrappedSolAccount(relayer), stock.account];
  const [isValid, { slot, height }, before, tried, rent] = await Promise.all([
    isBlockhashValid(read, message.blockhash, 'processed'),
    chainTip(read, 'processed'),
    getAccounts(read, watched),
    simulateTransaction(read, trialTransaction(message), { replacesBlockhash: false, after: watched }),
    rentOfNewAccounts(read, message, keys),
  ]);
  if (!isValid) return 'its blockhash is not known, or too old';
  const plan = {
    message,
    tried,
    rent,
    lent: rent,
    lastValidBlockHeight: height + BLOCKHASH_LIFETIME_BLOCKS,
    slot: searchStartSlot(slot),
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
  const brought = solIn(after, relayer) + maxSwapFee(swapping) - solIn(before, relayer);
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
