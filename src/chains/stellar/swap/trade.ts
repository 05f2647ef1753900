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
  /** Unix seconds: after that it is not to be executed. */
  deadline: bigint;
}

/** One operation that gives so much of an asset for lumens, or fails. */
export interface Trade {
  operation: xdr.Operation;
  /** In stroops: what it was priced at, and the least that the ledger lets it bring. */
  promised: bigint;
  least: bigint;
}

/** The least that a price is good for, in stroops. */
export function leastOf(promised: bigint, { stock: { token }, policy }: Pick<Swapping, 'stock' | 'policy'>): bigint {
  const least = lessTolerance(promised, token.slippage ?? policy.slippage);
  return least > 0n ? least : 1n;
}

/**
 * Whether a way may lead over an asset. Who makes an asset makes its price: over one that nobody has allowed, a price
 * service could lead everything to where it is worth nothing.
 */
export function isAllowedHop(name: string, { allowedTokens }: StellarPolicy): boolean {
  return name === 'native' || allowedTokens.some(({ asset }) => asset === name);
}
