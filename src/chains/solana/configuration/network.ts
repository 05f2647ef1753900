import { z } from 'zod';
import type { JsonObject } from '../../../domain/json/json.ts';
import { explorerUrlsSchema } from '../../chain.ts';

/** The fields of a Solana network entry, after inheritance, beside `type`, `network`, `from` and `rpc_urls`. */
const settingsSchema = z.strictObject({
  average_blocktime_ms: z
    .int()
    .min(1)
    .max(86_400_000)
    .default(400)
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
