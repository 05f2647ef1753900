import type { Chain } from '../chains/chain.ts';
import type { ChainConnections } from '../chains/rpc-connections.ts';
import type { Clock } from '../domain/clock.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { AddressGuard } from '../egress/address-guard.ts';
import type { PluginHttp } from '../egress/fetch/plugin-http.ts';
import type { WebhookClient } from '../egress/webhook-client.ts';
import type { Engine } from '../engine/engine.ts';
import type { Outbox } from '../engine/webhooks/outbox.ts';
import type { Log } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { SignerKinds } from '../signers/registry.ts';
import type { Signer } from '../signers/signer.ts';
import type { Store } from '../store/store.ts';
import type { ResourceName } from './api-keys/records/access.ts';
import { createAuditService } from './audit/audit.ts';
import { withAuditLog } from './audit/audit-records.ts';
import { createBundles } from './calls/bundles.ts';
import { createCallsService } from './calls/calls.ts';
import type { NetworkDirectory } from './networks/network-directory.ts';
import { createFetchService } from './plugins/fetch.ts';
import { createKvService } from './plugins/kv.ts';
import { createPluginsService } from './plugins/plugins.ts';
import { createRecordedEffects } from './recorded-effects.ts';
import { createLocalRpc } from './relayers/local-rpc.ts';
import type { Relayer } from './relayers/records/relayer.ts';
import { RelayerDirectory, type RelayerLimit } from './relayers/relayer-access.ts';
import { createRelayerCreate } from './relayers/relayer-create.ts';
import { createRelayerUpdate } from './relayers/relayer-update.ts';
import { createRelayerDelete, createRelayersService } from './relayers/relayers.ts';
import { createRpcService } from './relayers/rpc.ts';
import type { ResourceService } from './resource.ts';
import { RESOURCES } from './resource-table.ts';
import type { ApiServices } from './services.ts';
import type { SettingsFeed } from './settings-feed.ts';
import type { SignerDirectory } from './signers/signer-directory.ts';
import { createSigningService } from './signing/signing.ts';
import type { Timestamp } from './transactions/records/transaction.ts';
import { createLifecycleService } from './transactions/transaction-changes.ts';
import { createTransactionsService } from './transactions/transactions.ts';
import { createTriggersService, type TriggersDeps } from './triggers/triggers.ts';
import { createDeliveriesService } from './webhooks/deliveries.ts';

export interface ServicesDeps {
  store: Store;
  chains: ReadonlyMap<NetworkType, Chain>;
  connections: ChainConnections;
  networks: NetworkDirectory;
  signers: SignerDirectory;
  /** The signer kinds of the configuration. */
  signerKinds: SignerKinds;
  /** Checks the addresses of the services in clients' signers. */
  signerGuard: Pick<AddressGuard, 'checkUrl'>;
  /** Whether clients' signers may use the server's own identity at a cloud. */
  signersUseServerIdentity: boolean;
  signerOf(relayer: Relayer): Promise<Signer>;
  engine: Pick<Engine, 'wake' | 'onChange' | 'recheck'>;
  /** Takes the events for webhooks. */
  outbox: Pick<Outbox, 'answered' | 'committed'>;
  relayerLimit?: RelayerLimit | undefined;
  /** What the triggers of plugins need. */
  triggers: Pick<TriggersDeps, 'declared' | 'secret' | 'calls' | 'changed'>;
  /** Called after each change of settings that are held in memory. */
  feed: Pick<SettingsFeed, 'changed'>;
  /** Checks a relayer's endpoints. */
  rpcGuard: Pick<AddressGuard, 'checkUrl'>;
  /** Checks the addresses of notifications. */
  webhooks: Pick<WebhookClient, 'check'>;
  /** Wakes the delivery of webhooks: a delivery may be due. */
  wakeDelivery(): void;
  /** The HTTP client for plugins. */
  pluginHttp: PluginHttp;
  log: Log;
  metrics: Metrics;
  clock: Pick<Clock, 'elapsed'>;
  randomBytes(size: number): Uint8Array;
  /** When the service was started. */
  startedAt: Timestamp;
  /** A new id (`domain/id.ts`). */
  newId(): string;
}

/** Creates the services and gives them the parts that they share. */
export function createServices(deps: ServicesDeps): ApiServices {
  const { chains, networks, signers, connections, signerOf, engine, feed } = deps;
  const { rpcGuard, pluginHttp, log, metrics, clock, newId } = deps;
  const store = withAuditLog(deps.store, log);
  const relayers = new RelayerDirectory({ read: store.read, chains, connections, limit: deps.relayerLimit });
  const transactions = createTransactionsService({ store, relayers, engine, metrics, clock, log, newId });
  const lifecycle = createLifecycleService({ store, relayers, engine, log, clock });
  const runOwn = createLocalRpc({ store, outbox: deps.outbox, relayers, signerOf, transactions, lifecycle });
  return {
    transactions,
    lifecycle,
    relayers: createRelayersService({
      read: store.read,
      relayers,
      create: createRelayerCreate({ store, chains, relayers, signers, networks, connections, engine, rpcGuard, newId }),
      remove: createRelayerDelete({ store, relayers, engine }),
      update: createRelayerUpdate({ store, relayers, networks, connections, engine, rpcGuard }),
    }),
    resources: Object.fromEntries(RESOURCES.map((kind) => [kind.name, kind.open({ ...deps, store })])) as Record<
      ResourceName,
      ResourceService
    >,
    deliveries: createDeliveriesService({ store, wake: deps.wakeDelivery }),
    signing: createSigningService({ store, relayers, signerOf }),
    rpc: createRpcService({ relayers, store, runOwn }),
    kv: createKvService({ store, newId }),
    fetch: createFetchService({ store, http: pluginHttp }),
    effects: createRecordedEffects(store),
    bundles: createBundles(store, clock.elapsed),
    plugins: createPluginsService({ store, feed }),
    triggers: createTriggersService({ ...deps.triggers, store, newId, metrics }),
    audit: createAuditService(store.read),
    calls: createCallsService(store),
  };
}
