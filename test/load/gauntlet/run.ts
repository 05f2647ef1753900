import { monitorEventLoopDelay, type RecordableHistogram } from 'node:perf_hooks';
import type { Attack } from '../../support/attacks/attack.ts';
import { survivors } from '../../support/processes.ts';
import { seededRandom } from '../../support/seeded.ts';
import { readChain, readingOf, readShown } from '../soak/payments/evm/chain-record.ts';
import { planOf } from '../soak/payments/evm/plan.ts';
import { listAll, settle } from '../soak/payments/settling.ts';
import { judge as judgeTransactions, type Verdict as Transactions } from '../soak/payments/verdict.ts';
import { type Arena, openArena } from './arena.ts';
import { AttackRun } from './attack-run.ts';
import { HonestLoad, TRANSACTIONS_PER_SECOND } from './honest-load.ts';
import { HOSTILE, type HostilePlugin, hostilePlugins } from './hostile-plugins.ts';
import { type Evidence, judge, type Verdict } from './verdict.ts';
import { isHeldUp, Watching } from './watching.ts';

const ERRORS: ReadonlySet<string> = new Set(['error', 'fatal']);

/** Errors that a plugin causes in the server's log. From a hostile plugin they are expected. */
const OF_PLUGINS: ReadonlySet<string> = new Set(['a plugin is backed off', 'a plugin did not catch an error']);

const SHOWN = 300;

interface LogLine {
  level?: string;
  msg?: string;
  err?: { message?: string };
  pluginId?: string;
}

/** Errors in a server's output, logged or written directly, by text, with their counts. */
function errorsIn(output: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of output.split('\n')) {
    const text = errorOf(line);
    if (text !== null) counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return counts;
}

function errorOf(line: string): string | null {
  if (!line.startsWith('{')) return /Error\b|^\(node:\d+\)/.test(line) ? line.slice(0, SHOWN) : null;
  const { level, msg, err, pluginId } = JSON.parse(line) as LogLine;
  if (level === undefined || !ERRORS.has(level) || msg === undefined) return null;
  if (OF_PLUGINS.has(msg) && pluginId?.startsWith(HOSTILE) === true) return null;
  return [msg, ...(err?.message === undefined ? [] : [err.message])].join(': ').slice(0, SHOWN);
}

/** Times are in milliseconds. */
export interface GauntletOptions {
  readonly attacks: readonly Attack[];
  readonly seed: number;
  /** Honest load at the start that is not measured. */
  readonly warmUpMs: number;
  /**
   * Measured honest load without attacks: half of it before the attacks and half after them, because a shared machine
   * changes its speed from minute to minute.
   */
  readonly quietMs: number;
  /** Measured honest load under attack. */
  readonly attackMs: number;
  /** Pause between the last attack and the second quiet time, so that all processes of attackers end. */
  readonly settleMs: number;
  /** The shortest time between the starts of two attacks. */
  readonly paceMs: number;
  /** How long to wait for the last transactions to end. */
  readonly patienceMs: number;
  /** The time between full garbage collections in the server. Each blocks its main loop while it runs. */
  readonly collectEveryMs: number;
  /** Reports progress, one line at a time. */
  say(text: string): void;
}

/** The result of a gauntlet. */
export interface GauntletResult {
  readonly evidence: Evidence;
  readonly verdict: Verdict;
  /** How many rounds over all attacks were begun. */
  readonly rounds: number;
  /** Names of attacks that were not tried. */
  readonly untried: readonly string[];
  /** The back-offs of plugins, in seconds. */
  readonly backOffs: readonly number[];
  /** How often an attack was refused for another reason. */
  readonly refused: number;
  /** The longest stalls of the main loop, in milliseconds. */
  readonly stallMs: { readonly quiet: number; readonly attackRun: number };
  /** The same for this process. Its own stalls lengthen the measured times, although the server did not cause them. */
  readonly ownStallMs: { readonly quiet: number; readonly attackRun: number };
  /** Everything that the server wrote. */
  readonly output: string;
}

const LAST_PROCESS_MS = 5_000;
const RESOLUTION_MS = 10;
/** The plan has this many times as many requests as the load is expected to make. */
const SPARE = 1.2;

/** A period, in milliseconds on the clock of `performance`. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** Attacks a server under honest load, and judges the outcome of attacks, honest requests and transactions. */
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
  const { seed, warmUpMs, quietMs, attackMs, settleMs, paceMs, collectEveryMs, say } = options;
  const { service } = arena;
  const seconds = (warmUpMs + quietMs + attackMs + settleMs) / 1_000 + 60;
  const plan = planOf(seed, Math.ceil(seconds * TRANSACTIONS_PER_SECOND * SPARE), arena.relayers);
  const load = new HonestLoad(arena, plan);
  const watching = new Watching(service, collectEveryMs);
  const attackRun = new AttackRun(service, { hostile, random: seededRandom(seed, 'attackRun'), paceMs, say });
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
  const attacked = await spanOf(() => attackRun.run(attackMs));
  const ownAttackMs = longestOf(own);
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
  // Each look covers the second before it, so a look in the first second of a span covers time before the span.
  const stall = (spans: readonly Span[]) => {
    const isTold = isWithin(spans.map(({ from, to }) => ({ from: from + 1_000, to })));
    return Math.max(...watching.looks.filter(isTold).map(({ stallMs }) => stallMs));
  };
  const evidence: Evidence = {
    attempts: attackRun.attempts,
    recoveries: attackRun.recoveries,
    quiet: undisturbed.filter(isWithin(quiets)),
    attackRun: undisturbed.filter(isWithin([attacked])),
    failures: [...load.failures, ...attackRun.failures],
    looks: watching.looks.filter(isWithin([attacked])),
    collections: watching.collections.filter(isWithin([attacked])),
    transactions,
    left: left.map(({ pid, command }) => `${pid} ${command}`),
    serverEnd: endedEarly ?? (code === 0 ? null : `with ${code} when it was told to`),
    errors: errorsIn(service.output()),
  };
  const tried = new Set(attackRun.attempts.map(({ attack }) => attack));
  return {
    evidence,
    verdict: judge(evidence),
    rounds: attackRun.rounds,
    untried: options.attacks.map(({ name }) => name).filter((name) => !tried.has(name)),
    backOffs: attackRun.backOffs,
    refused: attackRun.refused,
    stallMs: { quiet: stall(quiets), attackRun: stall([attacked]) },
    ownStallMs: { quiet: Math.max(...quiets.map(({ ownMs }) => ownMs)), attackRun: ownAttackMs },
    output: service.output(),
  };
}

/** Waits until every transaction has ended, and judges each by the chain. */
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

/** The longest delay since the last query, without the timer's own interval, in milliseconds. */
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
