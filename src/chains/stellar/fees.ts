import { xdr } from '@stellar/stellar-sdk/base';
import { DEFAULT_MAX_FEE_BID } from './configuration/policy.ts';
import { resourceFeeOf } from './message/transaction-envelope.ts';
import type { StellarFields } from './schema.ts';

/** The least that the network asks for each operation, in stroops. */
export const BASE_FEE = 100n;

/**
 * What is bid for a transaction, in stroops: what most paid lately for each operation, within the cap. A ledger charges
 * no more than what its cheapest transaction has bid.
 */
export function feeBidFor(operations: number, usual: bigint, most: bigint = DEFAULT_MAX_FEE_BID): bigint {
  const count = BigInt(operations);
  const wanted = count * (usual > BASE_FEE ? usual : BASE_FEE);
  return wanted < most ? wanted : most;
}

/**
 * The least that a fee bump around a transaction must bid, in stroops. It bids for each operation and for the bump
 * itself, each time no less than the transaction bids for an operation (CAP-15). The resources of a contract come on
 * top.
 */
export function minFeeBumpFee(inner: xdr.Transaction): bigint {
  const resources = resourceFeeOf(inner);
  const count = BigInt(inner.operations.length);
  const bid = BigInt(inner.fee) - resources;
  const each = (bid + count - 1n) / count;
  return (each > BASE_FEE ? each : BASE_FEE) * (count + 1n) + resources;
}

/** What a prepared transaction of a contract pays beside its place, in stroops. */
export function preparedResourceFee({ contract }: Pick<StellarFields, 'contract'>): bigint {
  return contract === undefined ? 0n : xdr.SorobanTransactionData.fromXdr(contract.data, 'base64').resourceFee;
}
