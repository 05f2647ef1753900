import { z } from 'zod';
import type { JsonObject } from '../../domain/json/json.ts';
import type { Network } from '../../domain/network.ts';

/**
 * The fields of a Stellar network entry, after inheritance, beside `type`, `network`, `from` and `rpc_urls`. The
 * passphrase may be absent: the endpoints know it.
 */
const settingsSchema = z.strictObject({
  passphrase: z.string().min(1).optional().describe('Absent: asked for'),
  horizon_url: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .optional()
    .describe('Of its Horizon'),
  average_blocktime_ms: z.int().min(1).max(86_400_000).default(5_000).describe('From one block to the next'),
  is_testnet: z.boolean().optional().describe('Shown, and nothing else'),
  tags: z.array(z.string()).optional().describe('Kept, and used by nothing'),
  explorer_urls: z.array(z.url()).optional().describe('Kept, and used by nothing'),
});

/** {@link settingsSchema} as the chain interface offers it; what is absent stays absent. */
export const networkSchema: z.ZodType<JsonObject> = settingsSchema.transform(
  (settings): JsonObject => JSON.parse(JSON.stringify(settings)) as JsonObject,
);

/** The passphrase that the network declares; null where it is asked for. */
export function declaredPassphrase({ settings }: Network): string | null {
  return settingsSchema.parse(settings).passphrase ?? null;
}
