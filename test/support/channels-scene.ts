import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Keypair, Networks } from '@stellar/stellar-sdk';
import { i128, invoke, address as val } from './stellar-contract-scene.ts';
import { consentsTo, LUMEN, type StellarScene, startStellarScene } from './stellar-scene.ts';
import { createWorkspace, type Workspace } from './workspace.ts';

/** A network, and a folder whose service runs the published channels plugin over funded accounts. */
export interface ChannelsScene {
  readonly scene: StellarScene;
  readonly workspace: Workspace;
  /** The account that pays. */
  readonly fund: string;
  /** Relayers whose sequences are used. */
  readonly channelIds: readonly string[];
  /** Makes a client's request: a transfer of one lumen. Its owner consents to it, whoever sends it. */
  transfer(): Promise<Transfer>;
  isPaid(transfer: Transfer): Promise<boolean>;
  /** Checks that a transfer happened exactly once. Returns what is wrong with its accounts; null if nothing is. */
  wrongIn(transfer: Transfer): Promise<string | null>;
  stop(): Promise<void>;
}

export interface Transfer {
  readonly owner: Keypair;
  readonly to: Keypair;
  readonly params: { func: string; auth: string[] };
}

export interface ChannelsOptions {
  channels: number;
  ledgerMs: number;
  /** How many calls a service runs at once; others wait. */
  concurrency: number;
  /** Further settings of the plugin. */
  settings?: Record<string, string>;
  env?: Record<string, string>;
}

const ROOT = join(import.meta.dirname, '..', '..');
/** The id of the relayer that pays. */
const FUND = 'local-1';
const ADMIN = 'admin';
/**
 * A channel's lock outlives the transaction of the call that took it. After that the plugin asks again for the
 * channel's sequence.
 */
const SETTINGS = {
  STELLAR_NETWORK: 'testnet',
  FUND_RELAYER_ID: FUND,
  PLUGIN_ADMIN_SECRET: ADMIN,
  LOCK_TTL_SECONDS: '60',
  MAX_TIME_BOUND_OFFSET_SECONDS: '45',
  SEQUENCE_NUMBER_CACHE_MAX_AGE_MS: '45000',
};
/** The balance of each client, in stroops. */
const FUNDS = 100n * LUMEN;
/** The number of ledgers for which a consent is valid. Ledgers close faster in tests than in a real network. */
const CONSENT_LEDGERS = 1_000;

export async function startChannels(options: ChannelsOptions): Promise<ChannelsScene> {
  const { channels, ledgerMs, concurrency, env } = options;
  const settings = { ...SETTINGS, ...options.settings };
  // The plugin knows only the public networks. Ledgers close by themselves, because the plugin waits for them.
  const scene = await startStellarScene({ passphrase: Networks.TESTNET, ledgerMs });
  const { net } = scene;
  const channelIds = Array.from({ length: channels }, (_, index) => `local-${index + 2}`);
  const relayers = Object.fromEntries([FUND, ...channelIds].map((id) => [id, ['read', 'send', 'sign', 'rpc']]));
  const workspace = await createWorkspace({
    rpcUrl: net.url,
    accounts: channels + 1,
    relayer: {
      network_type: 'stellar',
      policies: { fee_payment_strategy: 'relayer', concurrent_transactions: true },
    },
    network: { type: 'stellar', passphrase: net.passphrase, average_blocktime_ms: ledgerMs },
    pluginFiles: { 'channels.ts': "export { handler } from '@openzeppelin/relayer-plugin-channels';" },
    plugins: [
      {
        id: 'channels',
        path: 'channels.ts',
        permissions: { relayers, env: Object.keys(settings), kv: true },
        limits: { slice_ms: 20_000, cpu_ms: 60_000, concurrency },
      },
    ],
    env: { ...settings, ...env },
  });
  await symlink(join(ROOT, 'node_modules'), join(workspace.dir, 'node_modules'));
  const accounts = workspace.privateKeys.map((key) =>
    Keypair.fromRawEd25519Seed(Buffer.from(key.slice(2), 'hex')).publicKey(),
  );
  for (const account of accounts) await net.fund(account, 1_000n * LUMEN);
  const [fund = ''] = accounts;
  const native = await net.assetContract('native');
  return {
    scene,
    workspace,
    fund,
    channelIds,
    transfer: () => consented(scene, native),
    isPaid: async ({ to }) => (await scene.balanceOf(to.publicKey())) > FUNDS,
    async wrongIn({ owner, to }) {
      const [left, come] = await Promise.all([owner, to].map((one) => scene.balanceOf(one.publicKey())));
      return left === FUNDS - LUMEN && come === FUNDS + LUMEN ? null : `one has ${left} stroops, the other ${come}`;
    },
    async stop() {
      await net.stop();
      await workspace.remove();
    },
  };
}

async function consented(scene: StellarScene, native: string): Promise<Transfer> {
  const [owner, to] = [await scene.funded(FUNDS), await scene.funded(FUNDS)];
  const operation = invoke(native, 'transfer', val(owner), val(to), i128(LUMEN));
  if (operation.body.type !== 'invokeHostFunction') throw new Error('a call');
  const consents = await consentsTo(scene, operation, { owner, sender: to, ledgers: CONSENT_LEDGERS });
  return {
    owner,
    to,
    params: {
      func: operation.body.invokeHostFunctionOp.hostFunction.toXdr('base64'),
      auth: consents.map((entry) => entry.toXdr('base64')),
    },
  };
}

/** A request of the plugin's management. */
export function manage(action: string, more: object = {}): object {
  return { management: { adminSecret: ADMIN, action, ...more } };
}
