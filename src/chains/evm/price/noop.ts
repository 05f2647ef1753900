import { largest, smallest } from '../../../domain/amount.ts';
import type { JsonObject } from '../../../domain/json/json.ts';
import { isNodeError } from '../../../egress/rpc/rpc-client.ts';
import type { Account } from '../../chain-client.ts';
import { normalAddress } from '../address.ts';

import { type GasNeed, type PrepareParts, withReserve } from '../prepare.ts';
import { toQuantity } from '../provider.ts';
import type { StoredRequest } from '../schema.ts';
import type { Market } from './market.ts';

/** A request that uses up a nonce of the account and does nothing else, in the stored form. */
export function noopRequest(account: Account): JsonObject {
  return {
    to: account.address,
    value: '0x0',
    data: '0x',
    gas_limit: null,
    gas_price: null,
    max_fee_per_gas: null,
    max_priority_fee_per_gas: null,
    speed: 'fast',
  } satisfies StoredRequest;
}

const TRANSFER_GAS = 21_000n;
/** The gas of a transfer on Arbitrum, where gas also pays for data. Used when the node gives no estimate. */
const ARBITRUM_TRANSFER_GAS = 50_000n;

/**
 * The gas of a noop. It is more than a transfer's on chains that charge more, and where the account has code
 * (EIP-7702). All nodes are asked, so that one wild estimate does not decide. A node's error leads to the usual gas,
 * whatever it says: a noop with too little gas does no harm, and one that is not sent blocks the account.
 */
export async function noopGas(parts: PrepareParts, account: Account): Promise<GasNeed> {
  const self = normalAddress(account.address);
  const call = { from: self, to: self, value: toQuantity(0n) };
  const told = await parts.estimate(call, 'all').catch(nodeError);
  if ('used' in told) {
    const limit = told.used > TRANSFER_GAS ? withReserve(told.used, parts.settings) : TRANSFER_GAS;
    return { used: limit, limit };
  }
  const usual = parts.settings.isArbitrum ? ARBITRUM_TRANSFER_GAS : TRANSFER_GAS;
  const fallback = `Its gas limit is ${usual}, as nodes could not estimate it: ${told.reason}`;
  return { used: usual, limit: usual, fallback };
}

function nodeError(error: unknown): { reason: string } {
  if (isNodeError(error)) return { reason: error.message };
  throw error;
}

/** Keeps gas between a transfer's gas and the block's limit. Nodes take nothing outside of that. */
export function withinLimit(gas: bigint, { block }: Market): bigint {
  return block.gasLimit === 0n ? gas : largest(smallest(gas, block.gasLimit), TRANSFER_GAS);
}
