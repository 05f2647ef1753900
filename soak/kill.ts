import { LIFE_STEPS } from '../src/engine/life-steps.ts';
import { seededRandom } from '../test/support/seeded.ts';
import { readChain } from './chain-record.ts';
import { Client } from './client.ts';
import { Fleet, type LastStep } from './fleet.ts';
import { type Intention, planOf } from './plan.ts';
import { describeCounts } from './report.ts';
import type { SoakOptions, SoakResult } from './run.ts';
import { listAll, settled } from './settling.ts';
import { judge } from './verdict.ts';
import { startWeather } from './weather.ts';
import { openWorld, type World } from './world.ts';

export interface KillOptions extends SoakOptions {
  /** How many processes are killed, at least. */
  kills: number;
  /** Whether a step at which no process ended fails the run. */
  everyStep: boolean;
}

/** How many requests are under way at the same time. */
const WIDTH = 8;
/** How long a process may take to come to the step at which it ends itself before another is killed at random. */
const LIFE_MS = [300, 4_000] as const;
/** How often one step is tried before it counts as one that this run does not come to. */
const TRIES_PER_STEP = 4;

/** Kills server processes at every step of a transaction's life and at random, and asks the chain what came of it. */
export async function soakKills(options: KillOptions): Promise<SoakResult> {
  const world = await openWorld(options);
  const fleet = new Fleet(world);
  const weather = startWeather(world.anvil, world.blocks, seededRandom(options.seed, 'weather'));
  try {
    return await run(options, world, fleet, () => weather.clear());
  } finally {
    await fleet.close();
    await weather.stop();
    await world.close();
  }
}

async function run(
  options: KillOptions,
  world: World,
  fleet: Fleet,
  clearWeather: () => Promise<void>,
): Promise<SoakResult> {
  const began = performance.now();
  const { seed, transactions } = options;
  const intentions = planOf(seed, transactions, world.relayers);
  const client = new Client(fleet);
  await fleet.startMissing();
  const [first, ...others] = intentions;
  if (first !== undefined) await client.probe(first);

  await killWhileSending(options, fleet, client, others);
  await clearWeather();
  await fleet.disarm();
  await fleet.startMissing();
  options.say('no more kills; waiting for the ends');
  const relayerIds = world.relayers.map(({ relayerId }) => relayerId);
  await settled(await fleet.pick(), relayerIds, options.patienceMs);

  const shown = await listAll(await fleet.pick(), relayerIds);
  const addresses = world.relayers.map(({ address }) => address);
  const chain = await readChain(world.anvil, addresses, intentions);
  const wishes = { canceled: new Set<string>(), replaced: new Map<string, readonly Intention[]>() };
  const { asked, repeats } = client;
  const verdict = judge({ intentions, asked, wishes, oncePerKey: repeats, shown, chain });
  const { atRandom, atStep, byThemselves } = fleet.deaths;
  const unreached = LIFE_STEPS.filter((step) => !atStep.has(step));
  const faults = byThemselves.map((words) => `a process ended by itself: ${words}`);
  if (atRandom + atStep.size === 0) faults.push('nothing was killed');
  if (options.everyStep && unreached.length > 0) faults.push(`no process ended at step ${unreached.join(', ')}`);
  if (verdict.accepted === 0) faults.push('nothing was accepted');
  const kills = atRandom + [...atStep.values()].reduce((sum, count) => sum + count, 0);
  return {
    lines: [
      ['database', `${world.database}, ${world.instances} at a time`],
      ['seed', seed],
      ['transactions', transactions],
      ['kills', kills],
      ['at random', atRandom],
      ['at a step', describeCounts(atStep)],
      ['keys repeated', repeats ? 'yes' : 'no: the service does not look at Idempotency-Key'],
      ['answers never heard', asked.unknown.size],
      ['refused', describeRefusals(asked.refused)],
      ['seconds', ((performance.now() - began) / 1000).toFixed(0)],
    ],
    verdict,
    faults,
  };
}

/** Sends a share of the requests in each life, whatever becomes of it. */
async function killWhileSending(
  { seed, kills, say }: KillOptions,
  fleet: Fleet,
  client: Client,
  intentions: readonly Intention[],
): Promise<void> {
  const random = seededRandom(seed, 'kills');
  const steps = plannedSteps(kills, random);
  const share = Math.ceil(intentions.length / kills);
  const sending: Promise<void>[] = [];
  for (let life = 0; life < kills; life += 1) {
    sending.push(client.sendAll(intentions.slice(life * share, (life + 1) * share), WIDTH));
    const lifeMs = LIFE_MS[0] + random() * (LIFE_MS[1] - LIFE_MS[0]);
    if (!(await fleet.endsWithin(lifeMs))) await fleet.killOne(random());
    await fleet.startMissing(fleet.isArmed || life === kills - 1 ? undefined : steps.shift());
    if ((life + 1) % 10 === 0) say(`${life + 1} of ${kills} lives, deaths at ${describeCounts(fleet.deaths.atStep)}`);
  }
  await Promise.all(sending);
}

/** Each step in turns, at its first occurrence in a process or a later one. */
function plannedSteps(kills: number, random: () => number): LastStep[] {
  const rounds = Math.min(TRIES_PER_STEP, Math.max(1, Math.floor(kills / LIFE_STEPS.length)));
  return Array.from({ length: rounds }, (_, round) =>
    LIFE_STEPS.map((step) => ({ step, occurrence: round === 0 ? 1 : 1 + Math.floor(random() * 20) })),
  ).flat();
}

function describeRefusals(refused: ReadonlyMap<number, string>): string {
  const counts = new Map<string, number>();
  for (const reason of refused.values()) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return describeCounts(counts);
}
