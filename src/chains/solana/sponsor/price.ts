import type { MarketClient } from '../../../egress/market-client.ts';
import type { SolanaPolicy } from '../configuration/policy.ts';
import { SYSTEM_PROGRAM, WRAPPED_SOL } from '../programs.ts';
import { tokensFor } from './jupiter.ts';

/** Test chains, by their genesis hash. Nobody trades there, so a unit of a token counts as worth a lamport. */
const WITHOUT_MARKET: ReadonlySet<string> = new Set([
  // devnet
  'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
  // testnet
  '4uhcVJyU9pJkvQyUS88uRDiswHXSCkY3zQawwpjk2NsNY',
]);

/** By how much a price may move, in percent, where the policies do not name the token. */
const SLIPPAGE = 1;

/** Where the prices of a chain's tokens come from. */
export interface Prices {
  market: MarketClient;
  genesis: string;
}

/**
 * What some lamports are worth in a token, in its smallest unit.
 * @throws MarketFailure
 */
export async function worth(
  { market, genesis }: Prices,
  mint: string,
  lamports: bigint,
  { allowedTokens }: Pick<SolanaPolicy, 'allowedTokens'>,
): Promise<bigint> {
  if (mint === WRAPPED_SOL || mint === SYSTEM_PROGRAM || WITHOUT_MARKET.has(genesis)) return lamports;
  const slippage = allowedTokens.find((token) => token.mint === mint)?.slippage ?? SLIPPAGE;
  return tokensFor(market, mint, lamports, slippage);
}
