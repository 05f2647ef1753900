/** Values that both databases store unchanged: text, null, and integers that a number holds exactly. */
export type Bindable = string | number | null;

/**
 * Refuses a parameter that a driver would silently change: one driver turns a Date or NaN into NULL, one turns 2^53 + 1
 * into 2^53.
 * @throws TypeError
 */
export function bindable(value: unknown): Bindable {
  if (value === null || typeof value === 'string') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  const what = typeof value === 'number' ? String(value) : Object.prototype.toString.call(value);
  throw new TypeError(`${what} cannot be stored as it is`);
}
