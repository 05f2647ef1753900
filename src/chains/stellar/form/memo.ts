import { z } from 'zod';
import { amountSchema } from '../../../domain/amount.ts';
import { strictForm } from '../../../domain/json/issue-text.ts';

const hash = z
  .string()
  .regex(/^[0-9a-fA-F]{64}$/, 'expected 64 hexadecimal digits')
  .meta({ description: '32 bytes in hexadecimal' });

/** The longest text that the protocol takes, in bytes. */
const MAX_TEXT = 28;

/** A memo as clients write it. */
export const memoSchema = z.discriminatedUnion('type', [
  strictForm({ type: z.literal('none') }),
  strictForm({
    type: z.literal('text'),
    value: z.string().refine((text) => Buffer.byteLength(text) <= MAX_TEXT, `expected at most ${MAX_TEXT} bytes`),
  }),
  strictForm({ type: z.literal('id'), value: amountSchema(64) }),
  strictForm({ type: z.literal('hash'), value: hash }),
  strictForm({ type: z.literal('return'), value: hash }),
]);

export type WireMemo = z.output<typeof memoSchema>;
