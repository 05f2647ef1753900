import { z } from 'zod';

/** Digits of 2^64 - 1, the highest sequence of any family. */
const WIDTH = 20;
const LIMIT = 2n ** 64n;

/**
 * Writes a sequence as decimal digits of fixed width, so that both databases compare and order it without loss.
 * @throws RangeError outside 0 to 2^64 - 1
 */
export function sequenceText(sequence: bigint): string {
  if (sequence < 0n || sequence >= LIMIT) throw new RangeError(`No sequence: ${sequence}`);
  return sequence.toString().padStart(WIDTH, '0');
}

/** Reads the text of {@link sequenceText} back into a sequence. */
export const sequenceTextSchema = z
  .string()
  .regex(new RegExp(`^\\d{${WIDTH}}$`))
  .transform((digits) => BigInt(digits));
