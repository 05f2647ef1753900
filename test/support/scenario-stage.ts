import { randomBytes, randomUUID } from 'node:crypto';
import { Wallet } from 'ethers';
import type { Test } from 'tap';
import type { ChainConnections } from '../../src/chains/connections.ts';
import { createConnections } from '../../src/chains/create-connections.ts';
import { createEvmChain } from '../../src/chains/evm/index.ts';
import type { JsonObject } from '../../src/domain/json/json.ts';
import type { Attempt } from '../../src/domain/transaction/attempt.ts';
import { laneKey } from '../../src/domain/transaction/lane.ts';
import type { Transaction } from '../../src/domain/transaction/transaction.ts';
import { createAddressGuard } from '../../src/egress/address-guard.ts';
import { createHttpClient } from '../../src/egress/http-client.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { LifeStep } from '../../src/engine/lane/life-steps.ts';
import { createEngine } from '../../src/engine/scheduler.ts';
import { defaultTiming, type EngineTiming } from '../../src/engine/timing.ts';
import { Outbox } from '../../src/engine/webhooks/outbox.ts';
import { createLog } from '../../src/observability/log.ts';
import { createServices } from '../../src/services/create-services.ts';
import type { Services } from '../../src/services/services.ts';
import type { Signer } from '../../src/signers/signer.ts';
import type { Store } from '../../src/store/store.ts';
import type { Anvil } from './anvil.ts';
import { Crash } from './crash.ts';
import { FakeEngineMetrics } from './engine-world.ts';
import { identityAt, signerOf } from './evm.ts';
import { NO_PLUGIN_HTTP } from './no-plugin-http.ts';
import { type NodeFront, startNodeFront } from './node-front.ts';
import { relayerOf, temporaryStore } from './store.ts';
import { TravelClock } from './travel-clock.ts';

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
  asideMs: 200,
  refusalMs: 100,
  renewMs: 40,
  driftMs: 200,
  sweepMs: 50,
  sweepFloorMs: 5,
  firstCheckMs: 2_000,
  recheckMs: [20, 50],
  closeMs: 500,
};

const RELAYER = 'r1';
const STRANGER = '0x00000000000000000000000000000000000fedcb';

export interface ScenarioOptions {
  /** Of the network entry. */
  settings?: JsonObject;
  policies?: JsonObject;
  timing?: Partial<EngineTiming>;
  /** Of anvil's accounts, for tests that share a node. */
  account?: number;
  /** The store of another scenario on the same node. */
  store?: Store;
}

/** What a scenario plays on. */
interface Stage {
  anvil: Anvil;
  /** What the node's chain is known as. */
  identity: string;
  front: NodeFront;
  store: Store;
  clock: TravelClock;
}

/** What an engine is started with. */
export interface StartOptions {
  /** It dies when a transaction comes to this step. */
  diesAt?: LifeStep;
  /** The store as this instance has it. */
  store?: Store;
}

/** One relayer of a real node behind a front, and the engines that drive it. All ends with the test. */
export class Scenario {
  readonly anvil: Anvil;
  readonly front: NodeFront;
  readonly store: Store;
  readonly wallet: Wallet;
  /** In lower case. */
  readonly address: string;
  readonly lane: string;
  /** Who has nothing but what this account pays. */
  readonly payee = `0x${randomBytes(20).toString('hex')}`;
  readonly services: Services;
  /** Signatures wait for this. */
  signing: Promise<void> = Promise.resolve();
  /** How many were asked for. */
  signatures = 0;
  readonly logLines: string[] = [];
  readonly #clock: TravelClock;
  readonly #timing: EngineTiming;
  readonly #connections: ChainConnections;
  readonly #signer: Signer;
  readonly #engines = new Map<Engine, Crash>();

  constructor({ anvil, identity, front, store, clock }: Stage, options: ScenarioOptions) {
    const { settings = {}, account: index = 0, timing } = options;
    const account = anvil.accounts[index];
    if (account === undefined) throw new Error(`anvil has no account ${index}`);
    this.anvil = anvil;
    this.front = front;
    this.store = store;
    this.wallet = new Wallet(account.privateKey);
    this.address = account.address;
    this.lane = laneKey('evm', identity, this.address);
    this.#clock = clock;
    this.#timing = { ...PACE, ...timing };
    this.#signer = this.#patient(signerOf(account));
    const http = createHttpClient(createAddressGuard({ allowedHosts: [], blockPrivate: false }));
    const connections = createConnections({
      networks: [
        {
          type: 'evm',
          name: 'local',
          rpcUrls: [{ url: front.url, weight: 100 }],
          // Prices are as old as a quarter of a block.
          settings: { average_blocktime_ms: 40, ...settings },
        },
      ],
      chains: this.#chains,
      http,
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
      rpcGuard: createAddressGuard({ allowedHosts: [], blockPrivate: false }),
      webhooks: { check: () => undefined },
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

  /** The scenario of a test, with an account that nobody else uses meanwhile. */
  static async open(t: Test, anvil: Anvil, options: ScenarioOptions = {}): Promise<Scenario> {
    const clock = new TravelClock();
    const front = await startNodeFront(anvil);
    const own = options.store === undefined ? await temporaryStore(clock) : undefined;
    const store = options.store ?? own?.store;
    if (store === undefined) throw new Error('no store');
    const identity = await identityAt(anvil.url);
    const scenario = new Scenario({ anvil, identity, front, store, clock }, options);
    t.teardown(async () => {
      await scenario.#end();
      await own?.remove();
      await front.stop();
    });
    const { policies = {} } = options;
    await store.write(async (writer) => {
      await writer.putRelayer(relayerOf({ id: RELAYER, network: 'local', address: scenario.address, policies }));
      await writer.pinChainIdentity('evm', 'local', identity);
    });
    return scenario;
  }

  /** Starts an engine; several may live on one store where it is given to them under leases. */
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
      onStep: (step) => {
        if (step === diesAt) crash.now();
      },
      timing: this.#timing,
    });
    this.#engines.set(engine, crash);
    await engine.start();
    return engine;
  }

  /** All engines die at once: nothing that they wait for ever answers. */
  crash(): void {
    for (const crash of this.#engines.values()) crash.now();
  }

  /** Ends all engines in good order. */
  async stop(): Promise<void> {
    await Promise.all(this.#living.map((engine) => engine.close()));
    this.#engines.clear();
  }

  /** Whether no engine lives that was started. */
  get isDead(): boolean {
    return this.#living.length === 0;
  }

  /** Time passes at once: for the engine, the store and what is kept for a while. */
  pass(ms: number): void {
    this.#clock.shift += ms;
  }

  /** A payment of 7 wei, or what is given in place of its parts. Resolves with its id. */
  async send(body: object = {}): Promise<string> {
    const payment = { to: this.payee, value: 7, data: '0x', gas_limit: 21_000, speed: 'fast' };
    return String((await this.services.transactions.send(RELAYER, { ...payment, ...body }))['id']);
  }

  /** So many at once. Resolves with their ids. */
  sendMany(count: number, body: object = {}): Promise<string[]> {
    return Promise.all(Array.from({ length: count }, () => this.send(body)));
  }

  async get(id: string): Promise<Transaction> {
    const transaction = await this.store.read.transaction(RELAYER, id);
    if (transaction === undefined) throw new Error(`transaction ${id} is gone`);
    return transaction;
  }

  /** How many the relayer has, with those that the engine made. */
  async transactionCount(): Promise<number> {
    return (await this.store.read.transactions(RELAYER, { page: 1, perPage: 1 })).total;
  }

  attempts(id: string): Promise<Attempt[]> {
    return this.store.read.attempts(id);
  }

  cancel(id: string): Promise<unknown> {
    return this.services.lifecycle.cancel(RELAYER, id);
  }

  async mine(blocks = 1): Promise<void> {
    await this.anvil.rpc('anvil_mine', [`0x${blocks.toString(16)}`]);
  }

  /** How many of the account's nonces are used: in blocks, or with those in the pool. */
  async nonces(tag: 'latest' | 'pending' = 'latest'): Promise<number> {
    return Number(await this.anvil.rpc('eth_getTransactionCount', [this.address, tag]));
  }

  /** What the payee has got, in wei. */
  async paid(): Promise<bigint> {
    return BigInt(String(await this.anvil.rpc('eth_getBalance', [this.payee, 'latest'])));
  }

  /** The account's key is used by somebody else. */
  async useOutside(nonce: number, more: object = {}): Promise<string> {
    const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 11n };
    const transaction = {
      type: 2,
      chainId: 31_337,
      nonce,
      gasLimit: 21_000,
      to: STRANGER,
      value: 1n,
      ...fees,
      ...more,
    };
    return String(await this.anvil.rpc('eth_sendRawTransaction', [await this.wallet.signTransaction(transaction)]));
  }

  async until(
    what: string,
    holds: () => boolean | Promise<boolean>,
    { mining = false, withinMs = 30_000 } = {},
  ): Promise<void> {
    const end = performance.now() + withinMs;
    while (!(await holds())) {
      if (performance.now() > end) {
        throw new Error(`not within ${withinMs} ms: ${what}\n${this.logLines.slice(-8).join('')}`);
      }
      if (mining) await this.mine();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async untilStatus(
    ids: string | readonly string[],
    status: string,
    options: { mining?: boolean; withinMs?: number } = {},
  ): Promise<void> {
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
    return new Map([['evm' as const, createEvmChain(this.#clock)]]);
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
      metrics: new FakeEngineMetrics(),
      outbox: new Outbox({ chains, newId: randomUUID, now: () => this.#clock.now(), onCommitted: () => {}, log }),
      clock: this.#clock,
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

  async #end(): Promise<void> {
    for (const [engine, crash] of this.#engines) {
      const closed = engine.close();
      if (!crash.hasHappened) await closed;
    }
    await this.#connections.close();
  }
}
