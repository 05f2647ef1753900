/**
 * `npm run demo` and `npm run demo -- solana`: a local chain, the server on its embedded defaults in a temporary folder, a
 * keystore made on the spot, and one call of a plugin that was dropped into `plugins/`. Prints what happened and leaves
 * nothing behind.
 */
import { evmDemo } from './evm.ts';
import { Narrator } from './narrator.ts';
import { solanaDemo } from './solana.ts';

const DEMOS = new Map([
  ['evm', evmDemo],
  ['solana', solanaDemo],
]);

const say = new Narrator(process.stdout, performance.now());
const [family = 'evm'] = process.argv.slice(2);
const steps: (() => Promise<unknown>)[] = [];
try {
  const demo = DEMOS.get(family);
  if (demo === undefined) throw new Error(`there is none of "${family}"; there is ${[...DEMOS.keys()].join(' and ')}`);
  await demo(say, (step) => steps.push(step));
  say.done();
} catch (error) {
  process.exitCode = 1;
  say.failure(error);
} finally {
  for (const step of steps.reverse()) await step();
}
