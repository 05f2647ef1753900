import { z } from 'zod';
import { amountSchema } from '../../../domain/amount.ts';
import type { JsonObject } from '../../../domain/json/json.ts';
import { policyKit } from '../../policy-fields.ts';
import { ADDRESS_PATTERN, isAddress, normalAddress } from '../address.ts';
import { PriceLimit } from '../price/gas-price.ts';
import type { EvmRequest, RequestedPrice } from '../schema.ts';
import type { EvmNetworkSettings } from './network.ts';

/** What the policies of a relayer are asked about, before a request is accepted and before it is signed. */
export interface EvmSubjects {
  receiver: { to: string | null; relayer: string };
  request: EvmRequest;
  /** The price of a request, before it is accepted. What is signed is lowered to the cap. */
  price: RequestedPrice;
  authorizations: Pick<EvmRequest, 'price' | 'authorizationList'>;
  /** The network that a transaction is sent to. */
  network: Pick<EvmNetworkSettings, 'privateEndpoints'>;
  /** A signature for somebody else to send. */
  signature: unknown;
}

const { field, amount, policies } = policyKit<EvmSubjects>();

const address = z
  .string()
  .refine(isAddress, { error: ({ input }) => `${JSON.stringify(input)} is not an address` })
  .meta({ pattern: ADDRESS_PATTERN });

/** The most receivers in a list. Every request reads the whole list and is checked against it. */
const MAX_RECEIVERS = 4_096;

const receivers = z.array(address).max(MAX_RECEIVERS, `at most ${MAX_RECEIVERS} receivers can be listed`);

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;

/** An EVM relayer's policies. */
export const evmPolicies = policies({
  min_balance: amount(
    amountSchema(128),
    'Minimum balance that stays on the account, in wei. Default: 1; 0 switches it off',
    { unset: 1n, isAlwaysShown: true },
  ),
  gas_limit_estimation: field(z.boolean(), 'Whether a missing gas_limit is estimated. Default: true', {
    unset: true,
    isAlwaysShown: true,
    forbids: {
      request: (estimates, { gasLimit }) =>
        gasLimit !== null || estimates
          ? undefined
          : 'gas_limit is required when gas_limit_estimation policy is disabled',
    },
  }),
  gas_price_cap: amount(amountSchema(128), 'Maximum price of a unit of gas, in wei. Default: no limit', {
    read: (cap) => new PriceLimit(cap),
    unset: new PriceLimit(null),
    forbids: {
      price(limit, price) {
        const fault = price.kind === 'legacy' ? limit.fault('gas_price', price.gasPrice) : undefined;
        // In the reference's words.
        return fault && `Gas price is too high: ${fault}`;
      },
    },
  }),
  whitelist_receivers: field(receivers, 'Allowed receivers of transactions. Default: any', {
    read: (listed) => listed.map(normalAddress),
    forbids: {
      receiver(allowed, { to, relayer }) {
        const receiver = to === null ? '' : normalAddress(to);
        const isAllowed = allowed === null || [...allowed, ZERO_ADDRESS, normalAddress(relayer)].includes(receiver);
        return isAllowed ? undefined : 'Transaction target address is not whitelisted';
      },
    },
  }),
  eip1559_pricing: field(z.boolean(), 'Whether to send EIP-1559 transactions. Default: if the network supports them', {
    forbids: {
      authorizations: (isOn, { price, authorizationList: list }) =>
        isOn === false && price.kind === 'speed' && list.length > 0
          ? 'authorization_list requires EIP1559 parameters'
          : undefined,
    },
  }),
  private_transactions: field(
    z.boolean(),
    'Whether transactions go only to the private_rpc_urls of the network, which must have some. Default: false',
    {
      unset: false,
      forbids: {
        network: (isPrivate, { privateEndpoints }) =>
          isPrivate && privateEndpoints.length === 0 ? 'the network has no private_rpc_urls any more' : undefined,
        signature: (isPrivate) =>
          isPrivate
            ? 'A relayer with private_transactions signs only what it sends: whoever has the bytes can publish them'
            : undefined,
      },
    },
  ),
  private_blocks: field(
    z.int().min(1).max(10_000),
    'Blocks for which relays are asked to try a private transaction. Default: 25',
    // As long as Flashbots keeps a private transaction at most.
    { unset: 25 },
  ),
  private_then: field(
    z.enum(['wait', 'public']),
    'After that: wait, and go on with the relays, or send it to the public endpoints as well. Default: wait',
    { unset: 'wait' },
  ),
  include_revert_data: field(z.boolean(), 'Whether nodes are asked for the reason of a revert. Default: true', {
    unset: true,
    isAlwaysShown: true,
  }),
});

export const { read: readPolicy, fault: policyFault } = evmPolicies;

/** Policies as the adapter works with them, defaults filled in. */
export type EvmPolicy = ReturnType<typeof readPolicy>;

/**
 * Why a network cannot keep the policies; null if it can. A public endpoint makes a transaction public, so a relayer
 * whose transactions are to be private needs a network with `private_rpc_urls`.
 * @param settings of the network
 */
export function networkPolicyFault(policies: JsonObject, network: string, settings: JsonObject = {}): string | null {
  if (!readPolicy(policies).privateTransactions) {
    const idle = ['private_blocks', 'private_then'].find((name) => policies[name] != null);
    return idle === undefined ? null : `${idle} has no effect without private_transactions`;
  }
  if (settings['private_rpc_urls'] !== undefined) return null;
  return `private_transactions is not supported on network ${network}: its entry in the configuration has no private_rpc_urls`;
}
