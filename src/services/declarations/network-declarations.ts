import type { ConfiguredNetwork } from '../../domain/network.ts';
import type { Log } from '../../observability/log.ts';
import type { Store } from '../../store/store.ts';
import { urlsDigest } from '../settings/networks.ts';

/**
 * Brings the configured networks and what clients made of networks together. What a file newly says of a network is
 * what counts; else the endpoints that clients gave it do. With `reset` all is as the files say, but networks of
 * clients that relayers are on stay.
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
  for (const network of dropped) log.warn({ network }, 'a network is as the configuration declares it from now on');
}
