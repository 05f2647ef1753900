/**
 * Measures relaying on EVM: transactions accepted and mined per second through the server over HTTP, compared with a
 * bare loop that sends signed bytes to the same node, for one account and for several. The node makes ten blocks a
 * second, because with automine anvil sometimes never mines a transaction. Server, node and load share the cores.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Wallet } from 'ethers';
import { Agent } from 'undici';
import { type Anvil, startAnvil } from '../../support/anvil.ts';
import { declareRelayers, type RelayerAccount } from '../../support/relayer-accounts.ts';
import { type RunningService, startService } from '../../support/service.ts';
import { createWorkspace } from '../../support/workspace.ts';
import { longestStallMs } from './loop-stall.ts';
import { cpuMicrosOf, mainThreadMicrosOf } from './process-figures.ts';
import { accept, each, IN_FLIGHT, perSecond, rpc, until } from './relaying.ts';

/** The figures for one number of accounts. */
export interface EvmFigures {
  accounts: number;
  /** Transactions per second of the bare loop, from the first request until the last transaction is mined. */
  bare: number;
  /** Answers with status 200 per second, through the service. */
  accepted: number;
  /** Transactions per second through the service, from the first request until the last transaction is mined. */
  mined: number;
  /** From the request until the transaction is mined, at a steady rate: of the bare loop, and through the service. */
  bareLatency: Latency;
  latency: Latency;
  /** The longest time for which the service's main loop was blocked in its busy and steady rounds, in milliseconds. */
  stallMs: number;
  /** Processor time per transaction of the busy round, in milliseconds: of the service, and of its main thread. */
  cpuMs: number;
  mainMs: number;
}

/** In milliseconds. */
export interface Latency {
  p50: number;
  p99: number;
}

export interface EvmBench {
  /** Transactions of one busy round. */
  transactions: number;
  accounts: readonly number[];
  /** Requests per second in a steady round, and the length of the round. */
  steadyRate: number;
  seconds: number;
}

const CHAIN_ID = 31_337;
const RECEIVER = '0x00000000000000000000000000000000000abcde';
/** The first receivers of the two steady rounds. */
const [BARE, SERVED] = [0xbeef_0000_0000, 0xfeed_0000_0000];
const PATIENCE_MS = 120_000;
export const BLOCK_SECONDS = 0.1;
/** Transactions before the busy round: the service's code is compiled by then, as it is for most of its life. */
const WARM_UP = 1_000;
/** Gas limit of a block, high enough for all waiting transactions. */
export const BLOCK_GAS = 1_000_000_000;

/** Runs the benchmark for each number of accounts: first the bare loop, then a new server, both on a new node. */
export async function benchEvm(bench: EvmBench): Promise<EvmFigures[]> {
  const figures: EvmFigures[] = [];
  for (const accounts of bench.accounts) figures.push(await measure(bench, accounts));
  return figures;
}

async function measure(bench: EvmBench, accounts: number): Promise<EvmFigures> {
  const anvil = await startAnvil({
    blockTime: BLOCK_SECONDS,
    args: ['--accounts', String(accounts), '--gas-limit', String(BLOCK_GAS)],
  });
  const agent = new Agent({ connections: IN_FLIGHT });
  const workspace = await createWorkspace({
    rpcUrl: anvil.url,
    env: { RATE_LIMIT_REQUESTS_PER_SECOND: '1000000', RATE_LIMIT_BURST_SIZE: '1000000', LOG_LEVEL: 'warn' },
  });
  try {
    const bare = await bareLoop(anvil, agent, bench, accounts);
    const relayers = await declareRelayers(workspace, anvil, { relayers: accounts });
    // `startService` waits for the log line with the address, which has level info.
    const service = await startService({
      ...workspace.env,
      LOG_LEVEL: 'info',
      METRICS_ENABLED: 'true',
      METRICS_PORT: '0',
    });
    try {
      await throughService(service, anvil, agent, relayers, WARM_UP);
      await longestStallMs(service);
      const [cpu, main] = await Promise.all([cpuMicrosOf(service.pid), mainThreadMicrosOf(service.pid)]);
      const { accepted, mined } = await throughService(service, anvil, agent, relayers, bench.transactions);
      const each = 1 / bench.transactions / 1_000;
      const cpuMs = ((await cpuMicrosOf(service.pid)) - cpu) * each;
      const mainMs = ((await mainThreadMicrosOf(service.pid)) - main) * each;
      const latency = await steadyLatency(anvil, agent, bench, SERVED, (receiver, index) =>
        post(service, agent, relayers[index % relayers.length], receiver),
      );
      const stallMs = await longestStallMs(service);
      return {
        accounts,
        bare: bare.mined,
        accepted,
        mined,
        bareLatency: bare.latency,
        latency,
        stallMs,
        cpuMs,
        mainMs,
      };
    } finally {
      await service.stop();
    }
  } finally {
    await agent.close();
    await anvil.stop();
    await workspace.remove();
  }
}

/** Sends transactions that were signed in advance, in the order of their nonces, and waits until all are mined. */
async function bareLoop(
  anvil: Anvil,
  agent: Agent,
  bench: EvmBench,
  accounts: number,
): Promise<{ mined: number; latency: Latency }> {
  const wallets = anvil.accounts.slice(0, accounts).map(({ privateKey }) => new Wallet(privateKey));
  const addresses = wallets.map(({ address }) => address);
  const signAt = (index: number, to: string) => sign(wallets[index % accounts], Math.floor(index / accounts), to);
  const send = async (raw: string | undefined) => void (await rpc(anvil.url, agent, 'eth_sendRawTransaction', [raw]));

  const count = bench.transactions;
  const signed = await Promise.all(Array.from({ length: count }, (_, index) => signAt(index, RECEIVER)));
  const began = performance.now();
  await each(signed, send);
  await untilMined(anvil, agent, addresses, count);
  const mined = perSecond(count, began);

  const steady = bench.steadyRate * bench.seconds;
  const later = await Promise.all(
    Array.from({ length: steady }, (_, index) => signAt(count + index, receiverAt(BARE, index))),
  );
  return { mined, latency: await steadyLatency(anvil, agent, bench, BARE, (_, index) => send(later[index])) };
}

async function sign(wallet: Wallet | undefined, nonce: number, to: string): Promise<string> {
  if (wallet === undefined) throw new Error('no account to sign with');
  return await wallet.signTransaction({
    type: 2,
    chainId: CHAIN_ID,
    nonce,
    to,
    value: 1,
    gasLimit: 21_000,
    maxFeePerGas: 100_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
  });
}

/** Sends `count` transactions through the service, and waits until all are mined. @returns rates per second */
export async function throughService(
  service: RunningService,
  anvil: Anvil,
  agent: Agent,
  relayers: readonly RelayerAccount[],
  count: number,
): Promise<{ accepted: number; mined: number }> {
  const addresses = relayers.map(({ address }) => address);
  const before = await countOf(anvil, agent, addresses);
  const began = performance.now();
  const indices = Array.from({ length: count }, (_, index) => index);
  await each(indices, (index) => post(service, agent, relayers[index % relayers.length], RECEIVER));
  const accepted = perSecond(count, began);
  await untilMined(anvil, agent, addresses, before + count);
  return { accepted, mined: perSecond(count, began) };
}

/** Each request pays a different receiver. Its latency ends when the receiver's balance is no longer 0. */
async function steadyLatency(
  anvil: Anvil,
  agent: Agent,
  { steadyRate, seconds }: EvmBench,
  receivers: number,
  send: (receiver: string, index: number) => Promise<void>,
): Promise<Latency> {
  const latencies: number[] = [];
  const sending: Promise<void>[] = [];
  const began = performance.now();
  for (let sent = 0; sent < steadyRate * seconds; sent += 1) {
    await sleep(Math.max(0, began + (sent * 1000) / steadyRate - performance.now()));
    const receiver = receiverAt(receivers, sent);
    const one = async () => {
      const asked = performance.now();
      await send(receiver, sent);
      await untilPaid(anvil, agent, receiver);
      latencies.push(performance.now() - asked);
    };
    sending.push(one());
  }
  await Promise.all(sending);
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

function receiverAt(first: number, index: number): string {
  return `0x${(first + index).toString(16).padStart(40, '0')}`;
}

async function untilPaid(anvil: Anvil, agent: Agent, receiver: string): Promise<void> {
  await until(
    async () => (await rpc(anvil.url, agent, 'eth_getBalance', [receiver, 'latest'])) !== '0x0',
    2,
    PATIENCE_MS,
  );
}

async function untilMined(anvil: Anvil, agent: Agent, addresses: readonly string[], count: number): Promise<void> {
  await until(async () => (await countOf(anvil, agent, addresses)) >= count, 20, PATIENCE_MS);
}

async function countOf(anvil: Anvil, agent: Agent, addresses: readonly string[]): Promise<number> {
  const counts = await Promise.all(
    addresses.map((address) => rpc(anvil.url, agent, 'eth_getTransactionCount', [address, 'latest'])),
  );
  return counts.reduce((sum: number, count) => sum + Number(count), 0);
}

async function post(
  service: RunningService,
  agent: Agent,
  relayer: RelayerAccount | undefined,
  to: string,
): Promise<void> {
  const body = { to, value: '1', data: '0x', gas_limit: 21_000, speed: 'fast' };
  await accept(service, agent, body, relayer?.relayerId);
}
