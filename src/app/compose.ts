import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import type { Chain } from '../chains/chain.ts';
import { createMarkets } from '../chains/markets.ts';
import { createConnections } from '../chains/rpc-connections.ts';
import { systemClock as clock } from '../domain/clock.ts';
import { messageOf } from '../domain/errors.ts';
import { orderedId } from '../domain/id.ts';
import type { NetworkType } from '../domain/network-type.ts';
import { createAddressGuard } from '../egress/address-guard.ts';
import { createPluginHttp } from '../egress/fetch/plugin-http.ts';
import { createMarketHttp } from '../egress/market-client.ts';
import type { RpcSettings } from '../egress/rpc/failover-rpc-client.ts';
import { createRpcHttp } from '../egress/rpc/rpc-http.ts';
import { createMachineIdentityHttp, createSignerHttp } from '../egress/signer-http.ts';
import { createWebhookClient } from '../egress/webhook-client.ts';
import type { CrashPoint } from '../engine/lane/lane-step.ts';
import { Retention } from '../engine/retention.ts';
import { RollbackDetector } from '../engine/rollback-detector.ts';
import { createEngine } from '../engine/scheduler.ts';
import type { EngineTiming } from '../engine/timing.ts';
import { Outbox } from '../engine/webhooks/outbox.ts';
import { WebhookDelivery } from '../engine/webhooks/webhook-delivery.ts';
import { MASTER_KEY_ID } from '../features/api-keys/records/access.ts';
import { createServices } from '../features/create-services.ts';
import { createPluginHost, type PluginHostDeps } from '../features/plugins/host/create-plugin-host.ts';
import type { PluginBooks, PluginHost } from '../features/plugins/host/plugin-host.ts';
import type { Relayer } from '../features/relayers/records/relayer.ts';
import type { ApiServices } from '../features/services.ts';
import { createTransactionEvents } from '../features/transactions/transaction-events.ts';
import { TriggerLoop } from '../features/triggers/trigger-loop.ts';
import { SignInCode } from '../http/access/sign-in-code.ts';
import { HTTP_LIMITS } from '../http/admission.ts';
import type { HttpServer } from '../http/connections.ts';
import { createCursorIds, createPlaceCursors } from '../http/cursors.ts';
import { IdempotencyKeys } from '../http/idempotency-keys.ts';
import { createLimits } from '../http/rate-limiter.ts';
import { createMetricsServer } from '../http/routes/metrics.ts';
import { createHttpServer } from '../http/server.ts';
import { createHealth, type Health } from '../observability/health.ts';
import { type Log, logEndpoint } from '../observability/log.ts';
import { createMetrics, type ServiceMetrics } from '../observability/metrics.ts';
import { openMasterApiKey } from '../settings/api-key.ts';
import type { Configuration } from '../settings/configuration.ts';
import { declaredUrls, LiveSettings } from '../settings/reconcile/live-settings.ts';
import { type OpenedSettings, openSettings } from '../settings/reconcile/open-settings.ts';
import { createKeyFaultCheck, WaitingRelayers } from '../settings/reconcile/relayer-addresses.ts';
import { createSecretResolver } from '../settings/secrets.ts';
import { type ConfigurationFiles, digestFiles, watchConfiguration } from '../settings/watch.ts';
import { RestartingKeyThread } from '../signers/keys/key-worker.ts';
import type { SignerKinds } from '../signers/registry.ts';
import type { KeyHolder, SignerTools } from '../signers/signer.ts';
import { openStore } from '../store/open.ts';
import { createSealer, loadSealingKey } from '../store/sealing.ts';
import { openFolderMemory } from '../store/sqlite/folder-memory.ts';
import { lockDataDir } from '../store/sqlite/lock.ts';
import { freeDiskBytes, healthChecks, openFiles } from './health.ts';
import { countEndpointNews, meteredStore, rpcCallCounter, sampleAtScrape } from './metrics.ts';
import { ShutdownDeadline, Teardown } from './teardown.ts';

/** The parts that a service is built from. */
export interface ServiceParts {
  configuration: Configuration;
  chains: ReadonlyMap<NetworkType, Chain>;
  signerKinds: SignerKinds;
  log: Log;
  /** Reads the configuration again when its files have changed; absent: changes are not noticed. */
  readConfiguration?: () => Promise<Configuration>;
  /** Aborts a start that is under way. */
  stop?: AbortSignal | undefined;
  /** Creates the plugin host. Set it to use another one where no plugins run. */
  createPluginHost?: (deps: PluginHostDeps) => PluginHost;
  /** Holds the signing keys. Set it to use another keeper than the key thread. */
  keyHolder?: KeyHolder;
  /** Called at each step of a transaction's life. Tests use it to end the process at a given step. */
  onCheckpoint?: ((step: CrashPoint) => void) | undefined;
  /** The engine's timing; absent: the default. */
  timing?: EngineTiming | undefined;
}

/** A service that has started. */
export interface Service {
  /** The URL of the API, for instance `http://127.0.0.1:8080`. */
  address: string;
  /** The URL of the metrics; null: they are switched off. */
  metricsAddress: string | null;
  /** The file of the generated API key; null: the key is from the environment. */
  apiKeyFile: string | null;
  /** The URL of the console; null: it is switched off. */
  consoleAddress: string | null;
  /**
   * Returns a new link that signs in to the console once. Null unless this start created the API key, which happens on
   * loopback only, and the console is enabled.
   */
  signInLink(): string | null;
  /** The ids of the plugins that serve now. */
  plugins(): string[];
  /** Resolves with the reason when the service must stop. The caller has to close it then. */
  broken: Promise<Error>;
  /** Lets running work finish for a while, then ends it. Safe to call twice. */
  close(): Promise<void>;
}

/** How long the server waits for the last answers of calls that were ended. */
const LAST_ANSWERS_MS = 2000;

/**
 * The time limit for the last database writes while parts close. It is longer than the engine waits for its steps, and
 * shorter than the limit for one part. After it the database connections are cut, so that no part waits for them.
 */
const LAST_WRITES_MS = 4500;

/** The same limit for a start that is aborted. Nothing waits for its writes. */
const LAST_WRITES_OF_START_MS = 1000;

/** The folder of the sandbox's sources, with the child's entry. */
const SANDBOX_DIR = resolve(import.meta.dirname, '..', '..', 'sandbox');

/**
 * Builds the whole service, from the store upwards, and starts it. Drivers are created only here. If a later part fails
 * or `stop` aborts, the parts opened so far are closed.
 * @throws the reason of `stop`
 */
export async function compose(parts: ServiceParts): Promise<Service> {
  const { stop, log } = parts;
  stop?.throwIfAborted();
  const teardown = new Teardown();
  const deadline = new ShutdownDeadline();
  const cutShort = () => deadline.within(LAST_WRITES_OF_START_MS);
  stop?.addEventListener('abort', cutShort);
  try {
    return await build(parts, teardown, deadline);
  } catch (error) {
    deadline.within(LAST_WRITES_MS);
    await teardown.close().catch((failure: unknown) => {
      // Without stacks: the reason of the failed start is what counts.
      const failures = failure instanceof AggregateError ? failure.errors.map(messageOf) : [messageOf(failure)];
      log.warn({ failures }, 'not everything was closed');
    });
    // After `stop`, any other failure is a consequence of it.
    stop?.throwIfAborted();
    throw error;
  } finally {
    stop?.removeEventListener('abort', cutShort);
  }
}

/** What a part is built with: the parts of the service, and what every part needs. */
interface Build extends ServiceParts {
  dataDir: string;
  metrics: ServiceMetrics;
  teardown: Teardown;
  deadline: ShutdownDeadline;
  newId(): string;
}

async function build(parts: ServiceParts, teardown: Teardown, deadline: ShutdownDeadline): Promise<Service> {
  const { configuration, chains, log, stop } = parts;
  const { environment } = configuration;
  const files = configurationFiles(environment);
  const since = await digestFiles(files);
  const live = new LiveSettings(configuration);
  const dataDir = resolve(environment.DATA_DIR);
  const newId = () => orderedId(randomUUID(), clock.now());
  const built: Build = { ...parts, dataDir, metrics: createMetrics(), teardown, deadline, newId };

  const lock = lockDataDir(dataDir);
  teardown.defer('lock of the data folder', () => lock.release());
  const pluginHost = openPluginHost(built, live);
  const apiKey = await openMasterApiKey(environment.API_KEY, dataDir);
  const storage = await openStorage(built);
  const { store } = storage;
  const signing = openSigning(built);
  const settings = await openSettings({ ...parts, ...signing, store }, teardown.defer.bind(teardown));
  const clients = openClients(built, settings);
  const driving = createDriving(built, { storage, settings, clients });
  const waiting = new WaitingRelayers({
    store,
    chains,
    signers: settings.signers,
    engine: driving.engine,
    log,
    declared: () => live.relayers,
  });
  teardown.defer('relayers that wait for their signers', () => waiting.close());
  const serving = await createServing(built, {
    storage,
    signing,
    settings,
    clients,
    driving,
    pluginHost,
    apiKey,
    live,
  });
  sampleAtScrape(built.metrics, {
    store,
    chains,
    engine: driving.engine,
    connections: clients.connections,
    pluginHost,
    declared: () => live.plugins,
  });

  await settings.feed.start();
  driving.delivery.start();
  driving.retention.start();
  serving.triggers.start();
  await allStarted([driving.engine.start(), serving.hostStarted], stop);
  waiting.add(settings.waiting);
  if (parts.readConfiguration !== undefined) {
    const { engine } = driving;
    live.attach({
      read: parts.readConfiguration,
      chains,
      signerKinds: parts.signerKinds,
      store,
      log,
      settings,
      pluginHost,
      engine,
      waiting,
      rpcHttp: clients.rpc,
    });
    const onChange = () => live.refresh();
    teardown.defer('watch of the configuration', watchConfiguration({ ...files, since, onChange }));
  }
  const addresses = await listen(built, serving.server, pluginHost);
  const { signInCode } = serving;
  const { broken } = storage;
  return serviceOf({ ...addresses, apiKey, environment, pluginHost, signInCode, broken, teardown, log });
}

/** The host's thread and spare process start in parallel with the parts that follow. */
function openPluginHost(
  { configuration, dataDir, log, metrics, teardown, ...parts }: Build,
  live: LiveSettings,
): PluginHost {
  const { environment, plugins } = configuration;
  const pluginHost = (parts.createPluginHost ?? createPluginHost)({
    entries: plugins,
    pluginsDir: resolve(environment.PLUGINS_DIR),
    sandboxDir: SANDBOX_DIR,
    dataDir,
    environment: (name) => live.variable(name),
    log,
    metrics,
    clock,
    uuid: randomUUID,
    seed: () => randomBytes(32).toString('hex'),
    maxProcesses: environment.PLUGIN_MAX_PROCESSES,
    mostThreads: Math.min(4, availableParallelism()),
  });
  teardown.defer('sandbox', () => pluginHost.close(0));
  pluginHost.prepare();
  return pluginHost;
}

type Storage = Awaited<ReturnType<typeof openStorage>>;

async function openStorage({ configuration, dataDir, log, metrics, teardown, deadline, newId }: Build) {
  const {
    DATABASE_URL,
    DATABASE_CONNECTIONS: connections,
    STORAGE_ENCRYPTION_KEY: configured,
  } = configuration.environment;
  const keys = loadSealingKey({ dataDir, configured, randomBytes, log });
  const sealer = createSealer(keys, randomBytes);
  const bare = await openStore(DATABASE_URL, { dataDir, log, sealer, connections, cut: deadline.signal });
  teardown.defer('store', () => bare.close());
  const broken = Promise.withResolvers<Error>();
  const memory = openFolderMemory(dataDir);
  const history = await RollbackDetector.open({ store: bare, memory, newId, log, onRollback: broken.resolve });
  teardown.defer('history', () => history.close());
  return { keys, store: meteredStore(bare, metrics, clock), history, broken: broken.promise };
}

type Signing = ReturnType<typeof openSigning>;

/** The key thread, and the clients of key services. */
function openSigning({ configuration, log, metrics, teardown, ...parts }: Build) {
  const signerHttp = createSignerHttp();
  const clientHttp = createSignerHttp('made by a client');
  const identity = createMachineIdentityHttp();
  teardown.defer('connections of signers', () =>
    Promise.all([signerHttp, clientHttp, identity].map((client) => client.close())),
  );
  const keeper = new RestartingKeyThread({
    onLost: (err) => log.error({ err }, 'the thread that keeps the keys was lost'),
  });
  teardown.defer('keys', () => keeper.close());
  const signerTools: SignerTools = {
    secrets: createSecretResolver(configuration.variables),
    http: signerHttp,
    identity,
    clock,
    random: Math.random,
    metrics,
    keys: parts.keyHolder ?? keeper,
  };
  return { signerTools, clientHttp };
}

type Clients = ReturnType<typeof openClients>;

/** Everything that asks or tells the outside: chains, markets, receivers of webhooks, and the plugins' fetch. */
function openClients({ configuration, chains, log, metrics, teardown }: Build, { networks }: OpenedSettings) {
  const { environment } = configuration;
  const rpc = createRpcHttp({
    allowedHosts: environment.RPC_ALLOWED_HOSTS,
    blockPrivate: environment.RPC_BLOCK_PRIVATE_IPS,
    declared: declaredUrls(configuration, chains),
  });
  teardown.defer('RPC connections', () => rpc.close());
  const marketHttp = createMarketHttp();
  teardown.defer('connections of markets', () => marketHttp.close());
  const connections = createConnections({
    networks,
    chains,
    http: rpc,
    ...createMarkets(environment, marketHttp),
    clock,
    random: Math.random,
    settings: rpcSettings(environment),
    onRpcCall: rpcCallCounter(metrics),
    onEndpoint: ({ name }, news) => {
      countEndpointNews(metrics, name, news);
      logEndpoint(log, name, news, clock.now());
    },
  });
  teardown.defer('networks', () => connections.close());
  const webhooks = createWebhookClient({
    declared: createAddressGuard({ allowedHosts: [], blockPrivate: false }),
    others: createAddressGuard({
      allowedHosts: [],
      blockPrivate: environment.WEBHOOK_BLOCK_PRIVATE_IPS,
      privateAdvice: 'declare the notification in the configuration, or set WEBHOOK_BLOCK_PRIVATE_IPS=false',
    }),
  });
  teardown.defer('webhook connections', () => webhooks.close());
  const pluginHttp = createPluginHttp({
    open: createAddressGuard({ allowedHosts: [], blockPrivate: true }),
    private: createAddressGuard({ allowedHosts: [], blockPrivate: false }),
  });
  teardown.defer("plugins' connections", () => pluginHttp.close());
  return { rpc, connections, webhooks, pluginHttp };
}

type Driving = ReturnType<typeof createDriving>;

/** What drives transactions and events to their ends. Nothing runs yet. */
function createDriving(
  { configuration, chains, log, metrics, teardown, newId, timing, ...parts }: Build,
  {
    storage: { store, history },
    settings: { signers },
    clients,
  }: { storage: Storage; settings: OpenedSettings; clients: Clients },
) {
  const { environment } = configuration;
  const delivery = new WebhookDelivery({
    store,
    client: clients.webhooks,
    log,
    metrics,
    clock,
    random: Math.random,
  });
  teardown.defer('webhook delivery', () => delivery.close());
  const outbox = new Outbox({ chains, newId, now: clock.now, onCommitted: () => delivery.wake(), log });
  const signerOf = ({ signerId }: Relayer) => signers.signer(signerId);
  const engine = createEngine({
    store,
    chains,
    connections: clients.connections,
    contacts: clients.connections,
    signerOf,
    log,
    outbox,
    clock,
    timing,
    onCheckpoint: (step) => {
      if (step === 'written' || step === 'further-written') history.signed();
      parts.onCheckpoint?.(step);
    },
    metrics,
    random: Math.random,
    newId,
    keyFault: createKeyFaultCheck({ chains, signers }),
  });
  teardown.defer('engine', () => engine.close());
  const retention = new Retention({
    store,
    keepMs: environment.TRANSACTION_EXPIRATION_HOURS * 3_600_000,
    keepAuditMs: environment.AUDIT_EXPIRATION_DAYS * 86_400_000,
    keepCallsMs: environment.CALL_EXPIRATION_DAYS * 86_400_000,
    elapsed: clock.elapsed,
    log,
  });
  teardown.defer('retention', () => retention.close());
  /** Takes up new durable calls, once there are services. */
  const wakeCalls = { wake: () => {} };
  return { delivery, outbox, engine, signerOf, retention, wakeCalls };
}

interface ServingParts {
  storage: Storage;
  signing: Signing;
  settings: OpenedSettings;
  clients: Clients;
  driving: Driving;
  pluginHost: PluginHost;
  apiKey: Awaited<ReturnType<typeof openMasterApiKey>>;
  live: LiveSettings;
}

/** The services, the plugin host on top of them, and the HTTP server, which does not listen yet. */
async function createServing(built: Build, parts: ServingParts) {
  const { configuration, log, metrics, teardown, newId } = built;
  const { environment } = configuration;
  const { storage, settings, driving, pluginHost, apiKey } = parts;
  const { store, keys } = storage;
  const { limiter, relayerLimit } = createLimits(environment, { buckets: store.buckets, clock, log });
  const triggers = createTriggerLoop(built, parts);
  const services = servicesOf(built, parts, relayerLimit, triggers);
  const idempotencyKeys = new IdempotencyKeys({
    store,
    clock,
    log,
    newId,
    onBegun: (result) => metrics.count('idempotency_requests', { result }),
  });
  teardown.defer('idempotency keys', () => idempotencyKeys.close());
  settings.plugins.whenRead(() => pluginHost.applySettings());
  const hostStarted = pluginHost.start({
    services,
    books: booksOf(store, services),
    settings: (id) => settings.plugins.of(id),
    durable: { store, engine: driving.engine, newId, calls: services.calls },
  });
  driving.wakeCalls.wake = () => services.calls.wake();
  hostStarted.catch(() => undefined);
  const signInCode = new SignInCode({ key: apiKey.key, elapsed: clock.elapsed, randomBytes });
  const server = await createHttpServer({
    services,
    pluginHost,
    events: createTransactionEvents(store, driving.engine),
    cursorIds: createCursorIds(keys, randomBytes),
    deliveryCursors: createPlaceCursors(keys, randomBytes),
    keys: {
      master: { id: MASTER_KEY_ID, key: apiKey.key },
      withHash: (hash) => settings.apiKeys.withHash(hash),
      onChange: (listener) => settings.apiKeys.onChange(listener),
    },
    idempotencyKeys,
    limiter,
    log,
    metrics,
    exposition: metrics,
    health: healthOf(built, parts),
    limits: { ...HTTP_LIMITS, handlerSeconds: environment.REQUEST_TIMEOUT_SECONDS },
    console: environment.CONSOLE_ENABLED ? { signInCode } : null,
    clock,
    newId,
  });
  return { server, hostStarted, signInCode, triggers };
}

function booksOf({ read }: Storage['store'], { triggers }: ApiServices): PluginBooks {
  return {
    kvUsage: (pluginId) => read.kvUsage(pluginId),
    spentLastHour: (pluginId, relayerId) => read.spentLastHour(pluginId, relayerId),
    triggers: (plugin) => triggers.views(plugin),
  };
}

function createTriggerLoop(
  { log, metrics, newId, teardown }: Build,
  { storage: { store }, driving, live }: ServingParts,
): TriggerLoop {
  const triggers = new TriggerLoop({
    store,
    declared: () => live.plugins,
    calls: driving.wakeCalls,
    outbox: driving.outbox,
    onNews: (listener) => driving.engine.onNews(listener),
    elapsed: clock.elapsed,
    newId,
    log,
    metrics,
  });
  teardown.defer('triggers', () => triggers.close());
  return triggers;
}

function servicesOf(
  { configuration, chains, signerKinds, log, metrics, newId }: Build,
  { storage: { store }, signing, settings, clients, driving, live }: ServingParts,
  relayerLimit: ReturnType<typeof createLimits>['relayerLimit'],
  triggers: TriggerLoop,
): ApiServices {
  return createServices({
    relayerLimit,
    store,
    chains,
    networks: settings.networks,
    signers: settings.signers,
    signerKinds,
    signerGuard: signing.clientHttp,
    signersUseServerIdentity: configuration.environment.API_SIGNERS_USE_SERVER_IDENTITY,
    connections: clients.connections,
    signerOf: driving.signerOf,
    engine: driving.engine,
    outbox: driving.outbox,
    feed: settings.feed,
    triggers: {
      declared: () => live.plugins,
      secret: (reference) => createSecretResolver(live.variables)(reference),
      calls: driving.wakeCalls,
      changed: () => triggers.wake(),
    },
    rpcGuard: clients.rpc,
    webhooks: clients.webhooks,
    wakeDelivery: () => driving.delivery.wake(),
    pluginHttp: clients.pluginHttp,
    log,
    metrics,
    clock,
    randomBytes,
    startedAt: clock.now(),
    newId,
  });
}

function healthOf({ dataDir }: Build, { storage: { store }, clients, driving, pluginHost }: ServingParts): Health {
  const checks = healthChecks({
    store,
    engine: driving.engine,
    pluginHost,
    connections: clients.connections,
    writeFailure: () => store.writeFailure(),
    oldestWriteMs: () => store.oldestWriteMs(),
    openFiles,
    freeBytes: () => freeDiskBytes(dataDir),
  });
  return createHealth(checks, clock);
}

/** Opens the two ports. From here on requests are served, and the end of the service begins with them. */
async function listen(
  { configuration, metrics, teardown, deadline }: Build,
  server: HttpServer,
  pluginHost: PluginHost,
): Promise<Pick<Service, 'address' | 'metricsAddress'>> {
  const { HOST: host, METRICS_ENABLED, METRICS_PORT, APP_PORT, SHUTDOWN_GRACE_SECONDS } = configuration.environment;
  const metricsServer = METRICS_ENABLED ? createMetricsServer(metrics) : null;
  teardown.defer('metrics', () => metricsServer?.close(0));
  const graceMs = SHUTDOWN_GRACE_SECONDS * 1000;
  // The host ends running calls after the grace period. The server waits a moment longer for their last answers.
  const finish = async () => {
    deadline.within(graceMs + LAST_WRITES_MS);
    await Promise.all([server.close(graceMs + LAST_ANSWERS_MS), pluginHost.close(graceMs)]);
    deadline.within(LAST_WRITES_MS);
  };
  teardown.defer('requests and plugin calls', finish, graceMs + 2 * LAST_ANSWERS_MS);
  const metricsAddress = (await metricsServer?.listen({ host, port: METRICS_PORT, variable: 'METRICS_PORT' })) ?? null;
  const address = await server.listen({ host, port: APP_PORT, variable: 'APP_PORT' });
  return { address, metricsAddress };
}

interface Served extends Pick<ServingParts, 'apiKey' | 'pluginHost'> {
  address: string;
  metricsAddress: string | null;
  environment: Configuration['environment'];
  signInCode: SignInCode;
  broken: Promise<Error>;
  teardown: Teardown;
  log: Log;
}

function serviceOf({ apiKey, pluginHost, environment, signInCode, teardown, log, ...parts }: Served): Service {
  const { address, metricsAddress, broken } = parts;
  const consoleAddress = environment.CONSOLE_ENABLED ? `${address}/console` : null;
  let closing: Promise<void> | undefined;
  return {
    address,
    metricsAddress,
    apiKeyFile: apiKey.file,
    consoleAddress,
    plugins: () =>
      pluginHost
        .status()
        .plugins.filter(({ state }) => state === 'serving')
        .map(({ id }) => id),
    signInLink: () =>
      apiKey.isNew && consoleAddress !== null ? `${consoleAddress}#/sign-in/${signInCode.make()}` : null,
    broken,
    close() {
      closing ??= teardown.close().finally(() => log.info('stopped'));
      return closing;
    },
  };
}

function rpcSettings(environment: Configuration['environment']): Partial<RpcSettings> {
  return {
    timeoutMs: environment.RPC_TIMEOUT_MS,
    tries: environment.PROVIDER_MAX_RETRIES,
    failovers: environment.PROVIDER_MAX_FAILOVERS,
    baseDelayMs: environment.PROVIDER_RETRY_BASE_DELAY_MS,
    maxDelayMs: environment.PROVIDER_RETRY_MAX_DELAY_MS,
    failureThreshold: environment.PROVIDER_FAILURE_THRESHOLD,
    failureMemoryMs: environment.PROVIDER_FAILURE_EXPIRATION_SECS * 1000,
    pauseMs: environment.PROVIDER_PAUSE_DURATION_SECS * 1000,
  };
}

function configurationFiles({ CONFIG_DIR, CONFIG_FILE_NAME }: Configuration['environment']): ConfigurationFiles {
  return { files: [join(CONFIG_DIR, CONFIG_FILE_NAME), '.env'], folder: join(CONFIG_DIR, 'networks') };
}

/**
 * Waits until all parts have started. The engine may wait for endpoints, and the host for its compiler, so they start
 * in parallel. An abort does not wait for them.
 */
async function allStarted(starts: readonly Promise<void>[], stop?: AbortSignal): Promise<void> {
  stop?.throwIfAborted();
  const started = Promise.all(starts);
  await (stop === undefined ? started : Promise.race([started, once(stop, 'abort')]));
  stop?.throwIfAborted();
}
