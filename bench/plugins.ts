/**
 * What a plugin call costs over HTTP: with a warm isolate and with one of its own, of a trivial plugin and of those that
 * bring ethers, viem or the Stellar SDK, against an empty fastify route and workerd with the trivial handler.
 */
import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { startService } from '../test/support/service.ts';
import { createWorkspace } from '../test/support/workspace.ts';
import { inTurns, type Ratio, type Round, saturate, steady, type Target, warmUp } from './load.ts';
import { startEmptyRoute, startWorkerd } from './peers.ts';

export interface PluginBench {
  /** Of each target under full load: how often it has its turn, and for how long. */
  rounds: number;
  seconds: number;
  /** The same at the steady rate. */
  steadyRounds: number;
  steadySeconds: number;
  /** Calls per second while the latency is measured. */
  steadyRate: number;
}

/** One line of the result. */
export interface PluginRow {
  name: string;
  /** 32 connections kept busy. */
  busy: Round;
  /** Their rate as a ratio to that of the empty route, and of workerd. */
  toEmpty: Ratio;
  toWorkerd: Ratio;
  /** A steady, low rate. */
  quiet: Round;
}

/** Runs all targets in turns; the empty route comes first, workerd second. */
export async function benchPlugins(run: PluginBench): Promise<PluginRow[]> {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const empty = await startEmptyRoute();
    stops.push(() => empty.stop());
    const workerd = await startWorkerd();
    stops.push(() => workerd.stop());
    const targets = [empty.target, workerd.target, ...(await startPlugins(stops))];
    await warmUp(targets);
    const busy = await inTurns(targets, run.rounds, (target) => saturate(target, run.seconds));
    const quiet = await inTurns(targets, run.steadyRounds, (target) =>
      steady(target, run.steadySeconds, run.steadyRate),
    );
    return targets.map((target) => ({
      name: target.name,
      busy: busy.of(target),
      toEmpty: busy.rateTo(target, empty.target),
      toWorkerd: busy.rateTo(target, workerd.target),
      quiet: quiet.of(target),
    }));
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/** Encodes a call of a token and hashes it: what a plugin that prepares transactions does. */
const ETHERS = `import { AbiCoder, Interface, keccak256, parseUnits } from 'ethers';
const token = new Interface(['function transfer(address to, uint256 amount) returns (bool)']);
export async function handler({ params }) {
  const amount = parseUnits(params.amount ?? '1.5', 18);
  const data = token.encodeFunctionData('transfer', ['0x00000000000000000000000000000000deadbeef', amount]);
  const [to] = AbiCoder.defaultAbiCoder().decode(['address', 'uint256'], '0x' + data.slice(10));
  return { data, to, digest: keccak256(data) };
}`;

/** The same with viem. */
const VIEM = `import { decodeFunctionData, encodeFunctionData, keccak256, parseAbi, parseUnits } from 'viem';
const abi = parseAbi(['function transfer(address to, uint256 amount) returns (bool)']);
export async function handler({ params }) {
  const args = ['0x00000000000000000000000000000000deadbeef', parseUnits(params.amount ?? '1.5', 18)];
  const data = encodeFunctionData({ abi, functionName: 'transfer', args });
  return { data, to: decodeFunctionData({ abi, data }).args[0], digest: keccak256(data) };
}`;

/** Builds a payment and hashes it. */
const STELLAR = `import { Account, Asset, Networks, Operation, TransactionBuilder } from '@stellar/stellar-sdk';
const SELF = 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ';
export async function handler() {
  const tx = new TransactionBuilder(new Account(SELF, '1'), { fee: '100', networkPassphrase: Networks.TESTNET })
    .addOperation(Operation.payment({ destination: SELF, asset: Asset.native(), amount: '1' }))
    .setTimeout(30)
    .build();
  return { hash: Buffer.from(tx.hash()).toString('hex') };
}`;

/** The service with each plugin twice: once reusing isolates, once with a new one for each call. */
async function startPlugins(stops: (() => Promise<unknown>)[]): Promise<Target[]> {
  const root = join(import.meta.dirname, '..');
  const hello = await readFile(join(root, 'plugins', 'hello.ts'), 'utf8');
  const workspace = await createWorkspace({
    pluginFiles: {
      ...{ 'hello.ts': hello, 'ethers-abi.ts': ETHERS, 'viem-abi.ts': VIEM },
      ...{ 'stellar.ts': STELLAR },
    },
    plugins: [
      { id: 'hello', path: 'hello.ts' },
      { id: 'hello-fresh', path: 'hello.ts', isolation: 'call' },
      { id: 'ethers', path: 'ethers-abi.ts' },
      { id: 'ethers-fresh', path: 'ethers-abi.ts', isolation: 'call' },
      { id: 'viem', path: 'viem-abi.ts' },
      { id: 'viem-fresh', path: 'viem-abi.ts', isolation: 'call' },
      { id: 'stellar', path: 'stellar.ts' },
      { id: 'stellar-fresh', path: 'stellar.ts', isolation: 'call' },
    ],
    env: {
      RATE_LIMIT_REQUESTS_PER_SECOND: '1000000',
      RATE_LIMIT_BURST_SIZE: '1000000',
      LOG_LEVEL: 'info',
    },
  });
  stops.push(() => workspace.remove());
  // Where an author's packages would be installed.
  await symlink(join(root, 'node_modules'), join(workspace.dir, 'node_modules'));
  const service = await startService(workspace.env);
  stops.push(() => service.stop());
  const target = (plugin: string, name: string): Target => ({
    name,
    pid: service.pid,
    url: `${service.url}/api/v1/plugins/${plugin}/call`,
    headers: { authorization: `Bearer ${service.apiKey}` },
    body: JSON.stringify({ params: { name: 'bench' } }),
  });
  return [
    target('hello', 'isolayer, warm isolate'),
    target('hello-fresh', 'isolayer, fresh isolate'),
    target('ethers', 'ethers, warm isolate'),
    target('ethers-fresh', 'ethers, fresh isolate'),
    target('viem', 'viem, warm isolate'),
    target('viem-fresh', 'viem, fresh isolate'),
    target('stellar', 'stellar-sdk, warm isolate'),
    target('stellar-fresh', 'stellar-sdk, fresh isolate'),
  ];
}
