import { z } from 'zod';
import { isObject, type JsonObject } from '../../../domain/json/json.ts';
import { type MarketClient, MarketFailure } from '../../../egress/market-client.ts';
import { WRAPPED_SOL } from '../programs.ts';

const integer = z
  .string()
  .regex(/^\d{1,20}$/)
  .transform(BigInt);

/** Of all that a quote tells (Jupiter's Swap API, `GET /swap/v1/quote`). */
const quoteSchema = z.looseObject({
  inputMint: z.string(),
  inAmount: integer,
  outputMint: z.string(),
  outAmount: integer,
});

const BASIS_POINTS_PER_PERCENT = 100;

/** What is asked for a price. */
export interface Trade {
  /** Mints. */
  from: string;
  to: string;
  amount: bigint;
  /** In percent. */
  slippage: number;
  /** What else is asked for. */
  options?: Readonly<Record<string, string>>;
}

/** What a market makes of a trade, and its own words, which it wants back. */
export interface Quote {
  outAmount: bigint;
  told: JsonObject;
}

/** Of so many one is less than a thousandth. */
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
  // A market rounds down, which of a token of few large units is a part of the price.
  return outAmount < FEW_UNITS ? outAmount + 1n : outAmount;
}

/** A market's own word on a trade, and what it amounts to. @throws MarketFailure */
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
  if (data === undefined) throw new MarketFailure('its quote is none');
  if (data.inputMint !== from || data.outputMint !== to || data.inAmount !== amount) {
    throw new MarketFailure('its quote is for something else');
  }
  return { outAmount: data.outAmount, told: isObject(answer) ? answer : {} };
}

/** Half a percent is 50 of them. */
export function basisPoints(percent: number): number {
  return Math.round(percent * BASIS_POINTS_PER_PERCENT);
}
