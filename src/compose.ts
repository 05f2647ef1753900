import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, statfs } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import type { Chain } from './chains/chain.ts';
import { createConnections } from './chains/create-connections.ts';
import { openApiKey } from './config/api-key.ts';
import type { Configuration } from './config/configuration.ts';
import { createSecretResolver } from './config/secrets.ts';
import { type ConfigurationFiles, digestsOf, watchConfiguration } from './config/watch.ts';
import { createMarkets } from './create-markets.ts';
import { CutOff } from './cut-off.ts';
import { systemClock } from './domain/clock.ts';
import { messageOf } from './domain/errors.ts';
import type { NetworkType } from './domain/network-type.ts';
import { orderedId } from './domain/ordered-id.ts';
import type { Relayer } from './domain/relayer/relayer.ts';
import { MASTER_KEY_ID } from './domain/settings/access.ts';
import { createAddressGuard } from './egress/address-guard.ts';
import { createPluginHttp } from './egress/fetch/plugin-http.ts';
import { createMarketHttp } from './egress/market-client.ts';
import { createRpcHttp } from './egress/rpc/rpc-http.ts';
import { createIdentityHttp, createSignerHttp } from './egress/signer-http.ts';
import { createWebhookClient } from './egress/webhook-client.ts';
import { HistoryKeeper } from './engine/history-keeper.ts';
import type { LifeStep } from './engine/lane/life-steps.ts';
import { Retention } from './engine/retention.ts';
import { createEngine } from './engine/scheduler.ts';
import type { EngineTiming } from './engine/timing.ts';
import { Outbox } from './engine/webhooks/outbox.ts';
import { WebhookDelivery } from './engine/webhooks/webhook-delivery.ts';
import { healthChecks } from './health-checks.ts';
import { SignInCode } from './http/access/sign-in-code.ts';
import { createPlaceCursors } from './http/cursors/place-cursors.ts';
import { createCursorIds } from './http/events/cursor.ts';
import { createLimits } from './http/limits/create-limits.ts';
import { HTTP_LIMITS } from './http/limits/http-limits.ts';
import { createMetricsServer } from './http/metrics-server.ts';
import { createHttpServer } from './http/server.ts';
import { LateRelayers } from './late-relayers.ts';
import { declaredUrls, LiveSettings } from './live-settings.ts';
import { meteredStore } from './metered-store.ts';
import { logEndpoint } from './observability/endpoint-log.ts';
import { createHealth } from './observability/health.ts';
import type { Log } from './observability/log.ts';
import { createMetrics } from './observability/metrics.ts';
import { openSettings } from './open-settings.ts';
import { openStore } from './open-store.ts';
import { createPluginHost, type PluginHostDeps } from './plugin-host/host.ts';
import type { PluginHost } from './plugin-host/plugin-host.ts';
import { keyFaults } from './relayer-addresses.ts';
import { sampleAtScrape } from './scrape-samples.ts';
import { createServices } from './services/create-services.ts';
import { createTransactionEvents } from './services/events/transaction-events.ts';
import { IdempotencyKeys } from './services/idempotency-keys.ts';
import { ThreadKeeper } from './signers/keeper/thread-keeper.ts';
import type { SignerKinds } from './signers/registry.ts';
import type { KeyKeeper } from './signers/signer.ts';
import { createSealer } from './store/sealing.ts';
import { openFolderMemory } from './store/sqlite/folder-memory.ts';
import { lockDataDir } from './store/sqlite/lock.ts';
import { loadSealingKey } from './store/storage-key.ts';
import { Teardown } from './teardown.ts';

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
  keyKeeper?: KeyKeeper;
  /** Called at each step of a transaction's life. Tests use it to end the process at a given step. */
  onStep?: ((step: LifeStep) => void) | undefined;
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
const SANDBOX_DIR = resolve(import.meta.dirname, '..', 'sandbox');

/**
 * Builds the whole service, from the store upwards, and starts it. Drivers are created only here. If a later part fails
 * or `stop` aborts, the parts opened so far are closed.
 * @throws the reason of `stop`
 */
export async function compose(parts: ServiceParts): Promise<Service> {
  const { stop, log } = parts;
  stop?.throwIfAborted();
  const opened = new Teardown();
  const cutOff = new CutOff();
  const hurry = () => cutOff.within(LAST_WRITES_OF_START_MS);
  stop?.addEventListener('abort', hurry);
  try {
    return await build(parts, opened, cutOff);
  } catch (error) {
    cutOff.within(LAST_WRITES_MS);
    await opened.close().catch((failure: unknown) => {
      // Without stacks: the reason of the failed start is what counts.
      const failures = failure instanceof AggregateError ? failure.errors.map(messageOf) : [messageOf(failure)];
      log.warn({ failures }, 'not everything was closed');
    });
    // After `stop`, any other failure is a consequence of it.
    stop?.throwIfAborted();
    throw error;
  } finally {
    stop?.removeEventListener('abort', hurry);
  }
}

async function build(
  { configuration, chains, signerKinds, log, stop, onStep, timing, ...parts }: ServiceParts,
  opened: Teardown,
  cutOff: CutOff,
): Promise<Service> {
  const { environment, variables } = configuration;
  const clock = systemClock;
  const metrics = createMetrics();

  const files = configurationFiles(environment);
  const since = await digestsOf(files);
  const live = new LiveSettings(configuration);
  const newId = () => orderedId(randomUUID(), clock.now());
  const dataDir = resolve(environment.DATA_DIR);
  const lock = lockDataDir(dataDir);
  opened.later('lock of the data folder', () => lock.release());
  const pluginHost = (parts.createPluginHost ?? createPluginHost)({
    entries: configuration.plugins,
    pluginsDir: resolve(environment.PLUGINS_DIR),
    sandboxDir: SANDBOX_DIR,
    dataDir,
    environment: (name) => live.variable(name),
    log,
    metrics: metrics.plugins,
    clock,
    uuid: randomUUID,
    maxProcesses: environment.PLUGIN_MAX_PROCESSES,
    mostThreads: Math.min(4, availableParallelism()),
  });
  opened.later('sandbox', () => pluginHost.close(0));
  // The host's thread and spare process start in parallel with the steps below.
  pluginHost.prepare();
  const apiKey = await openApiKey(environment.API_KEY, dataDir);
  const keys = loadSealingKey({ dataDir, configured: environment.STORAGE_ENCRYPTION_KEY, randomBytes, log });
  const sealer = createSealer(keys, randomBytes);
  const bare = await openStore(environment.DATABASE_URL, { dataDir, log, sealer, cut: cutOff.signal });
  opened.later('store', () => bare.close());
  const broken = Promise.withResolvers<Error>();
  const memory = openFolderMemory(dataDir);
  const history = await HistoryKeeper.open({ store: bare, memory, newId, log, onWentBack: broken.resolve });
  opened.later('history', () => history.close());
  const store = meteredStore(bare, metrics.store, clock);

  const secretOf = createSecretResolver(variables);
  const signerHttp = createSignerHttp();
  const clientHttp = createSignerHttp('made by a client');
  const identity = createIdentityHttp();
  opened.later('connections of signers', () =>
    Promise.all([signerHttp, clientHttp, identity].map((client) => client.close())),
  );
  const keeper = new ThreadKeeper({ onLost: (err) => log.error({ err }, 'the thread that keeps the keys was lost') });
  opened.later('keys', () => keeper.close());
  const signerTools = {
    secrets: secretOf,
    http: signerHttp,
    identity,
    clock,
    random: Math.random,
    metrics: metrics.signers,
    keys: parts.keyKeeper ?? keeper,
  };
  const settings = { configuration, chains, signerKinds, signerTools, clientHttp, store, log };
  const openedSettings = await openSettings(settings, opened);
  const { feed, networks, signers, plugins, apiKeys } = openedSettings;
  const signerOf = ({ signerId }: Relayer) => signers.signer(signerId);

  const http = createRpcHttp({
    allowedHosts: environment.RPC_ALLOWED_HOSTS,
    blockPrivate: environment.RPC_BLOCK_PRIVATE_IPS,
    declared: declaredUrls(configuration, chains),
  });
  opened.later('RPC connections', () => http.close());
  const marketHttp = createMarketHttp();
  opened.later('connections of markets', () => marketHttp.close());
  const connections = createConnections({
    networks,
    chains,
    http,
    ...createMarkets(environment, marketHttp),
    clock,
    random: Math.random,
    settings: {
      timeoutMs: environment.RPC_TIMEOUT_MS,
      tries: environment.PROVIDER_MAX_RETRIES,
      failovers: environment.PROVIDER_MAX_FAILOVERS,
      baseDelayMs: environment.PROVIDER_RETRY_BASE_DELAY_MS,
      maxDelayMs: environment.PROVIDER_RETRY_MAX_DELAY_MS,
      failureThreshold: environment.PROVIDER_FAILURE_THRESHOLD,
      failureMemoryMs: environment.PROVIDER_FAILURE_EXPIRATION_SECS * 1000,
      pauseMs: environment.PROVIDER_PAUSE_DURATION_SECS * 1000,
    },
    onRpcCall: (_, report) => metrics.rpc.called(report),
    onEndpoint: ({ name }, news) => {
      metrics.rpc.endpointChanged(name, news);
      logEndpoint(log, name, news, clock.now());
    },
  });
  opened.later('networks', () => connections.close());
  const webhooks = createWebhookClient({
    declared: createAddressGuard({ allowedHosts: [], blockPrivate: false }),
    others: createAddressGuard({
      allowedHosts: [],
      blockPrivate: environment.WEBHOOK_BLOCK_PRIVATE_IPS,
      privateAdvice: 'declare the notification in the configuration, or set WEBHOOK_BLOCK_PRIVATE_IPS=false',
    }),
  });
  opened.later('webhook connections', () => webhooks.close());
  const pluginHttp = createPluginHttp({
    open: createAddressGuard({ allowedHosts: [], blockPrivate: true }),
    private: createAddressGuard({ allowedHosts: [], blockPrivate: false }),
  });
  opened.later("plugins' connections", () => pluginHttp.close());
  const delivery = new WebhookDelivery({
    store,
    client: webhooks,
    log,
    metrics: metrics.webhooks,
    clock,
    random: Math.random,
  });
  opened.later('webhook delivery', () => delivery.close());
  const outbox = new Outbox({ chains, newId, now: clock.now, onCommitted: () => delivery.wake(), log });
  const engine = createEngine({
    store,
    chains,
    connections,
    contacts: connections,
    signerOf,
    log,
    outbox,
    clock,
    timing,
    onStep: (step) => {
      if (step === 'written' || step === 'further-written') history.signed();
      onStep?.(step);
    },
    metrics: metrics.engine,
    random: Math.random,
    newId,
    keyFault: keyFaults({ chains, signers }),
  });
  opened.later('engine', () => engine.close());
  const late = new LateRelayers({ store, chains, signers, engine, log, declared: () => live.relayers });
  opened.later('late relayers', () => late.close());
  const keepMs = environment.TRANSACTION_EXPIRATION_HOURS * 3_600_000;
  const keepAuditMs = environment.AUDIT_EXPIRATION_DAYS * 86_400_000;
  const retention = new Retention({ store, keepMs, keepAuditMs, elapsed: clock.elapsed, log });
  opened.later('retention', () => retention.close());
  const { limiter, relayerLimit } = createLimits(environment, { buckets: store.buckets, clock, log });
  const services = createServices({
    relayerLimit,
    store,
    chains,
    networks,
    signers,
    signerKinds,
    signerGuard: clientHttp,
    signersUseServerIdentity: environment.API_SIGNERS_USE_SERVER_IDENTITY,
    connections,
    signerOf,
    engine,
    outbox,
    feed,
    rpcGuard: http,
    webhooks,
    wakeDelivery: () => delivery.wake(),
    pluginHttp,
    log,
    metrics: metrics.engine,
    clock,
    randomBytes,
    startedAt: clock.now(),
    newId,
  });

  const idempotencyKeys = new IdempotencyKeys({
    store,
    clock,
    log,
    newId,
    onBegun: (result) => metrics.http.keyed(result),
  });
  opened.later('idempotency keys', () => idempotencyKeys.close());
  plugins.whenRead(() => pluginHost.applySettings());
  const hostStarted = pluginHost.start({ services, books: store.read, settings: (id) => plugins.of(id) });
  hostStarted.catch(() => undefined);
  const signInCode = new SignInCode({ key: apiKey.key, elapsed: clock.elapsed, randomBytes });
  const server = await createHttpServer({
    services,
    pluginHost,
    events: createTransactionEvents(store, engine),
    cursorIds: createCursorIds(keys, randomBytes),
    deliveryCursors: createPlaceCursors(keys, randomBytes),
    keys: {
      master: { id: MASTER_KEY_ID, key: apiKey.key },
      withHash: (hash) => apiKeys.withHash(hash),
      onChange: (listener) => apiKeys.onChange(listener),
    },
    idempotencyKeys,
    limiter,
    log,
    metrics: metrics.http,
    exposition: metrics,
    health: createHealth(
      healthChecks({
        store,
        engine,
        pluginHost,
        connections,
        writeFailure: () => metrics.store.writeFailure,
        oldestWriteMs: () => store.oldestWriteMs(),
        openFiles,
        freeBytes: async () => {
          const { bavail, bsize } = await statfs(dataDir);
          return bavail * bsize;
        },
      }),
      clock,
    ),
    limits: { ...HTTP_LIMITS, handlerSeconds: environment.REQUEST_TIMEOUT_SECONDS },
    console: environment.CONSOLE_ENABLED ? { signInCode } : null,
    clock,
    newId,
  });

  sampleAtScrape(metrics, { store, chains, engine, connections, pluginHost });

  await feed.start();
  delivery.start();
  retention.start();
  await allStarted([engine.start(), hostStarted], stop);
  late.add(openedSettings.late);
  if (parts.readConfiguration !== undefined) {
    const read = parts.readConfiguration;
    live.attach({
      read,
      chains,
      signerKinds,
      store,
      log,
      settings: openedSettings,
      pluginHost,
      engine,
      late,
      rpcHttp: http,
    });
    const onChange = () => live.refresh();
    opened.later('watch of the configuration', watchConfiguration({ ...files, since, onChange }));
  }
  const { HOST: host } = environment;
  const metricsServer = environment.METRICS_ENABLED ? createMetricsServer(metrics) : null;
  opened.later('metrics', () => metricsServer?.close(0));
  const graceMs = environment.SHUTDOWN_GRACE_SECONDS * 1000;
  // The host ends running calls after the grace period. The server waits a moment longer for their last answers.
  const finish = async () => {
    cutOff.within(graceMs + LAST_WRITES_MS);
    await Promise.all([server.close(graceMs + LAST_ANSWERS_MS), pluginHost.close(graceMs)]);
    cutOff.within(LAST_WRITES_MS);
  };
  opened.later('requests and plugin calls', finish, graceMs + 2 * LAST_ANSWERS_MS);
  const metricsAddress =
    (await metricsServer?.listen({ host, port: environment.METRICS_PORT, variable: 'METRICS_PORT' })) ?? null;
  const address = await server.listen({ host, port: environment.APP_PORT, variable: 'APP_PORT' });
  let closing: Promise<void> | undefined;
  return {
    address,
    metricsAddress,
    apiKeyFile: apiKey.file,
    consoleAddress: environment.CONSOLE_ENABLED ? `${address}/console` : null,
    plugins: () =>
      pluginHost
        .status()
        .plugins.filter(({ state }) => state === 'serving')
        .map(({ id }) => id),
    signInLink: () =>
      apiKey.isNew && environment.CONSOLE_ENABLED ? `${address}/console#/sign-in/${signInCode.make()}` : null,
    broken: broken.promise,
    close() {
      closing ??= opened.close().finally(() => log.info('stopped'));
      return closing;
    },
  };
}

/** Linux only: proc_pid_fd(5), proc_pid_limits(5). */
async function openFiles(): Promise<{ count: number; limit: number } | undefined> {
  try {
    const [open, limits] = await Promise.all([readdir('/proc/self/fd'), readFile('/proc/self/limits', 'utf8')]);
    const limit = Number(/^Max open files +(\d+)/m.exec(limits)?.[1]);
    return Number.isFinite(limit) && limit > 0 ? { count: open.length, limit } : undefined;
  } catch {
    return undefined;
  }
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
