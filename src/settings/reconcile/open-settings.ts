import type { Chain } from '../../chains/chain.ts';
import type { NetworkType } from '../../domain/network-type.ts';
import { ApiKeyDirectory } from '../../features/api-keys/api-key-directory.ts';
import { NetworkDirectory } from '../../features/networks/network-directory.ts';
import { PluginDirectory } from '../../features/plugins/plugin-directory.ts';
import { SettingsFeed } from '../../features/settings-feed.ts';
import { SignerDirectory } from '../../features/signers/signer-directory.ts';
import type { Log } from '../../observability/log.ts';
import { openKeyRing, type SignerKinds } from '../../signers/registry.ts';
import type { SignerTools } from '../../signers/signer.ts';
import type { Store } from '../../store/store.ts';
import type { Configuration } from '../configuration.ts';
import { applyNetworks, applyNotifications, applyPlugins, applyRelayers, applySigners } from './apply-declarations.ts';
import { type WaitingRelayer, withAddresses } from './relayer-addresses.ts';

export interface SettingsParts {
  configuration: Pick<Configuration, 'environment' | 'networks' | 'notifications' | 'plugins' | 'relayers' | 'signers'>;
  chains: ReadonlyMap<NetworkType, Chain>;
  signerKinds: SignerKinds;
  /** The tools for signers of the configuration. */
  signerTools: SignerTools;
  /** The HTTP client for services in clients' signers. */
  clientHttp: SignerTools['http'];
  store: Store;
  log: Log;
}

/** The settings of relayers, from the configuration and from clients. */
export interface OpenedSettings {
  feed: SettingsFeed;
  networks: NetworkDirectory;
  signers: SignerDirectory;
  plugins: PluginDirectory;
  apiKeys: ApiKeyDirectory;
  /** Declared relayers that cannot be created yet. */
  waiting: readonly WaitingRelayer[];
}

/**
 * Opens the signers, and merges the configuration with the stored settings.
 * @param defer registers how an opened part is closed
 */
export async function openSettings(
  parts: SettingsParts,
  defer: (part: string, close: () => unknown) => void,
): Promise<OpenedSettings> {
  const { configuration, chains, signerKinds, signerTools, clientHttp, store, log } = parts;
  const ring = await openKeyRing(signerKinds, configuration.signers, signerTools);
  defer('signers of the configuration', () => ring.close());
  const signers = new SignerDirectory({
    declared: { ring, entries: configuration.signers },
    kinds: signerKinds,
    tools: { ...signerTools, http: clientHttp },
    read: store.read,
    log,
  });
  defer('signers of clients', () => signers.close());

  const reset = configuration.environment.RESET_STORAGE_ON_START;
  await applyNotifications(store, configuration.notifications, signerTools.secrets, log, { reset });
  const addresses = { chains, signers, read: store.read, log };
  const { addressed, waiting } = await withAddresses(configuration.relayers, addresses, { isReset: reset });
  const ids = configuration.relayers.map(({ id }) => id);
  await applyRelayers(store, addressed, log, { reset, declaredIds: ids });
  await applySigners(store, configuration.signers, log, { reset });
  await applyNetworks(store, configuration.networks, log, { reset });
  await applyPlugins(store, configuration.plugins, { reset });

  const feed = new SettingsFeed({ store, log });
  defer('changes of settings', () => feed.close());
  const networks = new NetworkDirectory(configuration.networks, store.read);
  await feed.follow('network', () => networks.reload());
  const plugins = new PluginDirectory(store.read);
  await feed.follow('plugin', () => plugins.reload());
  const apiKeys = new ApiKeyDirectory(store.read);
  await feed.follow('api_key', () => apiKeys.reload());
  return { feed, networks, signers, plugins, apiKeys, waiting };
}
