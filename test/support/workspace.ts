import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { encryptKeystoreJson, type HDNodeWallet, Wallet } from 'ethers';
import { quickFolder } from './run-folder.ts';

/** An operator's folder, made for a test: configuration, keystore and plugins. */
export interface Workspace {
  dir: string;
  /** The environment that starts a server on the folder, on any free port and with embedded defaults. */
  env: Record<string, string>;
  /** The account of `local-1`. */
  address: string;
  /** Those of all relayers. */
  addresses: string[];
  privateKey: string;
  /** Those of all relayers. */
  privateKeys: string[];
  /** Writes or replaces a file below the plugins folder. */
  writePlugin(path: string, source: string): Promise<void>;
  remove(): Promise<void>;
}

export interface WorkspaceOptions {
  /** The RPC endpoint of network `local`; without one there are no relayers. */
  rpcUrl?: string;
  /** Entries of `plugins` in the configuration file. */
  plugins?: object[];
  /** Files of the plugins folder, path to source. */
  pluginFiles?: Record<string, string>;
  /** Merged into each relayer. */
  relayer?: object;
  /** The number of relayers, each with its own account: `local-1`, `local-2`, …. Default: one. */
  accounts?: number;
  /** Merged into the network entry. */
  network?: object;
  /** Merged over the whole configuration. */
  config?: object;
  env?: Record<string, string>;
}

const PASSPHRASE = 'made on the spot, thrown away after';

/** Makes a workspace in a temporary folder: relayer `local-1` on network `local` with a fresh keystore. */
export async function createWorkspace(options: WorkspaceOptions = {}): Promise<Workspace> {
  const dir = await mkdtemp(join(quickFolder(), 'isolayer-'));
  const wallets = Array.from({ length: options.accounts ?? 1 }, () => Wallet.createRandom());
  const [wallet] = wallets as [HDNodeWallet];
  const write = async (path: string, content: string | object, mode = 0o644): Promise<void> => {
    const file = join(dir, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2), { mode });
  };
  const numbers = options.rpcUrl === undefined ? [] : wallets.map((_, index) => index + 1);
  const relayers = numbers.map((number) => ({ ...localRelayer(number), ...options.relayer }));
  const keyFile = (number: number) => `config/keys/local${number === 1 ? '' : `-${number}`}.json`;
  const signers = numbers.map((number) => localSigner(number, join(dir, keyFile(number))));
  await mkdir(join(dir, 'plugins'), { recursive: true });
  await write('config/config.json', {
    relayers,
    signers,
    notifications: [],
    plugins: options.plugins ?? [],
    ...options.config,
  });
  if (options.rpcUrl !== undefined) {
    await write('config/networks/local.json', { network: 'local', rpc_urls: [options.rpcUrl], ...options.network });
    // A light scrypt keeps tests and the demo quick. The file is deleted with the folder.
    for (const [index, { address, privateKey }] of wallets.entries()) {
      const scrypt = { N: 1024, r: 8, p: 1 };
      await write(
        keyFile(index + 1),
        await encryptKeystoreJson({ address, privateKey }, PASSPHRASE, { scrypt }),
        0o600,
      );
    }
  }
  for (const [path, source] of Object.entries(options.pluginFiles ?? {})) await write(join('plugins', path), source);
  return {
    dir,
    env: {
      CONFIG_DIR: join(dir, 'config'),
      DATA_DIR: join(dir, 'data'),
      PLUGINS_DIR: join(dir, 'plugins'),
      APP_PORT: '0',
      METRICS_ENABLED: 'false',
      KEYSTORE_PASSPHRASE: PASSPHRASE,
      ...options.env,
    },
    address: wallet.address.toLowerCase(),
    addresses: wallets.map(({ address }) => address.toLowerCase()),
    privateKey: wallet.privateKey,
    privateKeys: wallets.map(({ privateKey }) => privateKey),
    writePlugin: (path, source) => write(join('plugins', path), source),
    remove: () => rm(dir, { recursive: true, force: true, maxRetries: 5 }),
  };
}

function localRelayer(number: number): object {
  return {
    id: `local-${number}`,
    name: 'Local relayer',
    network: 'local',
    network_type: 'evm',
    signer_id: signerId(number),
    paused: false,
  };
}

function signerId(number: number): string {
  return number === 1 ? 'local-key' : `local-key-${number}`;
}

function localSigner(number: number, path: string): object {
  return {
    id: signerId(number),
    type: 'local',
    config: { path, passphrase: { type: 'env', value: 'KEYSTORE_PASSPHRASE' } },
  };
}
