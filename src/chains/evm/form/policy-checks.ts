import { invalidRequest } from '../../../domain/errors.ts';
import type { Account } from '../../chain-client.ts';
import { normalAddress } from '../address.ts';
import { type EvmPolicy, readPolicy } from '../configuration/policy.ts';
import { leastGas } from '../price/gas.ts';
import type { EvmRequest } from '../schema.ts';

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;

/** @throws AppError `INVALID_REQUEST` when the policy does not let the account send there */
export function checkReceiver(to: string | null, policy: EvmPolicy, ownAddress: string): void {
  const fault = receiverFault(to, policy, ownAddress);
  if (fault !== undefined) throw invalidRequest(fault);
}

/**
 * @throws AppError `INVALID_REQUEST` when the policy asks for a gas limit and there is none, or when it is too low for
 * any node
 */
export function checkGasLimit(request: EvmRequest, policy: EvmPolicy): void {
  const fault = gasLimitFault(request, policy);
  if (fault !== undefined) throw invalidRequest(fault);
  const least = leastGas(request);
  if (request.gasLimit !== null && request.gasLimit < least) {
    throw invalidRequest(`gas_limit is too low, intrinsic gas is ${least} and gas_limit is ${request.gasLimit}`);
  }
}

/**
 * Why the account's policies forbid signing a request now; undefined when they allow it. The policies may have changed
 * since the request was accepted. Price cap and reserve are not checked here: they limit what is signed, and a
 * transaction waits until it fits them.
 */
export function policyViolation(request: EvmRequest, account: Account): string | undefined {
  const policy = readPolicy(account.policies);
  const { price, authorizationList: list } = request;
  const isLegacy = policy.eip1559 === false && price.kind === 'speed';
  const faults = {
    whitelist_receivers: receiverFault(request.to, policy, account.address),
    gas_limit_estimation: gasLimitFault(request, policy),
    eip1559_pricing: isLegacy && list.length > 0 ? 'authorization_list requires EIP-1559 fees' : undefined,
  };
  const [found] = Object.entries(faults).filter(([, fault]) => fault !== undefined);
  return found && `Policy ${found[0]}: ${found[1]}`;
}

function receiverFault(to: string | null, policy: EvmPolicy, ownAddress: string): string | undefined {
  if (policy.whitelist === null) return undefined;
  const receiver = to === null ? '' : normalAddress(to);
  const allowed = [...policy.whitelist, ZERO_ADDRESS, normalAddress(ownAddress)];
  return allowed.includes(receiver) ? undefined : 'Transaction target address is not whitelisted';
}

function gasLimitFault({ gasLimit }: EvmRequest, policy: EvmPolicy): string | undefined {
  if (gasLimit !== null || policy.estimatesGas) return undefined;
  return 'gas_limit is required when gas_limit_estimation policy is disabled';
}
