import { randomBytes, randomUUID } from 'node:crypto';
import type { Chain, ContractDeployments } from '../../src/chains/chain.ts';
import { type ChainConnections, createConnections } from '../../src/chains/rpc-connections.ts';
import type { JsonObject } from '../../src/domain/json/json.ts';
import { createAddressGuard } from '../../src/egress/address-guard.ts';
import { createHttpClient } from '../../src/egress/http-client.ts';
import type { MarketClient } from '../../src/egress/market-client.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { CrashPoint } from '../../src/engine/lane/lane-step.ts';
import { createEngine } from '../../src/engine/scheduler.ts';
import { defaultTiming, type EngineTiming } from '../../src/engine/timing.ts';
import { Outbox } from '../../src/engine/webhooks/outbox.ts';
import { createServices } from '../../src/features/create-services.ts';
import { NetworkDirectory } from '../../src/features/networks/network-directory.ts';
import { fixedNetworks } from '../../src/features/networks/record.ts';
import type { Services } from '../../src/features/services.ts';
import type { Attempt } from '../../src/features/transactions/records/attempt.ts';
import { laneKey } from '../../src/features/transactions/records/lane.ts';
import type { Transaction } from '../../src/features/transactions/records/transaction.ts';
import { createLog } from '../../src/observability/log.ts';
import type { Signer } from '../../src/signers/signer.ts';
import type { Store } from '../../src/store/store.ts';
import { Crash } from './crash.ts';
import { NO_MARKET } from './no-market.ts';
import { NO_PLUGIN_HTTP, NO_TRIGGERS } from './no-plugin-http.ts';
import { noSigners } from './no-signers.ts';
import { RecordedMetrics } from './recorded-metrics.ts';
import { relayerOf } from './store.ts';
import type { TravelClock } from './travel-clock.ts';

/** The service's pace, faster. */
const PACE: EngineTiming = {
  ...defaultTiming,
  lookMs: 20,
  lookCapMs: 60,
  retryMs: 20,
  retryCapMs: 100,
  reofferMs: 300,
  poolMs: 50,
  unprovedMs: 300,
  unresolvedLookMs: 200,
  refusalMs: 100,
  turnedAwayMs: 5_000,
  furtherMs: 40,
  driftMs: 200,
  sweepMs: 50,
  sweepFloorMs: 5,
  firstCheckMs: 2_000,
  recheckMs: [20, 50],
  swapMs: 20,
  swapBalanceMs: 100,
  closeMs: 500,
};

const RELAYER = 'r1';

/** The parts of a scenario. */
export interface ScenarioGrounds {
  chain: Chain;
  /** The chain's identity. */
  identity: string;
  urls: readonly string[];
  /** Settings of the network entry. */
  settings: JsonObject;
  policies: JsonObject;
  /** The relayer's account, and its key. */
  address: string;
  signer: Signer;
  store: Store;
  clock: TravelClock;
  /** The market; absent: none. */
  market?: MarketClient | undefined;
  /** Contracts and the services that find swap paths; absent: none. */
  deployments?: ContractDeployments | undefined;
  /** What differs from the pace of scenarios. */
  timing: Partial<EngineTiming> | undefined;
}

/** What an engine is started with. */
export interface StartOptions {
  /** The engine dies when a transaction reaches this step. */
  diesAt?: CrashPoint;
  /** The store as this instance has it. */
  store?: Store;
}

/** What happens between two looks of a test that waits. */
export interface Waiting {
  /** Whether the chain's time advances. */
  mining?: boolean;
  /** How far time moves on, in milliseconds. One move alone may come while a pause begins that it was to end. */
  passing?: number;
  /** When the test gives up. */
  withinMs?: number;
}

/** One relayer of a real chain and the engines that drive it. */
export abstract class Scenario {
  readonly store: Store;
  readonly address: string;
  readonly lane: string;
  readonly services: Services;
  /** The signer waits for this promise. */
  signing: Promise<void> = Promise.resolve();
  /** The number of signatures requested. */
  signatures = 0;
  readonly logLines: string[] = [];
  readonly #grounds: ScenarioGrounds;
  readonly #timing: EngineTiming;
  readonly #connections: ChainConnections;
  readonly #signer: Signer;
  readonly #engines = new Map<Engine, Crash>();

  constructor(grounds: ScenarioGrounds) {
    const { chain, identity, store, address, urls, settings, clock, signer, timing } = grounds;
    this.#grounds = grounds;
    this.store = store;
    this.address = address;
    this.lane = laneKey(chain.type, identity, address);
    this.#timing = { ...PACE, ...timing };
    this.#signer = this.#patient(signer);
    const http = createHttpClient(createAddressGuard({ allowedHosts: [], blockPrivate: false }));
    const connections = createConnections({
      networks: fixedNetworks([
        { type: chain.type, name: 'local', rpcUrls: urls.map((url) => ({ url, weight: 100 })), settings },
      ]),
      chains: this.#chains,
      http,
      market: grounds.market ?? NO_MARKET,
      deployments: grounds.deployments,
      clock,
      random: Math.random,
      settings: {
        timeoutMs: 1_000,
        tries: 1,
        baseDelayMs: 1,
        maxDelayMs: 2,
        pauseMs: 20,
        limitMs: 10,
        limitCapMs: 200,
      },
    });
    this.#connections = {
      clientOf: (relayer) => connections.clientOf(relayer),
      close: async () => {
        await connections.close();
        await http.close();
      },
    };
    this.services = createServices({
      ...this.#shared,
      networks: new NetworkDirectory([], store.read),
      ...noSigners(store),
      feed: { changed: async () => {} },
      triggers: NO_TRIGGERS,
      randomBytes,
      startedAt: 0,
      rpcGuard: createAddressGuard({ allowedHosts: [], blockPrivate: false }),
      webhooks: { check: () => undefined },
      wakeDelivery: () => undefined,
      pluginHttp: NO_PLUGIN_HTTP,
      engine: {
        wake: (lane) => {
          for (const engine of this.#living) engine.wake(lane);
        },
        onChange: (id, listener) => {
          const stops = this.#living.map((engine) => engine.onChange(id, listener));
          return () => {
            for (const stop of stops) stop();
          };
        },
        recheck: (id) => {
          for (const engine of this.#living) engine.recheck(id);
        },
      },
    });
  }

  /** Puts the relayer into the store. */
  async declare(): Promise<void> {
    const { chain, identity, address, policies } = this.#grounds;
    await this.store.write(async (writer) => {
      const relayer = relayerOf({ id: RELAYER, network: 'local', address, policies });
      await writer.putRelayer({ ...relayer, networkType: chain.type });
      await writer.pinChainIdentity(chain.type, 'local', identity);
    });
  }

  /** Advances the chain's time. */
  abstract advance(): Promise<void>;

  /** Starts an engine. Several may run on one store if each gets the store under leases. */
  async start({ diesAt, store = this.store }: StartOptions = {}): Promise<Engine> {
    const crash = new Crash(Number.POSITIVE_INFINITY);
    const engine = createEngine({
      ...this.#shared,
      store: crash.store(store),
      connections: {
        close: async () => {},
        clientOf: (relayer) => {
          const client = this.#connections.clientOf(relayer);
          return crash.client(client);
        },
      },
      onCheckpoint: (step) => {
        if (step === diesAt) crash.now();
      },
      timing: this.#timing,
    });
    this.#engines.set(engine, crash);
    await engine.start();
    return engine;
  }

  /** Kills all engines at once: nothing that they wait for answers any more. */
  crash(): void {
    for (const crash of this.#engines.values()) crash.now();
  }

  /** Stops all engines in the regular way. */
  async stop(): Promise<void> {
    await Promise.all(this.#living.map((engine) => engine.close()));
    this.#engines.clear();
  }

  /** Whether all started engines are dead. */
  get isDead(): boolean {
    return this.#living.length === 0;
  }

  /** Moves time on at once, for the engine, the store and all timed data. */
  pass(ms: number): void {
    this.#grounds.clock.shift += ms;
  }

  /** Sends a request. Resolves with the transaction's id. */
  async request(body: object): Promise<string> {
    return String((await this.services.transactions.send(RELAYER, body))['id']);
  }

  async get(id: string): Promise<Transaction> {
    const transaction = await this.store.read.transaction(RELAYER, id);
    if (transaction === undefined) throw new Error(`transaction ${id} is gone`);
    return transaction;
  }

  /** The number of the relayer's transactions, including those made by the engine. */
  async transactionCount(): Promise<number> {
    return (await this.store.read.transactions(RELAYER, { page: 1, perPage: 1 })).total;
  }

  attempts(id: string): Promise<Attempt[]> {
    return this.store.read.attempts(id);
  }

  cancel(id: string): Promise<unknown> {
    return this.services.lifecycle.cancel(RELAYER, id);
  }

  async until(
    what: string,
    holds: () => boolean | Promise<boolean>,
    { mining = false, passing = 0, withinMs = 30_000 }: Waiting = {},
  ): Promise<void> {
    const end = performance.now() + withinMs;
    while (!(await holds())) {
      if (performance.now() > end) {
        throw new Error(`not within ${withinMs} ms: ${what}\n${this.logLines.slice(-8).join('')}`);
      }
      if (mining) await this.advance();
      this.pass(passing);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async untilStatus(ids: string | readonly string[], status: string, options: Waiting = {}): Promise<void> {
    for (const id of typeof ids === 'string' ? [ids] : ids) {
      const holds = async () => (await this.get(id)).status === status;
      await this.until(`${id} is ${status}`, holds, options).catch(async (error: Error) => {
        const { request: _, fields: __, ...seen } = await this.get(id);
        const shown = JSON.stringify(seen, (_key, value) => (typeof value === 'bigint' ? `${value}n` : value));
        throw new Error(`${shown}\n${error.message}`, { cause: error });
      });
    }
  }

  get #chains() {
    const { chain } = this.#grounds;
    return new Map([[chain.type, chain]]);
  }

  get #living(): Engine[] {
    return [...this.#engines].filter(([, crash]) => !crash.hasHappened).map(([engine]) => engine);
  }

  get #shared() {
    const chains = this.#chains;
    const log = createLog('warn', { write: (line) => void this.logLines.push(line) });
    return {
      store: this.store,
      chains,
      connections: this.#connections,
      signerOf: async () => this.#signer,
      log,
      metrics: new RecordedMetrics(),
      outbox: new Outbox({
        chains,
        newId: randomUUID,
        now: () => this.#grounds.clock.now(),
        onCommitted: () => {},
        log,
      }),
      clock: this.#grounds.clock,
      random: Math.random,
      newId: randomUUID,
    };
  }

  #patient(signer: Signer): Signer {
    return {
      id: signer.id,
      publicKey: (curve) => signer.publicKey(curve),
      close: () => signer.close(),
      sign: async (curve, payload) => {
        this.signatures += 1;
        await this.signing;
        return signer.sign(curve, payload);
      },
    };
  }

  async end(): Promise<void> {
    for (const [engine, crash] of this.#engines) {
      const closed = engine.close();
      if (!crash.hasHappened) await closed;
    }
    await this.#connections.close();
  }
}
