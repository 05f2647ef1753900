import type { MarketClient } from '../../../egress/market-client.ts';
import type { ReadFromEndpoint } from '../../../egress/rpc/rpc-client.ts';
import type { SolanaPolicy } from '../configuration/policy.ts';
import { messageFee } from '../fees.ts';
import { policyFaultText } from '../guard/policies.ts';
import { type CompiledMessage, encodeMessage } from '../message/compiled-message.ts';
import { SYSTEM_PROGRAM, WRAPPED_SOL } from '../programs.ts';
import { quoteTokensFor } from '../swap/jupiter.ts';
import { rentOfNewAccounts } from '../tokens/associated.ts';
import { GaslessRefusal } from './errors.ts';

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
export interface TokenPriceSources {
  market: MarketClient;
  genesis: string;
}

/**
 * What some lamports are worth in a token, in its smallest unit.
 * @throws MarketFailure
 */
export async function lamportsInToken(
  { market, genesis }: TokenPriceSources,
  mint: string,
  lamports: bigint,
  { allowedTokens }: Pick<SolanaPolicy, 'allowedTokens'>,
): Promise<bigint> {
  if (mint === WRAPPED_SOL || mint === SYSTEM_PROGRAM || WITHOUT_MARKET.has(genesis)) return lamports;
  const slippage = allowedTokens.find((token) => token.mint === mint)?.slippage ?? SLIPPAGE;
  return quoteTokensFor(market, mint, lamports, slippage);
}

/**
 * What the relayer is to be paid for a transaction, in lamports: the network's fee, the rent of accounts that it pays
 * for, and the margin on both. Recent priority prices do not count: the fee depends on the message only.
 * @throws Refusal where the price is more than the policies allow
 */
export async function sponsoredPriceOf(
  read: ReadFromEndpoint,
  message: CompiledMessage,
  keys: readonly string[],
  policy: SolanaPolicy,
): Promise<bigint> {
  const [fee, rent] = await Promise.all([
    messageFee(read, message, encodeMessage(message)),
    rentOfNewAccounts(read, message, keys),
  ]);
  const price = withMargin(fee + rent, policy.feeMarginPercentage);
  const fault = policyFaultText(policy, { price });
  if (fault !== undefined) throw new GaslessRefusal('validation', fault);
  return price;
}

/** Adds the margin. Its percentage is rounded to 32 bits, as in the reference; fractions of a lamport are dropped. */
function withMargin(lamports: bigint, percent: number): bigint {
  return BigInt(Math.trunc(Number(lamports) * (1 + Math.fround(percent) / 100)));
}
