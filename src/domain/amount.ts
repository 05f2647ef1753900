import { z } from 'zod';

/**
 * A non-negative integer as JSON keeps it: a number as far as a double is exact, decimal digits beyond. This is the
 * form in the store and in parsed configuration; arithmetic is done on {@link amountOf}.
 */
export type JsonAmount = number | string;

/** An amount of at most so many bits, given as a JSON number or a decimal string, kept exact. */
export function amountSchema(bits: number): z.ZodType<JsonAmount> {
  const schema = exactInteger((1n << BigInt(bits)) - 1n, (amount) =>
    amount !== undefined && amount < 0n
      ? 'must not be negative'
      : `expected an integer of at most ${bits} bits, as a number or a decimal string`,
  );
  return schema.meta({
    anyOf: [
      { type: 'integer', ...(bits === 64 ? { format: 'uint64' } : {}), minimum: 0 },
      { type: 'string', pattern: `^\\d{1,${digitsOf(bits)}}$` },
    ],
  });
}

/** How many decimal digits an integer of so many bits has at most. */
function digitsOf(bits: number): number {
  return ((1n << BigInt(bits)) - 1n).toString().length;
}

/** An amount of at most `most`, given as a JSON number or a decimal string, kept exact. */
export function amountUpTo(most: bigint): z.ZodType<JsonAmount> {
  return exactInteger(most, () => `expected an integer from 0 to ${most}`);
}

function exactInteger(most: bigint, fault: (amount: bigint | undefined) => string): z.ZodType<JsonAmount> {
  return z.unknown().transform((value, context): JsonAmount => {
    const amount = readAmount(value);
    if (amount !== undefined && amount >= 0n && amount <= most) return jsonAmount(amount);
    context.addIssue({ code: 'custom', message: fault(amount) });
    return z.NEVER;
  });
}

/** The amount as an integer. */
export function amountOf(value: JsonAmount): bigint {
  return BigInt(value);
}

/** The form that JSON keeps exact. */
export function jsonAmount(amount: bigint): JsonAmount {
  return amount <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(amount) : amount.toString();
}

/** Reads an amount. A number beyond 2^53 has lost digits already, so it is not an amount. */
function readAmount(value: unknown): bigint | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value === 'string' && /^-?\d{1,80}$/.test(value)) return BigInt(value);
  return undefined;
}

export function largestAmount(first: bigint, ...others: readonly bigint[]): bigint {
  return others.reduce((highest, amount) => (amount > highest ? amount : highest), first);
}

export function smallestAmount(first: bigint, ...others: readonly bigint[]): bigint {
  return others.reduce((lowest, amount) => (amount < lowest ? amount : lowest), first);
}
