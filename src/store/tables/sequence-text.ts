import { z } from 'zod';

/** Digits of 2^64 - 1: no family has a higher sequence. */
const WIDTH = 20;
const LIMIT = 2n ** 64n;

/**
 * A sequence as both databases compare and order it without loss: decimal digits of one width.
 * @throws RangeError outside 0 to 2^64 - 1
 */
export function sequenceText(sequence: bigint): string {
  if (sequence < 0n || sequence >= LIMIT) throw new RangeError(`No sequence: ${sequence}`);
  return sequence.toString().padStart(WIDTH, '0');
}

/** The way back from {@link sequenceText}. */
export const sequenceTextSchema = z
  .string()
  .regex(new RegExp(`^\\d{${WIDTH}}$`))
  .transform((digits) => BigInt(digits));
