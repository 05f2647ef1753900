/**
 * `npm run bench`: a warm plugin call and a call in a fresh isolate, over HTTP, against an empty fastify route and
 * workerd with the same handler, all in turns; and transactions through the server against a bare loop that sends to
 * the same node. What is compared is taken in one run on the same cores, so the ratios mean something and the absolute
 * figures only describe this machine. `npm run bench -- plugins` or `-- evm` runs one of the two.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startService } from '../test/support/service.ts';
import { createWorkspace } from '../test/support/workspace.ts';
import { benchEvm } from './evm.ts';
import { medianOf, type Round, saturate, steady, type Target } from './load.ts';
import { startEmptyRoute, startWorkerd } from './peers.ts';
import { printEvmTable, printTable } from './table.ts';

const ROUNDS = 3;
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4);
const STEADY_RATE = 50;
const EVM = { transactions: 4_000, accounts: [1, 4, 16], steadyRate: 20, seconds: 2 * SECONDS };

const cleanUp: (() => Promise<unknown>)[] = [];
const [only] = process.argv.slice(2);
if (only !== undefined && only !== 'plugins' && only !== 'evm') throw new Error(`There is no bench ${only}.`);
if (only !== 'evm') {
  try {
    await benchPlugins();
  } finally {
    for (const step of cleanUp.reverse()) await step();
  }
}
if (only !== 'plugins') printEvmTable(await benchEvm(EVM), EVM);

async function benchPlugins(): Promise<void> {
  const empty = await startEmptyRoute();
  cleanUp.push(() => empty.stop());
  const workerd = await startWorkerd();
  cleanUp.push(() => workerd.stop());
  const [warm, fresh] = await startIsolayer();
  const targets = [empty.target, workerd.target, warm, fresh];

  const busy = await inTurns(targets, (target) => saturate(target, SECONDS));
  const quiet = await inTurns(targets, (target) => steady(target, SECONDS, STEADY_RATE));
  const rows = targets.map((target) => ({ name: target.name, busy: busy(target), quiet: quiet(target) }));
  printTable(rows, { seconds: SECONDS, rounds: ROUNDS, steadyRate: STEADY_RATE });
}

/** The service with `hello` twice: once reusing isolates, once with a new one for each call. */
async function startIsolayer(): Promise<[Target, Target]> {
  const hello = await readFile(join(import.meta.dirname, '..', 'plugins', 'hello.ts'), 'utf8');
  const workspace = await createWorkspace({
    pluginFiles: { 'warm.ts': hello, 'fresh.ts': hello },
    plugins: [
      { id: 'warm', path: 'warm.ts' },
      { id: 'fresh', path: 'fresh.ts', isolation: 'call' },
    ],
    env: { RATE_LIMIT_REQUESTS_PER_SECOND: '1000000', RATE_LIMIT_BURST_SIZE: '1000000', LOG_LEVEL: 'info' },
  });
  cleanUp.push(() => workspace.remove());
  const service = await startService(workspace.env);
  cleanUp.push(() => service.stop());
  const target = (plugin: string, name: string): Target => ({
    name,
    url: `${service.url}/api/v1/plugins/${plugin}/call`,
    headers: { authorization: `Bearer ${service.apiKey}` },
    body: JSON.stringify({ params: { name: 'bench' } }),
  });
  return [target('warm', 'isolayer, warm isolate'), target('fresh', 'isolayer, fresh isolate')];
}

/** Measures the targets round by round in alternation, so that a drift of the machine hits them all. */
async function inTurns(
  targets: readonly Target[],
  measure: (target: Target) => Promise<Round>,
): Promise<(target: Target) => Round> {
  for (const target of targets) await steady(target, 1, 100);
  const rounds = new Map<Target, Round[]>(targets.map((target) => [target, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const target of targets) rounds.get(target)?.push(await measure(target));
  }
  return (target) => medianOf(rounds.get(target) ?? []);
}
