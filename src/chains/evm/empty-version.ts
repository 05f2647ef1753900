import { amountOf } from '../../domain/amount.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Attempt } from '../../domain/transaction.ts';
import type { Account } from '../chain.ts';
import { normalAddress } from './address.ts';
import { least, most } from './fees.ts';
import type { Market } from './market.ts';
import { estimated, type PrepareParts } from './prepare.ts';
import { toQuantity } from './provider.ts';
import type { EvmFields, StoredRequest } from './schema.ts';

/** A request that takes a nonce of the account and does nothing else, in the stored form. */
export function voidRequest(account: Account): JsonObject {
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
/** What a transfer takes on Arbitrum, where gas also pays for data, when its node does not say. */
const ARBITRUM_TRANSFER_GAS = 50_000n;

/** A void's gas is this many transfers' at most, where no version says more: one wrong estimate is not to rule it. */
const VOID_TRANSFERS = 10n;
/** By how much a void's gas may exceed that of a void before it, which was not enough, or there would be no other. */
const VOID_STEP = 10n;

/** Gas for nothing: more than a transfer's on chains that charge more, and where the account has code (EIP-7702). */
export async function voidGas(
  parts: PrepareParts,
  { account, latest, last }: { account: Account; latest: EvmFields | undefined; last: Attempt['purpose'] | undefined },
): Promise<bigint> {
  const usual = parts.settings.isArbitrum ? ARBITRUM_TRANSFER_GAS : TRANSFER_GAS;
  const self = normalAddress(account.address);
  const call = { from: self, to: self, value: toQuantity(0n) };
  const told = await estimated(parts, call);
  if (told === undefined) return usual;
  // What an earlier version may take is on offer already, and on chains with other measures it is of their size.
  const before = latest === undefined ? 0n : amountOf(latest.gas_limit);
  const bound = most(VOID_TRANSFERS * usual, last === 'void' ? VOID_STEP * before : before);
  const wanted = withReserve(told);
  if (wanted <= bound) return wanted;
  const again = withReserve((await estimated(parts, call, 'all')) ?? told);
  return least(least(wanted, again), bound);
}

function withReserve(estimate: bigint): bigint {
  return estimate > TRANSFER_GAS ? (estimate * 110n) / 100n : TRANSFER_GAS;
}

/** More than the block's limit no node takes, and less than a transfer's gas neither. */
export function withinLimit(gas: bigint, { block }: Market): bigint {
  return block.gasLimit === 0n ? gas : most(least(gas, block.gasLimit), TRANSFER_GAS);
}
