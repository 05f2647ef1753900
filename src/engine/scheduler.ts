import type { Chain } from '../chains/chain.ts';
import type { ChainConnections } from '../chains/connections.ts';
import type { Clock } from '../domain/clock.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { Relayer } from '../domain/relayer.ts';
import type { Log } from '../observability/log.ts';
import type { Signer } from '../signers/signer.ts';
import type { Store } from '../store/store.ts';
import { ChangeFeed } from './change-feed.ts';
import type { Engine } from './engine.ts';
import type { EngineMetrics } from './engine-metrics.ts';
import { Lane, type LaneDeps } from './lane.ts';
import { Ledger } from './ledger.ts';
import type { Outbox } from './outbox.ts';
import { Pause } from './pause.ts';
import { RelayerHealth } from './relayer-health.ts';
import { defaultTiming, type EngineTiming } from './timing.ts';

export interface EngineDeps {
  store: Store;
  chains: ReadonlyMap<NetworkType, Chain>;
  connections: ChainConnections;
  signerOf(relayer: Relayer): Promise<Signer>;
  log: Log;
  metrics: EngineMetrics;
  /** Takes the events that webhooks tell. */
  outbox: Outbox;
  clock: Clock;
  /** In [0, 1), for jitter. */
  random(): number;
  timing?: EngineTiming;
}

/** The engine: one lane for each account with work, and a sweeper that finds the work in the store. */
export function createEngine(deps: EngineDeps): Engine {
  return new Scheduler(deps);
}

class Scheduler implements Engine {
  readonly #store: Store;
  readonly #log: Log;
  readonly #timing: EngineTiming;
  readonly #feed: ChangeFeed;
  readonly #health: RelayerHealth;
  readonly #laneDeps: LaneDeps;
  readonly #lanes = new Map<string, Lane>();
  readonly #pause = new Pause();
  #sweeping: Promise<void> | null = null;
  #closing: Promise<void> | null = null;
  #closed = false;

  constructor(deps: EngineDeps) {
    const { store, chains, connections, signerOf, log, metrics, outbox, clock, random } = deps;
    const { timing = defaultTiming } = deps;
    this.#store = store;
    this.#log = log;
    this.#timing = timing;
    this.#feed = new ChangeFeed((error) => log.error({ err: error }, 'change listener failed'));
    this.#health = new RelayerHealth({ store, chains, connections, log, metrics, outbox, timing });
    this.#laneDeps = {
      store,
      sources: { store, chains, connections, signerOf },
      ledger: new Ledger(store, this.#feed, metrics, outbox),
      timing,
      random,
      log,
      elapsed: () => clock.elapsed(),
      onFault: (networkType) => metrics.stepFailed(networkType),
    };
  }

  async start(): Promise<void> {
    if (this.#closed || this.#sweeping !== null) return;
    this.#sweeping = this.#sweep();
    await this.#health.start();
  }

  wake(key: string): void {
    if (this.#closed || this.#sweeping === null) return;
    let lane = this.#lanes.get(key);
    if (lane === undefined) {
      lane = new Lane(key, this.#laneDeps);
      this.#lanes.set(key, lane);
    }
    void this.#run(lane);
  }

  recheck(relayerId: string): void {
    this.#health.recheck(relayerId);
  }

  onChange(transactionId: string, listener: () => void): () => void {
    return this.#feed.on(transactionId, listener);
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    this.#closed = true;
    this.#pause.end();
    const lanes = [...this.#lanes.values()].map((lane) => lane.close());
    const ended = Promise.all([this.#sweeping, this.#health.close(), ...lanes]);
    const patience = new Pause();
    void ended.then(() => patience.end());
    await patience.last(this.#timing.closeMs);
  }

  /** When a lane has nothing more to do now, what it does next has a new time: the sweeper looks for it. */
  async #run(lane: Lane): Promise<void> {
    if (await lane.wake()) this.#pause.end();
  }

  async #sweep(): Promise<void> {
    while (!this.#closed) {
      await this.#pause.last(await this.#wakeDueLanes());
    }
  }

  /** @returns how long the next search may wait, in milliseconds */
  async #wakeDueLanes(): Promise<number> {
    const { sweepMs, sweepFloorMs } = this.#timing;
    try {
      const now = await this.#store.now();
      for (const lane of await this.#store.read.dueLanes(now)) {
        this.wake(lane);
      }
      const next = await this.#store.read.nextActionAt();
      return next === null ? sweepMs : Math.min(Math.max(next - now, sweepFloorMs), sweepMs);
    } catch (error) {
      this.#log.error({ err: error }, 'sweep failed');
      return sweepMs;
    }
  }
}
