import { type FaultProxy, startFaultProxy } from '../../test/support/fault-proxy.ts';
import { type Fault, type FaultNature, type FaultRates, ratesFor } from '../../test/support/faults.ts';
import { seededRandom } from '../../test/support/seeded.ts';
import { describeCounts } from '../report.ts';
import { readChain } from './chain-record.ts';
import { Client } from './client.ts';
import { Fleet } from './fleet.ts';
import { type Intention, planOf } from './plan.ts';
import type { SoakOptions, SoakResult } from './run.ts';
import { listAll, settle } from './settling.ts';
import { judge } from './verdict.ts';
import { startWeather } from './weather.ts';
import { Wishing } from './wishing.ts';
import { openWorld, type World } from './world.ts';

/**
 * `trouble`: every endpoint has a bad connection, and what comes through is true. `lag`: they are behind as well, each
 * by turns. `lies`: at any moment one of them tells the truth, and the others may tell anything.
 */
export type FaultMode = 'trouble' | 'lag' | 'lies';

export const FAULT_MODES: readonly FaultMode[] = ['trouble', 'lag', 'lies'];

export interface FaultOptions extends SoakOptions {
  modes: readonly FaultMode[];
  /** How likely each fault is for a request that it can befall, from 0 to 1; for a single call it is thrice that. */
  rate: number;
  /** Faults that are left out. */
  without?: readonly Fault[];
}

const ENDPOINTS = 3;
const WIDTH = 8;
/** How much likelier a fault of one call is than one of a request. */
const CALL_WEIGHT = 3;
/** How long one endpoint is the truthful one. */
const TURN_MS = 3_000;
const NATURES: Record<FaultMode, readonly FaultNature[]> = {
  trouble: ['trouble'],
  lag: ['trouble', 'lag'],
  lies: ['trouble', 'lag', 'lie'],
};

/** Sends through endpoints that do wrong, and asks the chain what came of it. */
export async function soakFaults(options: FaultOptions): Promise<SoakResult> {
  const proxies: FaultProxy[] = [];
  const began = performance.now();
  const truthful = (index: number) => Math.floor((performance.now() - began) / TURN_MS) % ENDPOINTS === index;
  const world = await openWorld({
    ...options,
    endpoints: async (target) => {
      for (let index = 0; index < ENDPOINTS; index += 1) {
        const isTruthful = () => truthful(index);
        proxies.push(
          await startFaultProxy({ target, seed: options.seed, name: `rpc-${index}`, rates: {}, isTruthful }),
        );
      }
      return proxies.map(({ url }) => url);
    },
  });
  const fleet = new Fleet(world);
  const random = seededRandom(options.seed, 'weather');
  const weather = startWeather(world.anvil, { blocks: world.blocks, changes: options.weather ?? true, random });
  try {
    return await run(options, world, fleet, proxies, () => weather.clear());
  } finally {
    await fleet.close();
    for (const proxy of proxies) await proxy.stop();
    await weather.stop();
    await world.close();
  }
}

async function run(
  { seed, transactions, modes, rate, without = [], patienceMs, lifecycle, say }: FaultOptions,
  world: World,
  fleet: Fleet,
  proxies: readonly FaultProxy[],
  clearWeather: () => Promise<void>,
): Promise<SoakResult> {
  const began = performance.now();
  const intentions = planOf(seed, transactions, world.relayers);
  const wishing = new Wishing(fleet, seed);
  const client = new Client(fleet, (intention, id) => lifecycle && wishing.consider(intention, id));
  await fleet.startMissing();
  const share = Math.ceil(intentions.length / modes.length);
  for (const [index, mode] of modes.entries()) {
    say(`${mode}: ${share} transactions`);
    for (const proxy of proxies) proxy.setRates(ratesOf(mode, rate, without));
    await sendSlowly(client, intentions.slice(index * share, (index + 1) * share));
  }
  await wishing.done();
  await clearWeather();
  const relayerIds = world.relayers.map(({ relayerId }) => relayerId);
  const open = await settle(await fleet.pick(), relayerIds, patienceMs / 2);
  if (open.length > 0) say(`${open.length} have no end yet, as ${JSON.stringify(open[0])}; the faults stop`);
  for (const proxy of proxies) proxy.setRates({});
  if (open.length > 0) await settle(await fleet.pick(), relayerIds, patienceMs / 2);

  const shown = await listAll(await fleet.pick(), relayerIds);
  const addresses = world.relayers.map(({ address }) => address);
  const chain = await readChain(world.anvil, addresses, [...intentions, ...wishing.replacements]);
  const { wishes } = wishing;
  const verdict = judge({ intentions, asked: client.asked, wishes, shown, chain });
  const injected = sumOf(proxies);
  const faults = fleet.deaths.byThemselves.map((words) => `a process ended by itself: ${words}`);
  if (injected.size === 0) faults.push('no fault was done');
  if (verdict.accepted === 0) faults.push('nothing was accepted');
  return {
    lines: [
      ['database', `${world.database}, ${world.instances} at a time`],
      ['blocks', world.blocks],
      ['seed', seed],
      ['faults of', `${modes.join(', ')}, each at ${rate}`],
      ['transactions', transactions],
      ['wishes', lifecycle ? describeCounts(wishing.answers) : 'none'],
      ['requests to nodes', proxies.reduce((sum, { requests }) => sum + requests, 0)],
      ['faults done', [...injected.values()].reduce((sum, count) => sum + count, 0)],
      ['by kind', describeCounts(injected)],
      ['ended in spite of them', open.length === 0 ? 'yes' : `not ${open.length}`],
      ['seconds', ((performance.now() - began) / 1000).toFixed(0)],
    ],
    verdict,
    faults,
    output: fleet.output,
  };
}

/** A fault of a request befalls all calls that share it, so those of single calls are likelier. */
function ratesOf(mode: FaultMode, rate: number, without: readonly Fault[]): FaultRates {
  const ofCalls = NATURES[mode].filter((nature) => nature !== 'trouble');
  const none = Object.fromEntries(without.map((fault) => [fault, 0]));
  return { ...ratesFor(['trouble'], rate), ...ratesFor(ofCalls, CALL_WEIGHT * rate), ...none };
}

/** So slowly that the weather and the faults meet many of them on their way. */
async function sendSlowly(client: Client, intentions: readonly Intention[]): Promise<void> {
  const batch = 10;
  for (let start = 0; start < intentions.length; start += batch) {
    const pause = new Promise((resolve) => setTimeout(resolve, 500));
    await client.sendAll(intentions.slice(start, start + batch), WIDTH);
    await pause;
  }
}

function sumOf(proxies: readonly FaultProxy[]): Map<Fault, number> {
  const sum = new Map<Fault, number>();
  for (const { injected } of proxies) {
    for (const [fault, count] of injected) sum.set(fault, (sum.get(fault) ?? 0) + count);
  }
  return sum;
}
