/**
 * `npm run demo`, `npm run demo -- solana` and `npm run demo -- stellar`: a local chain, the server on its embedded defaults
 * in a temporary folder, a keystore made on the spot, and one call of a plugin that was dropped into `plugins/`. Prints what
 * happened and leaves nothing behind. With `--stay` it goes on until Ctrl-C, to be watched in the console.
 */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { evmDemo } from './evm.ts';
import { Narrator } from './narrator.ts';
import { solanaDemo } from './solana.ts';
import type { CleanUp } from './stage.ts';
import { stellarDemo } from './stellar.ts';

/** Tells and leaves what is to be undone; resolves with the way to pay again, where there is one. */
type Demo = (say: Narrator, cleanUp: CleanUp, isWatched: boolean) => Promise<(() => Promise<void>) | undefined>;

const DEMOS = new Map<string, Demo>([
  ['evm', evmDemo],
  ['solana', solanaDemo],
  ['stellar', stellarDemo],
]);

const say = new Narrator(process.stdout, performance.now());
/** Between two payments that somebody watches. */
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

/** Goes on until Ctrl-C, with a further payment now and then where the demo has one. */
async function watched(again: (() => Promise<void>) | undefined): Promise<void> {
  say.step('stay', `${again === undefined ? 'The server stays' : 'A payment every few seconds'}, until Ctrl-C`);
  while (!leaving.signal.aborted) {
    await delay(PAUSE_MS, undefined, { signal: leaving.signal }).catch(() => undefined);
    if (!leaving.signal.aborted) await again?.();
  }
}
