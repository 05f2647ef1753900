import { z } from 'zod';
import type { Json, JsonObject } from '../../../domain/json/json.ts';
import { type MarketClient, MarketFailure } from '../../../egress/market-client.ts';
import type { SwapPolicy } from '../configuration/policy.ts';
import { MalformedTransaction } from '../message/compiled-message.ts';
import { decodeTransaction, type WireTransaction } from '../message/transaction.ts';
import { WRAPPED_SOL } from '../programs.ts';
import { basisPoints, quote } from '../sponsor/jupiter.ts';
import type { Stock } from './stock.ts';

/** What a market offers for an amount of a token. */
export interface Offer {
  transaction: WireTransaction;
  /** In lamports: what the market has promised, and the least that the policies accept. */
  promised: bigint;
  least: bigint;
  /** Set where the market itself brings the transaction to the chain. */
  requestId?: string;
}

/** The most accounts of the market's part: the relayer's checks at the end need room too. */
const MAX_ACCOUNTS = '48';

const builtSchema = z.looseObject({ swapTransaction: z.string() });

/**
 * Asks Jupiter's Swap API. The relayer completes the transaction and sends it.
 * @throws MarketFailure
 */
export async function swapOffer(
  market: MarketClient,
  relayer: string,
  { token: { mint, slippage }, swapped }: Stock,
  { priority, isLimitDynamic }: SwapPolicy,
): Promise<Offer> {
  const trade = { from: mint, to: WRAPPED_SOL, amount: swapped, slippage, options: { maxAccounts: MAX_ACCOUNTS } };
  const { outAmount, told } = await quote(market, trade);
  const answer = await market.post('/swap/v1/swap', {
    userPublicKey: relayer,
    quoteResponse: told,
    wrapAndUnwrapSol: false,
    dynamicComputeUnitLimit: isLimitDynamic,
    ...(priority === null ? {} : { prioritizationFeeLamports: priorityOf(priority) }),
  });
  const { data } = builtSchema.safeParse(answer);
  if (data === undefined) throw new MarketFailure('it built no transaction');
  return {
    transaction: read(data.swapTransaction),
    promised: assertWorth(outAmount, mint),
    least: leastOf(outAmount, slippage),
  };
}

function priorityOf({ level, most }: { level: string; most: bigint }): JsonObject {
  return { priorityLevelWithMaxLamports: { priorityLevel: level, maxLamports: Number(most) } };
}

const orderSchema = z.looseObject({
  inputMint: z.string(),
  outputMint: z.string(),
  inAmount: z.string().regex(/^\d{1,20}$/),
  outAmount: z.string().regex(/^\d{1,20}$/),
  /** Base64; null where there is nothing to sign, as for a taker who has too little. */
  transaction: z.string().nullish(),
  requestId: z.string().min(1).max(200),
});

/**
 * Routers that are left out: somebody else signs or pays for their transactions as well, or they call other programs
 * than Jupiter's.
 */
const OTHER_ROUTERS = 'jupiterz,dflow,okx';

/**
 * Asks Jupiter's Ultra API. The transaction is signed as it is, and Jupiter brings it to the chain.
 * @throws MarketFailure
 */
export async function ultraOffer(
  market: MarketClient,
  relayer: string,
  { token: { mint, slippage }, swapped }: Stock,
): Promise<Offer> {
  const answer = await market.get('/ultra/v1/order', {
    inputMint: mint,
    outputMint: WRAPPED_SOL,
    amount: swapped.toString(),
    taker: relayer,
    excludeRouters: OTHER_ROUTERS,
  });
  const { data } = orderSchema.safeParse(answer);
  if (data === undefined) throw new MarketFailure('its order is invalid');
  const { inputMint, outputMint, inAmount, outAmount, transaction, requestId } = data;
  if (inputMint !== mint || outputMint !== WRAPPED_SOL || BigInt(inAmount) !== swapped) {
    throw new MarketFailure('its order is for something else');
  }
  if (transaction == null || transaction === '') throw new MarketFailure('its order has no transaction');
  const promised = assertWorth(BigInt(outAmount), mint);
  return { transaction: read(transaction), promised, least: leastOf(promised, slippage), requestId };
}

/**
 * Has the market bring a signed transaction to the chain. Answers what became of it, in the market's words. @throws
 * MarketFailure
 */
export function execute(market: MarketClient, signedTransaction: string, requestId: string): Promise<Json> {
  return market.post('/ultra/v1/execute', { signedTransaction, requestId });
}

const WHOLE = 10_000n;

function leastOf(promised: bigint, slippage: number): bigint {
  const least = (promised * (WHOLE - BigInt(basisPoints(slippage)))) / WHOLE;
  return least > 0n ? least : 1n;
}

function assertWorth(lamports: bigint, mint: string): bigint {
  if (lamports === 0n) throw new MarketFailure(`what there is of ${mint} is worth less than a lamport`);
  return lamports;
}

function read(base64: string): WireTransaction {
  try {
    return decodeTransaction(base64);
  } catch (error) {
    if (!(error instanceof MalformedTransaction)) throw error;
    throw new MarketFailure(`its transaction is invalid: ${error.message}`, { cause: error });
  }
}
