import { setTimeout as sleep } from 'node:timers/promises';
import type { ChainClient } from '../../../src/chains/chain-client.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import type { Store } from '../../../src/store/store.ts';
import { Crash } from '../crash.ts';
import { EngineWorld } from '../engine-world.ts';
import type { FakeChain } from '../fake-chain.ts';
import type { FakeFamily } from '../fake-chain-client.ts';
import type { Fault } from '../fake-wire.ts';
import { InstanceLeases } from '../instance-leases.ts';
import { losingAnswers } from '../lost-answers.ts';
import type { CommonEvent, FaultyCall } from './events.ts';
import { RELAYERS, Requests } from './requests.ts';
import type { WorldOptions } from './world.ts';

/** Turns of a millisecond or more for which an idle engine is left alone. */
const STILL_TURNS = 40;
/** Longer than an instance ever waits for a machine. Leases of dead instances end with the instances. */
const LEASE_MS = 60_000;
/** The time limit for the end of a history, which takes seconds. A test that takes minutes is ended by its runner. */
const END_MS = 100_000;

/** One of the service's instances. */
interface Instance {
  readonly engine: Engine;
  readonly crash: Crash;
  readonly store: Store;
}

/** A client of a fake chain that counts its calls. */
export type CountedClient = ChainClient & { readonly calls: number };

/**
 * The common part of all worlds: a store with its requests, and the service's instances, which start, die and are
 * disturbed.
 */
export class Stage {
  readonly world: EngineWorld;
  readonly requests: Requests;
  readonly #client: CountedClient;
  readonly #asked: ChainClient;
  readonly #store: Store;
  readonly #options: WorldOptions;
  readonly #remove: () => Promise<void>;
  readonly #leases = new InstanceLeases(LEASE_MS);
  /** The running instances, oldest first. There is always at least one. */
  #living: Instance[] = [];
  readonly #dead: Instance[] = [];
  /** For how many of the next new bytes a node lies. */
  #lies = 0;
  /** The faults of the next calls. */
  #faults: Fault[] = [];
  #faulty: FaultyCall = 'any';
  #isUnanswered: (commit: number) => boolean = () => false;
  /** How far the engine's clock is ahead. The chain has its own clock. */
  #aheadMs = 0;

  private constructor(
    world: EngineWorld,
    client: CountedClient,
    { options, remove }: { options: WorldOptions; remove: () => Promise<void> },
  ) {
    this.world = world;
    this.#client = client;
    this.#options = options;
    this.#remove = remove;
    this.#store = options.mutant?.store?.(world.store) ?? world.store;
    this.#asked = options.mutant?.client?.(client) ?? client;
    this.requests = new Requests(world, this.#store);
    this.#begin(Number.POSITIVE_INFINITY);
  }

  /**
   * Opens a world with its own store.
   * @param clientOf the engines' client of the chain
   */
  static async open(
    options: WorldOptions,
    clientOf: (world: EngineWorld) => CountedClient,
    { chain, family }: { chain?: FakeChain; family?: FakeFamily } = {},
  ): Promise<Stage> {
    const teardowns: (() => unknown)[] = [];
    const world = await EngineWorld.open({ teardown: (end) => void teardowns.push(end) }, chain, family);
    await world.store.write(async (writer) => {
      for (const relayer of RELAYERS) await writer.putRelayer(relayer);
    });
    const remove = async () => {
      for (const end of teardowns) await end();
    };
    return new Stage(world, clientOf(world), { options, remove });
  }

  async happen(event: CommonEvent): Promise<void> {
    switch (event.kind) {
      case 'lies':
        this.#lies = event.count;
        return;
      case 'faults':
        this.#faults = [...event.faults];
        this.#faulty = event.of;
        return;
      case 'cancel':
        await this.requests.cancel(event.which);
        return this.wake();
      case 'replace':
        await this.requests.replace(event.which);
        return this.wake();
      case 'expire':
        return await this.requests.expire(event.which);
      case 'commits unanswered':
        this.#isUnanswered = (commit) => commit % event.every === 0;
        return;
      case 'clock jumps':
        this.#aheadMs = event.byMs;
        return;
      case 'second instance':
        return this.#begin(Number.POSITIVE_INFINITY);
      case 'signer fails':
        this.world.signer.failsAt = (signature) => signature % event.every === 0;
        return;
      case 'prune':
        return await this.requests.prune();
      case 'crash':
        // Ends one engine. Another dies after that many of its calls.
        this.#end(this.#living.slice(0, 1));
        return this.#begin(event.after);
      default:
        return event satisfies never;
    }
  }

  /**
   * The fault of a call.
   * @param isNew whether no node has had the bytes that are offered
   */
  faultOf(call: string, isNew: boolean): Fault {
    if (isNew && this.#lies > 0) {
      this.#lies -= 1;
      return 'lie';
    }
    return this.#faulty === 'any' || this.#faulty === call ? this.#faults.shift() : undefined;
  }

  /** Lets the engines make that many calls. A new engine replaces each dead one. */
  async goOn(calls: number): Promise<void> {
    const until = this.#client.calls + calls;
    for (let turn = 0; turn < STILL_TURNS && this.#client.calls < until; turn += 1) {
      this.#end(this.#living.filter(({ crash }) => crash.hasHappened));
      if (this.#living.length === 0) this.#begin(Number.POSITIVE_INFINITY);
      await sleep(1);
    }
  }

  /** Removes all faults, and advances the chain until all transactions have ended. */
  async end(goOn: () => unknown): Promise<void> {
    this.#lies = 0;
    this.#faults = [];
    this.#aheadMs = 0;
    this.#isUnanswered = () => false;
    this.world.signer.failsAt = () => false;
    this.#end(this.#living);
    this.#begin(Number.POSITIVE_INFINITY);
    const haveEnded = async () => {
      this.#options.signal?.throwIfAborted();
      await goOn();
      return await this.requests.haveEnded();
    };
    try {
      await this.world.until('all have ended', haveEnded, { withinMs: this.#options.endMs ?? END_MS });
    } catch (error) {
      throw new Error(`without an end: ${await this.requests.describeOpen()}`, { cause: error });
    }
  }

  wake(): void {
    for (const { engine } of this.#living) for (const lane of this.requests.lanes) engine.wake(lane);
  }

  /** Also stops dead engines, because their clocks would go on. */
  async close(): Promise<void> {
    const ends = [...this.#dead, ...this.#living].map(({ engine }) => engine.close());
    for (const { crash } of this.#dead) crash.bury();
    await Promise.all(ends);
    await this.#remove();
  }

  #begin(calls: number): void {
    const crash = new Crash(calls);
    const store = this.#leases.storeFor(this.#store);
    let commits = 0;
    const unsure = losingAnswers(store, () => {
      commits += 1;
      return this.#isUnanswered(commits);
    });
    const jumping: Store = { ...unsure, now: async () => (await unsure.now()) + this.#aheadMs };
    const engine = this.world.engine({ store: crash.store(jumping), client: crash.client(this.#asked) });
    // An engine that dies before it has started fails at the end.
    engine.start().catch(() => {});
    this.#living.push({ engine, crash, store });
  }

  #end(instances: readonly Instance[]): void {
    this.#living = this.#living.filter((one) => !instances.includes(one));
    this.#dead.push(...instances);
    for (const { crash, store } of instances) {
      crash.now();
      this.#leases.lapse(store);
    }
  }
}
