/**
 * Globals that a guest must not have: threads' memory and clocks (SharedArrayBuffer, Atomics), memory outside the
 * heap's limit (WebAssembly), and code that runs when the collector likes, after the call (WeakRef,
 * FinalizationRegistry).
 */
const REMOVED = ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'WeakRef', 'FinalizationRegistry'];

/** Takes them away; none of them can be reached from what is left. */
export function removeGlobals(global: object): void {
  for (const name of REMOVED) {
    if (!Reflect.deleteProperty(global, name)) throw new Error(`${name} cannot be removed from the guest's world`);
  }
}

/** Takes away what only plugins that mention it have, and the one way to it. */
export function removeTemporal(global: typeof globalThis): void {
  Reflect.deleteProperty(global, 'Temporal');
  Reflect.deleteProperty(global.Date.prototype, 'toTemporalInstant');
}
