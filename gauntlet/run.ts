import { monitorEventLoopDelay, type RecordableHistogram } from 'node:perf_hooks';
import { readChain, readingOf, readShown } from '../soak/payments/evm/chain-record.ts';
import { planOf } from '../soak/payments/evm/plan.ts';
import { listAll, settle } from '../soak/payments/settling.ts';
import { judge as judgeTransactions, type Verdict as Transactions } from '../soak/payments/verdict.ts';
import type { Attack } from '../test/support/attacks/attack.ts';
import { survivors } from '../test/support/processes.ts';
import { seededRandom } from '../test/support/seeded.ts';
import { type Arena, openArena } from './arena.ts';
import { HonestLoad, TRANSACTIONS_PER_SECOND } from './honest-load.ts';
import { type HostilePlugin, hostilePlugins } from './hostile-plugins.ts';
import { errorsIn } from './server-log.ts';
import { Siege } from './siege.ts';
import { type Evidence, judge, type Verdict } from './verdict.ts';
import { isHeldUp, Watching } from './watching.ts';

/** What a gauntlet is asked for; times in milliseconds. */
export interface GauntletOptions {
  readonly attacks: readonly Attack[];
  readonly seed: number;
  /**
   * Honest load that nothing is measured of; honest load alone, half of it before and half after honest load under
   * attack: a machine that others share is another one from minute to minute.
   */
  readonly warmUpMs: number;
  readonly quietMs: number;
  readonly siegeMs: number;
  /** From the end of the last attack to the second quiet time: until no process of an attacker is left. */
  readonly settleMs: number;
  /** The least time from the beginning of one attack to that of the next. */
  readonly paceMs: number;
  /** How long the last transactions may take to end. */
  readonly patienceMs: number;
  /** From one full collection of the server's garbage to the next. Each stops its loop for as long as it takes. */
  readonly collectEveryMs: number;
  /** Progress, a line at a time. */
  say(text: string): void;
}

/** What came of a gauntlet. */
export interface GauntletResult {
  readonly evidence: Evidence;
  readonly verdict: Verdict;
  /** How often all attacks were begun. */
  readonly rounds: number;
  /** Attacks for which there was no time. */
  readonly untried: readonly string[];
  /** How long plugins were refused, in seconds. */
  readonly backOffs: readonly number[];
  /** How often an attack was refused otherwise. */
  readonly refused: number;
  /** The longest stalls of the main loop, in milliseconds. */
  readonly stallMs: { readonly quiet: number; readonly siege: number };
  /** The same of the process that asks: what it counts against the server, and is not the server's. */
  readonly ownStallMs: { readonly quiet: number; readonly siege: number };
  /** What the server wrote. */
  readonly output: string;
}

const LAST_PROCESS_MS = 5_000;
const RESOLUTION_MS = 10;
/** The plan has more requests than the load will make. */
const SPARE = 1.2;

/** A time, on the clock of `performance`. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** Attacks a server under honest load, and judges what became of attacks, honest requests and transactions. */
export async function runGauntlet(options: GauntletOptions): Promise<GauntletResult> {
  const hostile = hostilePlugins(options.attacks);
  const arena = await openArena(hostile);
  try {
    return await run(options, arena, hostile);
  } finally {
    await arena.close();
  }
}

async function run(options: GauntletOptions, arena: Arena, hostile: readonly HostilePlugin[]): Promise<GauntletResult> {
  const { seed, warmUpMs, quietMs, siegeMs, settleMs, paceMs, collectEveryMs, say } = options;
  const { service } = arena;
  const seconds = (warmUpMs + quietMs + siegeMs + settleMs) / 1_000 + 60;
  const plan = planOf(seed, Math.ceil(seconds * TRANSACTIONS_PER_SECOND * SPARE), arena.relayers);
  const load = new HonestLoad(arena, plan);
  const watching = new Watching(service, collectEveryMs);
  const siege = new Siege(service, { hostile, random: seededRandom(seed, 'siege'), paceMs, say });
  let endedEarly: string | null = null;
  const ending = { expected: false };
  const ended = service.exited.then((code) => {
    if (!ending.expected) endedEarly = `by itself, with ${code}`;
    return code;
  });

  await load.rehearse();
  load.start();
  await pass(warmUpMs);
  watching.start();
  const own = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  own.enable();
  const quietly = async () => {
    say('quiet');
    longestOf(own);
    const span = await spanOf(() => pass(quietMs / 2));
    return { ...span, ownMs: longestOf(own) };
  };
  const before = await quietly();
  say('under attack');
  const attacked = await spanOf(() => siege.run(siegeMs));
  const ownSiegeMs = longestOf(own);
  await pass(settleMs);
  const quiets = [before, await quietly()];
  await load.stop();
  say('waiting for the ends');
  const transactions = await judgeLoad(options, arena, load);
  await watching.stop();
  ending.expected = true;
  await service.stop();
  const code = await ended;
  const left = await survivors(watching.processes, LAST_PROCESS_MS);

  const undisturbed = load.samples.filter((sample) => !isHeldUp(sample, watching.pauses));
  // The first look of a time tells of the time before it.
  const stall = (spans: readonly Span[]) => {
    const isTold = isWithin(spans.map(({ from, to }) => ({ from: from + 1_000, to })));
    return Math.max(...watching.looks.filter(isTold).map(({ stallMs }) => stallMs));
  };
  const evidence: Evidence = {
    attempts: siege.attempts,
    recoveries: siege.recoveries,
    quiet: undisturbed.filter(isWithin(quiets)),
    siege: undisturbed.filter(isWithin([attacked])),
    failures: [...load.failures, ...siege.failures],
    looks: watching.looks.filter(isWithin([attacked])),
    collections: watching.collections.filter(isWithin([attacked])),
    transactions,
    left: left.map(({ pid, command }) => `${pid} ${command}`),
    serverEnd: endedEarly ?? (code === 0 ? null : `with ${code} when it was told to`),
    errors: errorsIn(service.output()),
  };
  const tried = new Set(siege.attempts.map(({ attack }) => attack));
  return {
    evidence,
    verdict: judge(evidence),
    rounds: siege.rounds,
    untried: options.attacks.map(({ name }) => name).filter((name) => !tried.has(name)),
    backOffs: siege.backOffs,
    refused: siege.refused,
    stallMs: { quiet: stall(quiets), siege: stall([attacked]) },
    ownStallMs: { quiet: Math.max(...quiets.map(({ ownMs }) => ownMs)), siege: ownSiegeMs },
    output: service.output(),
  };
}

/** Waits until every transaction has an end, and asks the chain itself what came of each. */
async function judgeLoad(
  { patienceMs, say }: GauntletOptions,
  { anvil, service, relayers }: Arena,
  load: HonestLoad,
): Promise<Transactions> {
  const listed = { relayerIds: relayers.map(({ relayerId }) => relayerId), readShown };
  const addresses = relayers.map(({ address }) => address);
  const open = await settle(service, listed, patienceMs);
  if (open.length > 0) say(`${open.length} transactions have no end yet, as ${JSON.stringify(open[0])}`);
  const shown = await listAll(service, listed);
  const chain = readingOf(await readChain(anvil, addresses, load.sent), new Set());
  const nothing = { intents: new Map(), replacements: [], endedAt: new Map() };
  return judgeTransactions({ ...nothing, intentions: load.sent, asked: load.client.asked, shown, chain });
}

/** The longest delay beyond the timer's own, in milliseconds, since it was asked for last. */
function longestOf(histogram: Pick<RecordableHistogram, 'max' | 'reset'>): number {
  const ms = histogram.max / 1e6 - RESOLUTION_MS;
  histogram.reset();
  return ms;
}

async function spanOf(what: () => Promise<void>): Promise<Span> {
  const from = performance.now();
  await what();
  return { from, to: performance.now() };
}

function isWithin(spans: readonly Span[]): (one: { at: number }) => boolean {
  return ({ at }) => spans.some(({ from, to }) => at >= from && at < to);
}

function pass(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
