/**
 * Reads each object once and keeps the result as long as the object lives. Only for objects that nobody changes, like
 * those of the store. Checking and converting such an object gives the same result each time, and takes longer than
 * using the result.
 */
export function oncePerObject<O extends object, R>(read: (from: O) => R): (from: O) => R {
  const known = new WeakMap<O, { readonly result: R }>();
  return (from) => {
    let once = known.get(from);
    if (once === undefined) {
      once = { result: read(from) };
      known.set(from, once);
    }
    return once.result;
  };
}
