import type { ConfiguredNetwork } from '../../domain/network.ts';
import type { Log } from '../../observability/log.ts';
import type { Store } from '../../store/store.ts';
import { urlsDigest } from '../settings/networks.ts';

/**
 * Merges the configured networks with clients' changes. If a file's endpoints for a network changed, the file's count.
 * Otherwise the endpoints that clients set count. With `reset`, the files alone count, except that clients' networks
 * with relayers stay.
 */
export async function applyNetworks(
  store: Pick<Store, 'write'>,
  configured: readonly ConfiguredNetwork[],
  log: Log,
  { reset = false } = {},
): Promise<void> {
  const declared = new Map(
    configured.filter(({ isBuiltIn }) => !isBuiltIn).map((network) => [`${network.type}:${network.name}`, network]),
  );
  const dropped = await store.write(async (writer) => {
    const used = new Set((await writer.allRelayers()).map(({ networkType, network }) => `${networkType}:${network}`));
    const gone: string[] = [];
    for (const { type, name, settings, declaration } of await writer.storedNetworks()) {
      const key = `${type}:${name}`;
      const entry = declared.get(key);
      const isOutdated = entry !== undefined && urlsDigest(entry.rpcUrls) !== declaration;
      if (!isOutdated && (!reset || (settings !== null && used.has(key)))) continue;
      await writer.deleteNetwork(type, name);
      if (!reset) gone.push(key);
    }
    return gone;
  });
  for (const network of dropped) log.warn({ network }, 'a network is now as the configuration declares it');
}
