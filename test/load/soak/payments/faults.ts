import { type FaultProxy, startFaultProxy } from '../../../support/fault-proxy.ts';
import { type CallFaults, type FaultNature, type FaultRates, ratesFor } from '../../../support/faults/faults.ts';
import { seededRandom } from '../../../support/seeded.ts';
import { describeCounts } from '../report.ts';
import type { NodeEndpoint, Shown } from './chain.ts';
import { Cluster } from './cluster.ts';
import type { Job } from './jobs.ts';
import { pass } from './pass.ts';
import type { SoakOptions, SoakResult } from './run.ts';
import { Workload } from './workload.ts';
import { openWorld, type World } from './world.ts';

/** How often the lag of each node changes. */
const LAG_MS = 1_000;

/** Nodes that fall behind and catch up. */
interface Lagging {
  /** How often a node was set behind. */
  readonly times: number;
  /** Resolves when all nodes have caught up. Safe to call twice. */
  stop(): Promise<void>;
}

/** Sets nodes behind by random shares, at regular intervals. @param mayLag whether a node may be behind now */
function startLagging(nodes: readonly NodeEndpoint[], seed: number, mayLag: (index: number) => boolean): Lagging {
  const stopped = new AbortController();
  const random = seededRandom(seed, 'lagging');
  let times = 0;
  const each = async (shareOf: (index: number) => number) => {
    for (const [index, node] of nodes.entries()) {
      const share = shareOf(index);
      if (share > 0 && node.setBehind !== undefined) times += 1;
      await node.setBehind?.(share);
    }
  };
  const go = async () => {
    while (await pass(LAG_MS, stopped.signal)) await each((index) => (mayLag(index) ? random() : 0));
    await each(() => 0);
  };
  const going = go();
  return {
    get times() {
      return times;
    },
    async stop() {
      stopped.abort();
      await going;
    },
  };
}

/**
 * `trouble`: every endpoint has a bad connection, but its answers are true. In each mode an endpoint sometimes answers
 * with no figure, or an unreadable one, where the service can do without it or ask again. `lag`: in addition endpoints fall behind;
 * in turns one of them is up to date, or none. `pruned`: as `lag`, and they forget data that is a few blocks old.
 * `lies`: as `trouble`, and in some turns one endpoint lies and falls behind.
 */
export type FaultMode = 'trouble' | 'lag' | 'pruned' | 'lies';

export const FAULT_MODES: readonly FaultMode[] = ['trouble', 'lag', 'pruned', 'lies'];

export interface FaultOptions extends SoakOptions {
  modes: readonly FaultMode[];
  /** Numbers of endpoints, one phase for each in every mode; default 3, 2 and 1. */
  endpoints?: readonly number[];
  /** Probability of each fault of a request, from 0 to 1. For faults of single calls it is three times this. */
  rate: number;
  /** The least time for sending ten requests, in milliseconds. */
  pauseMs: number;
  /** Names of faults that are never made. */
  without?: readonly string[];
}

const ENDPOINTS = 3;
const WIDTH = 8;
/** How many times as likely a fault of a call is as a fault of a request. */
const CALL_WEIGHT = 3;
/** The length of a turn. In each turn other endpoints lie or are behind. */
const TURN_MS = 3_000;
/** Rates for an endpoint that never answers. */
const AWAY: FaultRates = { 'request dropped': 1 };
const NATURES: Record<FaultMode, readonly FaultNature[]> = {
  trouble: ['trouble', 'odd'],
  lag: ['trouble', 'odd', 'lag'],
  pruned: ['trouble', 'odd', 'lag', 'pruned'],
  lies: ['trouble', 'odd', 'lag', 'lie'],
};

/** A part of a run with one mode and one number of endpoints. */
interface Phase {
  readonly mode: FaultMode;
  readonly endpoints: number;
}

/** The phases, mode by mode. A single endpoint never lies, because the service promises nothing for that case. */
function phasesOf({ modes, endpoints: counts = [ENDPOINTS, 2, 1] }: FaultOptions): Phase[] {
  return modes.flatMap((mode) =>
    counts.filter((endpoints) => mode !== 'lies' || endpoints > 1).map((endpoints) => ({ mode, endpoints })),
  );
}

/**
 * The number of turns without a liar after each turn with one. Otherwise one round of calls could span two turns and
 * meet two liars.
 */
const TRUTHFUL_TURNS = 2;

/**
 * Whether an endpoint neither lies nor is behind in a turn. In mode `lies` at most one is untruthful. In other modes at
 * most one is truthful.
 */
function isTruthfulAt({ mode, endpoints }: Phase, turn: number, index: number): boolean {
  if (mode !== 'lies') return turn % (endpoints + 1) === index;
  const cycle = TRUTHFUL_TURNS + 1;
  return turn % cycle > 0 || Math.floor(turn / cycle) % endpoints !== index;
}

/** Sends through faulty endpoints, and judges the outcome by the chain. */
export async function soakFaults(options: FaultOptions): Promise<SoakResult> {
  const proxies: FaultProxy[] = [];
  const targets: NodeEndpoint[] = [];
  const began = performance.now();
  const phase: { now: Phase } = { now: { mode: 'trouble', endpoints: ENDPOINTS } };
  const turn = () => Math.floor((performance.now() - began) / TURN_MS);
  const world = await openWorld({
    ...options,
    endpoints: async (nodes) => {
      targets.push(...(await nodes.endpoints(ENDPOINTS)));
      for (const [index, { url: target }] of targets.entries()) {
        const isTruthful = () => isTruthfulAt(phase.now, turn(), index);
        const told = { calls: options.chain.callFaults(), isTruthful };
        proxies.push(await startFaultProxy({ target, seed: options.seed, name: `rpc-${index}x`, rates: {}, ...told }));
      }
      return proxies.map(({ url }) => url);
    },
  });
  const cluster = new Cluster(world);
  const workload = new Workload(world, cluster, options);
  const enter = (next: Phase) => {
    phase.now = next;
    const rates = ratesOf(next.mode, options);
    for (const [index, proxy] of proxies.entries()) proxy.setRates(index < next.endpoints ? rates : AWAY);
  };
  const lagging = startLagging(targets, options.seed, (index) => {
    return NATURES[phase.now.mode].includes('lag') && !isTruthfulAt(phase.now, turn(), index);
  });
  try {
    return await run(options, { world, cluster, workload, proxies, lagging, enter });
  } finally {
    await lagging.stop();
    await cluster.close();
    for (const proxy of proxies) await proxy.stop();
    await workload.close();
    await world.close();
  }
}

interface Stage {
  world: World;
  cluster: Cluster;
  workload: Workload;
  proxies: readonly FaultProxy[];
  lagging: Lagging;
  /** Starts the phase: its faults apply from now on. */
  enter(phase: Phase): void;
}

async function run(
  options: FaultOptions,
  { world, cluster, workload, proxies, lagging, enter }: Stage,
): Promise<SoakResult> {
  const began = performance.now();
  const { seed, transactions, modes, rate, pauseMs, patienceMs, say } = options;
  const phases = phasesOf(options);
  await cluster.startMissing();
  workload.watch();
  const share = Math.ceil(workload.jobs.length / phases.length);
  for (const [index, phase] of phases.entries()) {
    const jobs = workload.jobs.slice(index * share, (index + 1) * share);
    say(`${phase.mode}, ${phase.endpoints} endpoints: ${jobs.length} requests`);
    enter(phase);
    await sendSlowly(workload, jobs, pauseMs);
  }
  await workload.hush();
  const open = await workload.settle(patienceMs / 2);
  if (open.length > 0) say(`${open.length} have no end yet, as ${JSON.stringify(open[0])}; the faults stop`);
  for (const proxy of proxies) proxy.setRates({});
  await lagging.stop();
  if (open.length > 0) await workload.settle(patienceMs / 2);

  const verdict = await workload.conclude();
  const injected = sumOf(proxies);
  const faults = cluster.deaths.byThemselves.map((words) => `a process ended by itself: ${words}`);
  if (injected.size === 0) faults.push('no fault was done');
  if (verdict.accepted === 0) faults.push('nothing was accepted');
  return {
    lines: [
      ['database', `${world.database}, ${world.instances} at a time`],
      ['chain', options.chain.name],
      ['seed', seed],
      ['faults of', `${modes.join(', ')}, each at ${rate}`],
      ['transactions', transactions],
      ...workload.lines(),
      ['requests to nodes', proxies.reduce((sum, { requests }) => sum + requests, 0)],
      ['nodes fell behind', lagging.times],
      ['faults done', [...injected.values()].reduce((sum, count) => sum + count, 0)],
      ['by kind', describeCounts(injected)],
      ['ended in spite of them', open.length === 0 ? 'yes' : `not ${open.length}: ${describeStates(open)}`],
      ['seconds', ((performance.now() - began) / 1000).toFixed(0)],
    ],
    verdict,
    faults,
    output: cluster.output,
  };
}

/** A fault of a request affects all calls in it, so faults of single calls get a higher rate. */
function ratesOf(mode: FaultMode, { chain, rate, without = [] }: FaultOptions): FaultRates {
  const ofCalls = NATURES[mode].filter((nature) => nature === 'lag' || nature === 'lie' || nature === 'odd');
  const calls: CallFaults = chain.callFaults();
  const none = Object.fromEntries(without.map((fault) => [fault, 0]));
  return {
    ...ratesFor(['trouble'], rate),
    ...ratesFor(ofCalls, CALL_WEIGHT * rate, calls),
    // Rate 1, because a node that has dropped data does not have it a moment later.
    ...(NATURES[mode].includes('pruned') && ratesFor(['pruned'], 1, calls)),
    ...none,
  };
}

/** Sends slowly, so that the schedule and the faults of the phase affect many transactions. */
async function sendSlowly({ client }: Workload, jobs: readonly Job[], pauseMs: number): Promise<void> {
  const batch = 10;
  for (let start = 0; start < jobs.length; start += batch) {
    const pause = new Promise((resolve) => setTimeout(resolve, pauseMs));
    await client.sendAll(jobs.slice(start, start + batch), WIDTH);
    await pause;
  }
}

function describeStates(shown: readonly Shown[]): string {
  return describeCounts(
    new Map([...Map.groupBy(shown, ({ status }) => status)].map(([status, all]) => [status, all.length])),
  );
}

function sumOf(proxies: readonly FaultProxy[]): Map<string, number> {
  const sum = new Map<string, number>();
  for (const { injected } of proxies) {
    for (const [fault, count] of injected) sum.set(fault, (sum.get(fault) ?? 0) + count);
  }
  return sum;
}
