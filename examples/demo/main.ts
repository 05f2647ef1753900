/**
 * `npm run demo`, `npm run demo -- solana` and `npm run demo -- stellar`. Starts a local chain, and the server on its
 * embedded defaults in a temporary folder. Makes a keystore and calls a plugin once, after putting it into `plugins/`.
 * Prints what happened and removes everything. With `--stay` it runs until Ctrl-C, so that the console can show it.
 */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { evmDemo } from './evm.ts';
import { Narrator } from './narrator.ts';
import { solanaDemo } from './solana.ts';
import type { CleanUp } from './stage.ts';
import { stellarDemo } from './stellar.ts';

/**
 * One demo. It prints its steps and registers what has to be undone. Resolves with a function that pays again, if the
 * demo has one.
 */
type Demo = (say: Narrator, cleanUp: CleanUp, isWatched: boolean) => Promise<(() => Promise<void>) | undefined>;

const DEMOS = new Map<string, Demo>([
  ['evm', evmDemo],
  ['solana', solanaDemo],
  ['stellar', stellarDemo],
]);

const say = new Narrator(process.stdout, performance.now());
/** The pause between two payments with `--stay`. */
const PAUSE_MS = 6_000;
const { positionals, values } = parseArgs({ allowPositionals: true, options: { stay: { type: 'boolean' } } });
const [family = 'evm'] = positionals;
const stay = values.stay === true;
const leaving = new AbortController();
const steps: (() => Promise<unknown>)[] = [];
try {
  const demo = DEMOS.get(family);
  if (demo === undefined) throw new Error(`there is none of "${family}"; there is ${[...DEMOS.keys()].join(' and ')}`);
  if (stay) void once(process, 'SIGINT').then(() => leaving.abort());
  const again = await demo(say, (step) => steps.push(step), stay);
  if (stay) await watched(again);
  else say.done();
} catch (error) {
  process.exitCode = 1;
  say.failure(error);
} finally {
  for (const step of steps.reverse()) await step();
}

/** Runs until Ctrl-C. Pays again every {@link PAUSE_MS} if the demo has a further payment. */
async function watched(again: (() => Promise<void>) | undefined): Promise<void> {
  say.step('stay', `${again === undefined ? 'The server stays' : 'A payment every few seconds'}, until Ctrl-C`);
  while (!leaving.signal.aborted) {
    await delay(PAUSE_MS, undefined, { signal: leaving.signal }).catch(() => undefined);
    if (!leaving.signal.aborted) await again?.();
  }
}
