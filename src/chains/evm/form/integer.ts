import { z } from 'zod';
import { type JsonAmount, jsonAmount } from '../../../domain/amount.ts';

/** The form of an integer in a text, for the description of the API. */
export const INTEGER_PATTERN = '^(\\d{0,78}|0x[0-9a-fA-F]{1,64}|0o[0-7]{1,86}|0b[01]{1,256})$';
const INTEGER = new RegExp(INTEGER_PATTERN);

/**
 * Reads an integer as clients write it: a JSON number, decimal digits, or `0x`, `0o`, `0b`. An empty text is zero. A
 * number beyond 2^53 is refused, because it has lost digits already.
 */
export function readInteger(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  if (typeof value !== 'string') return undefined;
  if (!INTEGER.test(value)) return undefined;
  return BigInt(value);
}

/** An integer of at most `most`, in any form of {@link readInteger}. */
export function integerUpTo(most: bigint, fault: string): z.ZodType<JsonAmount> {
  const schema = z.unknown().transform((value, context): JsonAmount => {
    const integer = value === '' ? undefined : readInteger(value);
    if (integer !== undefined && integer >= 0n && integer <= most) return jsonAmount(integer);
    context.addIssue({ code: 'custom', message: fault });
    return z.NEVER;
  });
  return schema.meta({
    anyOf: [
      { type: 'integer', minimum: 0 },
      { type: 'string', pattern: '^(\\d{1,78}|0x[0-9a-fA-F]{1,64})$' },
    ],
  });
}
