/**
 * Long runs, each with its own help: `npm run bench`, `npm run soak` and `npm run gauntlet`. The exit code is 1 if a
 * promise was broken or nothing was tried.
 */
const VERBS: { readonly [verb: string]: () => Promise<(args: readonly string[]) => Promise<boolean>> } = {
  bench: async () => (await import('./bench/bench.ts')).bench,
  soak: async () => (await import('./soak/soak.ts')).soak,
  gauntlet: async () => (await import('./gauntlet/gauntlet.ts')).gauntlet,
};

const [verb = '', ...args] = process.argv.slice(2);
const load = VERBS[verb];
if (load === undefined) throw new Error(`"${verb}" is none of ${Object.keys(VERBS).join(', ')}`);
const run = await load();
process.exitCode = (await run(args)) ? 0 : 1;
