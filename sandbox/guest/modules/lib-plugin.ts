/** What `import … from '../lib/plugin'` gives a plugin that was written beside the library of the reference. */
export * from './relayer-sdk.ts';

/** The way before `handler`, which the reference itself no longer serves. */
export function runPlugin(): never {
  throw new Error('runPlugin is not there: export the function as handler, which is called with its context');
}
