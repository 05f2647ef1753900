import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { encryptKeystoreJson, Wallet } from 'ethers';
import { quickFolder } from './run-folder.ts';

/** An operator's folder: configuration, keystore and plugins, made on the spot. */
export interface Workspace {
  dir: string;
  /** The environment that starts a server on it; any free port, embedded defaults. */
  env: Record<string, string>;
  /** The account of the keystore. */
  address: string;
  privateKey: string;
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
  /** Merged into relayer `local-1`. */
  relayer?: object;
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
  const wallet = Wallet.createRandom();
  const write = async (path: string, content: string | object): Promise<void> => {
    const file = join(dir, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  };
  const relayers = options.rpcUrl === undefined ? [] : [{ ...localRelayer, ...options.relayer }];
  const signers = options.rpcUrl === undefined ? [] : [localSigner(join(dir, 'config', 'keys', 'local.json'))];
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
    // A light scrypt keeps tests and the demo quick; the file is thrown away with the folder.
    const keystore = await encryptKeystoreJson({ address: wallet.address, privateKey: wallet.privateKey }, PASSPHRASE, {
      scrypt: { N: 1024, r: 8, p: 1 },
    });
    await write('config/keys/local.json', keystore);
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
    privateKey: wallet.privateKey,
    writePlugin: (path, source) => write(join('plugins', path), source),
    remove: () => rm(dir, { recursive: true, force: true, maxRetries: 5 }),
  };
}

const localRelayer = {
  id: 'local-1',
  name: 'Local relayer',
  network: 'local',
  network_type: 'evm',
  signer_id: 'local-key',
  paused: false,
};

function localSigner(path: string): object {
  return {
    id: 'local-key',
    type: 'local',
    config: { path, passphrase: { type: 'env', value: 'KEYSTORE_PASSPHRASE' } },
  };
}
