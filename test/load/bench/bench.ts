/**
 * `npm run bench` runs all benchmarks, or those named as arguments; `npm run bench -- help` lists the names.
 * Compared targets run in the same run on the same cores, most of them in alternation. So the ratios are meaningful,
 * and the absolute figures only describe this machine.
 */
import { benchConsoles } from './consoles.ts';
import { benchDurable } from './durable.ts';
import { benchEvm } from './evm.ts';
import { benchGrowth } from './growth.ts';
import { benchHistory } from './history.ts';
import { benchKeyPlace } from './key-place.ts';
import { benchPluginCosts } from './plugin-costs.ts';
import { benchPlugins } from './plugins.ts';
import { benchPostgres } from './postgres.ts';
import { benchService } from './service.ts';
import { benchSigners } from './signers.ts';
import { benchSolana } from './solana.ts';
import { benchStellar } from './stellar.ts';
import {
  printConsoles,
  printDurable,
  printEvmTable,
  printGrowth,
  printHistory,
  printKeyPlace,
  printPluginCosts,
  printPostgres,
  printService,
  printSigners,
  printSolana,
  printStellar,
  printTable,
  printWaiting,
} from './table.ts';
import { benchWaiting } from './waiting.ts';

const SECONDS = numberOf('BENCH_SECONDS', 4);
const RUN = { seconds: SECONDS, rounds: 3 };
const PLUGINS = { seconds: SECONDS / 2, rounds: 9, steadySeconds: SECONDS, steadyRounds: 3, steadyRate: 50 };
const DURABLE = {
  sleeping: 10_000,
  waking: numberOf('BENCH_WAKING', 1_000),
  seconds: 100,
  together: 1_000,
  calls: numberOf('BENCH_CALLS', 500),
  rounds: 5,
};
const HISTORY = { final: 1_000_000, times: 20 };
const EVM = { transactions: 4_000, accounts: [1, 4, 16], steadyRate: 20, seconds: 2 * SECONDS };
const SIGNERS = { signatures: 500, together: 256 };
const KEYS = { transactions: 2_000, accounts: 4, rounds: 3 };
const SOLANA = { transactions: 2_000 };
/** `BENCH_DELAYS=3 BENCH_ACCOUNTS=1,8 BENCH_TRANSACTIONS=100` makes a run of half a minute. */
const POSTGRES = {
  transactions: numberOf('BENCH_TRANSACTIONS', 1_000),
  delays: numbersOf('BENCH_DELAYS', [0, 1, 3, 10]),
  accounts: numbersOf('BENCH_ACCOUNTS', [1, 8, 64]),
  lanes: [100, 1_000, 10_000],
};
/** The day at ten sends a second is passed at 40. */
const GROWTH = {
  relayers: numberOf('BENCH_RELAYERS', 10_000),
  plugins: numberOf('BENCH_PLUGINS', 1_000),
  active: 20,
  final: numberOf('BENCH_FINAL', 10_000_000),
  backlog: numberOf('BENCH_BACKLOG', 100_000),
  seconds: 5 * SECONDS,
  day: { rate: 40, seconds: numberOf('BENCH_DAY', 21_600) },
};
const STELLAR = { own: 50, bumps: 500 };

const BENCHES: { [name: string]: () => Promise<void> } = {
  plugins: async () => printTable(await benchPlugins(PLUGINS), PLUGINS),
  costs: async () => printPluginCosts(await benchPluginCosts()),
  durable: async () => printDurable(await benchDurable(DURABLE), DURABLE),
  waiting: async () => printWaiting(await benchWaiting(1000)),
  service: async () => printService(await benchService({ ...RUN, ...HISTORY }), HISTORY),
  consoles: async () => printConsoles(await benchConsoles({ ...RUN, rounds: 5 })),
  growth: async () => printGrowth(await benchGrowth(GROWTH), GROWTH),
  history: async () => printHistory(await benchHistory(HISTORY), HISTORY),
  evm: async () => printEvmTable(await benchEvm(EVM), EVM),
  signers: async () => printSigners(await benchSigners(SIGNERS), SIGNERS),
  keys: async () => printKeyPlace(await benchKeyPlace(KEYS), KEYS),
  postgres: async () => printPostgres(await benchPostgres(POSTGRES), POSTGRES),
  solana: async () => printSolana(await benchSolana(SOLANA), SOLANA),
  stellar: async () => printStellar(await benchStellar(STELLAR), STELLAR),
};

const USAGE = `npm run bench [-- <names>]: all, or some of ${Object.keys(BENCHES).join(', ')}
  BENCH_SECONDS=<number>        how long each round lasts, default 4
  BENCH_DELAYS, BENCH_ACCOUNTS  postgres: lists, for instance 3 and 1,8
  BENCH_WAKING, BENCH_CALLS=<number>  durable: calls that wake, and calls of each kind in a round
  BENCH_TRANSACTIONS=<number>   postgres: of each round, default 1000
  BENCH_RELAYERS, BENCH_PLUGINS, BENCH_FINAL, BENCH_BACKLOG=<number>, BENCH_DAY=<seconds>
                                growth: by default a day of six hours with 10 million transactions`;

function numbersOf(name: string, otherwise: readonly number[]): readonly number[] {
  const text = process.env[name];
  return text === undefined ? otherwise : text.split(',').map(Number);
}

function numberOf(name: string, otherwise: number): number {
  return Number(process.env[name] ?? otherwise);
}

/** Returns whether all names were known. */
export async function bench(names: readonly string[]): Promise<boolean> {
  const unknown = names.filter((name) => BENCHES[name] === undefined);
  if (unknown.length > 0) {
    const isHelp = unknown.every((name) => ['help', '--help'].includes(name));
    console.log(isHelp ? USAGE : `There is no bench ${unknown.join(', ')}.\n${USAGE}`);
    return isHelp;
  }
  for (const [name, run] of Object.entries(BENCHES)) if (names.length === 0 || names.includes(name)) await run();
  return true;
}
