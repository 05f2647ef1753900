import type { ConsoleFigures } from './consoles.ts';
import type { DurableBench, DurableFigures, Lateness } from './durable.ts';
import type { EvmBench, EvmFigures } from './evm.ts';
import type { GrowthBench, GrowthFigures } from './growth.ts';
import type { ReadFigures } from './history.ts';
import type { KeyPlaceBench, KeyPlaceFigures } from './key-place.ts';
import type { PluginCost } from './plugin-costs.ts';
import type { PluginBench, PluginFigures } from './plugins.ts';
import type { DueLanesFigures, PostgresBench, PostgresFigures } from './postgres.ts';
import type { ServiceFigures } from './service.ts';
import type { SignerBench, SignerFigures } from './signers.ts';
import type { SolanaBench, SolanaFigures } from './solana.ts';
import type { StellarBench, StellarFigures } from './stellar.ts';
import type { WaitingFigures } from './waiting.ts';

/** Prints the rows, each with its ratios to the first row (an empty route) and to the second (workerd). */
export function printTable({ rows, statusToHello, bareIsolateMs }: PluginFigures, run: PluginBench): void {
  const [, workerd] = rows;
  if (workerd === undefined) throw new Error('nothing to compare with');
  process.stdout.write(
    `\nMedians of ${run.rounds} rounds of ${run.seconds} s, taken in turns; the load generator shares the cores. A ratio is the median of\n` +
      'those of each round, with where the middle half of them lies.\n\n',
  );
  const steady = `p50 at ${run.steadyRate}/s`;
  line(['', 'calls/s', 'to empty', 'to workerd', '', 'CPU µs/call', 'p50 ms', 'p99 ms', steady, 'p99', 'to workerd']);
  for (const { name, busy, toEmpty, toWorkerd, quiet } of rows) {
    line([
      name,
      busy.rate.toFixed(0),
      `${toEmpty.median.toFixed(2)}×`,
      `${toWorkerd.median.toFixed(2)}×`,
      `${toWorkerd.low.toFixed(2)}–${toWorkerd.high.toFixed(2)}`,
      busy.cpu.toFixed(0),
      busy.p50.toFixed(0),
      busy.p99.toFixed(0),
      `${quiet.p50.toFixed(2)} ms`,
      `${quiet.p99.toFixed(2)} ms`,
      `${(quiet.p50 / workerd.quiet.p50).toFixed(2)}×`,
    ]);
  }
  const fresh = rows.find(({ name }) => name === 'hello, fresh isolate')?.quiet.p50 ?? Number.NaN;
  process.stdout.write(
    `\nA bare isolate with a context, made in a thread: p50 ${bareIsolateMs.toFixed(2)} ms at ${run.steadyRate}/s. ` +
      `A call of hello in a fresh isolate takes ${(fresh / bareIsolateMs).toFixed(2)}×.\n` +
      `Calls with one getRelayerStatus, against hello: ${statusToHello.median.toFixed(2)}× as many (${statusToHello.low.toFixed(2)}–${statusToHello.high.toFixed(2)}).\n`,
  );
}

/** Prints the one-time costs of plugins: build, first call, isolate. */
export function printPluginCosts(costs: readonly PluginCost[]): void {
  process.stdout.write('\nEach plugin once: a build, a first call, and its isolate after that.\n\n');
  line(['', 'compile', 'bundle', 'first call', 'isolate']);
  for (const { name, compileMs, bundleBytes, firstCallMs, isolateBytes } of costs) {
    line([
      name,
      `${compileMs.toFixed(0)} ms`,
      `${(bundleBytes / 1024).toFixed(0)} KiB`,
      `${firstCallMs.toFixed(0)} ms`,
      `${(isolateBytes / 1_048_576).toFixed(1)} MiB`,
    ]);
  }
}

/** The ceilings for durable calls: MiB, milliseconds; and the least of the rate of a plain call. */
const DURABLE_LIMITS = { mib: 30, lateMs: 1000, toPlain: 0.9 };

/** Prints what sleeping durable calls take, how late they wake, and what durable calls cost beside others. */
export function printDurable(
  { sleepingMib, running, spread, together, rows }: DurableFigures,
  run: DurableBench,
): void {
  const limits = DURABLE_LIMITS;
  process.stdout.write(`\n${run.sleeping} durable calls asleep, and others that wake.\n\n`);
  line(['', 'measured', 'asked for']);
  line(['more in the main process', `${sleepingMib.toFixed(1)} MiB`, `≤ ${limits.mib} MiB`]);
  line(['of them in an isolate', String(running), '0']);
  const late = (name: string, { p50, p99, last }: Lateness, asked: string) =>
    line([name, `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, the last ${last.toFixed(0)} ms`, asked]);
  late(`late, ${run.waking} within ${run.seconds} s`, spread, `p99 ≤ ${limits.lateMs} ms`);
  late(`late, ${run.together} at once`, together, '');
  process.stdout.write(
    `\nMedians of ${run.rounds} rounds of ${run.calls} calls, in turns. Asked for: durable ≥ ${limits.toPlain}×.\n\n`,
  );
  line(['', 'calls/s', 'to plain', 'CPU µs/call', 'to plain', 'p50 ms', 'p99 ms', 'commits']);
  for (const { name, round, toPlain, cpuToPlain, commits } of rows) {
    const rates = [round.rate.toFixed(0), `${toPlain.toFixed(2)}×`, round.cpu.toFixed(0), `${cpuToPlain.toFixed(2)}×`];
    line([name, ...rates, round.p50.toFixed(0), round.p99.toFixed(0), commits.toFixed(1)]);
  }
}

/** Prints the times and the memory of waiting calls. */
export function printWaiting({ calls, enteredSeconds, answeredSeconds, mibPerCall }: WaitingFigures): void {
  process.stdout.write(
    `\n${calls} calls waiting at once: all inside after ${enteredSeconds.toFixed(1)} s, each ${mibPerCall.toFixed(2)} MiB, ` +
      `all answered ${answeredSeconds.toFixed(1)} s after the word.\n`,
  );
}

/** The targets for the service. Units: seconds, MiB, MiB, a ratio (a minimum), milliseconds. */
const SERVICE_FLOORS = { readySeconds: 1, mainMib: 180, pluginMib: 30, readsToEmpty: 0.4, stallMs: 20 };

/**
 * Prints start time, memory and stalls of the service, each beside its target if it has one. Then prints its reads and
 * sends as ratios to an empty route. A stall is the longest time for which the main loop was blocked.
 */
export function printService(
  { firstReadySeconds, readySeconds, mainMib, pluginMib, reads, sends }: ServiceFigures,
  { final }: { final: number },
): void {
  const floors = SERVICE_FLOORS;
  process.stdout.write(`\nThe service with ten plugins, and beside ${final} final transactions.\n\n`);
  line(['', 'measured', 'asked for']);
  line(['ready', `${readySeconds.toFixed(2)} s`, `≤ ${floors.readySeconds} s`]);
  line(['ready, the first time', `${firstReadySeconds.toFixed(2)} s`, '']);
  line(['main process, idle', `${mainMib.toFixed(0)} MiB`, `≤ ${floors.mainMib} MiB`]);
  line(['each further active plugin', `${pluginMib.toFixed(0)} MiB`, `≤ ${floors.pluginMib} MiB`]);
  for (const [name, { stallMs, emptyStallMs }] of Object.entries({ reads, sends })) {
    const figures = `${stallMs.toFixed(0)} ms (empty ${emptyStallMs.toFixed(0)})`;
    line([`longest stall, ${name}`, figures, `≤ ${floors.stallMs} ms`]);
  }
  process.stdout.write('\n');
  line(['', 'answers/s', 'to empty', 'asked for', 'CPU µs/answer', 'p50 ms', 'p99 ms']);
  for (const [{ rows }, floor] of [
    [reads, `≥ ${floors.readsToEmpty.toFixed(2)}×`],
    [sends, ''],
  ] as const) {
    for (const [index, { name, busy, toEmpty }] of rows.entries()) {
      const figures = [busy.rate.toFixed(0), `${toEmpty.median.toFixed(2)}×`, index === 0 ? '' : floor];
      line([name, ...figures, busy.cpu.toFixed(0), busy.p50.toFixed(0), busy.p99.toFixed(0)]);
    }
  }
}

/** The limits for the first view: milliseconds and bytes. */
const VIEW_CEILINGS = { ms: 300, bytes: 100_000 };

/** Prints how fast the console appears, and the rates of other load with open consoles as ratios to those without. */
export function printConsoles({ views, loads }: ConsoleFigures): void {
  const [first] = views;
  if (first !== undefined) {
    const times = views.map(({ afterHtmlMs }) => afterHtmlMs).sort((a, b) => a - b);
    process.stdout.write(`\nThe first view of ${views.length} browsers, one after the other.\n\n`);
    line(['', 'first', 'median', 'longest', 'asked for']);
    const shown = [first.afterHtmlMs, times[Math.floor(times.length / 2)] ?? 0, times.at(-1) ?? 0];
    line(['after the HTML', ...shown.map((ms) => `${ms.toFixed(0)} ms`), `≤ ${VIEW_CEILINGS.ms} ms`]);
    line(['beside the HTML', `${first.bytes} B`, '', '', `≤ ${VIEW_CEILINGS.bytes} B`]);
  }
  process.stdout.write(
    '\nThe same load without and with ten open consoles, in turns; their own work shares the cores.\n\n',
  );
  line(['', 'alone/s', 'watched/s', 'to alone', '', 'CPU µs', 'CPU watched']);
  for (const { name, alone, watched, toAlone } of loads) {
    const ratio = [`${toAlone.median.toFixed(2)}×`, `${toAlone.low.toFixed(2)}–${toAlone.high.toFixed(2)}`];
    const rates = [alone.rate.toFixed(0), watched.rate.toFixed(0)];
    line([name, ...rates, ...ratio, alone.cpu.toFixed(0), watched.cpu.toFixed(0)]);
  }
}

/** Prints the times of the engine's reads on a store with a long history. */
export function printHistory(rows: readonly ReadFigures[], { final }: { final: number }): void {
  process.stdout.write(`\nThe engine's reads on the embedded store, with ${final} final transactions in one lane.\n\n`);
  line(['', 'first ms', 'then ms']);
  for (const { name, first, median } of rows) line([name, first.toFixed(2), median.toFixed(2)]);
}

/** Prints the round trips to the database for each transaction, and how long a search for due lanes takes. */
export function printPostgres(
  { relaying, dueLanes }: { relaying: readonly PostgresFigures[]; dueLanes: readonly DueLanesFigures[] },
  { transactions }: PostgresBench,
): void {
  process.stdout.write(`\n${transactions} transactions over HTTP, with PostgreSQL behind a delay.\n\n`);
  line(['delay ms', 'accounts', 'accepted/s', 'mined/s', 'trips/tx', 'in lanes/s', 'trips/tx']);
  for (const { delayMs, accounts, accepted, mined, roundTrips, drained, inLane } of relaying) {
    const [all, lanes] = [roundTrips.toFixed(2), inLane.toFixed(2)];
    line([String(delayMs), String(accounts), accepted.toFixed(0), mined.toFixed(0), all, drained.toFixed(0), lanes]);
  }
  process.stdout.write('\nFinding due lanes: the best of seven.\n\n');
  line(['lanes', 'a search, ms', 'to fewest', 'all lanes, ms']);
  for (const { lanes, ms, allMs } of dueLanes) {
    line([String(lanes), ms.toFixed(2), `${(ms / (dueLanes[0]?.ms ?? ms)).toFixed(1)}×`, allMs.toFixed(1)]);
  }
}

/** Prints the figures for each number of accounts, with mined transactions as a ratio to the bare loop. */
export function printEvmTable(rows: readonly EvmFigures[], { transactions, steadyRate }: EvmBench): void {
  process.stdout.write(
    `\n${transactions} transactions over HTTP to a node with ten blocks a second; all share the cores.\n\n`,
  );
  const heading = `p50/p99 at ${steadyRate}/s`;
  const rate = ['bare loop/s', 'accepted/s', 'mined/s', 'to bare loop', heading, 'of bare loop'];
  line(['accounts', ...rate, 'longest stall', 'CPU ms/tx', 'main thread']);
  for (const { accounts, bare, accepted, mined, latency, bareLatency, stallMs, cpuMs, mainMs } of rows) {
    const rates = [bare, accepted, mined].map((rate) => rate.toFixed(0));
    line([
      String(accounts),
      ...rates,
      `${(mined / bare).toFixed(2)}×`,
      `${latency.p50.toFixed(0)}/${latency.p99.toFixed(0)} ms`,
      `${bareLatency.p50.toFixed(0)}/${bareLatency.p99.toFixed(0)} ms`,
      `${stallMs.toFixed(0)} ms`,
      cpuMs.toFixed(2),
      mainMs.toFixed(2),
    ]);
  }
}

/** Prints the figures of relaying on Solana, with landed transactions as a ratio to the bare loop. */
export function printSolana({ bare, accepted, landed, cpuMs }: SolanaFigures, { transactions }: SolanaBench): void {
  process.stdout.write(
    `\n${transactions} transactions over HTTP to an SVM with ten blocks a second; all share the cores.\n\n`,
  );
  line(['', 'bare loop/s', 'accepted/s', 'landed/s', 'to bare loop', 'CPU ms/tx']);
  const rates = [bare, accepted, landed].map((rate) => rate.toFixed(0));
  line(['one account', ...rates, `${(landed / bare).toFixed(2)}×`, cpuMs.toFixed(2)]);
}

/** Prints the figures of relaying on Stellar, with landed transactions as a ratio to the bare loop. */
export function printStellar(rows: readonly StellarFigures[], { own, bumps }: StellarBench): void {
  process.stdout.write(
    `\n${own} payments of one account and ${bumps} fee bumps over HTTP, to a network with five ledgers a second; all share the cores.\n\n`,
  );
  line(['', 'bare loop/s', 'accepted/s', 'landed/s', 'to bare loop', 'CPU ms/tx']);
  for (const { name, bare, accepted, landed, cpuMs } of rows) {
    const rates = [bare, accepted, landed].map((rate) => rate.toFixed(1));
    line([name, ...rates, `${(landed / bare).toFixed(2)}×`, cpuMs.toFixed(2)]);
  }
}

/** Prints the cost of a signature by kind of signer and curve. */
export function printSigners(rows: readonly SignerFigures[], { signatures, together }: SignerBench): void {
  process.stdout.write(
    `\nMedians of ${signatures} signatures one after the other, without the network and the service's own time, but\n` +
      'for aws_kms, whose client and service talk over loopback. The bare operation is a signature and its proof.\n' +
      `Processor time is for each of ${together} at once.\n\n`,
  );
  line(['', 'µs', 'bare µs', 'to bare', 'CPU µs', 'main thread']);
  for (const { type, curve, micros, bareMicros, cpuMicros, mainMicros } of rows) {
    const times = [micros, bareMicros].map((value) => value.toFixed(0));
    const cpu = [cpuMicros, mainMicros].map((value) => value.toFixed(0));
    line([`${type} ${curve}`, ...times, `${(micros / bareMicros).toFixed(2)}×`, ...cpu]);
  }
}

/** Prints what a service costs as there is more and more of everything. */
export function printGrowth({ stages, reads }: GrowthFigures, bench: GrowthBench): void {
  const { relayers, plugins, final, backlog, day } = bench;
  process.stdout.write(
    `\n${relayers} relayers, ${plugins} plugins, ${final} final transactions, a backlog of ${backlog}, and ${day.rate} sends/s\n` +
      `for ${day.seconds} s with transactions kept for 36 s; on the embedded database and anvil.\n\n`,
  );
  line([
    '',
    'ready in',
    'loop busy',
    'main MiB',
    'plugins MiB',
    'longest stall',
    'scrape',
    'database MiB',
    'longest send',
  ]);
  for (const { name, readySeconds, cpu, stallMs, scrapeMs, sends, ...sizes } of stages) {
    const ready = readySeconds === null ? '' : `${readySeconds.toFixed(1)} s`;
    const mib = [sizes.mainMib, sizes.pluginsMib].map((size) => size.toFixed(0));
    const times = [stallMs, scrapeMs].map((ms) => `${ms.toFixed(0)} ms`);
    const failed = sends === null || sends.failed === 0 ? '' : `, ${sends.failed} failed`;
    const send = sends === null ? '' : `${sends.longestMs.toFixed(0)} ms${failed}`;
    line([name, ready, cpu.toFixed(2), ...mib, ...times, sizes.databaseMib.toFixed(1), send]);
  }
  process.stdout.write('\n');
  for (const { name, ms } of reads) line([`GET ${name}`, `${ms.toFixed(1)} ms`]);
}

/** Prints the processor time of a transaction, by the place of the keys. */
export function printKeyPlace(
  rows: readonly KeyPlaceFigures[],
  { transactions, accounts, rounds }: KeyPlaceBench,
): void {
  process.stdout.write(
    `\n${transactions} EVM transactions of ${accounts} accounts, by where the keys are; medians of ${rounds} rounds in turns.\n\n`,
  );
  line(['', 'CPU ms/tx', 'main thread']);
  for (const { name, cpuMs, mainMs } of rows) line([name, cpuMs.toFixed(2), mainMs.toFixed(2)]);
}

function line(cells: readonly string[]): void {
  const [name = '', ...figures] = cells;
  process.stdout.write(`${name.padEnd(26)}${figures.map((cell) => cell.padStart(14)).join('')}\n`);
}
