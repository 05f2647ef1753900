/**
 * Compares the processor time of an EVM transaction with keys in a separate thread and with keys in the main loop. The
 * two alternate, each round on a new node. The main loop does all the other work in both cases.
 */
import { Agent } from 'undici';
import { startAnvil } from '../../support/anvil.ts';
import { declareRelayers } from '../../support/relayer-accounts.ts';
import { startService } from '../../support/service.ts';
import { createWorkspace } from '../../support/workspace.ts';
import { BLOCK_GAS, BLOCK_SECONDS, throughService } from './evm.ts';
import { cpuMicrosOf, mainThreadMicrosOf } from './process-figures.ts';
import { IN_FLIGHT } from './relaying.ts';

export interface KeyPlaceBench {
  /** The transactions of one round. */
  transactions: number;
  accounts: number;
  rounds: number;
}

export interface KeyPlaceFigures {
  name: string;
  /**
   * Median processor time for each transaction over the rounds, in milliseconds: of the whole service, and of its main
   * thread.
   */
  cpuMs: number;
  mainMs: number;
}

const PLACES = [
  { name: 'in the main loop', entry: 'test/load/bench/keys-in-loop.ts' },
  { name: 'in a thread', entry: 'src/main.ts' },
];

export async function benchKeyPlace(bench: KeyPlaceBench): Promise<KeyPlaceFigures[]> {
  const rounds = PLACES.map(({ name }) => ({ name, cpu: [] as number[], main: [] as number[] }));
  for (let round = 0; round < bench.rounds; round += 1) {
    for (const [index, { entry }] of PLACES.entries()) {
      const { cpuMs, mainMs } = await measure(entry, bench);
      rounds[index]?.cpu.push(cpuMs);
      rounds[index]?.main.push(mainMs);
    }
  }
  return rounds.map(({ name, cpu, main }) => ({ name, cpuMs: median(cpu), mainMs: median(main) }));
}

async function measure(entry: string, { transactions, accounts }: KeyPlaceBench) {
  const args = ['--accounts', String(accounts), '--gas-limit', String(BLOCK_GAS)];
  const anvil = await startAnvil({ blockTime: BLOCK_SECONDS, args });
  const agent = new Agent({ connections: IN_FLIGHT });
  const limits = { RATE_LIMIT_REQUESTS_PER_SECOND: '1000000', RATE_LIMIT_BURST_SIZE: '1000000' };
  const workspace = await createWorkspace({ rpcUrl: anvil.url, env: limits });
  try {
    const relayers = await declareRelayers(workspace, anvil, { relayers: accounts });
    const service = await startService(workspace.env, entry);
    try {
      // Warm-up: time for compiling code must not count for the transactions.
      await throughService(service, anvil, agent, relayers, transactions / 4);
      const [cpu, main] = await Promise.all([cpuMicrosOf(service.pid), mainThreadMicrosOf(service.pid)]);
      await throughService(service, anvil, agent, relayers, transactions);
      const [cpuAfter, mainAfter] = await Promise.all([cpuMicrosOf(service.pid), mainThreadMicrosOf(service.pid)]);
      const each = 1 / transactions / 1_000;
      return { cpuMs: (cpuAfter - cpu) * each, mainMs: (mainAfter - main) * each };
    } finally {
      await service.stop();
    }
  } finally {
    await agent.close();
    await anvil.stop();
    await workspace.remove();
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
