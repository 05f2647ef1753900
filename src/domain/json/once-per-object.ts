/**
 * Reads each object once, for as long as it lives. Only for objects that nobody changes, as those of the store are: what
 * a reader checks and converts is the same each time, and takes longer than what is then done with it.
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
