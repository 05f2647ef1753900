/** The measured plugins: a trivial one, one that asks a node, three that bundle a chain library, and a published one. */
import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { startAnvil } from '../../support/anvil.ts';
import { createWorkspace, type Workspace } from '../../support/workspace.ts';

export interface Sample {
  /** Id of the plugin. */
  name: string;
  code: string;
  /** Params of each call. */
  params?: object;
  /** Further fields of its entry in the configuration. */
  entry?: object;
}

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** Asks for a relayer's status, so the node for balance and nonce. */
const STATUS = `export async function handler({ api }) {
  return await api.useRelayer('local-1').getRelayerStatus();
}`;

/** Encodes and hashes a token transfer, as a plugin that prepares transactions does. */
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

/** The environment variables that the published channels plugin needs. */
const CHANNELS = { STELLAR_NETWORK: 'testnet', FUND_RELAYER_ID: 'local-1', PLUGIN_ADMIN_SECRET: 'admin' };

export const SAMPLES: readonly Sample[] = [
  { name: 'hello', code: await readFile(join(ROOT, 'plugins', 'hello.ts'), 'utf8') },
  { name: 'status', code: STATUS },
  { name: 'ethers', code: ETHERS },
  { name: 'viem', code: VIEM },
  { name: 'stellar-sdk', code: STELLAR },
  {
    name: 'channels',
    code: "export { handler } from '@openzeppelin/relayer-plugin-channels';",
    params: { management: { adminSecret: CHANNELS.PLUGIN_ADMIN_SECRET, action: 'listChannelAccounts' } },
    entry: { permissions: { env: Object.keys(CHANNELS), kv: true } },
  },
];

/** The configuration entry of a sample. Its id is the sample's name, with the addition as a suffix if there is one. */
export function entryOf({ name, entry }: Sample, addition?: string): object {
  return { id: addition === undefined ? name : `${name}-${addition}`, path: `${name}.ts`, ...entry };
}

/** Creates a workspace with the samples, these entries, a node of its own and practically no rate limit. */
export async function samplesWorkspace(entriesOf: (sample: Sample) => readonly object[]): Promise<Workspace> {
  const anvil = await startAnvil();
  const workspace = await createWorkspace({
    rpcUrl: anvil.url,
    pluginFiles: Object.fromEntries(SAMPLES.map(({ name, code }) => [`${name}.ts`, code])),
    plugins: SAMPLES.flatMap(entriesOf),
    env: {
      ...CHANNELS,
      RATE_LIMIT_REQUESTS_PER_SECOND: '1000000',
      RATE_LIMIT_BURST_SIZE: '1000000',
      LOG_LEVEL: 'info',
    },
  });
  // Plugin authors install their packages in this folder.
  await symlink(join(ROOT, 'node_modules'), join(workspace.dir, 'node_modules'));
  return {
    ...workspace,
    async remove() {
      await anvil.stop();
      await workspace.remove();
    },
  };
}
