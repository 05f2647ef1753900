import { z } from 'zod';
import { isObject, type JsonObject } from '../../../domain/json/json.ts';
import { type MarketClient, MarketFailure } from '../../../egress/market-client.ts';
import { WRAPPED_SOL } from '../programs.ts';

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
export interface Trade {
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
export interface Quote {
  outAmount: bigint;
  told: JsonObject;
}

/** Below this amount, one unit more is over a thousandth of it. */
export const FEW_UNITS = 1_000n;

/**
 * What some lamports are worth in a token, in its smallest unit.
 * @throws MarketFailure
 */
export async function tokensFor(
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
export async function quote(market: MarketClient, trade: Trade): Promise<Quote> {
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
  return { outAmount: data.outAmount, told: isObject(answer) ? answer : {} };
}

/** Half a percent is 50 basis points. */
export function basisPoints(percent: number): number {
  return Math.round(percent * BASIS_POINTS_PER_PERCENT);
}
