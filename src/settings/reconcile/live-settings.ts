import type { Chain } from '../../chains/chain.ts';
import type { NetworkType } from '../../domain/network-type.ts';
import type { RpcHttp } from '../../egress/rpc/rpc-http.ts';
import type { Engine } from '../../engine/engine.ts';
import type { PluginHost } from '../../features/plugins/host/plugin-host.ts';
import type { PluginEntry } from '../../features/plugins/records/plugin.ts';
import type { Relayer, RpcUrl } from '../../features/relayers/records/relayer.ts';
import type { Log } from '../../observability/log.ts';
import type { SignerKinds } from '../../signers/registry.ts';
import type { Store } from '../../store/store.ts';
import { compareConfigurations } from '../changes.ts';
import type { Configuration, RelayerEntry } from '../configuration.ts';
import { ConfigurationError, problemText } from '../problems.ts';
import { createSecretResolver, type Variables } from '../secrets.ts';
import { applyChangedNotifications, applyChangedRelayers, applyPlugins } from './apply-declarations.ts';
import type { OpenedSettings } from './open-settings.ts';
import { type WaitingRelayers, withAddresses } from './relayer-addresses.ts';

type Chains = ReadonlyMap<NetworkType, Chain>;

export interface LiveSettingsParts {
  /**
   * Reads the files again.
   * @throws ConfigurationError
   */
  read(): Promise<Configuration>;
  chains: Chains;
  signerKinds: SignerKinds;
  store: Pick<Store, 'read' | 'write'>;
  settings: Pick<OpenedSettings, 'feed' | 'signers'>;
  pluginHost: Pick<PluginHost, 'declare'>;
  engine: Pick<Engine, 'recheck'>;
  waiting: Pick<WaitingRelayers, 'add'>;
  rpcHttp: Pick<RpcHttp, 'declare'>;
  log: Log;
}

/** The configuration of a running service. It applies later changes of the configuration files. */
export class LiveSettings {
  #configuration: Configuration;
  #parts: LiveSettingsParts | undefined;
  #failure = '';

  /** @param configuration the configuration at the start */
  constructor(configuration: Configuration) {
    this.#configuration = configuration;
  }

  /** The current value of a variable for plugins and notifications. */
  variable(name: string): string | undefined {
    return this.#configuration.variables[name];
  }

  /** The current variables, for secrets. */
  get variables(): Variables {
    return this.#configuration.variables;
  }

  /** The relayers that are declared now. */
  get relayers(): readonly RelayerEntry[] {
    return this.#configuration.relayers;
  }

  /** The plugins that are declared now. */
  get plugins(): readonly PluginEntry[] {
    return this.#configuration.plugins;
  }

  /** Connects the parts that changes are applied to. */
  attach(parts: LiveSettingsParts): void {
    this.#parts = parts;
  }

  /**
   * Applies the changes of the files that need no restart, and logs the others. Invalid files change nothing; all their
   * problems are logged.
   * @throws the reason when the changes could not be applied; the configuration is then unchanged, and the call may be
   * repeated
   */
  async refresh(): Promise<void> {
    const parts = this.#parts;
    if (parts === undefined) return;
    try {
      const now = await parts.read();
      await this.#goBy(now, parts);
      this.#failure = '';
    } catch (error) {
      const problems = error instanceof ConfigurationError ? error.problems.map(problemText) : undefined;
      if (problems !== undefined) {
        parts.log.error({ problems }, 'the changed configuration is invalid, and nothing of it is applied');
        return;
      }
      // The refresh is repeated, so a failure that stays the same is logged once.
      if (this.#failure !== String(error)) parts.log.error({ err: error }, 'the changed configuration was not applied');
      this.#failure = String(error);
      throw error;
    }
  }

  async #goBy(now: Configuration, parts: LiveSettingsParts): Promise<void> {
    const { chains, signerKinds, store, settings, pluginHost, engine, waiting, rpcHttp, log } = parts;
    const was = this.#configuration;
    const stored = new Map((await store.read.allRelayers()).map((relayer) => [relayer.id, relayer]));
    const changes = compareConfigurations(was, now, {
      isOther: (entry) => isOther(entry, stored.get(entry.id)),
      variablesOf: (type) => signerKinds.get(type)?.variables ?? [],
    });
    for (const warning of now.warnings) if (!was.warnings.includes(warning)) log.warn({ warning }, 'configuration');

    // Applies notifications first, because relayers refer to them.
    const { configuration, notifications, relayers, pluginIds } = changes;
    const addresses = { chains, signers: settings.signers, read: store.read, log };
    const { addressed, waiting: waitingNow } = await withAddresses(relayers, addresses);
    if (notifications.length > 0) {
      await applyChangedNotifications(store, notifications, createSecretResolver(configuration.variables));
    }
    if (addressed.length > 0) await applyChangedRelayers(store, addressed);
    if (pluginIds.size > 0) await applyPlugins(store, configuration.plugins);
    this.#configuration = configuration;
    rpcHttp.declare(declaredUrls(configuration, chains));
    for (const { id } of addressed) engine.recheck(id);
    waiting.add(waitingNow);
    if (pluginIds.size > 0) {
      await settings.feed.changed('plugin');
      await pluginHost.declare(configuration.plugins, pluginIds);
    }
    report(changes, log);
  }
}

/** The endpoints in the operator's files, with the relays and the markets of networks. */
export function declaredUrls({ networks, relayers }: Configuration, chains: Chains): RpcUrl[] {
  return [
    ...networks.flatMap((network) => {
      const family = chains.get(network.type);
      const others = [family?.marketUrl(network) ?? [], family?.relays(network).map(({ url }) => url) ?? []];
      return [...network.rpcUrls, ...others.flat().map((url) => ({ url, weight: 100 }))];
    }),
    ...relayers.flatMap(({ customRpcUrls }) => customRpcUrls ?? []),
  ];
}

function isOther({ network, networkType, signerId }: RelayerEntry, stored: Relayer | undefined): boolean {
  if (stored === undefined) return false;
  return stored.network !== network || stored.networkType !== networkType || stored.signerId !== signerId;
}

function report({ applied, waiting, undeclared }: ReturnType<typeof compareConfigurations>, log: Log): void {
  if (applied.length > 0) log.info({ places: applied }, 'the changed configuration is applied');
  if (undeclared.length > 0) {
    const hint = 'delete over the API what is not to be there any more';
    log.warn({ places: undeclared, hint }, 'what is no longer declared stays as it is stored');
  }
  if (waiting.length > 0) log.warn({ places: waiting }, 'a change of the configuration needs a restart');
  if (applied.length + undeclared.length + waiting.length === 0) {
    log.info('the configuration files were saved without a change');
  }
}
