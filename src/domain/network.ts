import type { JsonObject } from './json/json.ts';
import type { NetworkType } from './network-type.ts';
import type { RpcUrl } from './relayer/relayer.ts';

/** A network after inheritance and defaults; `settings` holds the fields that only its chain reads. */
export interface Network {
  type: NetworkType;
  name: string;
  rpcUrls: RpcUrl[];
  settings: JsonObject;
}

/** A network of the configuration. */
export interface ConfiguredNetwork extends Network {
  /** True when no file of the operator mentions the network. */
  isBuiltIn: boolean;
}

/** A network as clients created or changed it over the API, and as the store has it. */
export interface StoredNetwork extends Pick<Network, 'type' | 'name' | 'rpcUrls'> {
  /** Null where only the endpoints of a configured network were changed. */
  settings: JsonObject | null;
  /** A digest of the endpoints that a file declared when they were changed; null where none did. */
  declaration: string | null;
}

/** The networks that relayers may be on, as they are now. */
export interface Networks {
  find(type: NetworkType, name: string): Network | undefined;
}

/** Networks that do not change. */
export function fixedNetworks(networks: readonly Network[]): Networks {
  return { find: (type, name) => networks.find((one) => one.type === type && one.name === name) };
}
