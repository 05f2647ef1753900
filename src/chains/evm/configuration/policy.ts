import { z } from 'zod';
import { amountOf, amountSchema } from '../../../domain/amount.ts';
import { strictObjectSchema } from '../../../domain/json/issue-text.ts';
import { type JsonObject, memoizePerObject, type WireObject } from '../../../domain/json/json.ts';
import { ADDRESS_PATTERN, isAddress, normalAddress } from '../address.ts';

const address = z
  .string()
  .refine(isAddress, { error: ({ input }) => `${JSON.stringify(input)} is not an address` })
  .meta({ pattern: ADDRESS_PATTERN });

/** The most receivers in a list. Every request reads the whole list and is checked against it. */
const MAX_RECEIVERS = 4_096;

/** The policy fields, in the order in which answers show them. */
const fields = strictObjectSchema({
  min_balance: amountSchema(128)
    .nullish()
    .describe('Minimum balance that stays on the account, in wei. Default: 1; 0 switches it off'),
  gas_limit_estimation: z.boolean().nullish().describe('Whether a missing gas_limit is estimated. Default: true'),
  gas_price_cap: amountSchema(128).nullish().describe('Maximum price of a unit of gas, in wei. Default: no limit'),
  whitelist_receivers: z
    .array(address)
    .max(MAX_RECEIVERS, `at most ${MAX_RECEIVERS} receivers can be listed`)
    .nullish()
    .describe('Allowed receivers of transactions. Default: any'),
  eip1559_pricing: z
    .boolean()
    .nullish()
    .describe('Whether to send EIP-1559 transactions. Default: if the network supports them'),
  private_transactions: z
    .boolean()
    .nullish()
    .describe(
      'Whether transactions go only to the private_rpc_urls of the network, which must have some. Default: false',
    ),
  private_blocks: z
    .int()
    .min(1)
    .max(10_000)
    .nullish()
    .describe('Blocks for which relays are asked to try a private transaction. Default: 25'),
  private_then: z
    .enum(['wait', 'public'])
    .nullish()
    .describe('After that: wait, and go on with the relays, or send it to the public endpoints as well. Default: wait'),
  include_revert_data: z
    .boolean()
    .nullish()
    .describe('Whether nodes are asked for the reason of a revert. Default: true'),
});

/** An EVM relayer's policies; null means unset, and what is unset is left out. */
export const policySchema: z.ZodType<JsonObject> = fields.transform((policies) => {
  const set = Object.entries(policies).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(set) as JsonObject;
});

/** Policies as the adapter works with them, defaults filled in. */
export interface EvmPolicy {
  /** The reserve that every transaction leaves on the account; 0 switches it off. */
  minBalance: bigint;
  estimatesGas: boolean;
  gasPriceCap: bigint | null;
  /** In {@link normalAddress} form; null allows every receiver. */
  whitelist: readonly string[] | null;
  /** Null follows the network. */
  eip1559: boolean | null;
  /** How transactions are to be kept from the public before they are in a block; null: they need not. */
  privacy: { blocks: number; after: 'wait' | 'public' } | null;
  /** Whether to ask nodes for the data that a transaction reverted with. The reason that clients see then has it. */
  includesRevertData: boolean;
}

/** As long as Flashbots keeps a private transaction at most. */
const DEFAULT_PRIVATE_BLOCKS = 25;

/** Takes stored policies apart. */
export const readPolicy = memoizePerObject((policies: JsonObject): EvmPolicy => {
  const known = fields.parse(policies);
  return {
    minBalance: amountOf(known.min_balance ?? 1),
    estimatesGas: known.gas_limit_estimation ?? true,
    gasPriceCap: known.gas_price_cap == null ? null : amountOf(known.gas_price_cap),
    whitelist: known.whitelist_receivers?.map(normalAddress) ?? null,
    eip1559: known.eip1559_pricing ?? null,
    privacy:
      known.private_transactions === true
        ? { blocks: known.private_blocks ?? DEFAULT_PRIVATE_BLOCKS, after: known.private_then ?? 'wait' }
        : null,
    includesRevertData: known.include_revert_data ?? true,
  };
});

/**
 * Why a network cannot keep the policies; null if it can. A public endpoint makes a transaction public, so a relayer
 * whose transactions are to be private needs a network with `private_rpc_urls`.
 * @param settings of the network
 */
export function policyFault(policies: JsonObject, network: string, settings: JsonObject = {}): string | null {
  const { private_transactions: isPrivate, private_blocks: blocks, private_then: then } = fields.parse(policies);
  if (isPrivate !== true) {
    const idle = blocks == null ? (then == null ? undefined : 'private_then') : 'private_blocks';
    return idle === undefined ? null : `${idle} has no effect without private_transactions`;
  }
  if (settings['private_rpc_urls'] !== undefined) return null;
  return `private_transactions is not supported on network ${network}: its entry in the configuration has no private_rpc_urls`;
}

/** Policies as the API shows them; nothing when none is set. */
export function policyView(policies: JsonObject): WireObject | undefined {
  if (Object.keys(policies).length === 0) return undefined;
  const known = fields.parse(policies);
  const view: WireObject = {
    min_balance: amountOf(known.min_balance ?? 1),
    gas_limit_estimation: known.gas_limit_estimation ?? true,
    gas_price_cap: known.gas_price_cap == null ? undefined : amountOf(known.gas_price_cap),
    whitelist_receivers: known.whitelist_receivers ?? undefined,
    eip1559_pricing: known.eip1559_pricing ?? undefined,
    private_transactions: known.private_transactions ?? undefined,
    private_blocks: known.private_blocks ?? undefined,
    private_then: known.private_then ?? undefined,
    include_revert_data: known.include_revert_data ?? true,
  };
  return Object.fromEntries(Object.entries(view).filter(([, value]) => value !== undefined));
}

/** The balance that the health check asks for. */
export function minimumBalance(policies: JsonObject): bigint {
  return readPolicy(policies).minBalance;
}
