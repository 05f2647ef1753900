import { z } from 'zod';
import { isObject, type Json, type JsonObject } from '../../../domain/json/json.ts';
import { type MarketClient, MarketFailure } from '../../../egress/market-client.ts';
import type { SwapPolicy } from '../configuration/policy.ts';
import { MalformedTransaction } from '../message/compiled-message.ts';
import { decodeTransaction, type WireTransaction } from '../message/transaction.ts';
import { WRAPPED_SOL } from '../programs.ts';
import type { SwapBalance } from './swap-balance.ts';

const integer = z
  .string()
  .regex(/^\d{1,20}$/)
  .transform(BigInt);

/** The fields of a quote that are used here (Jupiter's Swap API, `GET /swap/v1/quote`). */
const quoteSchema = z.looseObject({
  inputMint: z.string(),
  inAmount: integer,
  outputMint: z.string(),
  outAmount: integer,
});

const BASIS_POINTS_PER_PERCENT = 100;

/** A trade that the market is asked to price. */
export interface JupiterTrade {
  /** Mints. */
  from: string;
  to: string;
  amount: bigint;
  /** In percent. */
  slippage: number;
  /** Further query parameters. */
  options?: Readonly<Record<string, string>>;
}

/** The market's price for a trade, and its whole answer, which the market wants back to build the transaction. */
export interface JupiterQuote {
  outAmount: bigint;
  response: JsonObject;
}

/** Below this amount, one unit more is over a thousandth of it. */
export const FEW_UNITS = 1_000n;

/**
 * What some lamports are worth in a token, in its smallest unit.
 * @throws MarketFailure
 */
export async function quoteTokensFor(
  market: MarketClient,
  mint: string,
  lamports: bigint,
  slippage: number,
): Promise<bigint> {
  const { outAmount } = await quote(market, { from: WRAPPED_SOL, to: mint, amount: lamports, slippage });
  if (outAmount === 0n) throw new MarketFailure(`${lamports} lamports are worth less than the least amount of ${mint}`);
  // The market rounds down. For a token of few large units the lost part matters, so it is added.
  return outAmount < FEW_UNITS ? outAmount + 1n : outAmount;
}

/** Asks the market for its price of a trade. @throws MarketFailure */
async function quote(market: MarketClient, trade: JupiterTrade): Promise<JupiterQuote> {
  const { from, to, amount, slippage, options = {} } = trade;
  const answer = await market.get('/swap/v1/quote', {
    inputMint: from,
    outputMint: to,
    amount: amount.toString(),
    slippageBps: basisPoints(slippage).toString(),
    swapMode: 'ExactIn',
    ...options,
  });
  const { data } = quoteSchema.safeParse(answer);
  if (data === undefined) throw new MarketFailure('its quote is invalid');
  if (data.inputMint !== from || data.outputMint !== to || data.inAmount !== amount) {
    throw new MarketFailure('its quote is for something else');
  }
  return { outAmount: data.outAmount, response: isObject(answer) ? answer : {} };
}

/** Half a percent is 50 basis points. */
function basisPoints(percent: number): number {
  return Math.round(percent * BASIS_POINTS_PER_PERCENT);
}

/** What a market offers for an amount of a token. */
export interface SwapOffer {
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
  { token: { mint, slippage }, swapped }: SwapBalance,
  { priority, isLimitDynamic }: SwapPolicy,
): Promise<SwapOffer> {
  const trade = { from: mint, to: WRAPPED_SOL, amount: swapped, slippage, options: { maxAccounts: MAX_ACCOUNTS } };
  const { outAmount, response } = await quote(market, trade);
  const answer = await market.post('/swap/v1/swap', {
    userPublicKey: relayer,
    quoteResponse: response,
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
  { token: { mint, slippage }, swapped }: SwapBalance,
): Promise<SwapOffer> {
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
export function executeUltraOrder(market: MarketClient, signedTransaction: string, requestId: string): Promise<Json> {
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
