import { setTimeout as sleep } from 'node:timers/promises';
import type { CrashPoint } from '../../../../src/engine/lane/lane-step.ts';
import { seededRandom } from '../../../support/seeded.ts';
import { describeCounts } from '../report.ts';
import { Cluster, type LastStep } from './cluster.ts';
import type { SoakOptions, SoakResult } from './run.ts';
import { startTroubles } from './troubles.ts';
import { Workload } from './workload.ts';
import { openWorld, type World } from './world.ts';

export interface KillOptions extends SoakOptions {
  /** The most processes that are killed. */
  kills: number;
  /** Whether the run fails if no process ended at one of the steps. */
  everyStep: boolean;
}

/** The number of concurrent requests of one share. */
const WIDTH = 8;
/** The time until a process is killed: while an armed one may still reach its step, and otherwise. */
const STEP_LIFE_MS = [6_000, 10_000] as const;
const RANDOM_LIFE_MS = [200, 2_500] as const;
/** The latest occurrence of a step at which a process kills itself. */
const LATEST_OCCURRENCE = 8;
/** Nothing is killed after this time, also on a slow machine. */
const KILLING_MS = 900_000;
/** How often missing instances are started. */
const KEEP_UP_MS = 1_000;

/** Kills server processes at every step of a transaction's life and at random, and judges the outcome by the chain. */
export async function soakKills(options: KillOptions): Promise<SoakResult> {
  const world = await openWorld(options);
  const cluster = new Cluster(world);
  const workload = new Workload(world, cluster, options);
  try {
    return await run(options, world, cluster, workload);
  } finally {
    await cluster.close();
    await workload.close();
    await world.close();
  }
}

async function run(options: KillOptions, world: World, cluster: Cluster, workload: Workload): Promise<SoakResult> {
  const began = performance.now();
  const { seed, transactions, chain, calm = false } = options;
  await cluster.startMissing();
  workload.watch();
  const random = seededRandom(seed, 'troubles');
  const troubles = calm ? null : startTroubles({ cluster, postgres: world.postgres, random });
  try {
    await killWhileSending(options, cluster, workload);
  } finally {
    await troubles?.stop();
  }
  await cluster.disarm();
  await cluster.startMissing();
  await workload.hush();
  options.say('no more kills; waiting for the ends');
  await workload.settle(options.patienceMs);

  const verdict = await workload.conclude();
  const { atRandom, atStep, byThemselves } = cluster.deaths;
  const unreached = chain.steps.filter((step) => !atStep.has(step));
  const faults = byThemselves.map((words) => `a process ended by itself: ${words}`);
  if (atRandom + atStep.size === 0) faults.push('nothing was killed');
  if (options.everyStep && unreached.length > 0) faults.push(`no process ended at step ${unreached.join(', ')}`);
  if (verdict.accepted === 0) faults.push('nothing was accepted');
  const kills = atRandom + [...atStep.values()].reduce((sum, count) => sum + count, 0);
  return {
    lines: [
      ['database', `${world.database}, ${world.instances} at a time`],
      ['chain', chain.name],
      ['seed', seed],
      ['transactions', transactions],
      ['kills', kills],
      ['at random', atRandom],
      ['at a step', describeCounts(atStep)],
      ['other trouble', describeCounts(troubles?.counts ?? new Map())],
      ...workload.lines(),
      ['seconds', ((performance.now() - began) / 1000).toFixed(0)],
    ],
    verdict,
    faults,
    output: cluster.output,
  };
}

/** Sends a share of the requests and kills one process, again and again. Every other round may arm the next process. */
async function killWhileSending(
  { seed, kills, chain, say }: KillOptions,
  cluster: Cluster,
  workload: Workload,
): Promise<void> {
  const random = seededRandom(seed, 'kills');
  const tries = new Map<CrashPoint, number>();
  const { client, jobs } = workload;
  const share = Math.ceil(jobs.length / kills);
  const sending: Promise<void>[] = [];
  const end = performance.now() + KILLING_MS;
  let sent = 0;
  for (let life = 0; life < kills && performance.now() < end; life += 1) {
    sending.push(client.sendAll(jobs.slice(sent, sent + share), WIDTH));
    sent += share;
    const limit = cluster.isArmed ? STEP_LIFE_MS : RANDOM_LIFE_MS;
    if (!(await cluster.endsWithin(limit[0] + random() * (limit[1] - limit[0])))) await cluster.killOne(random());
    const mayArm = life % 2 === 0 && !cluster.isArmed && life < kills - 1;
    await cluster.startMissing(mayArm ? nextStep(chain.steps, { cluster, tries, random }) : undefined);
    if ((life + 1) % 10 === 0) say(`${life + 1} of ${kills} lives, deaths at ${describeCounts(cluster.deaths.atStep)}`);
  }
  sending.push(client.sendAll(jobs.slice(sent), WIDTH));
  await keepUp(cluster, Promise.all(sending));
}

/** Starts missing instances until everything is sent. An armed one may end only now, and a start may have failed. */
async function keepUp(cluster: Cluster, sending: Promise<unknown>): Promise<void> {
  let isOver = false;
  const over = sending.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await cluster.startMissing();
    await Promise.race([over, sleep(KEEP_UP_MS)]);
  }
  await over;
}

/**
 * The step with the fewest attempts and deaths so far. Chooses its first occurrence until a process has ended there,
 * then a random one.
 */
function nextStep(
  steps: readonly CrashPoint[],
  { cluster, tries, random }: { cluster: Cluster; tries: Map<CrashPoint, number>; random: () => number },
): LastStep | undefined {
  const triesOf = (step: CrashPoint) => tries.get(step) ?? 0;
  const deathsAt = (step: CrashPoint) => cluster.deaths.atStep.get(step) ?? 0;
  const weight = (step: CrashPoint) => triesOf(step) + deathsAt(step);
  const least = Math.min(...steps.map(weight));
  const step = steps.find((one) => weight(one) === least);
  if (step === undefined) return undefined;
  tries.set(step, triesOf(step) + 1);
  return { step, occurrence: 1 + (deathsAt(step) > 0 ? Math.floor(random() * LATEST_OCCURRENCE) : 0) };
}
