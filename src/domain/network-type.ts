import { z } from 'zod';

/** The chain families, as written on the wire. */
export const networkTypeSchema = z.enum(['evm', 'solana', 'stellar']);

export type NetworkType = z.infer<typeof networkTypeSchema>;
