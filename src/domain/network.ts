import type { JsonObject } from './json/json.ts';
import type { NetworkType } from './network-type.ts';
import type { RpcUrl } from './relayer.ts';

/** A network after inheritance and defaults; `settings` holds the fields that only its chain reads. */
export interface Network {
  type: NetworkType;
  name: string;
  rpcUrls: RpcUrl[];
  settings: JsonObject;
}
