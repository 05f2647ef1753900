import type { NetworkType } from '../../domain/network-type.ts';
import type { StoreReader } from '../../store/store.ts';
import type { ConfiguredNetwork, Network, Networks, StoredNetwork } from './record.ts';

/** A network and the source of its definition. */
export interface KnownNetwork extends Network {
  source: 'api' | 'file' | 'built-in';
}

/**
 * All current networks: those of the configuration, with endpoints that clients may have changed, and those that
 * clients created.
 */
export class NetworkDirectory implements Networks {
  readonly #configured: ReadonlyMap<string, KnownNetwork>;
  readonly #read: Pick<StoreReader, 'storedNetworks'>;
  #known: ReadonlyMap<string, KnownNetwork>;

  constructor(configured: readonly ConfiguredNetwork[], read: Pick<StoreReader, 'storedNetworks'>) {
    this.#configured = new Map(
      configured.map(({ isBuiltIn, ...network }) => [
        keyOf(network),
        { ...network, source: isBuiltIn ? 'built-in' : 'file' },
      ]),
    );
    this.#read = read;
    this.#known = this.#configured;
  }

  find(type: NetworkType, name: string): KnownNetwork | undefined {
    return this.#known.get(`${type}:${name}`);
  }

  /**
   * Finds a network by the id in answers. Names that differ only in case share an id; the first of them is returned.
   */
  withId(id: string): KnownNetwork | undefined {
    return this.#known.get(id) ?? this.list().find((network) => networkIdOf(network) === id);
  }

  /** Clients' networks, newest first; then those of the files; then the built-in ones. */
  list(): KnownNetwork[] {
    return [...this.#known.values()];
  }

  /** The network as configured, without clients' changes. */
  configured(type: NetworkType, name: string): KnownNetwork | undefined {
    return this.#configured.get(`${type}:${name}`);
  }

  /** Reads clients' networks and changes from the store. */
  async reload(): Promise<void> {
    const stored = await this.#read.storedNetworks();
    const changed = new Map(stored.map((network) => [keyOf(network), network]));
    const custom = stored.flatMap(madeByClient).filter((network) => !this.#configured.has(keyOf(network)));
    const configured = [...this.#configured].map(([key, network]) => {
      const { rpcUrls } = changed.get(key) ?? network;
      return { ...network, rpcUrls };
    });
    const all = [...custom, ...ofSource(configured, 'file'), ...ofSource(configured, 'built-in')];
    this.#known = new Map(all.map((network) => [keyOf(network), network]));
  }
}

/** The id is written as the reference does. */
export function networkIdOf({ type, name }: Pick<Network, 'type' | 'name'>): string {
  return `${type}:${name}`.toLowerCase();
}

function madeByClient({ type, name, rpcUrls, settings }: StoredNetwork): KnownNetwork[] {
  return settings === null ? [] : [{ type, name, rpcUrls, settings, source: 'api' }];
}

function ofSource(networks: readonly KnownNetwork[], source: KnownNetwork['source']): KnownNetwork[] {
  return networks.filter((network) => network.source === source).sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

function keyOf({ type, name }: Pick<Network, 'type' | 'name'>): string {
  return `${type}:${name}`;
}
