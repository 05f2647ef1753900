import { z } from 'zod';
import type { JsonObject } from '../../../domain/json/json.ts';
import type { Network } from '../../../features/networks/record.ts';
import { explorerUrlsSchema } from '../../chain.ts';
import { isContractAddress } from '../address.ts';

/**
 * The fields of a Stellar network entry, after inheritance, beside `type`, `network`, `from` and `rpc_urls`. The
 * passphrase may be absent: the endpoints know it.
 */
const settingsSchema = z.strictObject({
  passphrase: z.string().min(1).optional().describe('Network passphrase. Default: read from an endpoint'),
  horizon_url: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .optional()
    .describe('URL of the network’s Horizon, which is asked for prices'),
  fee_forwarder: z
    .string()
    .refine(isContractAddress, 'must be a contract (C…)')
    .optional()
    .describe('Fee forwarder contract (C…), by which users pay in a token for contract calls'),
  average_blocktime_ms: z
    .int()
    .min(1)
    .max(86_400_000)
    .default(5_000)
    .describe('Average time between two blocks, in milliseconds'),
  is_testnet: z
    .boolean()
    .optional()
    .describe('Whether this is a test network; shown in the API, and selects the Soroswap router on Stellar'),
  tags: z.array(z.string()).optional().describe('Labels; shown in the API, no effect'),
  explorer_urls: explorerUrlsSchema.optional().describe('URLs of block explorers; shown in the API, no effect'),
});

/** {@link settingsSchema} as the chain interface offers it; absent fields stay absent. */
export const networkSchema: z.ZodType<JsonObject> = settingsSchema.transform(
  (settings): JsonObject => JSON.parse(JSON.stringify(settings)) as JsonObject,
);

/** The passphrase that the network declares; null where it is asked for. */
export function declaredPassphrase({ settings }: Network): string | null {
  return settingsSchema.parse(settings).passphrase ?? null;
}

/** The URL of the network's Horizon; null where it names none. */
export function horizonUrl({ settings }: Pick<Network, 'settings'>): string | null {
  return settingsSchema.parse(settings).horizon_url ?? null;
}

/** The contract by which users pay for calls of contracts; null where the network names none. */
export function feeForwarder({ settings }: Pick<Network, 'settings'>): string | null {
  return settingsSchema.parse(settings).fee_forwarder ?? null;
}

/** Whether the network has the contracts of test networks. */
export function isTestnet({ settings }: Network): boolean {
  return settingsSchema.parse(settings).is_testnet === true;
}

/** The time from one ledger to the next, in milliseconds. */
export function blockTimeMs({ settings }: Network): number {
  return settingsSchema.parse(settings).average_blocktime_ms;
}
