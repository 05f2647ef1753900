import { z } from 'zod';
import type { Network } from '../../../features/networks/record.ts';
import { networkFields, networkSchemaOf, webUrlSchema } from '../../chain.ts';
import { isContractAddress } from '../address.ts';

/**
 * The fields of a Stellar network entry, after inheritance, beside `type`, `network`, `from` and `rpc_urls`. The
 * passphrase may be absent: the endpoints know it.
 */
const settingsSchema = z.strictObject({
  passphrase: z.string().min(1).optional().describe('Network passphrase. Default: read from an endpoint'),
  horizon_url: webUrlSchema.optional().describe('URL of the network’s Horizon, which is asked for prices'),
  fee_forwarder: z
    .string()
    .refine(isContractAddress, 'must be a contract (C…)')
    .optional()
    .describe('Fee forwarder contract (C…), by which users pay in a token for contract calls'),
  ...networkFields(5_000),
});

export const networkSchema = networkSchemaOf(settingsSchema);

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
