/**
 * Goes on with a value: at once if it is there, else when it comes. Most reads are answered from memory, where each
 * promise on the way takes longer than the read.
 */
export function whenKnown<T, R>(value: T | Promise<T>, goOn: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(goOn) : goOn(value);
}
