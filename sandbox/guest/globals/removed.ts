/**
 * Globals that a guest must not have: threads' memory and clocks (SharedArrayBuffer, Atomics), memory outside the
 * heap's limit (WebAssembly), and code that runs when the collector likes, after the call (WeakRef,
 * FinalizationRegistry).
 */
const REMOVED = ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'WeakRef', 'FinalizationRegistry'];

/** Removes these globals. None of the remaining ones leads to them. */
export function removeGlobals(global: object): void {
  for (const name of REMOVED) {
    if (!Reflect.deleteProperty(global, name)) throw new Error(`${name} cannot be removed from the guest's world`);
  }
}

/** Removes `Temporal` and the only method that leads to it. Only plugins that mention `Temporal` keep it. */
export function removeTemporal(global: typeof globalThis): void {
  Reflect.deleteProperty(global, 'Temporal');
  Reflect.deleteProperty(global.Date.prototype, 'toTemporalInstant');
}
