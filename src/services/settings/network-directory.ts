import type { ConfiguredNetwork, Network, Networks, StoredNetwork } from '../../domain/network.ts';
import type { NetworkType } from '../../domain/network-type.ts';
import type { Reader } from '../../store/store.ts';

/** A network with who says what it is. */
export interface KnownNetwork extends Network {
  source: 'api' | 'file' | 'built-in';
}

/**
 * All networks as they are now: those of the configuration, with the endpoints that clients gave them, and those that
 * clients made.
 */
export class NetworkDirectory implements Networks {
  readonly #configured: ReadonlyMap<string, KnownNetwork>;
  readonly #read: Pick<Reader, 'storedNetworks'>;
  #known: ReadonlyMap<string, KnownNetwork>;

  constructor(configured: readonly ConfiguredNetwork[], read: Pick<Reader, 'storedNetworks'>) {
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

  /** By the id that answers show; names that differ in case only share one, and the first of them is meant. */
  withId(id: string): KnownNetwork | undefined {
    return this.#known.get(id) ?? this.list().find((network) => idOf(network) === id);
  }

  /** Those that clients made, newest first; then those of the files, then the built-in ones. */
  list(): KnownNetwork[] {
    return [...this.#known.values()];
  }

  /** As the configuration has it. */
  configured(type: NetworkType, name: string): KnownNetwork | undefined {
    return this.#configured.get(`${type}:${name}`);
  }

  /** Reads what clients made. */
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

/** As the reference writes it. */
export function idOf({ type, name }: Pick<Network, 'type' | 'name'>): string {
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
