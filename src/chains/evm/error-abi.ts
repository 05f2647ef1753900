import { Fragment } from 'ethers';
import { z } from 'zod';

/** The size of a whole contract's ABI is often half of it. */
const LONGEST_ABI = 65_536;
/** Each error is parsed, in the time of everybody. */
const LONGEST_ERRORS = 32_768;

const entry = z.union([z.string(), z.record(z.string(), z.unknown())], 'expected an ABI entry: an object or a text');

/**
 * A contract's ABI, as JSON entries or as human-readable texts, of which the errors are kept in the latter form: with
 * them, what a revert says can be read.
 */
export const errorAbiSchema = z
  .array(entry, 'expected a list of ABI entries')
  .transform((entries, context): string[] => {
    const fault = (message: string): never => {
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    };
    if (JSON.stringify(entries).length > LONGEST_ABI) return fault(`expected at most ${LONGEST_ABI} characters`);
    const errors = entries.filter(isError);
    if (JSON.stringify(errors).length > LONGEST_ERRORS) {
      return fault(`expected errors of at most ${LONGEST_ERRORS} characters`);
    }
    try {
      return errors.map((error) => Fragment.from(error).format('full'));
    } catch {
      return fault('expected errors as JSON ABI entries or as texts like "error TooMuch(uint256 most)"');
    }
  });

function isError(value: z.output<typeof entry>): boolean {
  return typeof value === 'string' ? /^\s*error\b/.test(value) : value['type'] === 'error';
}
