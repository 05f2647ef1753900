import type { Clock } from '../domain/clock.ts';
import { AppError } from '../domain/errors.ts';
import type { Network } from '../domain/network.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { Relayer } from '../domain/relayer.ts';
import type { HttpClient } from '../egress/http-client.ts';
import { createRpcClient, type RpcCallReport, type RpcSettings } from '../egress/json-rpc.ts';
import type { RpcClient } from '../egress/rpc-client.ts';
import type { Chain, ChainClient } from './chain.ts';
import type { ChainConnections } from './connections.ts';

export interface ConnectionParts {
  networks: readonly Network[];
  chains: ReadonlyMap<NetworkType, Chain>;
  /** Makes all RPC calls; stays open when the connections close. */
  http: HttpClient;
  clock: Clock;
  /** 0 inclusive to 1 exclusive. */
  random: () => number;
  /** What differs from the defaults of `json-rpc.ts`. */
  settings?: Partial<RpcSettings> | undefined;
  onRpcCall?: ((network: Network, report: RpcCallReport) => void) | undefined;
}

/** Connects to networks when they are first needed, all over one pool of HTTP connections. */
export function createConnections(parts: ConnectionParts): ChainConnections {
  const { chains, http, clock, random, settings, onRpcCall } = parts;
  const networks = new Map(parts.networks.map((network) => [`${network.type}:${network.name}`, network]));
  const clients = new Map<string, { rpc: RpcClient; client: ChainClient }>();

  function connect(chain: Chain, network: Network): { rpc: RpcClient; client: ChainClient } {
    const onCall = onRpcCall && ((report: RpcCallReport) => onRpcCall(network, report));
    const rpc = createRpcClient({ endpoints: network.rpcUrls, http, clock, random, settings, onCall });
    return { rpc, client: chain.connect(network, rpc) };
  }

  return {
    clientOf({
      networkType,
      network: name,
      customRpcUrls,
    }: Pick<Relayer, 'networkType' | 'network' | 'customRpcUrls'>) {
      const declared = networks.get(`${networkType}:${name}`);
      const chain = chains.get(networkType);
      if (declared === undefined || chain === undefined) {
        throw new AppError('PROVIDER_FAILED', { network: name, reason: `no ${networkType} network has this name` });
      }
      const rpcUrls = customRpcUrls !== null && customRpcUrls.length > 0 ? customRpcUrls : declared.rpcUrls;
      const key = JSON.stringify([networkType, name, rpcUrls.map(({ url, weight }) => [url, weight])]);
      const known = clients.get(key) ?? connect(chain, { ...declared, rpcUrls });
      clients.set(key, known);
      return known.client;
    },
    async close() {
      await Promise.all([...clients.values()].map(({ rpc }) => rpc.close()));
    },
  };
}
