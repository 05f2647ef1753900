import { z } from 'zod';
import type { JsonObject } from '../../../domain/json/json.ts';

/** The fields of a Solana network entry, after inheritance, beside `type`, `network`, `from` and `rpc_urls`. */
const settingsSchema = z.strictObject({
  average_blocktime_ms: z.int().min(1).max(86_400_000).default(400).describe('From one block to the next'),
  is_testnet: z.boolean().optional().describe('Shown, and nothing else'),
  tags: z.array(z.string()).optional().describe('Kept, and used by nothing'),
  explorer_urls: z.array(z.url()).optional().describe('Kept, and used by nothing'),
});

/** {@link settingsSchema} as the chain interface offers it; absent fields stay absent. */
export const networkSchema: z.ZodType<JsonObject> = settingsSchema.transform(
  (settings): JsonObject => JSON.parse(JSON.stringify(settings)) as JsonObject,
);
