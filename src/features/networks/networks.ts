import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Chain } from '../../chains/chain.ts';
import type { ChainConnections } from '../../chains/rpc-connections.ts';
import { invalidRequest } from '../../domain/errors.ts';
import { isObject, type Json, type JsonObject, type WireObject } from '../../domain/json/json.ts';
import { maskKeys } from '../../domain/mask-url.ts';
import { type NetworkType, networkTypeSchema } from '../../domain/network-type.ts';
import type { AddressGuard } from '../../egress/address-guard.ts';
import type { Engine } from '../../engine/engine.ts';
import type { StoreReader } from '../../store/store.ts';
import type { RpcUrl } from '../relayers/records/relayer.ts';
import { parseBody } from '../request-body.ts';
import { resource } from '../resource.ts';
import { type KnownNetwork, type NetworkDirectory, networkIdOf } from './network-directory.ts';
import {
  CONFIG_ONLY_FIELD,
  changeNetworkSettings,
  familyFieldsOf,
  networkUpdateSchema,
  parseNetworkSettings,
  readNetworkForm,
  refuseConfigOnlyField,
} from './network-form.ts';
import type { Network, StoredNetwork } from './record.ts';
import { checkRpcAddresses, refuseOtherChain } from './rpc-urls.ts';

/** A network, with the fields of its family. */
const networkSchema = z.looseObject({
  id: z.string().meta({ description: 'Type and name in lower case, for instance `evm:sepolia`' }),
  name: z.string(),
  network_type: networkTypeSchema,
  rpc_urls: z
    .array(z.object({ url: z.string(), weight: z.int().min(0).max(100) }))
    .meta({ description: 'RPC endpoints; user-info, query and path segments of 8 or more characters are hidden' }),
  explorer_urls: z.array(z.string()).optional(),
  average_blocktime_ms: z.int().min(1).optional(),
  is_testnet: z.boolean().optional(),
  tags: z.array(z.string()).optional(),
  source: z
    .enum(['api', 'file', 'built-in'])
    .meta({ description: 'Where the network is defined; only networks with source `api` can be deleted' }),
});

export interface NetworksDeps {
  chains: ReadonlyMap<NetworkType, Chain>;
  networks: NetworkDirectory;
  connections: Pick<ChainConnections, 'clientOf'>;
  engine: Pick<Engine, 'recheck'>;
  rpcGuard: Pick<AddressGuard, 'checkUrl'>;
}

/** The networks of relayers. No answer contains an endpoint's credentials. */
export const networkResource = resource<KnownNetwork, NetworksDeps>({
  name: 'network',
  noun: 'network',
  tag: 'Networks',
  about: 'Chains that relayers use, with their RPC endpoints.',
  exampleId: 'evm:my-chain',
  schema: networkSchema,
  list: { answer: 'Networks created over the API, newest first; then those of the configuration; then built-in ones' },
  create: {
    description:
      'The same rules apply to its endpoints as to those of relayers: an endpoint in a private network is refused, ' +
      'unless the operator has allowed it. Relayers can be created on the network at once.',
    body: ({ networks }) => networks.create,
  },
  update: {
    description:
      'The endpoints of any network can be changed. Other fields can be changed only in networks that were created ' +
      'over the API; null removes such a field. A changed network file takes effect at the next start.',
    body: ({ networks }) => networks.update,
  },
  remove: { summary: 'Delete a network that was created over the API and that no relayer uses' },
  isCached: true,
  view: networkView,

  on({ store, chains, networks, connections, engine, rpcGuard }) {
    function familyOf(type: NetworkType): Chain {
      const family = chains.get(type);
      if (family === undefined) throw invalidRequest(`network_type: networks of type ${type} are not available`);
      return family;
    }

    function parentOf(type: NetworkType, from: string | undefined): Pick<Network, 'settings'> & Partial<Network> {
      if (from === undefined) return { settings: {} };
      const parent = networks.find(type, from);
      if (parent === undefined) throw invalidRequest(`from: there is no ${type} network ${from}`);
      return parent;
    }

    /** Rechecks the relayers that use this network's endpoints, which are those without endpoints of their own. */
    async function recheckOn({ type, name }: Network): Promise<void> {
      for (const { id, customRpcUrls } of await store.read.relayersWith({ networkType: type, network: name })) {
        if (customRpcUrls === null || customRpcUrls.length === 0) engine.recheck(id);
      }
    }

    return {
      idOf: networkIdOf,

      async find(read, id) {
        const seen = networks.withId(id);
        return seen && (await current(read, networks, seen));
      },

      async list(_, { page, perPage }) {
        const all = networks.list();
        return { items: all.slice((page - 1) * perPage, page * perPage), total: all.length };
      },

      async create(body) {
        const { type, name, from, fields, ...form } = readNetworkForm(body, familyOf);
        const parent = parentOf(type, from);
        const rpcUrls = form.rpcUrls ?? parent.rpcUrls;
        if (rpcUrls === undefined) throw invalidRequest('rpc_urls: missing');
        checkRpcAddresses(form.rpcUrls ?? [], rpcGuard, 'rpc_urls');
        const settings = parseNetworkSettings(familyOf(type), parent.settings, fields);
        const network = { type, name, rpcUrls, settings };
        return {
          id: networkIdOf(network),
          // Names that differ only in case are two networks.
          isTaken: async (read) =>
            (networks.configured(type, name) ?? (await read.storedNetwork(type, name))) !== undefined,
          async write(writer) {
            await writer.putNetwork({ ...network, declaration: null });
            return { now: { ...network, source: 'api' } };
          },
        };
      },

      async update(body, _, find) {
        const seen = await find();
        const { type, name } = seen;
        const family = familyOf(type);
        refuseConfigOnlyField(body);
        const { rpc_urls: rpcUrls } = parseBody(networkUpdateSchema(family), body);
        const fields = familyFieldsOf(body as JsonObject);
        if (rpcUrls == null && Object.keys(fields).length === 0) {
          throw invalidRequest('At least one field must be provided for update');
        }
        const [own] = Object.keys(fields);
        if (own !== undefined && seen.source !== 'api') throw invalidRequest(`${own}: ${onlyUrls(seen)}`);
        checkRpcAddresses(rpcUrls ?? [], rpcGuard, 'rpc_urls');
        if (rpcUrls != null) {
          const served = { networkType: type, network: name, customRpcUrls: rpcUrls };
          await refuseOtherChain({ read: store.read, connections }, family, served, 'rpc_urls');
        }
        return {
          async write(writer, before) {
            const settings = changeNetworkSettings(family, before.settings, fields);
            const now = { ...before, rpcUrls: rpcUrls ?? before.rpcUrls, settings };
            await writer.putNetwork(storedForm(now, networks.configured(type, name)));
            const isMoved = JSON.stringify(now.rpcUrls) !== JSON.stringify(before.rpcUrls);
            return { now, secrets: isMoved ? ['rpc_urls'] : [] };
          },
          done: () => recheckOn(seen),
        };
      },

      assertRemovable(network) {
        if (network.source === 'api') return;
        throw invalidRequest(`Network ${networkIdOf(network)} cannot be deleted: ${onlyUrls(network)}`);
      },
      useOf: ({ type, name }) => ({ networkType: type, network: name }),

      async remove(writer, { type, name }) {
        await writer.deleteNetwork(type, name);
        // A later network may have the same name.
        const identity = await writer.chainIdentity(type, name);
        if (identity !== undefined) await writer.unpinChainIdentity(type, name, identity);
      },
    };
  },
});

function onlyUrls({ source }: KnownNetwork): string {
  const where = source === 'file' ? 'declared in the configuration' : 'built in';
  return `the network is ${where}, and only its rpc_urls can be changed here`;
}

/** Returns the current network from the store; undefined for a client's network that was deleted. */
async function current(
  read: StoreReader,
  networks: NetworkDirectory,
  { type, name, source }: KnownNetwork,
): Promise<KnownNetwork | undefined> {
  const stored = await read.storedNetwork(type, name);
  const configured = networks.configured(type, name);
  if (configured !== undefined) return { ...configured, rpcUrls: stored?.rpcUrls ?? configured.rpcUrls };
  if (stored === undefined || stored.settings === null) return undefined;
  return { type, name, rpcUrls: stored.rpcUrls, settings: stored.settings, source };
}

function storedForm(network: KnownNetwork, configured: KnownNetwork | undefined): StoredNetwork {
  const { type, name, rpcUrls, settings } = network;
  if (configured === undefined) return { type, name, rpcUrls, settings, declaration: null };
  const declaration = configured.source === 'file' ? rpcUrlsDigest(configured.rpcUrls) : null;
  return { type, name, rpcUrls, settings: null, declaration };
}

/** Returns a digest of declared endpoints. A later start compares it with the endpoints declared then. */
export function rpcUrlsDigest(urls: readonly RpcUrl[]): string {
  const text = JSON.stringify(urls.map(({ url, weight }) => [url, weight]));
  return createHash('sha256').update(text).digest('hex');
}

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
