import { Fragment } from 'ethers/abi';
import { z } from 'zod';

/** The size of a whole contract's ABI is often half of it. */
const LONGEST_ABI = 65_536;
const MOST_ENTRIES = 2_048;
/** Each error is parsed, in the time of everybody. */
const LONGEST_ERRORS = 32_768;
const LONGEST_ERROR = 4_096;
const MOST_ERRORS = 512;
/** Tuples in tuples, and arrays of arrays: what is inside is read once more for each of them. */
const MOST_NESTING = 8;
const MORE_ARRAYS = new RegExp(`(\\[\\d*\\]\\s*){${MOST_NESTING + 1}}`);

type Entry = string | Record<string, unknown>;

const entry = z
  .unknown()
  .refine(isEntry, 'expected an ABI entry: an object or a text')
  .meta({ anyOf: [{ type: 'string' }, { type: 'object' }] });

/**
 * A contract's ABI, as JSON entries or as human-readable texts, of which the errors are kept in the latter form: with
 * them, what a revert says can be read.
 */
export const errorAbiSchema = z
  .array(entry, 'expected a list of ABI entries')
  .max(MOST_ENTRIES, `expected at most ${MOST_ENTRIES} entries`)
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
    if (errors.length > MOST_ERRORS) return fault(`expected at most ${MOST_ERRORS} errors`);
    if (!errors.every(isParsable)) {
      return fault(`expected errors of at most ${LONGEST_ERROR} characters that nest at most ${MOST_NESTING} deep`);
    }
    try {
      return errors.map((error) => Fragment.from(error).format('full'));
    } catch {
      return fault('expected errors as JSON ABI entries or as texts like "error TooMuch(uint256 most)"');
    }
  });

/** Whether an error, as a JSON entry or as a text, can be parsed in no time. */
export function isParsable(error: unknown): boolean {
  // A text has brackets around its parameters, an entry has them as objects in an object.
  const most = MOST_NESTING + (typeof error === 'string' ? 1 : 2);
  return JSON.stringify(error).length <= LONGEST_ERROR && nestsAtMost(most, error);
}

/** Whether objects in objects and brackets in brackets, together, are at most so many. */
function nestsAtMost(most: number, value: unknown): boolean {
  if (typeof value === 'string') return bracketsIn(value) <= most && !MORE_ARRAYS.test(value);
  if (typeof value !== 'object' || value === null) return true;
  const inside = Array.isArray(value) ? most : most - 1;
  return inside >= 0 && Object.values(value).every((one) => nestsAtMost(inside, one));
}

function bracketsIn(text: string): number {
  let deepest = 0;
  let depth = 0;
  for (const [bracket] of text.matchAll(/[()]/g)) {
    // What closes too often must not make room for others.
    depth = bracket === '(' ? depth + 1 : Math.max(0, depth - 1);
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

function isEntry(value: unknown): value is Entry {
  return typeof value === 'string' || (typeof value === 'object' && value !== null && !Array.isArray(value));
}

function isError(value: Entry): boolean {
  return typeof value === 'string' ? /^\s*error\b/.test(value) : value['type'] === 'error';
}
