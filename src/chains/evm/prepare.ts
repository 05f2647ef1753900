import { amountOf, jsonAmount } from '../../domain/amount.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Transaction } from '../../domain/transaction.ts';
import { type ReadOne, RpcError } from '../../egress/rpc-client.ts';
import type { Account, LaneFigures, Preparation } from '../chain.ts';
import { normalAddress } from './address.ts';
import { capPrice, floorAbove, type Market, mostPerGas, type Price, priceOf } from './fees.ts';
import { type EvmPolicy, readPolicy } from './policy.ts';
import { estimateGas, toData, toQuantity } from './provider.ts';
import { type EvmFields, type EvmRequest, type EvmSettings, readFields, readRequest } from './schema.ts';

/** What preparing needs of the network's live side. */
export interface PrepareParts {
  read: ReadOne;
  settings: EvmSettings;
  /** That of the transaction's lane. */
  chainId: bigint;
  market(): Promise<Market>;
  /** Of no state older than the call. */
  balance(address: string): Promise<bigint>;
}

/** How soon a transaction looks again that has to wait for a lower price or for money under way. */
const PARKED_FOR_MS = 10_000;

/** Decides gas limit and price of a transaction and whether the account can pay it. */
export async function prepare(
  parts: PrepareParts,
  transaction: Transaction,
  account: Account,
  lane: LaneFigures,
): Promise<Preparation> {
  const request = readRequest(transaction.request);
  const policy = readPolicy(account.policies);
  const { chainId } = parts;
  const [market, wantedGas, balance] = await Promise.all([
    parts.market(),
    gasLimitOf(parts.read, request, policy, account.address),
    parts.balance(account.address),
  ]);

  const blockGasLimit = market.block.gasLimit;
  if (request.gasLimit !== null && request.gasLimit > blockGasLimit) {
    const reason = `Transaction gas limit (${request.gasLimit}) exceeds block gas limit (${blockGasLimit})`;
    return { kind: 'refused', reason };
  }
  // The reserve on top of an estimate must not make a transaction impossible that fits.
  const gasLimit = wantedGas < blockGasLimit ? wantedGas : blockGasLimit;
  const floor = floorAbove(policy.gasPriceCap, market);
  if (floor !== undefined) {
    const reason = `The network asks for ${floor} wei per gas, more than the gas_price_cap of ${policy.gasPriceCap}`;
    return { kind: 'parked', reason, retryInMs: PARKED_FOR_MS };
  }
  const price = capPrice(priceOf(request.price, market, policy, parts.settings.averageBlocktimeMs), policy.gasPriceCap);
  const baseFee = market.block.baseFeePerGas ?? 0n;
  if (mostPerGas(price) < baseFee) {
    // Signed now, it would keep its nonce without being mined, and hold up everything behind it.
    const reason = `The network's base fee is ${baseFee} wei per gas, more than the ${mostPerGas(price)} that were offered`;
    return { kind: 'parked', reason, retryInMs: PARKED_FOR_MS };
  }
  const cost = mostPerGas(price) * gasLimit + request.value;
  return (
    shortOfFunds(balance, cost, policy, lane) ?? {
      kind: 'ready',
      fields: fieldsOf(chainId, account.address, gasLimit, price) satisfies EvmFields as JsonObject,
      cost,
    }
  );
}

/** {@link prepare}'s cost of a transaction that went through it before; zero for one that did not. */
export function costOf(transaction: Transaction): bigint {
  const fields = readFields(transaction.fields);
  if (fields === undefined) return 0n;
  const perGas = fields.max_fee_per_gas ?? fields.gas_price ?? 0;
  return amountOf(perGas) * amountOf(fields.gas_limit) + readRequest(transaction.request).value;
}

/**
 * Money that other transactions of the lane may still take is not there for this one. What lacks even without them
 * will not come by waiting for them.
 */
function shortOfFunds(balance: bigint, cost: bigint, policy: EvmPolicy, lane: LaneFigures): Preparation | undefined {
  const needed = cost + policy.minBalance;
  if (balance - lane.committed >= needed) return undefined;
  const reserve = policy.minBalance > 0n && balance >= cost;
  const reason = [
    `Insufficient balance: Relayer balance ${balance} is insufficient to cover ${cost}`,
    reserve ? `, with an enforced minimum balance of ${policy.minBalance}` : '',
  ].join('');
  if (balance < needed) return { kind: 'refused', reason };
  const committed = ` while up to ${lane.committed} may be taken by transactions under way`;
  return { kind: 'parked', reason: reason + committed, retryInMs: PARKED_FOR_MS };
}

async function gasLimitOf(read: ReadOne, request: EvmRequest, policy: EvmPolicy, from: string): Promise<bigint> {
  if (request.gasLimit !== null) return request.gasLimit;
  if (!policy.estimatesGas) return fallbackGasLimit(request.data);
  try {
    const estimate = await estimateGas(read, {
      from,
      // A creation has no `to` at all: nodes take an empty one for a fault.
      ...(request.to === null ? {} : { to: normalAddress(request.to) }),
      value: toQuantity(request.value),
      ...(request.data === null ? {} : { data: toData(request.data) }),
    });
    return (estimate * 110n) / 100n;
  } catch (error) {
    // The node has answered, most often that the call reverts; it goes out all the same and shows so on chain.
    if (error instanceof RpcError && error.kind === 'node') return fallbackGasLimit(request.data);
    throw error;
  }
}

/** What the reference allows for a call that cannot be estimated. */
function fallbackGasLimit(data: string | null): bigint {
  if (data === null) return 21_000n;
  if (data.startsWith('0xa9059cbb')) return 65_000n;
  if (data.startsWith('0x23b872dd')) return 80_000n;
  return 200_000n;
}

function fieldsOf(chainId: bigint, from: string, gasLimit: bigint, price: Price): EvmFields {
  const fields = { chain_id: jsonAmount(chainId), from, gas_limit: jsonAmount(gasLimit) };
  return price.kind === 'legacy'
    ? { ...fields, gas_price: jsonAmount(price.gasPrice) }
    : {
        ...fields,
        max_fee_per_gas: jsonAmount(price.maxFeePerGas),
        max_priority_fee_per_gas: jsonAmount(price.maxPriorityFeePerGas),
      };
}
