import type { xdr } from '@stellar/stellar-sdk/base';
import type { RpcClient } from '../../../egress/rpc/rpc-client.ts';
import type { StellarPolicy } from '../configuration/policy.ts';
import { lessTolerance } from '../sponsor/figures.ts';
import type { Exchanges } from './exchanges.ts';
import type { Stock } from './stock.ts';

/** What all ways of swapping need to know. */
export interface Swapping {
  rpc: RpcClient;
  exchanges: Exchanges;
  policy: StellarPolicy;
  stock: Stock;
  relayer: string;
  passphrase: string;
  /** Unix seconds; the swap is not to be executed later. */
  deadline: bigint;
}

/** An operation that gives a fixed amount of an asset for lumens, or fails. */
export interface Trade {
  operation: xdr.Operation;
  /** In stroops: the price that was found, and the least that the swap may bring. */
  promised: bigint;
  least: bigint;
}

/** The least that a swap at this price may bring, in stroops. */
export function leastOf(promised: bigint, { stock: { token }, policy }: Pick<Swapping, 'stock' | 'policy'>): bigint {
  const least = lessTolerance(promised, token.slippage ?? policy.slippage);
  return least > 0n ? least : 1n;
}

/**
 * Whether a path may lead over an asset. The issuer of an asset makes its price. Over an asset that the policies do not
 * name, a price service could lead everything to where it is worth nothing.
 */
export function isAllowedHop(name: string, { allowedTokens }: StellarPolicy): boolean {
  return name === 'native' || allowedTokens.some(({ asset }) => asset === name);
}
