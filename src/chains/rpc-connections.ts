import type { Clock } from '../domain/clock.ts';
import type { EndpointNews, EndpointStatus } from '../domain/endpoint-news.ts';
import { AppError } from '../domain/errors.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { HttpClient } from '../egress/http-client.ts';
import { createMarketClient, type MarketClient } from '../egress/market-client.ts';
import type { EndpointContact } from '../egress/rpc/endpoint-pool.ts';
import {
  createRpcClient,
  type InspectableRpcClient,
  type RpcCallReport,
  type RpcSettings,
} from '../egress/rpc/failover-rpc-client.ts';
import type { Network, Networks } from '../features/networks/record.ts';
import type { Relayer, RpcUrl } from '../features/relayers/records/relayer.ts';
import type { Chain, ContractDeployments, PrivateRelay } from './chain.ts';
import type { ChainClient } from './chain-client.ts';

/** The live side of the networks: one client for each network and set of endpoints, made when first needed. */
export interface ChainConnections {
  /** @throws AppError `PROVIDER_FAILED` when the relayer's network is not known */
  clientOf(relayer: RelayerEndpoints): ChainClient;
  close(): Promise<void>;
}

/** What serves a relayer: its network and endpoints. */
export type RelayerEndpoints = Pick<Relayer, 'networkType' | 'network' | 'customRpcUrls'>;

/** How endpoints have answered so far, whoever asked them. */
export interface EndpointContacts {
  /** Undefined until something asks the relayer's endpoints. */
  contactOf(relayer: RelayerEndpoints): Readonly<EndpointContact> | undefined;
  /**
   * Calls `listener` when the last result of every endpoint of some relayers was trouble, and when one of these
   * endpoints serves again. `concerns` tells which relayers are affected. Returns a function that ends the calls.
   */
  onContact(listener: (concerns: (relayer: RelayerEndpoints) => boolean) => void): () => void;
}

/** For connections of which nothing is known. */
export const NO_ENDPOINT_CONTACTS: EndpointContacts = {
  contactOf: () => ({ isLost: false, servedAt: Number.POSITIVE_INFINITY }),
  onContact: () => () => {},
};

export interface ConnectionParts {
  networks: Networks;
  chains: ReadonlyMap<NetworkType, Chain>;
  /** Makes all RPC calls; stays open when the connections close. */
  http: HttpClient;
  /** Tells families what tokens cost. */
  market: MarketClient;
  deployments?: ContractDeployments | undefined;
  clock: Clock;
  /** 0 inclusive to 1 exclusive. */
  random: () => number;
  /** Overrides of the defaults of `failover-rpc-client.ts`. */
  settings?: Partial<RpcSettings> | undefined;
  onRpcCall?: ((network: Network, report: RpcCallReport) => void) | undefined;
  /** Called when an endpoint is left alone, and when it serves again. */
  onEndpoint?: ((network: Network, news: EndpointNews) => void) | undefined;
}

/** Connections whose endpoints can be inspected. */
export interface WatchedConnections extends ChainConnections, EndpointContacts {
  /** Every endpoint that was ever connected to, as it stands now. */
  endpoints(): (EndpointStatus & { network: string })[];
}

interface Connection {
  /** The client of the network's endpoints. */
  rpc: InspectableRpcClient;
  /** It, and the clients of the network's relays. */
  all: readonly InspectableRpcClient[];
  client: ChainClient;
  network: string;
}

/** Connects to networks when they are first needed, all over one pool of HTTP connections. */
export function createConnections(parts: ConnectionParts): WatchedConnections {
  const { networks, chains, http, market, deployments, clock, random, settings, onRpcCall, onEndpoint } = parts;
  const clients = new Map<string, Connection>();
  const listeners = new Set<(concerns: (relayer: RelayerEndpoints) => boolean) => void>();

  function urlsOf({ networkType, network, customRpcUrls }: RelayerEndpoints): readonly RpcUrl[] {
    const declared = networks.find(networkType, network)?.rpcUrls ?? [];
    return customRpcUrls !== null && customRpcUrls.length > 0 ? customRpcUrls : declared;
  }

  /** Relayers with the same key share a client. */
  function keyOf(relayer: RelayerEndpoints): string {
    const { networkType, network } = relayer;
    const settings = networks.find(networkType, network)?.settings;
    return JSON.stringify([networkType, network, settings, urlsOf(relayer).map(({ url, weight }) => [url, weight])]);
  }

  function connect(chain: Chain, network: Network, key: string): Connection {
    const onCall = onRpcCall && ((report: RpcCallReport) => onRpcCall(network, report));
    const onNews = onEndpoint && ((news: EndpointNews) => onEndpoint(network, news));
    const open = (endpoints: readonly RpcUrl[], onContact?: () => void) =>
      createRpcClient({
        endpoints,
        http,
        clock,
        random,
        settings,
        onCall,
        onEndpoint: onNews,
        onContact,
        dialect: chain.dialect,
      });
    const rpc = open(network.rpcUrls, () => {
      for (const listener of listeners) listener((relayer) => keyOf(relayer) === key);
    });
    const byMethod = Map.groupBy(chain.relays(network), ({ method }) => method);
    const relays = new Map([...byMethod].map(([method, some]) => [method, open(some.map(asEndpoint))]));
    const own = chain.marketUrl(network) ?? null;
    // The market is called through `http`, so the rules for endpoint addresses apply to it as well.
    const traded = own === null ? market : createMarketClient({ url: own, apiKey: undefined, http });
    const client = chain.connect(network, rpc, traded, deployments, relays);
    return { rpc, all: [rpc, ...relays.values()], network: network.name, client };
  }

  return {
    clientOf(relayer) {
      const { networkType, network: name } = relayer;
      const declared = networks.find(networkType, name);
      const chain = chains.get(networkType);
      if (declared === undefined || chain === undefined) {
        throw new AppError('PROVIDER_FAILED', { network: name, reason: `no ${networkType} network has this name` });
      }
      const key = keyOf(relayer);
      const known = clients.get(key) ?? connect(chain, { ...declared, rpcUrls: [...urlsOf(relayer)] }, key);
      clients.set(key, known);
      return known.client;
    },
    contactOf: (relayer) => clients.get(keyOf(relayer))?.rpc.contact,
    onContact(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    endpoints: () =>
      [...clients.values()].flatMap(({ all, network }) =>
        all.flatMap((rpc) => rpc.endpoints().map((one) => ({ ...one, network }))),
      ),
    async close() {
      await Promise.all([...clients.values()].flatMap(({ all }) => all.map((rpc) => rpc.close())));
    },
  };
}

function asEndpoint({ url }: PrivateRelay): RpcUrl {
  return { url, weight: 100 };
}
