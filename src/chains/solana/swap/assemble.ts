import { ComputeBudgetProgram, type TransactionInstruction } from '@solana/web3.js';
import type { ReadOne } from '../../../egress/rpc/rpc-client.ts';
import { MAX_TRANSACTION } from '../configuration/policy.ts';
import { feeOf, limitFor, MAX_UNITS, priceWithin } from '../fees.ts';
import { encodeMessage, type Message } from '../message/compiled-message.ts';
import { readComputeBudget } from '../message/compute-budget.ts';
import { recompose } from '../message/recompose.ts';
import { sizeOf } from '../message/transaction.ts';
import { ASSOCIATED_TOKEN_PROGRAM, COMPUTE_BUDGET_PROGRAM } from '../programs.ts';
import { accountsAt, latestBlockhash, rentFor, simulate } from '../provider.ts';
import { rentPaid } from '../tokens/associated.ts';
import { TOKEN_ACCOUNT_SIZE } from '../tokens/token-account.ts';
import { assertions, emptied } from './assertions.ts';
import type { OwnAccounts } from './guard.ts';
import { mostFee, type Plan, type Swapping, trialOf } from './plan.ts';
import { wrappedAccount } from './wrapped.ts';

/** The most lamports that transactions signed after the swap may take from the account while the swap is under way. */
const MAX_SLACK = 10_000_000n;
const SLACK_PART = 10n;

/**
 * Puts the market's message between a beginning and an end of the relayer's own. The beginning empties the account in
 * which the wrapped SOL arrives. The end fails unless enough wrapped SOL arrived and all else is still there. Returns a
 * text that says why where this is not possible.
 */
export async function composed(
  read: ReadOne,
  swapping: Swapping,
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
      before: [...budgetOf(limit, price), ...emptied(relayer, wrapped)],
      after: assertions({ relayer, lamports, brought: offer.least, tokens }),
    });
  const { price = 0n } = readComputeBudget(offer.transaction.message);
  const widest = compile(MAX_UNITS, 1n, 1n);
  const size = sizeOf(widest);
  if (size > MAX_TRANSACTION) return `with what has to hold at its end it takes ${size} bytes`;
  const first = await simulate(read, trialOf(widest), { replacesBlockhash: false });
  if (first.error !== null) return { message: widest, tried: first, ...paid, ...latest };
  const limit = limitFor(first.used ?? BigInt(MAX_UNITS));
  const bounded = atMost(price, priceWithin(mostFee(swapping), 1, limit));
  const priced = compile(limit, bounded, 1n);
  const fee = await feeOf(read, priced, encodeMessage(priced));
  const message = compile(limit, bounded, floorOf(swapping, fee + paid.rent));
  return { message, tried: await simulate(read, trialOf(message), { replacesBlockhash: false }), ...paid, ...latest };
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
function leftOf({ relayer, stock }: Swapping, own: OwnAccounts): OwnAccounts {
  const others = [...own].filter(([account]) => account !== wrappedAccount(relayer));
  return new Map(
    others.map(([account, held]) => {
      const isSource = account === stock.account;
      return [account, isSource ? { ...held, amount: stock.held - stock.swapped } : held];
    }),
  );
}

/** The lamports that have to be on the account before the wrapped SOL is unwrapped. */
function floorOf({ funds, committed, offer: { least } }: Swapping, cost: bigint): bigint {
  const floor = funds - committed - cost - atMost(least / SLACK_PART, MAX_SLACK);
  return floor > 0n ? floor : 0n;
}

function atMost(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
