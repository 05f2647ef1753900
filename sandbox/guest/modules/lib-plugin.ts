/** The exports of `'../lib/plugin'`, for a plugin that was written next to the library of the reference. */
export * from './relayer-sdk.ts';

/** The entry point of plugins from before `handler`. The reference no longer serves it either. */
export function runPlugin(): never {
  throw new Error('runPlugin is not there: export the function as handler, which is called with its context');
}
