import type { WireObject } from '../json/json.ts';
import { maskUrl } from '../mask-url.ts';
import { disabledView } from './disabled-reason.ts';
import type { Relayer, RpcUrl } from './relayer.ts';

/**
 * A relayer as answers and webhooks show it: keys in the reference's order, without unset ones.
 * @param policies as its chain shows them
 */
export function relayerView(relayer: Relayer, policies: WireObject | undefined): WireObject {
  const { notificationId, customRpcUrls, disabledReason } = relayer;
  return {
    id: relayer.id,
    name: relayer.name,
    network: relayer.network,
    network_type: relayer.networkType,
    paused: relayer.paused,
    ...(policies === undefined ? {} : { policies }),
    signer_id: relayer.signerId,
    ...(notificationId === null ? {} : { notification_id: notificationId }),
    ...(customRpcUrls === null ? {} : { custom_rpc_urls: customRpcUrls.map(maskedUrl) }),
    address: relayer.address,
    system_disabled: disabledReason !== null,
    ...(disabledReason === null ? {} : { disabled_reason: disabledView(disabledReason) }),
  };
}

function maskedUrl({ url, weight }: RpcUrl): WireObject {
  return { url: maskUrl(url), weight };
}
