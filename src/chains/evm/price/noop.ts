import type { JsonObject } from '../../../domain/json/json.ts';
import type { Account } from '../../account.ts';
import { normalAddress } from '../address.ts';
import { least, most } from '../fees.ts';
import { estimated, type PrepareParts } from '../prepare.ts';
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
 * (EIP-7702). All nodes are asked, so that one wild estimate does not decide.
 */
export async function noopGas(parts: PrepareParts, account: Account): Promise<bigint> {
  const self = normalAddress(account.address);
  const told = await estimated(parts, { from: self, to: self, value: toQuantity(0n) }, 'all');
  if (told === undefined) return parts.settings.isArbitrum ? ARBITRUM_TRANSFER_GAS : TRANSFER_GAS;
  return told > TRANSFER_GAS ? (told * 110n) / 100n : TRANSFER_GAS;
}

/** Keeps gas between a transfer's gas and the block's limit. Nodes take nothing outside of that. */
export function withinLimit(gas: bigint, { block }: Market): bigint {
  return block.gasLimit === 0n ? gas : most(least(gas, block.gasLimit), TRANSFER_GAS);
}
