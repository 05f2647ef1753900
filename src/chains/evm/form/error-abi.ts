import { Fragment } from 'ethers/abi';
import { z } from 'zod';

/** Longest ABI, in characters. That of a whole contract is often half as long. */
const MAX_ABI = 65_536;
const MAX_ENTRIES = 2_048;
/** Limits on the errors. Parsing each of them blocks the thread of all requests. */
const MAX_ERRORS_LENGTH = 32_768;
const MAX_ERROR = 4_096;
const MAX_ERRORS = 512;
/** Limit on tuples in tuples, and on arrays of arrays. Each level makes the parser read what is inside once more. */
const MAX_NESTING = 8;
const MORE_ARRAYS = new RegExp(`(\\[\\d*\\]\\s*){${MAX_NESTING + 1}}`);

type Entry = string | Record<string, unknown>;

const entry = z
  .unknown()
  .refine(isEntry, 'expected an ABI entry: an object or a text')
  .meta({ anyOf: [{ type: 'string' }, { type: 'object' }] });

/**
 * A contract's ABI, as JSON entries or as human-readable texts. Only its errors are kept, as human-readable texts. They
 * make the reason of a revert readable.
 */
export const errorAbiSchema = z
  .array(entry, 'expected a list of ABI entries')
  .max(MAX_ENTRIES, `expected at most ${MAX_ENTRIES} entries`)
  .transform((entries, context): string[] => {
    const fault = (message: string): never => {
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    };
    if (JSON.stringify(entries).length > MAX_ABI) return fault(`expected at most ${MAX_ABI} characters`);
    const errors = entries.filter(isError);
    if (JSON.stringify(errors).length > MAX_ERRORS_LENGTH) {
      return fault(`expected errors of at most ${MAX_ERRORS_LENGTH} characters`);
    }
    if (errors.length > MAX_ERRORS) return fault(`expected at most ${MAX_ERRORS} errors`);
    if (!errors.every(isParsableErrorAbi)) {
      return fault(`expected errors of at most ${MAX_ERROR} characters that nest at most ${MAX_NESTING} deep`);
    }
    try {
      return errors.map((error) => Fragment.from(error).format('full'));
    } catch {
      return fault('expected errors as JSON ABI entries or as texts like "error TooMuch(uint256 most)"');
    }
  });

/** Whether an error, as a JSON entry or as a text, can be parsed in no time. */
export function isParsableErrorAbi(error: unknown): boolean {
  // In a text, brackets surround the parameters: one level more. In an entry, they are objects in an object: two levels
  // more.
  const most = MAX_NESTING + (typeof error === 'string' ? 1 : 2);
  return JSON.stringify(error).length <= MAX_ERROR && nestsAtMost(most, error);
}

/** Whether objects in objects and brackets in brackets together nest at most so deep. */
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
    // Surplus closing brackets must not make room for more opening ones.
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
