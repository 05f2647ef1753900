import { z } from 'zod';

/** The chain families, as written on the wire. */
export const networkTypeSchema = z.enum(['evm', 'solana', 'stellar']);

/** The family of a network that names none. */
export const DEFAULT_NETWORK_TYPE = networkTypeSchema.options[0];

export type NetworkType = z.infer<typeof networkTypeSchema>;
