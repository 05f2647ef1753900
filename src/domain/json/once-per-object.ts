/** Reads an object, each one once. */
export interface OncePerObject<O extends object, R> {
  (from: O): R;
  /** Gives the result for an object that the caller has just made from it. That object is not read. */
  know(from: O, result: R): void;
}

/**
 * Reads each object once and keeps the result as long as the object lives. Only for objects that nobody changes, like
 * those of the store. Checking and converting such an object gives the same result each time, and takes longer than
 * using the result.
 */
export function oncePerObject<O extends object, R>(read: (from: O) => R): OncePerObject<O, R> {
  const known = new WeakMap<O, { readonly result: R }>();
  const know = (from: O, result: R): R => {
    known.set(from, { result });
    return result;
  };
  return Object.assign(
    (from: O): R => {
      const once = known.get(from);
      return once === undefined ? know(from, read(from)) : once.result;
    },
    { know },
  );
}
