import { isObject, type Json, type WireObject } from '../../domain/json/json.ts';
import { maskKeys } from '../../domain/mask-url.ts';
import { type KnownNetwork, networkIdOf } from './network-directory.ts';
import { CONFIG_ONLY_FIELD } from './network-form.ts';

/** The fields that networks of every family may have. They come before the family's own fields. */
const COMMON = ['explorer_urls', 'average_blocktime_ms', 'is_testnet', 'tags'];

/** A network in answers, with its fields in the reference's order. Possible credentials in endpoints are hidden. */
export function networkView(network: KnownNetwork): WireObject {
  const { type, name, rpcUrls, settings, source } = network;
  const common = COMMON.filter((key) => settings[key] !== undefined).map((key) => [key, settings[key]]);
  return {
    id: networkIdOf(network),
    name,
    network_type: type,
    rpc_urls: rpcUrls.map(({ url, weight }) => ({ url: maskKeys(url), weight })),
    ...Object.fromEntries(common),
    ...Object.fromEntries(
      Object.entries(settings)
        .filter(([key]) => !COMMON.includes(key))
        .map(([key, value]) => [key, key === CONFIG_ONLY_FIELD ? maskedRelays(value) : value]),
    ),
    source,
  };
}

/** The relays of a network, without what may be a key in their addresses. */
function maskedRelays(relays: Json | undefined): Json {
  const masked = (url: Json | undefined) => (typeof url === 'string' ? maskKeys(url) : '');
  const shown = (relay: Json) => (isObject(relay) ? { ...relay, url: masked(relay['url']) } : masked(relay));
  return Array.isArray(relays) ? relays.map(shown) : [];
}
