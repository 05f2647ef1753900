import { createHash } from 'node:crypto';
import type { Chain } from '../../chains/chain.ts';
import type { ChainConnections } from '../../chains/connections.ts';
import { AppError, invalidRequest } from '../../domain/errors.ts';
import type { JsonObject, WireObject } from '../../domain/json/json.ts';
import type { NetworkType } from '../../domain/network-type.ts';
import type { Page, PageRequest } from '../../domain/page.ts';
import type { AddressGuard } from '../../egress/address-guard.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Store, StoreWriter } from '../../store/store.ts';
import type { Caller } from '../api-keys/records/caller.ts';
import type { AuditedChange } from '../audit/record.ts';
import { earlierEffect } from '../effects.ts';
import type { RpcUrl } from '../relayers/records/relayer.ts';
import { visibleRelayerUsers } from '../relayers/records/relayer-users.ts';
import { parseBody } from '../request-body.ts';
import { changeSettingsOnce } from '../settings-change.ts';
import type { SettingsFeed } from '../settings-feed.ts';
import { refuseOtherChain } from './chain-identity-check.ts';
import { type KnownNetwork, type NetworkDirectory, networkIdOf } from './network-directory.ts';
import {
  changeNetworkSettings,
  familyFieldsOf,
  networkUpdateSchema,
  parseNetworkSettings,
  readNetworkForm,
  refuseConfigOnlyField,
} from './network-form.ts';
import { networkView } from './network-view.ts';
import type { Network, StoredNetwork } from './record.ts';
import { checkRpcAddresses } from './rpc-urls.ts';

/** The networks of relayers. Views hide possible credentials in endpoints. */
export interface NetworksService {
  get(id: string): Promise<WireObject>;
  list(page: PageRequest): Promise<Page<WireObject>>;
  /** 400, 409 for a name that is taken. */
  create(body: unknown, by: Caller): Promise<WireObject>;
  /** 404; 400, also for a configured network when anything but its endpoints is changed. */
  update(id: string, body: unknown, by: Caller): Promise<WireObject>;
  /** 404; 400 for a configured network; 409 while relayers are on it. */
  remove(id: string, by: Caller): Promise<void>;
}

export interface NetworksDeps {
  store: Store;
  chains: ReadonlyMap<NetworkType, Chain>;
  networks: NetworkDirectory;
  connections: Pick<ChainConnections, 'clientOf'>;
  engine: Pick<Engine, 'recheck'>;
  rpcGuard: Pick<AddressGuard, 'checkUrl'>;
  feed: Pick<SettingsFeed, 'changed'>;
}

export function createNetworksService(deps: NetworksDeps): NetworksService {
  const { store, chains, networks, connections, engine, rpcGuard, feed } = deps;

  function familyOf(type: NetworkType): Chain {
    const family = chains.get(type);
    if (family === undefined) throw invalidRequest(`network_type: networks of type ${type} are not available`);
    return family;
  }

  function find(id: string): KnownNetwork {
    const network = networks.withId(id);
    if (network === undefined) throw new AppError('NETWORK_NOT_FOUND', { id });
    return network;
  }

  function parentOf(type: NetworkType, from: string | undefined): Pick<Network, 'settings'> & Partial<Network> {
    if (from === undefined) return { settings: {} };
    const parent = networks.find(type, from);
    if (parent === undefined) throw invalidRequest(`from: there is no ${type} network ${from}`);
    return parent;
  }

  /** Rechecks the relayers that use this network's endpoints, which are those without endpoints of their own. */
  async function recheckOn({ type, name }: Network): Promise<void> {
    for (const { id, networkType, network, customRpcUrls } of await store.read.allRelayers()) {
      const hasOwn = customRpcUrls !== null && customRpcUrls.length > 0;
      if (networkType === type && network === name && !hasOwn) engine.recheck(id);
    }
  }

  return {
    async get(id) {
      return networkView(find(id));
    },

    async list({ page, perPage }) {
      const all = networks.list();
      return { items: all.slice((page - 1) * perPage, page * perPage).map(networkView), total: all.length };
    },

    async create(body, by) {
      const { type, name, from, fields, ...form } = readNetworkForm(body, familyOf);
      const parent = parentOf(type, from);
      const rpcUrls = form.rpcUrls ?? parent.rpcUrls;
      if (rpcUrls === undefined) throw invalidRequest('rpc_urls: missing');
      checkRpcAddresses(form.rpcUrls ?? [], rpcGuard, 'rpc_urls');
      const network = { type, name, rpcUrls, settings: parseNetworkSettings(familyOf(type), parent.settings, fields) };
      const { made } = await changeSettingsOnce(store, by, async (writer) => {
        const isTaken = networks.configured(type, name) ?? (await writer.storedNetwork(type, name));
        if (isTaken !== undefined) throw new AppError('NETWORK_EXISTS', { id: networkIdOf(network) });
        await writer.putNetwork({ ...network, declaration: null });
        const after = networkView({ ...network, source: 'api' });
        return { outcome: after as JsonObject, audit: audited('create', network, { before: null, after }) };
      });
      await feed.changed('network');
      return made.outcome as WireObject;
    },

    async update(id, body, by) {
      const earlier = await earlierEffect(store.read, by.effect);
      if (earlier?.outcome !== undefined) return earlier.outcome as WireObject;
      const seen = find(id);
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
      const { made } = await changeSettingsOnce(store, by, async (writer) => {
        const before = await current(writer, networks, seen);
        if (before === undefined) throw new AppError('NETWORK_NOT_FOUND', { id });
        const settings = changeNetworkSettings(family, before.settings, fields);
        const after = { ...before, rpcUrls: rpcUrls ?? before.rpcUrls, settings };
        await writer.putNetwork(storedForm(after, networks.configured(type, name)));
        const views = { before: networkView(before), after: networkView(after) };
        const isMoved = JSON.stringify(after.rpcUrls) !== JSON.stringify(before.rpcUrls);
        return { outcome: views.after as JsonObject, audit: audited('update', seen, views, isMoved) };
      });
      await feed.changed('network');
      await recheckOn(seen);
      return made.outcome as WireObject;
    },

    async remove(id, by) {
      await changeSettingsOnce(store, by, async (writer) => {
        const seen = find(id);
        const { type, name } = seen;
        if (seen.source !== 'api') throw invalidRequest(`Network ${id} cannot be deleted: ${onlyUrls(seen)}`);
        const users = (await writer.allRelayers()).filter((one) => one.networkType === type && one.network === name);
        if (users.length > 0) {
          throw new AppError('NETWORK_IN_USE', { id, ...visibleRelayerUsers(users, by) });
        }
        const before = await current(writer, networks, seen);
        if (before === undefined) throw new AppError('NETWORK_NOT_FOUND', { id });
        await writer.deleteNetwork(type, name);
        // A later network may have the same name.
        const identity = await writer.chainIdentity(type, name);
        if (identity !== undefined) await writer.unpinChainIdentity(type, name, identity);
        return { outcome: null, audit: audited('delete', seen, { before: networkView(before), after: null }) };
      });
      await feed.changed('network');
    },
  };
}

function onlyUrls({ source }: KnownNetwork): string {
  const where = source === 'file' ? 'declared in the configuration' : 'built in';
  return `the network is ${where}, and only its rpc_urls can be changed here`;
}

/** Returns the current network from the store; undefined for a client's network that was deleted. */
async function current(
  writer: StoreWriter,
  networks: NetworkDirectory,
  { type, name, source }: KnownNetwork,
): Promise<KnownNetwork | undefined> {
  const stored = await writer.storedNetwork(type, name);
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

function audited(
  action: AuditedChange['action'],
  network: Pick<Network, 'type' | 'name'>,
  views: Pick<AuditedChange, 'before' | 'after'>,
  isMoved = false,
): AuditedChange {
  const secrets = isMoved ? ['rpc_urls'] : [];
  return { action, resource: 'network', resourceId: networkIdOf(network), ...views, secrets };
}
