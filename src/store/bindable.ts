/** What both databases keep as it is: text, null, and integers that a number holds exactly. */
export type Bindable = string | number | null;

/**
 * Refuses a parameter that a driver would turn into something else without a word: a Date or NaN becomes NULL in one,
 * 2^53 + 1 becomes 2^53.
 * @throws TypeError
 */
export function bindable(value: unknown): Bindable {
  if (value === null || typeof value === 'string') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  const what = typeof value === 'number' ? String(value) : Object.prototype.toString.call(value);
  throw new TypeError(`${what} cannot be stored as it is`);
}
