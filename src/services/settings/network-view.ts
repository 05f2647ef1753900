import type { WireObject } from '../../domain/json/json.ts';
import { maskKeys } from '../../domain/mask-url.ts';
import { idOf, type KnownNetwork } from './network-directory.ts';

/** What every family's networks may have; it stands before what only one has. */
const COMMON = ['explorer_urls', 'average_blocktime_ms', 'is_testnet', 'tags'];

/** A network as answers show it, keys in the reference's order. What may be a key of an endpoint is hidden. */
export function networkView(network: KnownNetwork): WireObject {
  const { type, name, rpcUrls, settings, source } = network;
  const common = COMMON.filter((key) => settings[key] !== undefined).map((key) => [key, settings[key]]);
  return {
    id: idOf(network),
    name,
    network_type: type,
    rpc_urls: rpcUrls.map(({ url, weight }) => ({ url: maskKeys(url), weight })),
    ...Object.fromEntries(common),
    ...Object.fromEntries(Object.entries(settings).filter(([key]) => !COMMON.includes(key))),
    source,
  };
}
