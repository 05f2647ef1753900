import { z } from 'zod';
import { networkFields, networkSchemaOf } from '../../chain.ts';

/** The fields of a Solana network entry, after inheritance, beside `type`, `network`, `from` and `rpc_urls`. */
const settingsSchema = z.strictObject({
  ...networkFields(400),
});

export const networkSchema = networkSchemaOf(settingsSchema);
