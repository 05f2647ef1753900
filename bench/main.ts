/**
 * `npm run bench`: plugin calls over HTTP against an empty fastify route and workerd with the same handler, all in turns;
 * calls that wait; what the service takes and its reads cost; the engine's reads beside a long history; and transactions
 * through the server against a bare loop that sends to the same node. What is compared is taken in one run on the same cores, so the ratios mean something and
 * the absolute figures only describe this machine. `npm run bench -- plugins`, `-- waiting`, `-- service`,
 * `-- history`, `-- evm` or `-- solana` runs one of them.
 */
import { benchEvm } from './evm.ts';
import { benchHistory } from './history.ts';
import { benchPlugins } from './plugins.ts';
import { benchService } from './service.ts';
import { benchSolana } from './solana.ts';
import { printEvmTable, printHistory, printService, printSolana, printTable, printWaiting } from './table.ts';
import { benchWaiting } from './waiting.ts';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4);
const RUN = { seconds: SECONDS, rounds: 3 };
const PLUGINS = { seconds: SECONDS / 2, rounds: 9, steadySeconds: SECONDS, steadyRounds: 3, steadyRate: 50 };
const HISTORY = { final: 1_000_000, times: 20 };
const EVM = { transactions: 4_000, accounts: [1, 4, 16], steadyRate: 20, seconds: 2 * SECONDS };
const SOLANA = { transactions: 2_000 };

const BENCHES: { [name: string]: () => Promise<void> } = {
  plugins: async () => printTable(await benchPlugins(PLUGINS), PLUGINS),
  waiting: async () => printWaiting(await benchWaiting(1000)),
  service: async () => printService(await benchService(RUN)),
  history: async () => printHistory(await benchHistory(HISTORY), HISTORY),
  evm: async () => printEvmTable(await benchEvm(EVM), EVM),
  solana: async () => printSolana(await benchSolana(SOLANA), SOLANA),
};

const [only] = process.argv.slice(2);
if (only !== undefined && BENCHES[only] === undefined) throw new Error(`There is no bench ${only}.`);
for (const [name, bench] of Object.entries(BENCHES)) if (only === undefined || only === name) await bench();
